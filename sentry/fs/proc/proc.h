#pragma once
/*
 * Shared by the files of proc: finding the objects behind an entry, access checks, and the tables
 * that root.c and pid.c put together.
 */
#include "sentry/fs/proc/gen.h"
#include "sentry/mm/mm.h"

struct mm;
struct thread_group;

/* As ptrace.h says; a process may always look at itself. */
bool proc_may_access(const struct task *caller, const struct task *target);
/* The address space of the entry's process, borrowed; NULL for zombies. */
struct mm *proc_mm(const struct gen_inode *gi);
/* Of that one; an exec makes another, which who opened the entry before may have no access to. */
uint64_t proc_mm_id(const struct gen_inode *gi);
/* A thread of the entry's process that still has its files and fs; NULL for zombies. Borrowed. */
struct task *proc_live_task(const struct gen_inode *gi);
/* Path of p as the caller sees it, with \n and friends escaped when esc is not NULL. */
int proc_put_path(struct buf *out, const struct path *p, const char *esc);
/* The root that the caller sees, borrowed. */
const struct path *proc_root_path(void);
/* What a descriptor link shows: a path, pipe:[N], anon_inode:[name]. */
int proc_put_file_name(struct buf *out, const struct file *f, const char *esc);

/* Estimated bytes in memory. */
void proc_rss(struct mm *mm, struct mm_resident *ret_rss);
uint64_t proc_memory_total(void);
uint64_t proc_memory_used(void);
uint32_t proc_ncpus(void);
/* "0-3" */
void proc_put_cpu_list(struct buf *out, uint64_t mask);

int proc_dir_find_pid(struct gen_inode *dir, const char *name, size_t len, struct gen_child *ret_c);
int proc_dir_list_pid(struct gen_inode *dir, uint64_t key, struct gen_child *ret_c);

/* pid.c */
/* The process whose directory in proc f is, borrowed, or NULL (a pidfd for pidfd_send_signal). */
struct thread_group *proc_dir_group(const struct file *f);
extern const struct gen_node proc_pid_node;
/* status.c */
int proc_show_stat(struct gen_inode *gi, struct buf *out);
int proc_show_status(struct gen_inode *gi, struct buf *out);
int proc_show_statm(struct gen_inode *gi, struct buf *out);
int proc_show_limits(struct gen_inode *gi, struct buf *out);
/* maps.c */
int proc_more_maps(struct gen_inode *gi, struct buf *out, uint64_t *cursor);
int proc_more_smaps(struct gen_inode *gi, struct buf *out, uint64_t *cursor);
int proc_show_smaps_rollup(struct gen_inode *gi, struct buf *out);
/* mem.c */
extern const struct file_ops proc_mem_ops;
int proc_mem_open(const struct gen_inode *gi, struct file *f) MUST_CHECK;
int proc_show_cmdline(struct gen_inode *gi, struct buf *out);
int proc_show_environ(struct gen_inode *gi, struct buf *out);
int proc_show_auxv(struct gen_inode *gi, struct buf *out);
/* mounts.c */
int proc_show_mounts(struct gen_inode *gi, struct buf *out);
int proc_show_mountinfo(struct gen_inode *gi, struct buf *out);
int proc_show_mountstats(struct gen_inode *gi, struct buf *out);
/* fd.c */
extern const struct gen_node proc_fd_node, proc_fdinfo_node;
int proc_fd_find(struct gen_inode *dir, const char *name, size_t len, struct gen_child *ret_c);
int proc_fd_list(struct gen_inode *dir, uint64_t key, struct gen_child *ret_c);
int proc_fdinfo_find(struct gen_inode *dir, const char *name, size_t len, struct gen_child *ret_c);
int proc_fdinfo_list(struct gen_inode *dir, uint64_t key, struct gen_child *ret_c);
/* stat.c, cpuinfo.c */
int proc_show_meminfo(struct gen_inode *gi, struct buf *out);
int proc_show_cpuinfo(struct gen_inode *gi, struct buf *out);
int proc_show_kstat(struct gen_inode *gi, struct buf *out);
int proc_show_uptime(struct gen_inode *gi, struct buf *out);
int proc_show_loadavg(struct gen_inode *gi, struct buf *out);
int proc_show_vmstat(struct gen_inode *gi, struct buf *out);
int proc_show_zoneinfo(struct gen_inode *gi, struct buf *out);
int proc_show_interrupts(struct gen_inode *gi, struct buf *out);
int proc_show_softirqs(struct gen_inode *gi, struct buf *out);
/* net.c, sysctl.c */
extern const struct gen_node proc_net_children[];
extern const struct gen_node proc_sys_children[];
