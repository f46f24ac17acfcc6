#pragma once
/*
 * Replacing the image of a task; loading it is mm.h's exec_load, argument strings are exec.h's.
 */
#include "lib/compiler.h"

#include "sentry/mm/mm.h"

struct task;
struct file;

/* Loads file and replaces the image of t, whose thread is in context (or new). On success t->pth,
 * t->mm and t->regs are those of the new program; on failure nothing has changed. path: AT_EXECFN.
 */
int exec_replace(struct task *t, struct file *file, const char *path, struct exec_strings *strings)
    MUST_CHECK;
