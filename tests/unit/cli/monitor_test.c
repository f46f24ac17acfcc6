/*
 * A whole sandbox through monitor_run and the control socket, as the OCI command uses them: held
 * before its start, and with the signals of a container's first process. Skipped, with a line,
 * where no sandbox can be made.
 */
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
#include "lib/fdio.h"
#include "sentry/cli/control.h"
#include "sentry/cli/monitor.h"
#include "tests/support/test.h"

static struct {
    char dir[64];
    int dir_fd, image_fd;
    int said, out; /* pipes: hooks of the monitor, standard output of the program */
    pid_t monitor;
    struct error err;
} t;

static void say(int fd, const char *what)
{
    (void)!write(fd, what, 1);
}

static void created(void *ctx)
{
    say(*(int *)ctx, "c");
}

static void started(void *ctx)
{
    say(*(int *)ctx, "s");
}

/* In the child: never returns. */
NORETURN static void monitor_main(struct boot *b, int said, int out)
{
    struct monitor_hooks hooks = {.ctx = &said, .created = created, .started = started};
    struct monitor_result res;
    (void)dup2(out, 1);
    monitor_run(b, &hooks, &res);
    if (res.exit_code == 125)
        (void)fprintf(stderr, "monitor: %s\n", res.text);
    say(said, "e");
    _exit(res.exit_code);
}

static bool make_image(void)
{
    char path[96], *data;
    size_t len;
    int from = open("/bin/busybox", O_RDONLY | O_CLOEXEC);
    (void)snprintf(t.dir, sizeof(t.dir), "/tmp/monitor-test-XXXXXX");
    if (from < 0 || mkdtemp(t.dir) == NULL) {
        fd_close(from);
        return false;
    }
    ck_assert_int_eq(fd_read_all(from, 16 << 20, &data, &len), 0);
    (void)close(from);
    (void)snprintf(path, sizeof(path), "%s/busybox", t.dir);
    int to = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    ck_assert_int_eq(fd_write_full(to, data, len), 0);
    (void)close(to);
    kfree(data);
    ck_assert_int_eq(chmod(t.dir, 0755), 0);
    t.dir_fd = open(t.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    t.image_fd = open(t.dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return true;
}

static void make_boot(struct boot *b, const char *script)
{
    const char *const argv[] = {"/busybox", "sh", "-c", script, NULL};
    boot_init_oci(b);
    b->wait_start = true;
    b->image_fd = t.image_fd;
    b->limits.cgroup = CGROUP_OFF;
    ck_assert_int_eq(boot_set_argv(b, argv, &t.err), 0);
    char at[] = "/proc";
    const struct boot_mount m = {.type = BOOT_MOUNT_PROC, .fd = -1, .guest = at};
    ck_assert_int_eq(boot_add_mount(b, &m, &t.err), 0);
    b->process.ids_given = true; /* root */
    b->process.caps_given = true;
    b->process.cap_bounding = b->process.cap_permitted = b->process.cap_effective = 0x23;
    b->process.no_new_privs = true;
    ck_assert_int_eq(control_listen(t.dir_fd, &b->listen_fd, &t.err), 0);
}

/* False: skipped. */
static bool begin(const char *script)
{
    int said[2], out[2];
    struct boot b;

    error_init(&t.err);
    if (!make_image()) {
        (void)fprintf(stderr, "skipped: no /bin/busybox\n");
        return false;
    }
    make_boot(&b, script);
    ck_assert_int_eq(pipe(said) | pipe(out), 0);
    t.monitor = fork();
    if (t.monitor == 0) {
        (void)close(said[0]);
        (void)close(out[0]);
        monitor_main(&b, said[1], out[1]);
    }
    (void)close(said[1]);
    (void)close(out[1]);
    boot_done(&b);
    t.said = said[0];
    t.out = out[0];
    return true;
}

static char heard(int fd)
{
    char c = 0;
    (void)!read(fd, &c, 1);
    return c;
}

/* What the monitor exits with. */
static int end(void)
{
    int status;
    char path[96];
    ck_assert_int_eq(waitpid(t.monitor, &status, 0), t.monitor);
    (void)close(t.said);
    (void)close(t.out);
    (void)close(t.dir_fd);
    (void)snprintf(path, sizeof(path), "%s/busybox", t.dir);
    (void)unlink(path);
    (void)snprintf(path, sizeof(path), "%s/" CONTROL_SOCK, t.dir);
    (void)unlink(path);
    (void)rmdir(t.dir);
    return WEXITSTATUS(status);
}

static int dial(void)
{
    int sock;
    ck_assert_msg(control_connect(t.dir_fd, &sock, &t.err) == 0, "%s", t.err.text);
    return sock;
}

static int send_signal(int signo)
{
    int sock = dial();
    int r = control_signal(sock, 0, signo, &t.err);
    (void)close(sock);
    return r;
}

/* The wait status of a command in the sandbox. */
static int run(const char *script)
{
    const char *const argv[] = {"/busybox", "sh", "-c", script, NULL};
    const char *const env[] = {NULL};
    struct control_exec ex = {.argv = argv, .env = env};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC), sock = dial(), status, code;
    const int stdio[3] = {null, null, null};
    int32_t pid;
    ck_assert_msg(control_exec(sock, &ex, stdio, &pid, &code, &t.err) == 0, "%s", t.err.text);
    ck_assert_int_eq(control_wait_exit(sock, &status, &t.err), 0);
    (void)close(sock);
    (void)close(null);
    return status;
}

/* Descriptors of ours are the process's numbers 3 and 4. */
static void pass_on(void)
{
    const char *const argv[] = {"/busybox", "sh", "-c", "read x <&3; echo $x >&4", NULL};
    int in[2], out[2], null = open("/dev/null", O_RDWR | O_CLOEXEC), sock = dial(), status, code;
    const int stdio[3] = {null, null, null};
    char text[16] = {0};
    int32_t pid;
    ck_assert_int_eq(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC), 0);
    const int both[] = {in[0], out[1]};
    struct control_exec ex = {.argv = argv, .preserved = both, .npreserved = 2};
    ck_assert_int_eq(fd_write_full(in[1], "three\n", 6), 0);
    ck_assert_msg(control_exec(sock, &ex, stdio, &pid, &code, &t.err) == 0, "%s", t.err.text);
    (void)close(in[0]);
    (void)close(in[1]);
    (void)close(out[1]);
    ck_assert_int_eq(control_wait_exit(sock, &status, &t.err), 0);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(fd_read_full(out[0], text, sizeof(text)), 6);
    ck_assert_str_eq(text, "three\n");
    (void)close(out[0]);
    (void)close(sock);
    (void)close(null);
}

