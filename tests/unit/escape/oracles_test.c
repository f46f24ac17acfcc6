/*
 * The oracles: each sees what it is there to see, and nothing when nothing happened.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "escape-suite/harness/canary.h"
#include "escape-suite/harness/family.h"
#include "escape-suite/harness/host_state.h"
#include "escape-suite/harness/run.h"
#include "escape-suite/harness/sandbox_report.h"
#include "escape-suite/harness/scratch.h"
#include "escape-suite/harness/text.h"
#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "tests/support/test.h"

static char dir[64];
static struct canaries canaries;
static struct findings findings;

static void make(void)
{
    struct error err;
    error_init(&err);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)strcpy(dir, "/tmp/oracles.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_msg(canaries_make(&canaries, dir, &err) == 0, "%s", err.text);
    findings.n = 0;
}

static void done(void)
{
    canaries_done(&canaries);
    scratch_remove(dir);
    ck_assert_int_lt(access(dir, F_OK), 0);
}

/* Exactly one finding, with these words; then nothing new is wrong. */
static void found(const char *words)
{
    canaries_check(&canaries, &findings);
    ck_assert_uint_eq(findings.n, 1);
    ck_assert_msg(strstr(findings.text[0], words) != NULL, "%s", findings.text[0]);
    findings.n = 0;
}

TEST(canaries_left_alone)
{
    make();
    for (int i = 0; i < 3; i++)
        canaries_check(&canaries, &findings);
    ck_assert_uint_eq(findings.n, 0);
    ck_assert_str_ne(canaries.file_secret, canaries.victim_secret);
    ck_assert_uint_eq(strlen(canary_digits(canaries.file_secret)), SECRET_DIGITS);
    done();
}
END_TEST

TEST(canaries_touched)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    make();
    ck_assert_int_eq(chmod(canaries.file, 0600), 0);
    found("have changed");
    ck_assert_int_eq(utimensat(AT_FDCWD, canaries.file, NULL, 0), 0);
    found("have changed");
    canaries_check(&canaries, &findings);
    ck_assert_uint_eq(findings.n, 0);
    in.sin_port = htons((uint16_t)canaries.tcp_port);
    int s = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(connect(s, (struct sockaddr *)&in, sizeof(in)), 0);
    found("TCP listener");
    (void)close(s);
    s = socket(AF_INET, SOCK_DGRAM, 0);
    in.sin_port = htons((uint16_t)canaries.udp_port);
    ck_assert_int_eq(sendto(s, "x", 1, 0, (struct sockaddr *)&in, sizeof(in)), 1);
    found("UDP");
    (void)close(s);
    ck_assert_int_eq(write(canaries.leak[0], "x", 1), 1);
    found("inherited");
    ck_assert_int_eq(kill(canaries.victim, SIGKILL), 0);
    found("victim");
    done();
}
END_TEST

