/* proc and sysfs: the tree, texts of one hand-made task, sysctls, failing allocations. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/alloc.h"
#include "sentry/fs/file.h"
#include "sentry/fs/proc/gen.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "tests/support/fixture.h"
#include "tests/support/test.h"

static struct task *task;

static void begin(void)
{
    struct thread_group *tg;

    ck_assert_int_eq(kernel_init(NULL, NULL), 0);
    kernel.memory_limit = 100u << 20;
    kernel.cpus = 3;
    ck_assert_int_eq(thread_group_new(&tg), 0);
    ck_assert_int_eq(task_new(tg, &task), 0);
    ck_assert_int_eq(pid_alloc(task), 0);
    tg->pid = task->pid;
    tg->leader = task;
    tg->nthreads = 1;
    list_add_tail(&tg->threads, &task->group_link);
    list_add_tail(&kernel.groups, &tg->all_link);
    task->cred = cred_new();
    task->cred->uid = task->cred->euid = task->cred->suid = task->cred->fsuid = 1000;
    memcpy(task->comm, "a (b) c", 8);
    ck_assert_int_eq(session_new(tg), 0);
    for (int i = 0; i < 16; i++)
        tg->rlimit[i] = (struct lx_rlimit){i == 7 ? 1024 : ~0ull, ~0ull};
    kernel.current = task;
    thread_group_put(tg); /* the task holds it */
}

static void end(void)
{
    kernel.current = NULL;
    list_del_init(&task->group_link);
    pgrp_leave(task->group);
    pid_free(task->pid);
    task_put(task);
    pid_table_reset();
}

static struct super *mount_proc(void)
{
    struct super *sb = NULL;

    ck_assert_int_eq(procfs_mount_new(&sb), 0);
    return sb;
}

static struct dentry *walk(struct super *sb, const char *path)
{
    struct dentry *d = dentry_get(sb->root), *next = NULL;
    char copy[128];

    snprintf(copy, sizeof(copy), "%s", path);
    for (char *part = strtok(copy, "/"); part; part = strtok(NULL, "/")) {
        ck_assert_msg(d->inode != NULL, "no %s", path);
        ck_assert_int_eq(dentry_lookup(d, part, strlen(part), &next), 0);
        dentry_put(d);
        d = next;
    }
    return d;
}

static int64_t read_file(struct dentry *d, char *buf, size_t cap)
{
    struct file f = {.inode = d->inode, .path = {NULL, d}, .flags = LX_O_RDONLY};
    uint64_t pos = 0;
    int64_t n = d->inode->ops->open(d->inode, &f);
    size_t total = 0;

    if (n < 0)
        return n;
    do {
        struct uio u;

        /* In small pieces: one text, whatever the reader's buffer. */
        uio_init_kernel(&u, buf + total, MIN(cap - 1 - total, (size_t)7));
        n = f.ops->read(&f, &u, &pos);
        total += n > 0 ? (size_t)n : 0;
    } while (n > 0);
    buf[total] = 0;
    if (f.ops->release)
        f.ops->release(&f);
    return n < 0 ? n : (int64_t)total;
}

static const char *text(struct super *sb, const char *path)
{
    static char buf[32768];
    struct dentry *d = walk(sb, path);
    int64_t n;

    ck_assert_msg(d->inode != NULL, "no %s", path);
    n = read_file(d, buf, sizeof(buf));
    dentry_put(d);
    return n == -EACCES ? "EACCES" : n < 0 ? "error" : buf;
}

TEST(system_files)
{
    begin();
    struct super *sb = mount_proc();
    const char *s;

    ck_assert_str_eq(text(sb, "sys/kernel/ostype"), "Linux\n");
    ck_assert_str_eq(text(sb, "sys/kernel/hostname"), "sentry\n");
    ck_assert_str_eq(text(sb, "sys/vm/overcommit_memory"), "0\n");
    s = text(sb, "meminfo");
    ck_assert_int_eq(strncmp(s, "MemTotal:         102400 kB\nMemFree:", 36), 0);
    s = text(sb, "cpuinfo");
    ck_assert_ptr_nonnull(strstr(s, "processor\t: 2\n"));
    ck_assert_ptr_null(strstr(s, "processor\t: 3\n"));
    ck_assert_ptr_nonnull(strstr(s, " sse2 "));
    ck_assert_uint_eq(strlen(text(sb, "sys/kernel/random/uuid")), 37);
    ck_assert_mem_eq(text(sb, "config.gz"), "\x1f\x8b\x08", 3);
    super_put(sb);
    end();
}

TEST(one_task)
{
    begin();
    struct super *sb = mount_proc();
    char path[64], want[128];
    int pid = (int)task->pid;
    const char *s;

    snprintf(path, sizeof(path), "%d/stat", pid);
    snprintf(want, sizeof(want), "%d (a (b) c) R 0 %d %d 0 -1 4194304 0 0 0 0 ", pid, pid, pid);
    ck_assert_int_eq(strncmp(text(sb, path), want, strlen(want)), 0);
    snprintf(path, sizeof(path), "%d/status", pid);
    s = text(sb, path);
    ck_assert_int_eq(strncmp(s, "Name:\ta (b) c\nState:\t", 21), 0);
    ck_assert_ptr_nonnull(strstr(s, "\nUid:\t1000\t1000\t1000\t1000\n"));
    ck_assert_ptr_nonnull(strstr(s, "\nCpus_allowed:\t7\nCpus_allowed_list:\t0-2\n"));
    snprintf(path, sizeof(path), "%d/limits", pid);
    s = text(sb, path);
    ck_assert_ptr_nonnull(strstr(
        s, "\nMax open files            1024                 unlimited            files     \n"));
    snprintf(path, sizeof(path), "%d/task/%d/comm", pid, pid);
    ck_assert_str_eq(text(sb, path), "a (b) c\n");
    snprintf(path, sizeof(path), "%d/cmdline", pid);
    ck_assert_str_eq(text(sb, path), "");
    super_put(sb);
    end();
}

