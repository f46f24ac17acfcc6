#pragma once
/*
 * Pieces of execve(2): argument strings, and the loader (exec_load in sentry/mm/mm.h). The system
 * call itself (other threads, descriptors, signals) is in exec_task.c.
 *
 * exec_strings is one heap block: argc argument strings, then envc environment strings, each with
 * its NUL. Its bytes are charged to LIMIT_EXEC_BYTES until exec_strings_done.
 */
#include "lib/compiler.h"

#include "abi/types.h"

#include "sentry/mm/mm.h"

struct task;

/* Copies the vectors of the calling program (argv may be null: it counts as empty, and argc becomes
 * 1 with
 * "" as Linux does). -E2BIG, -EFAULT, -ENOMEM. */
int exec_copy_strings(struct task *t, gaddr_t argv, gaddr_t envp, struct exec_strings *ret_strings)
    MUST_CHECK;
/* The same from kernel memory (NULL-terminated vectors; envp may be NULL). */
int exec_strings_from_kernel(const char *const *argv, const char *const *envp,
                             struct exec_strings *ret_strings) MUST_CHECK;
/* Frees the block; harmless on an empty one. */
void exec_strings_done(struct exec_strings *s);
/* Drops what exec_load put into image (mm and file); harmless on an empty one. */
void exec_image_done(struct exec_image *image);
