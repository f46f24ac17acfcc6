/*
 * sentry/cli/cgroup against made-up trees: v2, v1, hybrid, none, not permitted; the end of the
 * maker. mkdir and rmdir are ours here, so that a new directory has the files that the kernel would
 * put there, and goes with them.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "lib/error.h"
#include "sentry/cli/cgroup.h"
#include "tests/support/test.h"

static char tree[64];
static int refuse;          /* errno of mkdir inside of the tree, 0: none */
static const char *no_file; /* a file that new groups lack */
static bool join_refused;   /* cgroup.procs cannot be written */

static const char *const files[] = {"cgroup.procs",
                                    "tasks",
                                    "cgroup.kill",
                                    "memory.max",
                                    "memory.events",
                                    "memory.peak",
                                    "memory.swap.max",
                                    "cpu.max",
                                    "memory.oom.group",
                                    "memory.limit_in_bytes",
                                    "memory.memsw.limit_in_bytes",
                                    "memory.max_usage_in_bytes",
                                    "memory.oom_control",
                                    "cgroup.event_control",
                                    "cpu.cfs_quota_us",
                                    "freezer.state"};

static void put(const char *where, const char *name, const char *text)
{
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/%s", where, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    (void)close(fd);
}

static const char *get(const char *where, const char *name)
{
    static char text[256];
    char path[640];
    (void)snprintf(path, sizeof(path), "%s/%s", where, name);
    int fd = open(path, O_RDONLY);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
    if (fd >= 0)
        (void)close(fd);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

/* Only v1 has the file "tasks". */
static bool is_v2(void)
{
    return get(tree, "cgroup.controllers")[0] != '\0';
}

static bool in_tree(const char *path)
{
    return tree[0] != '\0' && strncmp(path, tree, strlen(tree)) == 0 &&
           strstr(path, "/sentry-") != NULL;
}

int mkdir(const char *path, mode_t mode)
{
    if (in_tree(path) && refuse != 0) {
        errno = refuse;
        return -1;
    }
    if (syscall(SYS_mkdir, path, mode) < 0)
        return -1;
    for (size_t i = 0; in_tree(path) && i < ARRAY_LEN(files); i++) {
        char name[512];
        (void)snprintf(name, sizeof(name), "%s/%s", path, files[i]);
        if (no_file != NULL && strcmp(files[i], no_file) == 0)
            continue;
        if (i == 1 && is_v2())
            continue;
        if (i <= 1 && join_refused)
            (void)syscall(SYS_mkdir, name, 0755);
        else
            put(path, files[i], "");
    }
    return 0;
}

int rmdir(const char *path)
{
    char name[512];
    for (size_t i = 0; in_tree(path) && i < ARRAY_LEN(files); i++) {
        (void)snprintf(name, sizeof(name), "%s/%s", path, files[i]);
        if (unlink(name) < 0)
            (void)syscall(SYS_rmdir, name);
    }
    return (int)syscall(SYS_rmdir, path);
}

/* Groups of a run in the whole tree. */
static int groups(void)
{
    char command[128], text[16] = "";
    (void)snprintf(command, sizeof(command), "find %s -name 'sentry-*' -type d | wc -l", tree);
    FILE *f = popen(command, "r");
    ck_assert_ptr_nonnull(f);
    ck_assert_ptr_nonnull(fgets(text, sizeof(text), f));
    (void)pclose(f);
    return atoi(text);
}

static void below(const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/%s", tree, name);
    ck_assert_int_eq((int)syscall(SYS_mkdir, path, 0755), 0);
}

static struct cgroup_want want;
static char self_file[96];

static void begin(const char *self)
{
    (void)snprintf(tree, sizeof(tree), "/tmp/cgroup.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(tree));
    put(tree, "self", self);
    (void)snprintf(self_file, sizeof(self_file), "%s/self", tree);
    want = (struct cgroup_want){.memory = 64 << 20, .mount = tree, .self = self_file};
    refuse = 0;
    no_file = NULL;
    join_refused = false;
}

static void end(void)
{
    char command[128];
    ck_assert_int_eq(groups(), 0);
    (void)snprintf(command, sizeof(command), "rm -rf %s", tree);
    ck_assert_int_eq(system(command), 0);
    tree[0] = '\0';
}

static void make(struct cgroup *cg, enum cgroup_kind memory)
{
    struct error err;
    error_init(&err);
    ck_assert_msg(cgroup_make(cg, &want, &err) == 0, "%s", err.text);
    cgroup_watch(cg);
    ck_assert_int_eq(cg->memory, memory);
}

/* A process that was not born in the group enters it. */
static void join(struct cgroup *cg)
{
    struct cgroup_entry e;
    cgroup_entry_open(cg, false, &e);
    cgroup_enter(&e);
    cgroup_entered(cg, false, &e);
    cgroup_entry_done(&e);
}

TEST(v2_beside_the_caller)
{
    struct cgroup cg;
    char base[128];
    begin("0::/user.slice/app.scope\n");
    put(tree, "cgroup.controllers", "memory cpu\n");
    below("user.slice");
    want.cpus_milli = 1500;
    make(&cg, CGROUP_V2);
    ck_assert_int_eq(cg.cpu, CGROUP_V2);
    (void)snprintf(base, sizeof(base), "%s/user.slice/sentry-", tree);
    ck_assert_int_eq(strncmp(cg.memory_dir, base, strlen(base)), 0);
    ck_assert_str_eq(get(cg.memory_dir, "memory.max"), "67108864");
    ck_assert_str_eq(get(cg.memory_dir, "memory.swap.max"), "0");
    ck_assert_str_eq(get(cg.memory_dir, "memory.oom.group"), "1");
    ck_assert_str_eq(get(cg.memory_dir, "cpu.max"), "150000 100000");
    join(&cg);
    ck_assert_str_eq(get(cg.memory_dir, "cgroup.procs"), "0");
    ck_assert_int_eq(cg.memory, CGROUP_V2);
    ck_assert(!cgroup_oom(&cg));
    put(cg.memory_dir, "memory.events",
        "low 0\nhigh 0\nmax 7\noom 1\noom_kill 2\noom_group_kill 1\n");
    ck_assert(cgroup_oom(&cg));
    put(cg.memory_dir, "memory.peak", "12345678\n");
    ck_assert_uint_eq(cgroup_memory_peak(&cg), 12345678);
    cgroup_kill(&cg);
    ck_assert_str_eq(get(cg.memory_dir, "cgroup.kill"), "1");
    cgroup_sweep(&cg);
    cgroup_remove(&cg);
    end();
}

TEST(v2_asks_for_the_controller)
{
    struct cgroup cg;
    begin("0::/\n");
    put(tree, "cgroup.controllers", "memory cpu\n");
    put(tree, "cgroup.subtree_control", "");
    no_file = "memory.max";
    make(&cg, CGROUP_NONE);
    ck_assert_str_eq(get(tree, "cgroup.subtree_control"), "+memory");
    cgroup_remove(&cg);
    end();
}

TEST(v1_below_the_caller)
{
    struct cgroup cg;
    begin("4:memory:/jobs\n3:cpu,cpuacct:/\n6:freezer:/\n0::/\n");
    below("memory");
    below("memory/jobs");
    below("cpu");
    want.cpus_milli = 500;
    make(&cg, CGROUP_V1);
    ck_assert_int_eq(cg.cpu, CGROUP_V1);
    ck_assert_ptr_nonnull(strstr(cg.memory_dir, "/memory/jobs/sentry-"));
    ck_assert_str_eq(get(cg.memory_dir, "memory.limit_in_bytes"), "67108864");
    ck_assert_str_eq(get(cg.memory_dir, "memory.memsw.limit_in_bytes"), "67108864");
    ck_assert_str_eq(get(cg.cpu_dir, "cpu.cfs_quota_us"), "50000");
    ck_assert_int_ge(cg.oom_fd, 0);
    ck_assert_str_ne(get(cg.memory_dir, "cgroup.event_control"), "");
    put(cg.memory_dir, "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
    ck_assert(cgroup_oom(&cg));
    put(cg.memory_dir, "memory.max_usage_in_bytes", "4096\n");
    ck_assert_uint_eq(cgroup_memory_peak(&cg), 4096);
    cgroup_remove(&cg);
    end();
}

/* Memory from v1 although v2 is mounted, without its controller. */
TEST(hybrid)
{
    struct cgroup cg;
    begin("4:memory:/\n0::/\n");
    put(tree, "cgroup.controllers", "\n");
    below("memory");
    no_file = "memory.max";
    make(&cg, CGROUP_V1);
    cgroup_remove(&cg);
    end();
}

TEST(nothing_there)
{
    struct cgroup cg;
    struct error err;
    begin("");
    make(&cg, CGROUP_NONE);
    ck_assert_str_ne(cg.missing, "");
    cgroup_remove(&cg);
    error_init(&err);
    want.choice = CGROUP_ONLY_V2;
    ck_assert_int_lt(cgroup_make(&cg, &want, &err), 0);
    ck_assert_ptr_nonnull(strstr(err.text, "v2"));
    want.choice = CGROUP_ONLY_V1;
    ck_assert_int_lt(cgroup_make(&cg, &want, &err), 0);
    ck_assert_ptr_nonnull(strstr(err.text, "'memory'"));
    want.choice = CGROUP_OFF;
    make(&cg, CGROUP_NONE);
    cgroup_remove(&cg);
    end();
}

TEST(not_permitted)
{
    struct cgroup cg;
    struct error err;
    begin("4:memory:/\n0::/\n");
    put(tree, "cgroup.controllers", "memory\n");
    below("memory");
    refuse = EACCES;
    make(&cg, CGROUP_NONE);
    ck_assert_ptr_nonnull(strstr(cg.missing, "Permission denied"));
    cgroup_remove(&cg);
    error_init(&err);
    want.choice = CGROUP_ONLY_V2;
    ck_assert_int_lt(cgroup_make(&cg, &want, &err), 0);
    ck_assert_ptr_nonnull(strstr(err.text, "Permission denied"));
    end();
}

/* A group that a process cannot be put into holds nothing, and does not pretend to. */
TEST(not_joined)
{
    struct cgroup cg;
    begin("0::/\n");
    put(tree, "cgroup.controllers", "memory\n");
    join_refused = true;
    make(&cg, CGROUP_V2);
    join(&cg);
    ck_assert_int_eq(cg.memory, CGROUP_NONE);
    ck_assert_ptr_nonnull(strstr(cg.missing, "cannot be joined"));
    cgroup_remove(&cg);
    end();
}

static void wait_for_no_groups(void)
{
    const struct timespec pause = {0, 10000000};
    for (int i = 0; i < 2000 && groups() > 0; i++)
        (void)nanosleep(&pause, NULL);
}

/* The maker dies at any point: the groups are removed all the same. */
static void dies(int step)
{
    struct cgroup cg;
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        struct error err;
        error_init(&err);
        if (cgroup_make(&cg, &want, &err) < 0)
            _exit(1);
        if (step >= 1)
            join(&cg);
        if (step >= 2)
            cgroup_kill(&cg);
        (void)kill(getpid(), SIGKILL);
    }
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status));
    wait_for_no_groups();
}