static int run_as(const char *script, bool inherit)
{
    const char *const argv[] = {"/busybox", "sh", "-c", script, NULL};
    struct control_exec ex = {.argv = argv, .inherit = inherit, .process.ids_given = !inherit};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC), sock = dial(), status, code;
    const int stdio[3] = {null, null, null};
    int32_t pid;
    ck_assert_msg(control_exec(sock, &ex, stdio, &pid, &code, &t.err) == 0, "%s", t.err.text);
    ck_assert_int_eq(control_wait_exit(sock, &status, &t.err), 0);
    (void)close(sock);
    (void)close(null);
    return status;
}

/* What a request leaves open is as for the first process, if it says so. */
static void inherit(void)
{
    const char *grep = "/busybox grep -q 'CapBnd:.0000000000000023' /proc/self/status && "
                       "/busybox grep -q 'CapEff:.0000000000000023' /proc/self/status && "
                       "/busybox grep -q 'NoNewPrivs:.1' /proc/self/status";
    ck_assert_int_eq(run_as(grep, true), 0);
    ck_assert_int_eq(run_as(grep, false), 1 << 8);
}

TEST(held_until_started)
{
    struct control_stats st;
    struct control_process *list;
    size_t n;
    int status;

    if (!begin("trap 'exit 7' TERM; echo u; while :; do /busybox sleep 0.02; done"))
        return;
    ck_assert_int_eq(heard(t.said), 'c');
    int sock = dial();
    ck_assert_int_eq(control_stats(sock, &st, &t.err), 0);
    ck_assert_uint_eq(st.waiting, 1);
    ck_assert_uint_eq(st.syscalls, 0);
    ck_assert_int_eq(control_ps(sock, &list, &n, &t.err), 0);
    ck_assert_uint_eq(n, 1);
    ck_assert_uint_eq(list[0].pid, 1);
    ck_assert_str_eq(list[0].comm, "busybox");
    kfree(list);
    ck_assert_int_eq(run("exit 3"), 3 << 8); /* also before the start */
    ck_assert_int_eq(control_start(sock, &t.err), 0);
    ck_assert_int_eq(heard(t.said), 's');
    ck_assert_int_eq(heard(t.out), 'u');
    pass_on();
    inherit();
    ck_assert_int_eq(control_start(sock, &t.err), -EALREADY);
    int waiter = dial();
    ck_assert_int_eq(control_wait(waiter, 0, &t.err), 0);
    ck_assert_int_eq(control_signal(sock, 99, SIGTERM, &t.err), -ESRCH);
    ck_assert_int_eq(control_resize(sock, 0, 1, 1, &t.err), -ENOTTY);
    ck_assert_int_eq(control_signal(sock, 0, SIGTERM, &t.err), 0);
    ck_assert_int_eq(control_wait_exit(waiter, &status, &t.err), 0);
    ck_assert_int_eq(status, 7 << 8);
    (void)close(waiter);
    (void)close(sock);
    ck_assert_int_eq(heard(t.said), 'e');
    ck_assert_int_eq(end(), 7);
}

TEST(killed_before_the_start)
{
    if (!begin("echo never"))
        return;
    ck_assert_int_eq(heard(t.said), 'c');
    ck_assert_int_eq(send_signal(SIGTERM), 0); /* no handler: nothing */
    ck_assert_int_eq(run("exit 0"), 0);
    ck_assert_int_eq(send_signal(SIGKILL), 0);
    ck_assert_int_eq(heard(t.said), 'e');
    ck_assert_int_eq(heard(t.out), 0);
    ck_assert_int_eq(end(), 128 + SIGKILL);
}

/* What the first process does not handle is nothing to it, and SIGKILL only from outside. */
TEST(first_process_is_protected)
{
    if (!begin("echo u; while :; do /busybox sleep 0.02; done"))
        return;
    ck_assert_int_eq(heard(t.said), 'c');
    int sock = dial();
    ck_assert_int_eq(control_start(sock, &t.err), 0);
    (void)close(sock);
    ck_assert_int_eq(heard(t.out), 'u');
    ck_assert_int_eq(send_signal(SIGTERM), 0);
    ck_assert_int_eq(send_signal(SIGUSR1), 0);
    ck_assert_int_eq(run("kill -KILL 1; kill -STOP 1; kill -TERM 1; exit 4"), 4 << 8);
    ck_assert_int_eq(run("kill -KILL $$"), SIGKILL);
    ck_assert_int_eq(send_signal(SIGKILL), 0);
    ck_assert_int_eq(end(), 128 + SIGKILL);
}

TEST_SUITE(monitor)
{
    TEST_ADD(held_until_started);
    TEST_ADD(killed_before_the_start);
    TEST_ADD(first_process_is_protected);
}
