#pragma once
/*
 * Between the files of the program loader: exec.c (order of events), exec_strings.c, exec_stack.c,
 * elf.c.
 */
#include "lib/compiler.h"

#include "sentry/kernel/elf.h"
#include "sentry/mm/mm.h"

enum {
    SCRIPT_HEAD = 256
};

struct script_line {
    char interp[SCRIPT_HEAD], arg[SCRIPT_HEAD];
    bool has_arg;
};

/* 1: a script, *ret_line filled; 0: none; -ENOEXEC. head: the first n <= SCRIPT_HEAD bytes of the
 * file. */
int script_parse(const char *head, size_t n, struct script_line *ret_line) MUST_CHECK;
int script_strings(const struct script_line *sl, const char *path, struct exec_strings *s)
    MUST_CHECK;

/* What the auxiliary vector says of the loaded program. */
struct exec_aux {
    uint64_t phdr, phnum, base, entry;
    bool secure;
    uint32_t uid, euid, gid, egid;
};
/* Lays the initial stack out below stack_top (already mapped); *ret_sp is the stack pointer. */
int exec_stack_fill(struct mm *mm, uint64_t stack_top, const char *path,
                    const struct exec_strings *s, const struct exec_aux *aux, uint64_t *ret_sp)
    MUST_CHECK;
