#pragma once
/*
 * The syscall list as a table for programs that describe calls rather than make them: --strace,
 * `sentry syscalls`, the documentation generator. Immutable.
 */
#include "lib/compiler.h"

#include "abi/syscall_kinds.h"

struct syscall_desc {
    const char *name; /* NULL: no such number */
    uint16_t nr;
    uint8_t status;   /* enum syscall_status */
    uint8_t blocking; /* enum syscall_blocking */
    uint8_t refuse;   /* errno when status is SYSCALL_REFUSED */
    uint8_t nargs;
    uint8_t kinds[6]; /* enum syscall_arg_kind */
};

/* One more than the highest number in the list. */
extern const uint32_t syscall_count;

/* The description of a number, or NULL when Linux has no such call. */
const struct syscall_desc *syscall_find(uint64_t nr);

/* A remark for the reader, or NULL. */
const char *syscall_note(const struct syscall_desc *d);
