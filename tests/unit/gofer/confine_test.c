/* What is left of a confined server: capabilities, filter, descriptors, ids, and who dies when. */
#include <grp.h>
#include <sched.h>

#include <linux/capability.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "gofer/confine.h"
#include "tests/unit/gofer/served.h"

enum {
    IMAGE = 3,
    SOCK = 4
};

/* The process that is about to write the id maps is killed: set by a test. */
static bool kill_before_maps;

static void kill_child(void)
{
    int child = 0;
    FILE *f = fopen("/proc/thread-self/children", "re");
    if (f == NULL || fscanf(f, "%d", &child) != 1 || child <= 0)
        _exit(0); /* there should be one */
    (void)fclose(f);
    (void)kill(child, SIGKILL);
}

/* The server's own code reaches the host's call through us. */
int unshare(int flags)
{
    if (kill_before_maps && (flags & CLONE_NEWUSER))
        kill_child();
    return (int)syscall(SYS_unshare, flags);
}

/* As the monitor does it. */
static pid_t fork_server(void)
{
    return (pid_t)syscall(SYS_clone, (geteuid() == 0 ? CLONE_NEWPID : 0) | SIGCHLD, 0, 0, 0, 0);
}

/* Puts the image and the socket where the monitor puts them, and leaves other descriptors open. */
static void place_descriptors(struct served *s, int sock)
{
    int image = fcntl(s->dir_fd, F_DUPFD, 20);
    int end = fcntl(sock, F_DUPFD, 20);
    (void)!dup2(image, IMAGE);
    (void)!dup2(end, SOCK);
}

static NORETURN void confined_main(struct served *s, int sock, uid_t uid)
{
    static const int roots[] = {IMAGE};
    struct confinement c;
    struct server *server;
    place_descriptors(s, sock);
    if (uid && (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 ||
                setresuid(uid, uid, uid) < 0 || prctl(PR_SET_DUMPABLE, 1) < 0))
        _exit(50);
    if (confine_namespaces(&c, NULL, false, NULL) < 0 ||
        confine_enter(&c, roots, 1, SOCK, NULL) < 0)
        _exit(51);
    if (server_new(roots, 1, &server) < 0)
        _exit(52);
    int rc = server_run(server, &(struct gofer_port){.sock = SOCK});
    _exit(rc == 0 ? 0 : 3);
}

