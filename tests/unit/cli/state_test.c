/* The state directory: names, atomically written state, locks, what a dead monitor leaves. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>
#include <sys/wait.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "sentry/cli/state.h"
#include "tests/support/test.h"

static char root[64];

static void begin(void)
{
    (void)snprintf(root, sizeof(root), "/tmp/state-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    (void)strcat(root, "/a/b");
}

static void end(void)
{
    *strrchr(root, '/') = '\0';
    char path[80];
    (void)snprintf(path, sizeof(path), "%s/b", root);
    (void)rmdir(path);
    (void)rmdir(root);
    *strrchr(root, '/') = '\0';
    ck_assert_int_eq(rmdir(root), 0);
}

TEST(ids)
{
    static const char *const good[] = {"a", "A-b_c.1+2", "...", "-x"};
    static const char *const bad[] = {"", ".", "..", "a/b", "a b", "\x80", "a\n"};
    char longest[STATE_ID_MAX + 2];
    struct error err;

    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        ck_assert_int_eq(state_id_check(good[i], NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        error_init(&err);
        ck_assert_int_eq(state_id_check(bad[i], &err), -EINVAL);
        ck_assert_uint_ne(strlen(err.text), 0);
    }
    memset(longest, 'x', sizeof(longest) - 1);
    longest[STATE_ID_MAX + 1] = '\0';
    ck_assert_int_eq(state_id_check(longest, NULL), -EINVAL);
    longest[STATE_ID_MAX] = '\0';
    ck_assert_int_eq(state_id_check(longest, NULL), 0);
}

TEST(written_and_read)
{
    struct state s, t;
    int dir;

    begin();
    ck_assert_int_eq(state_create(root, "one", &dir, NULL), 0);
    struct stat st;
    ck_assert_int_eq(fstat(dir, &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0700);
    ck_assert_int_eq(state_create(root, "one", &dir, NULL), -EEXIST);
    state_init(&t);
    ck_assert_int_eq(state_read(dir, &t, NULL), -ENOENT);
    state_init(&s);
    (void)strcpy(s.id, "one");
    s.status = STATE_PAUSED;
    s.monitor = 12;
    s.monitor_time = 34567890123;
    s.sentry = 56;
    state_set_created_now(&s);
    s.bundle = kstrdup("/bundle \"quoted\"\n");
    s.image = kstrdup("\xff no text");
    s.annotations_json = kstrdup("{\"a\":\"b\"}");
    ck_assert_int_eq(state_write(dir, &s, true, NULL), 0);
    ck_assert_int_eq(state_read(dir, &t, NULL), 0);
    ck_assert_str_eq(t.id, "one");
    ck_assert_int_eq(t.status, STATE_PAUSED);
    ck_assert_int_eq(t.monitor, 12);
    ck_assert_uint_eq(t.monitor_time, 34567890123);
    ck_assert_int_eq(t.sentry, 56);
    ck_assert_str_eq(t.created, s.created);
    ck_assert_str_eq(t.bundle, s.bundle);
    ck_assert_str_eq(t.annotations_json, s.annotations_json);
    ck_assert_ptr_null(t.cgroups_json);
    for_each_failure {
        int r = state_write(dir, &s, false, NULL);
        ck_assert(r == 0 || r == -ENOMEM);
    }
    ck_assert_int_eq(state_read(dir, &t, NULL), 0);
    state_done(&s);
    state_done(&t);
    (void)close(dir);
    ck_assert_int_eq(state_remove(root, "one", NULL), 0);
    ck_assert_int_eq(state_open(root, "one", &dir, NULL), -ENOENT);
    ck_assert_int_eq(state_remove(root, "one", NULL), 0);
    end();
}

TEST(nonsense_is_refused)
{
    static const char *const texts[] = {"", "{}", "[]", "{\"id\":1}",
                                        "{\"version\":1,\"id\":\"x\",\"status\":\"odd\"}"};
    struct error err;
    struct state s;
    int dir;

    begin();
    ck_assert_int_eq(state_create(root, "x", &dir, NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        int fd = openat(dir, "state.json", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        ck_assert_int_eq(write(fd, texts[i], strlen(texts[i])), (int)strlen(texts[i]));
        (void)close(fd);
        state_init(&s);
        error_init(&err);
        ck_assert_int_lt(state_read(dir, &s, &err), 0);
        ck_assert_uint_ne(strlen(err.text), 0);
        state_done(&s);
    }
    (void)close(dir);
    ck_assert_int_eq(state_remove(root, "x", NULL), 0);
    end();
}

static int count(void *ctx, const char *id)
{
    (void)id;
    ++*(int *)ctx;
    return 0;
}

static int entries(void)
{
    int n = 0;
    ck_assert_int_eq(state_each(root, count, &n, NULL), 0);
    return n;
}

/* A claim ends with its process, however that ends. */
TEST(claims)
{
    int dir, other, p[2];
    char byte;

    begin();
    ck_assert_int_eq(entries(), 0);
    ck_assert_int_eq(pipe(p), 0);
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(p[0]);
        if (state_create_claimable(root, "claimed", &dir, NULL) < 0 || state_claim(dir, true) < 0)
            _exit(1);
        (void)!write(p[1], "c", 1);
        for (;;)
            (void)pause();
    }
    (void)close(p[1]);
    ck_assert_int_eq(read(p[0], &byte, 1), 1);
    (void)close(p[0]);
    ck_assert_int_eq(state_open(root, "claimed", &dir, NULL), 0);
    ck_assert_int_eq(state_claim(dir, false), -EWOULDBLOCK);
    state_sweep(root, 8);
    ck_assert_int_eq(entries(), 1);
    (void)kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    state_sweep(root, 8);
    ck_assert_int_eq(entries(), 0);
    /* Who opened it before it was removed learns so. */
    ck_assert_int_eq(state_claim(dir, false), -ENOENT);
    (void)close(dir);
    ck_assert_int_eq(state_create(root, "claimed", &other, NULL), 0);
    /* A container's, which lives without a claim, is left alone. */
    ck_assert_int_eq(state_claim(other, false), -EPERM);
    state_sweep(root, 8);
    ck_assert_int_eq(entries(), 1);
    (void)close(other);
    ck_assert_int_eq(state_remove(root, "claimed", NULL), 0);
    end();
}