TEST(links_to_the_caller)
{
    begin();
    struct super *sb = mount_proc();
    struct dentry *d = walk(sb, "self");
    char buf[32] = "", want[32];

    snprintf(want, sizeof(want), "%u", task->pid);
    ck_assert_int_gt(d->inode->ops->readlink(d->inode, buf, sizeof(buf)), 0);
    ck_assert_str_eq(buf, want);
    dentry_put(d);
    super_put(sb);
    end();
}

TEST(a_dead_task_disappears)
{
    begin();
    struct super *sb = mount_proc();
    char path[64];
    struct dentry *d, *stat;

    snprintf(path, sizeof(path), "%u", task->pid);
    d = walk(sb, path);
    ck_assert_ptr_nonnull(d->inode);
    snprintf(path, sizeof(path), "%u/stat", task->pid);
    stat = walk(sb, path);
    kernel.current = NULL;
    pid_free(task->pid);
    ck_assert(!sb->root->inode->ops->revalidate(d));
    ck_assert_int_lt(read_file(stat, path, sizeof(path)), 0);
    dentry_put(stat);
    dentry_put(d);
    list_del_init(&task->group_link);
    pgrp_leave(task->group);
    task_put(task);
    super_put(sb);
    pid_table_reset();
}

TEST(other_users_are_kept_out)
{
    begin();
    struct super *sb = mount_proc();
    struct task *other;
    struct thread_group *tg;
    char path[64];

    ck_assert_int_eq(thread_group_new(&tg), 0);
    ck_assert_int_eq(task_new(tg, &other), 0);
    other->cred = cred_new();
    other->cred->fsuid = 7;
    thread_group_put(tg);
    kernel.current = other;
    snprintf(path, sizeof(path), "%u/maps", task->pid);
    ck_assert_str_eq(text(sb, path), "EACCES");
    snprintf(path, sizeof(path), "%u/environ", task->pid);
    ck_assert_str_eq(text(sb, path), "EACCES");
    other->cred->cap_effective = 1ull << LX_CAP_SYS_PTRACE;
    ck_assert_str_eq(text(sb, path), "");
    task_put(other);
    super_put(sb);
    end();
}

struct names {
    struct dir_context dc;
    char text[4096];
};

static bool collect(struct dir_context *dc, const char *name, size_t len, uint64_t ino,
                    uint32_t type, uint64_t next_pos)
{
    struct names *n = container_of(dc, struct names, dc);

    (void)ino;
    (void)type;
    (void)next_pos;
    strncat(n->text, name, len);
    strcat(n->text, " ");
    return true;
}

TEST(listings)
{
    begin();
    struct super *sb = mount_proc();
    struct file f = {.inode = sb->root->inode, .path = {NULL, sb->root}};
    static struct names n;
    char want[32];

    n = (struct names){.dc = {collect}};
    ck_assert_int_eq(f.inode->ops->open(f.inode, &f), 0);
    ck_assert_int_eq(f.ops->readdir(&f, &n.dc), 0);
    snprintf(want, sizeof(want), " %u ", task->pid);
    ck_assert_ptr_nonnull(strstr(n.text, want));
    ck_assert_ptr_nonnull(strstr(n.text, " self "));
    super_put(sb);
    end();
}

TEST(sysfs_lists_processors)
{
    begin();
    struct super *sb = NULL;

    ck_assert_int_eq(sysfs_mount_new(&sb), 0);
    ck_assert_str_eq(text(sb, "devices/system/cpu/online"), "0-2\n");
    ck_assert_str_eq(text(sb, "devices/system/cpu/cpu2/topology/core_id"), "2\n");
    ck_assert_str_eq(text(sb, "fs/cgroup/memory.max"), "104857600\n");
    super_put(sb);
    end();
}

TEST(failing_allocations)
{
    begin();
    for_each_failure {
        struct super *sb;

        if (procfs_mount_new(&sb) == 0) {
            struct dentry *d;

            if (dentry_lookup(sb->root, "meminfo", 7, &d) == 0) {
                char buf[4096];

                if (d->inode)
                    (void)!read_file(d, buf, sizeof(buf));
                dentry_put(d);
            }
            super_put(sb);
        }
    }
    end();
}

TEST_SUITE(proc)
{
    TEST_ADD(system_files);
    TEST_ADD(one_task);
    TEST_ADD(links_to_the_caller);
    TEST_ADD(a_dead_task_disappears);
    TEST_ADD(other_users_are_kept_out);
    TEST_ADD(listings);
    TEST_ADD(sysfs_lists_processors);
    TEST_ADD(failing_allocations);
}
