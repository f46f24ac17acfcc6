/* System V IPC: semaphores, messages, shared memory. */
#include <string.h>

#include "abi/errno.h"
#include "abi/misc.h"
#include "abi/time.h"

#include "sentry/fs/vfs.h"
#include "sentry/kernel/limits.h"
#include "tests/support/box.h"
#include "tests/support/test.h"

#define A     BOX_MEM
#define B     (BOX_MEM + 4096)
#define IPC_R (LX_IPC_CREAT | 0600)

static int64_t semop(struct plat_thread *th, uint64_t id, uint16_t num, int op, int flags)
{
    struct lx_sembuf sb = {num, (int16_t)op, (int16_t)flags};

    box_write(th, A, &sb, sizeof(sb));
    return box_call(th, NR_semop, id, A, 1);
}

static int64_t semval(uint64_t id, uint64_t num)
{
    return box_call(box.th, NR_semctl, id, num, LX_GETVAL);
}

TEST(keys)
{
    box_begin();
    ck_assert_int_eq(box_call(box.th, NR_semget, 5, 1, 0600), -ENOENT);
    int64_t id = box_call(box.th, NR_semget, 5, 2, IPC_R);
    ck_assert_int_ge(id, 0);
    ck_assert_int_eq(box_call(box.th, NR_semget, 5, 2, IPC_R), id);
    ck_assert_int_eq(box_call(box.th, NR_semget, 5, 2, IPC_R | LX_IPC_EXCL), -EEXIST);
    ck_assert_int_eq(box_call(box.th, NR_semget, 5, 3, 0), -EINVAL);
    ck_assert_int_ne(box_call(box.th, NR_semget, LX_IPC_PRIVATE, 1, 0600), id);
    ck_assert_int_eq(box_call(box.th, NR_semctl, (uint64_t)id, 0, LX_IPC_RMID), 0);
    ck_assert_int_eq(semval((uint64_t)id, 0), -EINVAL); /* a stale id */
    int64_t again = box_call(box.th, NR_semget, 5, 1, IPC_R);
    ck_assert_int_ne(again, id);
    struct plat_thread *child = box_fork(box.th);
    ck_assert_int_eq(box_call(child, NR_setresuid, 7, 7, 7), 0);
    ck_assert_int_eq(box_call(child, NR_semget, 5, 1, 0600), -EACCES);
    ck_assert_int_eq(box_call(child, NR_semctl, (uint64_t)again, 0, LX_GETVAL), -EACCES);
    ck_assert_int_eq(box_call(child, NR_semctl, (uint64_t)again, 0, LX_IPC_RMID), -EPERM);
    box_end();
}

TEST(as_many_as_the_configuration_has)
{
    box_begin();
    ck_assert_int_eq(sysctl_set("kernel.msgmni", "1"), 0);
    ck_assert_int_ge(box_call(box.th, NR_msgget, 0, 0600), 0);
    ck_assert_int_eq(box_call(box.th, NR_msgget, 0, 0600), -ENOSPC);
    ck_assert_int_ge(box_call(box.th, NR_shmget, 0, 4096, 0600), 0);
    ck_assert_int_eq(sysctl_set("kernel.shmmni", "1"), 0);
    ck_assert_int_eq(box_call(box.th, NR_shmget, 0, 4096, 0600), -ENOSPC);
    box_end();
}