static void confined_start(struct served *s, uid_t uid)
{
    int ends[2];
    struct error err;
    make_tree(s);
    if (uid)
        ck_assert_int_eq(fchownat(s->dir_fd, "secret", uid, uid, 0), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    s->pid = fork_server();
    if (s->pid == 0)
        confined_main(s, ends[1], uid);
    fd_close(ends[1]);
    s->sock = -1;
    error_init(&err);
    int rc = gofer_client_new(ends[0], 1, &s->client, &err);
    ck_assert_msg(rc == 0, "%s", err.text);
}

/* Value of a line of /proc/PID/status, as text. */
static void status_line(pid_t pid, const char *key, char ret[64])
{
    char path[64];
    char line[256];
    (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "re");
    ck_assert_ptr_nonnull(f);
    strcpy(ret, "(missing)");
    while (fgets(line, sizeof(line), f)) {
        size_t n = strlen(key);
        if (strncmp(line, key, n) == 0 && line[n] == ':')
            (void)sscanf(line + n + 1, " %63[^\n]", ret);
    }
    (void)fclose(f);
}

static uint64_t status_hex(pid_t pid, const char *key)
{
    char text[64];
    status_line(pid, key, text);
    return strtoull(text, NULL, 16);
}

/* Bit n is set if descriptor n is open. */
static uint64_t open_files(pid_t pid)
{
    char path[64];
    uint64_t set = 0;
    const struct dirent *e;
    (void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    DIR *d = opendir(path);
    ck_assert_ptr_nonnull(d);
    while ((e = readdir(d))) {
        if (e->d_name[0] != '.')
            set |= 1ull << (strtoul(e->d_name, NULL, 10) & 63);
    }
    closedir(d);
    return set;
}

static void check_posture(pid_t pid, uint64_t caps, uint64_t files)
{
    char text[64];
    ck_assert_uint_eq(status_hex(pid, "CapEff") & ~caps, 0);
    ck_assert_uint_eq(status_hex(pid, "CapPrm") & ~caps, 0);
    ck_assert_uint_eq(status_hex(pid, "CapInh"), 0);
    ck_assert_uint_eq(status_hex(pid, "CapBnd"), 0);
    ck_assert_uint_eq(status_hex(pid, "CapAmb"), 0);
    ck_assert_uint_eq(status_hex(pid, "NoNewPrivs"), 1);
    ck_assert_uint_eq(status_hex(pid, "Seccomp"), 2);
    ck_assert_uint_eq(open_files(pid) & ~files, 0);
    status_line(pid, "Uid", text);
    ck_assert(strtoul(text, NULL, 10) != 0);
}

static bool same_namespace(pid_t pid, const char *ns)
{
    char path[64];
    char own[64] = "";
    char other[64] = "";
    (void)snprintf(path, sizeof(path), "/proc/self/ns/%s", ns);
    (void)!readlink(path, own, sizeof(own) - 1);
    (void)snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, ns);
    (void)!readlink(path, other, sizeof(other) - 1);
    return strcmp(own, other) == 0;
}

static int read_file(struct served *s, const char *name)
{
    uint32_t node;
    struct gofer_attr a;
    int fd = -1;
    int rc = gofer_lookup(s->client, 0, name, strlen(name), &node, &a);
    if (rc == 0)
        rc = gofer_open(s->client, node, &fd);
    fd_close(fd);
    return rc;
}

TEST(posture_of_root)
{
    struct served s;
    if (geteuid() != 0)
        return;
    confined_start(&s, 0);
    static const char *const all[] = {"user", "mnt", "pid", "net", "ipc", "uts"};
    /* The socket, the root, the log; the greeting opened nothing. Bit 2: CAP_DAC_READ_SEARCH. */
    check_posture(s.pid, 1 << 2, 1 << 2 | 1 << IMAGE | 1 << SOCK);
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        ck_assert_msg(!same_namespace(s.pid, all[i]), "%s", all[i]);
    ck_assert_int_eq(read_file(&s, "plain"), 0);
    ck_assert_int_eq(read_file(&s, "secret"), 0);
    served_stop(&s);
}
END_TEST

TEST(posture_of_a_user)
{
    struct served s;
    uint32_t node;
    struct gofer_attr a;
    if (geteuid() != 0)
        return;
    confined_start(&s, 4242);
    check_posture(s.pid, 1 << 2, 1 << 2 | 1 << IMAGE | 1 << SOCK);
    ck_assert_int_eq(read_file(&s, "plain"), 0);
    ck_assert_int_eq(read_file(&s, "secret"), 0); /* the user's own */
    ck_assert_int_eq(gofer_lookup(s.client, 0, "secret", 6, &node, &a), 0);
    ck_assert_uint_eq(a.uid, 0);
    ck_assert_int_eq(gofer_lookup(s.client, 0, "plain", 5, &node, &a), 0);
    ck_assert_uint_eq(a.uid, 65534);
    served_stop(&s);
}
END_TEST

TEST(all_die_with_the_monitor)
{
    struct served s;
    int ends[2];
    char byte;
    make_tree(&s);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    pid_t monitor = fork();
    if (monitor == 0) {
        if (fork_server() == 0)
            confined_main(&s, ends[1], 0);
        fd_close(ends[1]);
        fd_close(ends[0]);
        for (;;)
            (void)pause();
    }
    fd_close(ends[1]);
    struct error err;
    ck_assert_int_eq(gofer_client_new(dup(ends[0]), 1, &s.client, &err), 0);
    ck_assert_int_eq(kill(monitor, SIGKILL), 0);
    ck_assert_int_eq(waitpid(monitor, NULL, 0), monitor);
    ck_assert_int_eq(recv(ends[0], &byte, 1, 0), 0); /* the last holder of the other end is gone */
    gofer_client_free(s.client);
    fd_close(ends[0]);
    remove_tree(&s);
}
END_TEST

/* --- what a server that an attacker took over can still do ----------------------------------- */

static void try_open(void)
{
    (void)!syscall(SYS_openat, IMAGE, "plain", O_RDONLY);
}

static void try_unlink(void)
{
    (void)unlinkat(IMAGE, "plain", 0);
}

static void try_socket(void)
{
    (void)socket(AF_INET, SOCK_STREAM, 0);
}

static void try_exec(void)
{
    (void)execl("/bin/true", "true", NULL);
}

static void try_fork(void)
{
    (void)!syscall(SYS_vfork);
}

static void try_write(void)
{
    (void)!write(SOCK, "x", 1);
}

static void try_mount(void)
{
    (void)mount("none", "/", "tmpfs", 0, NULL);
}

static void try_chroot(void)
{
    (void)!chroot(".");
}

static void try_kill(void)
{
    (void)kill(1, SIGTERM);
}

static pid_t confined_fork(struct served *s, void (*attempt)(void))
{
    static const int roots[] = {IMAGE};
    pid_t pid = fork_server();
    if (pid == 0) {
        struct confinement c;
        place_descriptors(s, s->dir_fd);
        if (confine_namespaces(&c, NULL, false, NULL) < 0 ||
            confine_enter(&c, roots, 1, SOCK, NULL) < 0)
            _exit(51);
        attempt();
        _exit(0);
    }
    return pid;
}

static int attempt_status(struct served *s, void (*attempt)(void))
{
    int status;
    pid_t pid = confined_fork(s, attempt);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(forbidden_calls_kill)
{
    static void (*const attempts[])(void) = {try_open,  try_unlink, try_socket, try_exec, try_fork,
                                             try_write, try_mount,  try_chroot, try_kill};
    struct served s;
    make_tree(&s);
    for (size_t i = 0; i < ARRAY_LEN(attempts); i++)
        ck_assert_msg(attempt_status(&s, attempts[i]) == 128 + SIGSYS, "attempt %zu", i);
    remove_tree(&s);
}
END_TEST

/* openat2 is allowed, and its arguments are out of the filter's sight. */
static void try_openat2(void)
{
    static const struct {
        const char *path;
        uint64_t flags;
        bool works;
    } tries[] = {
        {"plain", O_RDONLY, true},
        {"plain", O_RDWR, false},
        {"plain", O_WRONLY | O_TRUNC, false},
        {"new", O_WRONLY | O_CREAT, false},
        {"null", O_RDONLY, false},
        {"/proc/self/mem", O_RDONLY, false},
        {"/etc/passwd", O_RDONLY, false},
        {"../../../../../etc/passwd", O_RDONLY, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(tries); i++) {
        struct {
            uint64_t flags, mode, resolve;
        } how = {.flags = tries[i].flags, .mode = tries[i].flags & O_CREAT ? 0644 : 0};
        long fd = syscall(SYS_openat2, IMAGE, tries[i].path, &how, sizeof(how));
        if ((fd >= 0) != tries[i].works)
            _exit(10 + (int)i);
    }
}

TEST(nothing_else_to_open)
{
    struct served s;
    make_tree(&s);
    pid_t probe = confined_fork(&s, try_openat2);
    int status;
    ck_assert_int_eq(waitpid(probe, &status, 0), probe);
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    remove_tree(&s);
}
END_TEST

static int namespaces_status(struct served *s, uid_t uid, bool alone)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        struct confinement c;
        place_descriptors(s, s->dir_fd);
        struct rlimit none = {0, 0};
        if (uid && (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 ||
                    setresuid(uid, uid, uid) < 0 || prctl(PR_SET_DUMPABLE, 1) < 0 ||
                    (alone && setrlimit(RLIMIT_NPROC, &none) < 0)))
            _exit(50);
        _exit(confine_namespaces(&c, NULL, false, NULL) < 0 ? 51 : 0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Whoever writes the maps killed, or no room for that process: no server, and never a weaker one.
 */
TEST(half_a_namespace_is_none)
{
    struct served s;
    make_tree(&s);
    kill_before_maps = true;
    ck_assert_int_eq(namespaces_status(&s, 0, false), 51);
    if (geteuid() == 0)
        ck_assert_int_eq(namespaces_status(&s, 12345, false), 51);
    kill_before_maps = false;
    if (geteuid() == 0)
        ck_assert_int_eq(namespaces_status(&s, 12345, true), 51);
    remove_tree(&s);
}
END_TEST

/* Root without CAP_SETFCAP could map no id of root's: no user namespace, but all the others. */
TEST(root_who_may_not_map_itself)
{
    int status;
    if (geteuid() != 0)
        return;
    pid_t pid = fork_server();
    if (pid == 0) {
        struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
        struct __user_cap_data_struct caps[2];
        struct confinement c;
        if (syscall(SYS_capget, &h, caps) < 0)
            _exit(50);
        caps[0].effective &= ~(1u << CAP_SETFCAP);
        if (syscall(SYS_capset, &h, caps) < 0)
            _exit(50);
        if (confine_namespaces(&c, NULL, false, NULL) < 0)
            _exit(51);
        _exit(c.namespaces && c.pid && !c.userns && !c.single_id ? 0 : 52);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}
END_TEST

TEST_SUITE(gofer_confine)
{
    TEST_ADD(half_a_namespace_is_none);
    TEST_ADD(root_who_may_not_map_itself);
    TEST_ADD(posture_of_root);
    TEST_ADD(posture_of_a_user);
    TEST_ADD(all_die_with_the_monitor);
    TEST_ADD(forbidden_calls_kill);
    TEST_ADD(nothing_else_to_open);
}
