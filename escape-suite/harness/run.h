#pragma once
/*
 * One command of the host under watch: its output, its end or the deadline, and whether anything
 * of it is left a second later. The calling process is a subreaper, so whatever the command leaves
 * behind becomes its descendant.
 */
#include "lib/compiler.h"

#include <sys/types.h>

#include "escape-suite/harness/scan.h"
#include "lib/buf.h"

enum {
    STREAM_HEAD = 64 * 1024,
    STREAM_TAIL = 32 * 1024
};

struct stream {
    int fd;          /* -1: at its end */
    uint64_t bytes;  /* that arrived */
    struct buf head; /* the first STREAM_HEAD */
    struct buf tail; /* at least the last STREAM_TAIL */
    struct scan scan;
};

enum run_end {
    RUN_NOT_STARTED,
    RUN_EXIT,
    RUN_SIGNAL,
    RUN_GIVEN_UP, /* the deadline, or more output than flood_bytes */
};

struct run_spec {
    char *const *argv;
    char *const *env;  /* "K=V", added to the harness's own; NULL-terminated, may be NULL */
    const char *cwd;   /* NULL: / */
    const char *input; /* what standard input holds; NULL: nothing */
    unsigned deadline_ms;
    uint64_t flood_bytes; /* more output ends it */
    bool tty;
    const int *leak; /* descriptors left open in it at the numbers leak_at...; -1 ends */
    int leak_at;
    const struct scan_set *secrets;
    char *const *cleanup; /* run after it was given up, before the rest is killed; may be NULL */
    const char *marker;   /* "K=V" in env that no other process has */
    pid_t bystander;      /* a child of ours whose own processes are nobody's leftovers; 0: none */
};

struct observation {
    enum run_end end;
    int status; /* exit status or signal; errno when not started */
    bool flooded;
    double ms;
    pid_t pid; /* that it had */
    struct stream out, err;
    int kept[2]; /* the command's ends of both pipes, to see what it did to them; -1 on a terminal
                  */
    bool flags_changed; /* O_NONBLOCK and such, or the size of a pipe */
    unsigned survivors; /* processes left after a second; they were killed */
    char survivor[128]; /* the first one in words */
    /* filled by others, from sentry's report */
    char verdict[24];
    char message[256];
    uint64_t guest_err; /* of err.bytes, without the runtime's own words; valid with a verdict */
};

void observation_init(struct observation *o);
void observation_done(struct observation *o);
/* Once, before anything: becomes a subreaper. SIGTERM (which the parent's death sends) gives up
 * what runs; what is left of it is still removed. */
int run_prepare(void) MUST_CHECK;
bool run_interrupted(void);
/* A short command, without output or a verdict. */
void run_simple(char *const *argv);
void run_command(const struct run_spec *spec, struct observation *o);
/* The last bytes of a stream; borrowed. */
const char *stream_tail(const struct stream *s, size_t *ret_len);
uint64_t now_ms(void);