TEST(semaphores)
{
    box_begin();
    uint64_t id = (uint64_t)box_call(box.th, NR_semget, 0, 3, 0600);
    struct plat_thread *child = box_fork(box.th);
    ck_assert_int_eq(semop(box.th, id, 1, 2, 0), 0);
    ck_assert_int_eq(semval(id, 1), 2);
    ck_assert_int_eq(semop(box.th, id, 1, 0, LX_IPC_NOWAIT), -EAGAIN);
    ck_assert_int_eq(semop(box.th, id, 3, 1, 0), -EFBIG);
    ck_assert_int_eq(semop(box.th, id, 1, LX_SEMVMX, 0), -ERANGE);
    ck_assert_int_eq(semop(child, id, 1, -3, 0), FAKE_BLOCKED);
    ck_assert_int_eq(box_call(box.th, NR_semctl, id, 1, LX_GETNCNT), 1);
    ck_assert_int_eq(box_call(box.th, NR_semctl, id, 1, LX_GETZCNT), 0);
    ck_assert_int_eq(box_call(box.th, NR_semctl, id, 0, LX_GETNCNT), 0);
    ck_assert_int_eq(semop(box.th, id, 1, 1, 0), 0);
    ck_assert_int_eq(fake_result(child), 0);
    ck_assert_int_eq(semval(id, 1), 0);
    ck_assert_int_eq(box_call(box.th, NR_semctl, id, 1, LX_GETPID), 2);
    /* All of an array or nothing. */
    struct lx_sembuf two[2] = {{0, 1, 0}, {1, -1, LX_IPC_NOWAIT}};
    box_write(box.th, A, two, sizeof(two));
    ck_assert_int_eq(box_call(box.th, NR_semop, id, A, 2), -EAGAIN);
    ck_assert_int_eq(semval(id, 0), 0);
    ck_assert_int_eq(box_call(box.th, NR_semop, id, A, 501), -E2BIG);
    ck_assert_int_eq(box_call(box.th, NR_semop, id, A, 0), -EINVAL);
    ck_assert_int_eq(box_call(box.th, NR_semctl, id, 0, LX_SETVAL, 70000), -ERANGE);
    /* Removal ends the waits. */
    ck_assert_int_eq(semop(child, id, 0, -1, 0), FAKE_BLOCKED);
    ck_assert_int_eq(box_call(box.th, NR_semctl, id, 0, LX_IPC_RMID), 0);
    ck_assert_int_eq(fake_result(child), -EIDRM);
    box_end();
}

TEST(semtimedop)
{
    box_begin();
    uint64_t id = (uint64_t)box_call(box.th, NR_semget, 0, 1, 0600);
    struct lx_sembuf sb = {0, -1, 0};
    box_write(box.th, A, &sb, sizeof(sb));
    box_write(box.th, B, &(struct lx_timespec){5, 0}, 16);
    ck_assert_int_eq(box_call(box.th, NR_semtimedop, id, A, 1, B), FAKE_BLOCKED);
    box_advance(6 * NSEC_PER_SEC);
    ck_assert_int_eq(fake_result(box.th), -EAGAIN);
    box_end();
}

TEST(undo)
{
    box_begin();
    uint64_t id = (uint64_t)box_call(box.th, NR_semget, 0, 1, 0600);
    struct plat_thread *child = box_fork(box.th);
    ck_assert_int_eq(semop(child, id, 0, 5, LX_SEM_UNDO), 0);
    ck_assert_int_eq(semop(child, id, 0, -1, LX_SEM_UNDO), 0);
    ck_assert_int_eq(semop(box.th, id, 0, 2, 0), 0);
    ck_assert_int_eq(semval(id, 0), 6);
    ck_assert_int_eq(semop(box.th, id, 0, 0, 0), FAKE_BLOCKED);
    ck_assert_int_eq(box_call(child, NR_exit, 0), FAKE_GONE);
    ck_assert_int_eq(fake_result(box.th), FAKE_BLOCKED);
    box_end();
    /* The adjustment has a range of its own. */
    box_begin();
    id = (uint64_t)box_call(box.th, NR_semget, 0, 1, 0600);
    ck_assert_int_eq(semop(box.th, id, 0, 32767, LX_SEM_UNDO), 0);
    ck_assert_int_eq(semop(box.th, id, 0, -32767, 0), 0);
    ck_assert_int_eq(semop(box.th, id, 0, 2, LX_SEM_UNDO), -ERANGE);
    ck_assert_int_eq(semval(id, 0), 0);
    box_end();
}

/* Each process's adjustments are counted: a guest could make many large ones. */
TEST(undo_is_charged)
{
    box_begin();
    uint64_t id = (uint64_t)box_call(box.th, NR_semget, 0, 1000, 0600);
    uint64_t before = limit_used(LIMIT_IPC);
    struct plat_thread *child = box_fork(box.th);
    ck_assert_int_eq(semop(child, id, 0, 1, LX_SEM_UNDO), 0);
    uint64_t one = limit_used(LIMIT_IPC) - before;
    ck_assert_uint_ge(one, 2000);
    ck_assert_int_eq(semop(child, id, 999, 1, LX_SEM_UNDO), 0);
    ck_assert_uint_eq(limit_used(LIMIT_IPC), before + one);
    limit_set(LIMIT_IPC, before + 2 * one - 1);
    ck_assert_int_eq(semop(box.th, id, 0, 1, LX_SEM_UNDO), -ENOMEM);
    ck_assert_int_eq(semval(id, 0), 1);
    ck_assert_int_eq(box_call(child, NR_exit_group, 0), FAKE_GONE);
    ck_assert_uint_eq(limit_used(LIMIT_IPC), before);
    ck_assert_int_eq(semop(box.th, id, 0, 1, LX_SEM_UNDO), 0);
    ck_assert_int_eq(box_call(box.th, NR_semctl, id, 0, LX_IPC_RMID), 0);
    ck_assert_uint_lt(limit_used(LIMIT_IPC), before);
    box_end();
}

