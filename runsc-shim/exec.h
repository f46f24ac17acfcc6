#pragma once
/*
 * exec.h: a further process in a running container, and somebody who waits for it.
 */
#include "lib/compiler.h"

struct container;
struct error;
struct oci_process;

struct exec_options {
    const char *console_socket, *pid_file;
    bool detach;
    int preserve_fds;
};

/* Runs p. In the foreground the result is the exit status (128 + signal); detached, 0 as soon as it
 * runs: a process of ours stays, whose pid is in the pid file and which ends as p does. */
int exec_run(struct container *c, const struct oci_process *p, const struct exec_options *o,
             struct error *err) MUST_CHECK;
