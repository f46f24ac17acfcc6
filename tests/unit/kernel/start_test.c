/* Processes that exec into a running kernel. */
#include "abi/errno.h"

#include "lib/error.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/session.h"
#include "tests/support/box.h"
#include "tests/support/elf_image.h"
#include "tests/support/test.h"

static struct kernel_start sample(const char *const *argv)
{
    static const char *const env[] = {"PATH=/bin:/", NULL};
    return (struct kernel_start){
        .argv = argv,
        .envp = env,
        .cwd = "/",
        .uid = 7,
        .gid = 8,
        .caps = {.bounding = 3, .permitted = 3, .inheritable = 1, .ambient = 1},
        .no_new_privs = true,
        .umask = 077,
        .oom_score_adj = 5,
        .rlimits_given = 1u << LX_RLIMIT_NOFILE,
        .rlimit[LX_RLIMIT_NOFILE] = {9, 10},
        .stdio = {-1, -1, -1},
    };
}

TEST(exec_process)
{
    static const char *const argv[] = {"prog", NULL};
    struct thread_group *tg;
    struct error err;
    bool exec_failed;

    box_begin();
    ck_assert_int_eq(box_program(box.th, "/prog"), 0);
    struct kernel_start start = sample(argv);
    error_init(&err);
    ck_assert_int_eq(kernel_exec_process(&start, &tg, &exec_failed, &err), 0);
    struct plat_thread *th = tg->leader->pth;
    ck_assert_uint_eq(limit_used(LIMIT_TASKS), 2);
    ck_assert_uint_eq(tg->pid, 2);
    ck_assert_int_eq(box_call(th, NR_getppid, 0), 0);
    ck_assert_int_eq(box_call(th, NR_getsid, 0), 2);
    ck_assert_int_eq(box_call(th, NR_getpgrp, 0), 2);
    ck_assert_int_eq(box_call(th, NR_getuid, 0), 7);
    ck_assert_int_eq(box_call(th, NR_getegid, 0), 8);
    ck_assert_int_eq(box_call(th, NR_umask, 0), 077);
    ck_assert(tg->leader->no_new_privs);
    ck_assert_int_eq(tg->oom_score_adj, 5);
    ck_assert_uint_eq(tg->rlimit[LX_RLIMIT_NOFILE].rlim_max, 10);
    /* Not root: what it keeps over exec is the ambient set. */
    ck_assert_uint_eq(tg->leader->cred->cap_effective, 1);
    ck_assert_uint_eq(tg->leader->cred->cap_permitted, 1);
    ck_assert_uint_eq(tg->leader->cred->cap_bounding, 3);
    /* Its orphans are init's. */
    struct plat_thread *child = box_fork(th);
    ck_assert_int_eq(box_call(th, NR_exit_group, 6), FAKE_GONE);
    ck_assert(tg->zombie);
    ck_assert_int_eq(tg->exit_code, 6 << 8);
    ck_assert_ptr_null(task_by_pid(2)); /* nobody waits for it */
    ck_assert_int_eq(box_call(child, NR_getppid, 0), 1);
    thread_group_put(tg);
    box_end();
}

TEST(what_cannot_be_executed)
{
    static const struct {
        const char *name, *text;
        int err;
    } cases[] = {
        {"nosuch", "exec: \"nosuch\": executable file not found in $PATH", -ENOENT},
        {"/nosuch", "exec: \"/nosuch\": stat /nosuch: no such file or directory", -ENOENT},
        {"/", "exec: \"/\": permission denied", -EACCES},
        {"/text", "exec /text: exec format error", -ENOEXEC},
        {"", "exec: \"\": executable file not found in $PATH", -ENOENT},
    };
    struct thread_group *tg;
    struct error err;
    bool exec_failed;

    box_begin();
    ck_assert_int_eq(box_program(box.th, "/prog"), 0);
    elf_image_install("/text", "text", 4);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *argv[] = {cases[i].name, NULL};
        struct kernel_start start = sample(argv);
        error_init(&err);
        ck_assert_int_eq(kernel_exec_process(&start, &tg, &exec_failed, &err), cases[i].err);
        ck_assert(exec_failed);
        ck_assert_str_eq(err.text, cases[i].text);
        ck_assert_uint_eq(limit_used(LIMIT_TASKS), 1);
    }
    const char *argv[] = {"/prog", NULL};
    struct kernel_start start = sample(argv);
    start.cwd = "/nowhere";
    error_init(&err);
    ck_assert_int_eq(kernel_exec_process(&start, &tg, &exec_failed, &err), -ENOENT);
    ck_assert(!exec_failed);
    limit_set(LIMIT_TASKS, 1);
    start.cwd = "/";
    error_init(&err);
    ck_assert_int_eq(kernel_exec_process(&start, &tg, &exec_failed, &err), -EAGAIN);
    ck_assert(!kernel.ended);
    box_end();
}