static int64_t send(struct plat_thread *th, uint64_t id, int64_t type, const char *text, int flags)
{
    struct {
        int64_t type;
        char text[64];
    } m = {.type = type};

    memcpy(m.text, text, strlen(text));
    box_write(th, A, &m, sizeof(m));
    return box_call(th, NR_msgsnd, id, A, strlen(text), (uint64_t)flags);
}

static int64_t receive(struct plat_thread *th, uint64_t id, int64_t type, int flags)
{
    return box_call(th, NR_msgrcv, id, B, 64, (uint64_t)type, (uint64_t)flags);
}

static void check_text(const char *text)
{
    char got[64] = {0};

    box_read(box.th, B + 8, got, strlen(text));
    ck_assert_str_eq(got, text);
}

TEST(messages)
{
    box_begin();
    uint64_t id = (uint64_t)box_call(box.th, NR_msgget, 0, 0600);
    struct plat_thread *child = box_fork(box.th);
    ck_assert_int_eq(receive(box.th, id, 0, LX_IPC_NOWAIT), -ENOMSG);
    ck_assert_int_eq(send(box.th, id, 0, "x", 0), -EINVAL);
    ck_assert_int_eq(send(box.th, id, 3, "three", 0), 0);
    ck_assert_int_eq(send(box.th, id, 1, "one", 0), 0);
    ck_assert_int_eq(send(box.th, id, 2, "two", 0), 0);
    ck_assert_int_eq(receive(box.th, id, 2, 0), 3);
    check_text("two");
    ck_assert_int_eq(receive(box.th, id, -3, 0), 3);
    check_text("one");
    ck_assert_int_eq(receive(box.th, id, 3, LX_MSG_EXCEPT | LX_IPC_NOWAIT), -ENOMSG);
    ck_assert_int_eq(box_call(box.th, NR_msgrcv, id, B, 2, 0, 0), -E2BIG);
    ck_assert_int_eq(box_call(box.th, NR_msgrcv, id, B, 2, 0, LX_MSG_NOERROR), 2);
    check_text("th");
    ck_assert_int_eq(receive(child, id, 9, 0), FAKE_BLOCKED);
    ck_assert_int_eq(send(box.th, id, 8, "no", 0), 0);
    ck_assert_int_eq(fake_result(child), FAKE_BLOCKED);
    ck_assert_int_eq(send(box.th, id, 9, "yes", 0), 0);
    ck_assert_int_eq(fake_result(child), 3);
    ck_assert_int_eq(box_call(box.th, NR_msgsnd, id, A, 9000, 0), -EINVAL);
    ck_assert_int_eq(receive(child, id, 9, 0), FAKE_BLOCKED);
    ck_assert_int_eq(box_call(box.th, NR_msgctl, id, LX_IPC_RMID, 0), 0);
    ck_assert_int_eq(fake_result(child), -EIDRM);
    ck_assert_uint_eq(limit_used(LIMIT_IPC), 0);
    box_end();
}

TEST(full_queue)
{
    box_begin();
    uint64_t id = (uint64_t)box_call(box.th, NR_msgget, 0, 0600);
    struct plat_thread *child = box_fork(box.th);
    box_put64(box.th, A, 1);
    box_put64(child, A, 1);
    ck_assert_int_eq(box_call(box.th, NR_msgsnd, id, A, 8192, 0), 0);
    ck_assert_int_eq(box_call(box.th, NR_msgsnd, id, A, 8192, 0), 0);
    ck_assert_int_eq(box_call(box.th, NR_msgsnd, id, A, 1, LX_IPC_NOWAIT), -EAGAIN);
    ck_assert_int_eq(box_call(child, NR_msgsnd, id, A, 1, 0), FAKE_BLOCKED);
    ck_assert_int_eq(box_call(box.th, NR_msgrcv, id, B, 8192, 0, 0), 8192);
    ck_assert_int_eq(fake_result(child), 0);
    box_end();
}

