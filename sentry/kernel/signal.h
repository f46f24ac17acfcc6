#pragma once
/*
 * Signals: queues, actions, delivery. Layout and numbers from abi/signal.h, semantics signal(7).
 * All state is guarded by being on the worker thread.
 */
#include "lib/compiler.h"

#include "abi/signal.h"

#include "lib/list.h"

struct task;
struct thread_group;
struct wait_queue;

struct sigqueue {
    struct list_head link;
    struct lx_siginfo info;
    struct posix_timer *timer;  /* the queued expiry of a POSIX timer, or NULL */
    struct thread_group *group; /* borrowed: it counts its queued signals */
};

struct sigpending {
    uint64_t set;          /* bit signo-1 */
    struct list_head list; /* sigqueue entries in order */
};

struct sighand {
    uint32_t ref;
    struct lx_sigaction action[64]; /* [signo-1] */
};

static inline uint64_t sig_bit(int signo)
{
    return 1ull << (signo - 1);
}

/* True when an unblocked signal that is not ignored waits for t (or t must die/stop). */
bool signal_pending(const struct task *t);

/* Sending. info->si_signo in 1..64. Return 0, or -EAGAIN (queue limit, real-time signals only). */
int signal_send_task(struct task *t, const struct lx_siginfo *info);
int signal_send_group(struct thread_group *tg, const struct lx_siginfo *info);
/* From outside of the sandbox, by its owner (a sender without a pid). */
int signal_send_outside(struct thread_group *tg, int signo);
/* SI_KERNEL signals, e.g. SIGPIPE to the writer, SIGHUP/SIGINT from a tty to a process group. */
void signal_send_kernel_task(struct task *t, int signo);
void signal_send_kernel_group(struct thread_group *tg, int signo);
void signal_send_kernel_pgrp(uint32_t pgid, int signo);
/* Makes the siginfo of kill(2) from sender. */
void signal_info_user(struct lx_siginfo *info, int signo, int code, const struct task *sender);
/* si_code and si_status of a process or tracee that ended with this wait status. */
void signal_info_ended(struct lx_siginfo *info, int wait_status);

/* Takes the first pending signal of set (task's own first, then the group's); 0 when none. */
int signal_dequeue(struct task *t, uint64_t set, struct lx_siginfo *ret_info);
uint64_t signal_pending_set(const struct task *t); /* task's and group's, blocked or not */
/* Woken whenever a signal is queued for the group (signalfd, sigtimedwait). */
struct wait_queue *signal_wait_queue(struct task *t);
/* Replaces the mask and re-evaluates what is pending. SIGKILL and SIGSTOP are never blocked. */
void signal_set_blocked(struct task *t, uint64_t set);
/* Temporary mask for sigsuspend, ppoll, pselect, epoll_pwait: restored when the call returns to the
 * guest (after a handler's frame has been built). Idempotent over re-runs of the handler. */
void signal_set_temporary_mask(struct task *t, uint64_t set);
/* Drops queued signals of set from the group and all its threads. */
void signal_discard(struct thread_group *tg, uint64_t set);
/* kill(2)'s permission rule. */
bool signal_may_send(const struct task *t, const struct thread_group *tg, int signo);
