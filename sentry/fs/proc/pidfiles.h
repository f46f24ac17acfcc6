#pragma once
/* The small files of a process directory, used in the tables of pid.c only. */
#include "sentry/fs/proc/gen.h"

int proc_show_personality(struct gen_inode *gi, struct buf *out);
int proc_show_comm(struct gen_inode *gi, struct buf *out);
int proc_store_comm(struct gen_inode *gi, const char *text, size_t len);
int proc_store_nothing(struct gen_inode *gi, const char *text, size_t len);
int proc_show_wchan(struct gen_inode *gi, struct buf *out);
int proc_show_schedstat(struct gen_inode *gi, struct buf *out);
int proc_show_oom_score(struct gen_inode *gi, struct buf *out);
int proc_show_oom_score_adj(struct gen_inode *gi, struct buf *out);
int proc_store_oom_score_adj(struct gen_inode *gi, const char *text, size_t len);
int proc_show_coredump_filter(struct gen_inode *gi, struct buf *out);
int proc_show_io(struct gen_inode *gi, struct buf *out);
int proc_show_id_map(struct gen_inode *gi, struct buf *out);
int proc_show_setgroups(struct gen_inode *gi, struct buf *out);
int proc_show_syscall(struct gen_inode *gi, struct buf *out);
int proc_show_attr(struct gen_inode *gi, struct buf *out);
int proc_show_children(struct gen_inode *gi, struct buf *out);
int proc_show_timers(struct gen_inode *gi, struct buf *out);
int proc_show_timerslack(struct gen_inode *gi, struct buf *out);
int proc_store_timerslack(struct gen_inode *gi, const char *text, size_t len);