static uint64_t attached(uint64_t id)
{
    struct lx_shmid_ds ds;

    ck_assert_int_eq(box_call(box.th, NR_shmctl, id, LX_IPC_STAT, A), 0);
    box_read(box.th, A, &ds, sizeof(ds));
    return ds.shm_nattch;
}

TEST(shared_memory)
{
    box_begin();
    ck_assert_int_eq(box_call(box.th, NR_shmget, 0, 0, 0600), -EINVAL);
    uint64_t id = (uint64_t)box_call(box.th, NR_shmget, 9, 5000, IPC_R);
    ck_assert_int_eq(box_call(box.th, NR_shmget, 9, 6000, 0), -EINVAL);
    int64_t at = box_call(box.th, NR_shmat, id, 0, 0);
    ck_assert_int_gt(at, 0);
    ck_assert_uint_eq(attached(id), 1);
    struct plat_thread *child = box_fork(box.th);
    ck_assert_uint_eq(attached(id), 2);
    box_put32(child, (uint64_t)at + 4096, 77);
    ck_assert_uint_eq(box_get32(box.th, (uint64_t)at + 4096), 77);
    ck_assert_int_eq(box_call(box.th, NR_shmdt, (uint64_t)at), 0);
    ck_assert_int_eq(box_call(box.th, NR_shmdt, (uint64_t)at), -EINVAL);
    /* Removed, but the child has it: the id lives on, the key does not. */
    ck_assert_int_eq(box_call(box.th, NR_shmctl, id, LX_IPC_RMID, 0), 0);
    ck_assert_uint_eq(attached(id), 1);
    ck_assert_int_eq(box_call(box.th, NR_shmget, 9, 5000, 0600), -ENOENT);
    /* The leader ends, another thread keeps the memory. */
    struct plat_thread *two = box_thread(child, BOX_STACK_TOP - 8192);
    ck_assert_int_eq(box_call(child, NR_exit, 0), FAKE_GONE);
    ck_assert_uint_eq(attached(id), 1);
    ck_assert_int_eq(box_call(two, NR_exit, 0), FAKE_GONE);
    (void)box_call(box.th, NR_shmget, 0, 4096, 0600);
    ck_assert_int_eq(box_call(box.th, NR_shmctl, id, LX_IPC_STAT, A), -EINVAL);
    box_end();
}

TEST(read_only_attach)
{
    box_begin();
    uint64_t id = (uint64_t)box_call(box.th, NR_shmget, 0, 4096, 0600);
    int64_t at = box_call(box.th, NR_shmat, id, 0, LX_SHM_RDONLY);
    ck_assert_int_gt(at, 0);
    ck_assert_int_ne(plat_write(plat_ops->thread_as(box.th), GADDR(at), "x", 1), 0);
    ck_assert_int_eq(box_call(box.th, NR_shmat, id, A, 0), -EINVAL); /* taken */
    ck_assert_int_eq(box_call(box.th, NR_shmat, id, 0x777, 0), -EINVAL);
    box_end();
}

TEST(out_of_memory)
{
    for_each_failure {
        if (box_try()) {
            int64_t sem = box_call(box.th, NR_semget, 0, 2, 0600);
            int64_t msg = box_call(box.th, NR_msgget, 0, 0600);
            int64_t shm = box_call(box.th, NR_shmget, 0, 4096, 0600);
            if (sem >= 0)
                (void)semop(box.th, (uint64_t)sem, 0, 1, LX_SEM_UNDO);
            if (msg >= 0)
                (void)send(box.th, (uint64_t)msg, 1, "text", 0);
            if (shm >= 0)
                (void)box_call(box.th, NR_shmat, (uint64_t)shm, 0, 0);
            box_end();
        }
    }
}

TEST_SUITE(ipc)
{
    TEST_ADD(keys);
    TEST_ADD(as_many_as_the_configuration_has);
    TEST_ADD(semaphores);
    TEST_ADD(semtimedop);
    TEST_ADD(undo);
    TEST_ADD(undo_is_charged);
    TEST_ADD(messages);
    TEST_ADD(full_queue);
    TEST_ADD(shared_memory);
    TEST_ADD(read_only_attach);
    TEST_ADD(out_of_memory);
}