TEST(locks)
{
    int dir, lock, status;

    begin();
    ck_assert_int_eq(state_create(root, "l", &dir, NULL), 0);
    ck_assert_int_eq(state_lock(dir, &lock, NULL), 0);
    pid_t pid = fork();
    if (pid == 0) {
        /* Gets it only after the directory was removed, and is told. */
        int mine;
        (void)close(lock);
        _exit(state_lock(dir, &mine, NULL) == -ENOENT ? 0 : 1);
    }
    ck_assert_int_eq(state_remove(root, "l", NULL), 0);
    (void)close(lock);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    (void)close(dir);
    end();
}

TEST(alive)
{
    struct state s;
    state_init(&s);
    ck_assert(!state_alive(&s));
    s.monitor = getpid();
    s.monitor_time = state_process_time(getpid());
    ck_assert(state_alive(&s));
    s.monitor_time++;
    ck_assert(!state_alive(&s));
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    siginfo_t si;
    ck_assert_int_eq(waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT), 0);
    ck_assert_uint_eq(state_process_time(pid), 0); /* a zombie */
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    ck_assert_uint_eq(state_process_time(pid), 0);
}

TEST_SUITE(state)
{
    TEST_ADD(ids);
    TEST_ADD(written_and_read);
    TEST_ADD(nonsense_is_refused);
    TEST_ADD(claims);
    TEST_ADD(locks);
    TEST_ADD(alive);
}
