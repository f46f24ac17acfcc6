#pragma once
/*
 * container.h: one container as the commands see it: its state directory ROOT/ID, opened, locked
 * where something is to be changed, and the status that really holds.
 *
 * The status in state.json says how far the container was brought; whether its monitor lives says
 * the rest. So a process that was killed at any moment leaves a state that reads as "stopped".
 */
#include "lib/compiler.h"

#include "runsc-shim/cgroup_oci.h"
#include "runsc-shim/oci_config.h"
#include "sentry/cli/state.h"

struct buf;
struct error;

struct container {
    int dir;  /* the state directory */
    int lock; /* -1: not held */
    struct state s;
    enum state_status status; /* what holds now */
    struct oci_cgroup cg;
};

#define CONTAINER_NONE ((struct container){.dir = -1, .lock = -1})

/* -ENOENT: "container does not exist". A directory that has no state yet reads as stopped. */
int container_open(struct container *c, const char *id, bool lock, struct error *err) MUST_CHECK;
void container_close(struct container *c);
/* Writes state.json with this status. */
int container_save(struct container *c, enum state_status status, struct error *err) MUST_CHECK;
/* Reads config.json again, from where create found it; *ret_bundle_fd is its directory. */
int container_config(const struct container *c, struct oci_config *ret, int *ret_bundle_fd,
                     struct error *err) MUST_CHECK;
/* The state as the specification has it; for hooks the status may be another. */
void container_print(const struct container *c, const char *status, struct buf *out);
/* Ends every process of the container, however far it got. */
void container_kill(struct container *c);
/* Nothing is left afterwards: processes, cgroup, directory. */
int container_remove(struct container *c, struct error *err) MUST_CHECK;
void container_run_poststop(struct container *c);
/* Standard output, one write. */
int print_out(const struct buf *out, struct error *err) MUST_CHECK;
void print_json_string(struct buf *out, const char *s);

/* -- create.c -- */

struct create_options {
    const char *bundle, *console_socket, *pid_file;
    int preserve_fds; /* so many descriptors from 3 on are the guest's too */
    bool foreground;  /* `run` in the foreground: the caller's terminal, no session of its own */
};
/* The container exists and its first process is held; *ret_monitor is the process to wait for. On
 * failure nothing is left. */
int container_create(const char *id, const struct create_options *o, pid_t *ret_monitor,
                     struct error *err) MUST_CHECK;
int container_start(const char *id, struct error *err) MUST_CHECK;
/* kill, delete --force and run use it: -ESRCH when it is not running. */
int container_signal(struct container *c, int signo, bool all, struct error *err) MUST_CHECK;
/* The sentry holds the guest's threads; the cgroup's freezer could not, as it does not stop a
 * thread that waits in the host's seccomp. */
int container_pause(struct container *c, bool pause, struct error *err) MUST_CHECK;
int container_delete(const char *id, bool force, struct error *err) MUST_CHECK;
int write_pid_file(const char *path, pid_t pid, struct error *err) MUST_CHECK;
/* Dies as somebody with this wait status did: of the same signal, else with its exit status. */
NORETURN void exit_like(int wait_status);