TEST(maker_dies)
{
    begin("4:memory:/\n0::/\n");
    put(tree, "cgroup.controllers", "memory\n");
    below("memory");
    for (int step = 0; step < 3; step++)
        dies(step);
    want.choice = CGROUP_ONLY_V1;
    dies(0);
    end();
}

TEST(v1_sweep_kills_and_freezes)
{
    struct cgroup cg;
    char text[32];
    int status;
    begin("4:memory:/\n6:freezer:/\n");
    below("memory");
    below("freezer");
    make(&cg, CGROUP_V1);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        for (;;)
            (void)pause();
    }
    (void)snprintf(text, sizeof(text), "0\n%d\n", (int)pid);
    put(cg.memory_dir, "cgroup.procs", text);
    cgroup_sweep(&cg);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    put(cg.memory_dir, "cgroup.procs", "");
    cgroup_sweep(&cg);
    cgroup_remove(&cg);
    end();
}

TEST_SUITE(cli_cgroup)
{
    TEST_ADD(v2_beside_the_caller);
    TEST_ADD(v2_asks_for_the_controller);
    TEST_ADD(v1_below_the_caller);
    TEST_ADD(hybrid);
    TEST_ADD(nothing_there);
    TEST_ADD(not_permitted);
    TEST_ADD(not_joined);
    TEST_ADD(maker_dies);
    TEST_ADD(v1_sweep_kills_and_freezes);
}
