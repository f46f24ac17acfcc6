#pragma once
/*
 * Classic BPF as seccomp(2) allows it: 32-bit words, forward jumps only, so every program ends.
 */
#include "lib/compiler.h"

#include "abi/prctl.h"

/* 0 or -EINVAL: an instruction that is not allowed, a jump or a load out of bounds, a division by
 * the constant 0, a memory word read before it was written, no return at the end. -ENOMEM. */
int seccomp_bpf_check(const struct lx_sock_filter *code, size_t n) MUST_CHECK;
/* Runs a checked program. */
uint32_t seccomp_bpf_run(const struct lx_sock_filter *code, const struct lx_seccomp_data *d);
/* Whether a checked program says ALLOW to this number whatever the arguments are. */
bool seccomp_bpf_allows(const struct lx_sock_filter *code, uint32_t nr);
