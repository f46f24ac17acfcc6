#pragma once
/*
 * Operations on address spaces behind mprotect, madvise, mremap and brk.
 */
#include "lib/compiler.h"

#include "abi/errno.h"

#include "sentry/mm/mm.h"

/* mm_mmap and mm_remap: a fixed range is about to be unmapped or made writable by another thread's
 * own call; wait on mm->quarantine_wait. Never leaves sys_mm.c. */
#define MM_QUARANTINED (-ERESTART)

/* The tree's side of a fixed private anonymous mapping that t then makes itself (SYS_HOST). */
int mm_mmap_by_thread(struct task *t, struct mm *mm, const struct mmap_args *a) MUST_CHECK;
/* 0, -EPERM (may not lock at all) or -EAGAIN (RLIMIT_MEMLOCK). */
int mm_may_lock(const struct task *t, const struct mm *mm, uint64_t more) MUST_CHECK;
/* The largest private writable request that is not refused at once. */
uint64_t mm_commit_max(void);
/* Changes the tree; the host's protection is changed by the caller's own call (SYS_HOST). */
int mm_protect(struct mm *mm, uint64_t addr, uint64_t len, uint64_t prot) MUST_CHECK;
/* *ret_host: the host has to be told too. */
int mm_advise(struct mm *mm, uint64_t addr, uint64_t len, int advice, bool *ret_host) MUST_CHECK;
/* The new address or -errno, as mremap(2). */
int64_t mm_remap(struct task *t, struct mm *mm, uint64_t old, uint64_t old_len, uint64_t new_len,
                 uint64_t flags, uint64_t new_addr) MUST_CHECK;
/* The break after the call, as brk(2). */
uint64_t mm_brk(struct task *t, struct mm *mm, uint64_t brk);