TEST(host_states_differ)
{
    struct host_state a = {json_object(), 0}, b = {json_object(), 0};
    struct host_marks marks = {77, "suite-1-2", "escape-suite.x"};
    findings.n = 0;
    (void)json_object_set_new(a.items, "mount 1 2 0:3 / / rw", json_string(""));
    (void)json_object_set_new(a.items, "mount 1 2 0:3 / /no/such/place rw", json_string(""));
    (void)json_object_set_new(a.items, "setting y", json_string("1"));
    (void)json_object_set_new(b.items, "mount 1 2 0:3 / / rw", json_string(""));
    (void)json_object_set_new(b.items, "setting y", json_string("1"));
    ck_assert_uint_eq(host_state_diff(&a, &b, &marks, &findings), 0);
    (void)json_object_set_new(b.items, "setting y", json_string("2"));
    (void)json_object_set_new(b.items, "shared memory 5", json_string(""));
    (void)json_object_del(b.items, "mount 1 2 0:3 / / rw");
    b.clock_ms = 60000;
    ck_assert_uint_eq(host_state_diff(&a, &b, &marks, &findings), 4);
    ck_assert_uint_eq(findings.n, 4);
    /* Other people's cgroups, and ours when it is gone by now. */
    (void)json_object_clear(b.items);
    (void)json_object_clear(a.items);
    b.clock_ms = 0;
    (void)json_object_set_new(b.items, "cgroup /sys/fs/cgroup/other", json_string(""));
    (void)json_object_set_new(b.items, "cgroup /no/such/sentry-77-5", json_string(""));
    ck_assert_uint_eq(host_state_diff(&a, &b, &marks, NULL), 0);
    /* A directory without inhabitants that has our name. */
    (void)strcpy(dir, "/tmp/oracle-77-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    char key[80];
    (void)snprintf(key, sizeof(key), "cgroup %s", dir);
    (void)json_object_set_new(b.items, key, json_string(""));
    ck_assert_uint_eq(host_state_diff(&a, &b, &marks, NULL), 1);
    marks.pid = 7;
    ck_assert_uint_eq(host_state_diff(&a, &b, &marks, NULL), 0);
    (void)rmdir(dir);
    /* Numbers and names that only begin like ours. */
    marks = (struct host_marks){7, "/tmp/oracle-77-XXXXX", "oracle-7"};
    marks.id = strrchr(dir, '/') + 1;
    char longer[80];
    (void)snprintf(longer, sizeof(longer), "%s7", dir);
    ck_assert_int_eq(mkdir(longer, 0700), 0);
    (void)snprintf(key, sizeof(key), "cgroup %s", longer);
    (void)json_object_clear(b.items);
    (void)json_object_set_new(b.items, key, json_string(""));
    ck_assert_uint_eq(host_state_diff(&a, &b, &marks, NULL), 0);
    marks.id = strrchr(longer, '/') + 1;
    ck_assert_uint_eq(host_state_diff(&a, &b, &marks, NULL), 1);
    (void)rmdir(longer);
    host_state_done(&a);
    host_state_done(&b);
}
END_TEST

TEST(host_state_of_now)
{
    struct host_state a, b;
    struct host_marks marks = {1, "none", "nowhere"};
    size_t differ = 1;
    /* Others may mount something just now. */
    for (int i = 0; i < 500 && differ > 0; i++) {
        ck_assert_int_eq(host_state_take(&a, "/bin/sh"), 0);
        ck_assert_int_eq(host_state_take(&b, "/bin/sh"), 0);
        ck_assert_ptr_nonnull(json_object_get(a.items, "file /bin/sh"));
        differ = host_state_diff(&a, &b, &marks, NULL);
        host_state_done(&a);
        host_state_done(&b);
    }
    ck_assert_uint_eq(differ, 0);
}
END_TEST

static pid_t bystander;

static void run(const char *script, unsigned deadline_ms, struct observation *o)
{
    char *argv[] = {(char[]){"/bin/sh"}, (char[]){"-c"}, NULL, NULL};
    struct run_spec spec = {
        .argv = argv, .deadline_ms = deadline_ms, .flood_bytes = 1 << 20, .bystander = bystander};
    char *copy = kstrdup(script);
    argv[2] = copy;
    ck_assert_int_eq(run_prepare(), 0);
    observation_init(o);
    run_command(&spec, o);
    kfree(copy);
}

TEST(commands_are_watched)
{
    static struct observation o;
    run("echo out; echo err >&2; exit 3", 60000, &o);
    ck_assert_int_eq(o.end, RUN_EXIT);
    ck_assert_int_eq(o.status, 3);
    ck_assert_str_eq(buf_cstr(&o.out.head), "out\n");
    ck_assert_str_eq(buf_cstr(&o.err.head), "err\n");
    ck_assert_uint_eq(o.survivors, 0);
    ck_assert(!o.flags_changed);
    observation_done(&o);
    run("kill -9 $$", 60000, &o);
    ck_assert_int_eq(o.end, RUN_SIGNAL);
    ck_assert_int_eq(o.status, 9);
    observation_done(&o);
    run("exec sleep 300", 50, &o);
    ck_assert_int_eq(o.end, RUN_GIVEN_UP);
    ck_assert_uint_eq(o.survivors, 0);
    observation_done(&o);
    run("exec yes", 60000, &o);
    ck_assert_int_eq(o.end, RUN_GIVEN_UP);
    ck_assert(o.flooded);
    observation_done(&o);
    run("(sleep 300 &) ; echo done", 60000, &o);
    ck_assert_int_eq(o.end, RUN_EXIT);
    ck_assert_uint_eq(o.survivors, 1);
    ck_assert_ptr_nonnull(strstr(o.survivor, "sleep"));
    observation_done(&o);
}
END_TEST

/* What a bystander starts meanwhile is nobody's leftover. */
TEST(bystanders_start_what_they_like)
{
    static struct observation o;
    int go[2], there[2];
    char script[64];
    ck_assert_int_eq(pipe(go), 0);
    ck_assert_int_eq(pipe(there), 0);
    bystander = fork();
    if (bystander == 0) {
        char c;
        (void)!read(go[0], &c, 1);
        if (fork() == 0)
            (void)!write(there[1], "\n", 1);
        for (;;)
            (void)pause();
    }
    /* It ends when the bystander's child is there. */
    (void)snprintf(script, sizeof(script), "echo >&%d; read x <&%d", go[1], there[0]);
    run(script, 60000, &o);
    ck_assert_int_eq(o.end, RUN_EXIT);
    ck_assert_int_eq(o.status, 0);
    ck_assert_uint_eq(o.survivors, 0);
    observation_done(&o);
    (void)kill(bystander, SIGKILL);
    (void)waitpid(bystander, NULL, 0);
    bystander = 0;
    /* Without the exception its child, which has become ours, is seen. */
    struct family none = {.n = 0};
    static struct family now;
    family_new(&none, NULL, &now);
    ck_assert_uint_gt(now.n, 0);
    for (size_t i = 0; i < now.n; i++)
        (void)kill(now.pids[i], SIGKILL);
    for (int i = 0; i < 2; i++) {
        (void)close(go[i]);
        (void)close(there[i]);
    }
}
END_TEST

TEST(the_dying_are_told_from_the_living)
{
    pid_t pid = fork();
    if (pid == 0)
        for (;;)
            (void)pause();
    ck_assert(!family_dying(pid));
    (void)kill(pid, SIGSTOP);
    ck_assert(!family_dying(pid));
    (void)kill(pid, SIGKILL);
    ck_assert(family_dying(pid)); /* killed, ending or a zombie */
    (void)waitpid(pid, NULL, 0);
    ck_assert(family_dying(pid));
}
END_TEST

static void report(const char *text, const char *out, int status, size_t want)
{
    char path[] = "/tmp/report.XXXXXX";
    struct observation o;
    int fd = mkstemp(path);
    ck_assert_int_eq(fd_write_full(fd, text, strlen(text)), 0);
    (void)close(fd);
    observation_init(&o);
    o.end = RUN_EXIT;
    o.status = status;
    o.out.bytes = strlen(out);
    ck_assert_int_eq(buf_puts(&o.out.head, out), 0);
    findings.n = 0;
    sandbox_report_read(path, true, &o, &findings);
    ck_assert_msg(findings.n == want, "%s: %zu findings, %s", text, findings.n, findings.text[0]);
    ck_assert_int_lt(access(path, F_OK), 0);
    json_t *j = observation_json(&o);
    ck_assert_ptr_nonnull(j);
    json_decref(j);
    observation_done(&o);
}

TEST(reports_are_checked)
{
    report("{\"verdict\":\"ok\",\"exit_code\":0,\"stdout\":{\"kept\":2,\"base64\":\"aGk=\"}}", "hi",
           0, 0);
    report("{\"verdict\":\"ok\",\"exit_code\":0,\"stdout\":{\"kept\":2,\"base64\":\"aGo=\"}}", "hi",
           0, 1);
    report("{\"verdict\":\"ok\",\"exit_code\":0,\"stdout\":{\"kept\":2,\"base64\":\"a\"}}", "hi", 0,
           1);
    report("{\"verdict\":\"ok\",\"exit_code\":0,\"stdout\":{\"kept\":3}}", "hi", 0, 1);
    report("{\"verdict\":\"exit\",\"exit_code\":4,\"stdout\":{\"kept\":2}}", "hi", 5, 1);
    report("{\"exit_code\":0,\"stdout\":{\"kept\":0}}", "", 0, 1);
    report("{\"verdict\":\"ok\",", "", 0, 1);
    report("", "", 0, 1);
}
END_TEST

TEST_SUITE(oracles)
{
    TEST_ADD(canaries_left_alone);
    TEST_ADD(canaries_touched);
    TEST_ADD(host_states_differ);
    TEST_ADD(host_state_of_now);
    TEST_ADD(commands_are_watched);
    TEST_ADD(bystanders_start_what_they_like);
    TEST_ADD(the_dying_are_told_from_the_living);
    TEST_ADD(reports_are_checked);
}