TEST(failing_allocations)
{
    static const char *const argv[] = {"/prog", NULL};
    box_begin();
    ck_assert_int_eq(box_program(box.th, "/prog"), 0);
    struct kernel_start start = sample(argv);
    struct thread_group *tg;
    struct error err;
    bool exec_failed;
    /* Once without failures: what is made on first use is there afterwards. */
    error_init(&err);
    ck_assert_int_eq(kernel_exec_process(&start, &tg, &exec_failed, &err), 0);
    thread_group_exit(tg, 0);
    thread_group_put(tg);
    for_each_failure {
        error_init(&err);
        int r = kernel_exec_process(&start, &tg, &exec_failed, &err);
        ck_assert_msg(r == 0 || r == -ENOMEM || r == -EIO, "%d", r);
        if (r == 0) {
            thread_group_exit(tg, 0);
            thread_group_put(tg);
        }
        ck_assert_uint_eq(limit_used(LIMIT_TASKS), 1);
    }
    for (uint64_t n = 1; n < 12; n++) {
        error_init(&err);
        fake_fail_after(box.p, n, -ENOMEM);
        int r = kernel_exec_process(&start, &tg, &exec_failed, &err);
        fake_fail_after(box.p, 0, 0);
        if (r == 0) {
            thread_group_exit(tg, 0);
            thread_group_put(tg);
        }
        ck_assert_uint_eq(limit_used(LIMIT_TASKS), 1);
    }
    box_end();
}

/* Signals to a container's first process: pid_namespaces(7). */
TEST(protected_init)
{
    box_begin();
    kernel.init_protected = true;
    struct thread_group *init = box.task->group;
    struct plat_thread *child = box_fork(box.th);
    ck_assert_int_eq(box_call(child, NR_kill, 1, LX_SIGKILL), 0);
    ck_assert_int_eq(box_call(child, NR_kill, 1, LX_SIGTERM), 0);
    ck_assert_int_eq(signal_send_outside(init, LX_SIGTERM), 0);
    signal_send_kernel_group(init, LX_SIGINT);
    box_run();
    ck_assert(!init->zombie && !kernel.ended);
    ck_assert_uint_eq(signal_pending_set(box.task), 0);
    /* Blocked, it waits; let in, it is dropped. */
    box_mask(box.th, 1ull << (LX_SIGTERM - 1));
    ck_assert_int_eq(signal_send_outside(init, LX_SIGTERM), 0);
    ck_assert_uint_eq(signal_pending_set(box.task), 1ull << (LX_SIGTERM - 1));
    box_mask(box.th, 0);
    box_run();
    ck_assert(!init->zombie);
    ck_assert_uint_eq(signal_pending_set(box.task), 0);
    ck_assert_int_eq(signal_send_outside(init, LX_SIGKILL), 0);
    box_run();
    ck_assert(init->zombie);
    ck_assert_int_eq(kernel.exit_status, LX_SIGKILL);
    box_end();
}

TEST_SUITE(start)
{
    TEST_ADD(exec_process);
    TEST_ADD(what_cannot_be_executed);
    TEST_ADD(failing_allocations);
    TEST_ADD(protected_init);
}
