#pragma once
/*
 * epoll instances. An item is a pair (open file, descriptor number) in one instance; it goes with
 * EPOLL_CTL_DEL, with the instance, or with the last reference of the file (epoll_file_released).
 */
#include "lib/compiler.h"

#include "abi/poll.h"

struct file;
struct task;

#define EPOLL_BATCH 128u   /* events that are handed over at once */
#define EPOLL_MOST  16384u /* by one call */

int epoll_new(struct file **ret_file) MUST_CHECK;
bool file_is_epoll(const struct file *f);
/* The three operations; ep is an epoll file, f another file that can be polled. -EEXIST, -ENOENT,
 * -ELOOP, -EINVAL. */
int epoll_add(struct file *ep, struct file *f, int fd, const struct lx_epoll_event *ev) MUST_CHECK;
int epoll_mod(struct file *ep, struct file *f, int fd, const struct lx_epoll_event *ev) MUST_CHECK;
int epoll_del(struct file *ep, struct file *f, int fd) MUST_CHECK;
/* Takes up to max (at most EPOLL_MOST) ready events and hands them to put in one or more batches;
 * when put fails those of its batch and all behind them stay ready, and its error is returned if it
 * was the first. The number of events, 0 when none is ready. */
int epoll_collect(struct file *ep, uint32_t max,
                  int (*put)(void *arg, const struct lx_epoll_event *ev, uint32_t n), void *arg)
    MUST_CHECK;
/* Registers t for the next event; one event wakes one of those who wait. */
int epoll_wait_on(struct task *t, struct file *ep) MUST_CHECK;
