#pragma once
/*
 * seccomp(2) as guests know it: chains of classic BPF programs that are asked before each call of a
 * task. They run here, in the sentry, over a copy of number and arguments; the host's own filter,
 * which sends every call to us, is not touched by them.
 *
 * A filter is immutable once it is in a chain; children share the chain of their parent.
 */
#include "lib/compiler.h"

#include "abi/prctl.h"

struct task;
struct seccomp_filter;

enum {
    SECCOMP_MAX_INSNS = 4096,       /* of one program: -EINVAL */
    SECCOMP_MAX_CHAIN_INSNS = 32768 /* of a chain, with 4 for each program: -ENOMEM */
};

/* Checks the program as seccomp(2) says (-EINVAL) and puts a copy on top of `prev`, which the new
 * one refers to from then on. -ENOMEM. */
int seccomp_filter_new(const struct lx_sock_filter *code, size_t n, struct seccomp_filter *prev,
                       struct seccomp_filter **ret_filter) MUST_CHECK;
struct seccomp_filter *seccomp_filter_get(struct seccomp_filter *f);
/* NULL is fine. */
void seccomp_filter_put(struct seccomp_filter *f);
/* How many programs a chain has. */
unsigned seccomp_filter_count(const struct seccomp_filter *f);
/* What the chain says: the action of the highest precedence, with its data. */
uint32_t seccomp_filter_run(const struct seccomp_filter *f, const struct lx_seccomp_data *d);

/* Puts a program on top of the task's chain; with sync on that of all its threads, or else returns
 * the id of one whose chain is another (then nothing has changed). 0, -EINVAL, -EACCES (neither
 * no_new_privs nor CAP_SYS_ADMIN), -ENOMEM. */
int seccomp_attach(struct task *t, const struct lx_sock_filter *code, size_t n, bool sync)
    MUST_CHECK;
/* Only read, write, _exit and sigreturn from now on; anything else is SIGKILL. -EINVAL. */
int seccomp_set_strict(struct task *t) MUST_CHECK;

enum seccomp_verdict {
    SECCOMP_GO,     /* the call may run */
    SECCOMP_ANSWER, /* it has not run, and returns *ret_val */
    SECCOMP_GONE    /* the task has ended */
};
/* Asked before t->call runs. traced: the tracer has decided already (RET_TRACE lets it go). GONE
 * also means that the tracer decides now. */
enum seccomp_verdict seccomp_check(struct task *t, bool traced, int64_t *ret_val);
