#pragma once
/* The end of every call that makes a descriptor. */
#include "lib/compiler.h"

#include "sentry/kernel/syscall.h"

struct file;
struct task;

/* Installs f (consumed) at the lowest free number; r < 0: f was not made, and r is the result. */
struct sys_res sys_install(struct task *t, int r, struct file *f CONSUMES, bool cloexec);
