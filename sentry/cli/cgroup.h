#pragma once
/*
 * The cgroup of one run, made by the monitor: memory and CPU share, v2 where it has the
 * controllers, else v1, else nothing (then sentry/cli/account.c bounds memory, and the report says
 * which).
 */
#include "lib/compiler.h"

#include <sys/types.h>

struct error;

enum cgroup_kind {
    CGROUP_NONE,
    CGROUP_V1,
    CGROUP_V2
};

/* What `--cgroup` allows. */
enum cgroup_choice {
    CGROUP_AUTO,
    CGROUP_ONLY_V1,
    CGROUP_ONLY_V2,
    CGROUP_OFF
};

struct cgroup_want {
    uint64_t memory;     /* bytes, 0: none */
    uint32_t cpus_milli; /* 0: none */
    enum cgroup_choice choice;
    const char *mount, *self; /* for tests: in the place of /sys/fs/cgroup, /proc/self/cgroup */
};

struct cgroup {
    struct cgroup_want want;
    enum cgroup_kind memory, cpu;
    char memory_dir[512], cpu_dir[512]; /* equal under v2 */
    char freezer[512];                  /* v1: where a group could be made to freeze, or "" */
    char missing[192];                  /* why there is no memory controller, in words, or "" */
    unsigned told;                      /* directories that the janitor knows of */
    int oom_fd;                         /* readable when memory ran out (v1), -1: none */
};

/* Makes the groups. A missing controller is no error unless want->choice insists on it. */
int cgroup_make(struct cgroup *ret_cg, const struct cgroup_want *want, struct error *err)
    MUST_CHECK;
/* v1: oom_fd and freezer. They cost more than the limits, and until a program runs cgroup_oom at
 * the end is enough. */
void cgroup_watch(struct cgroup *cg);

/*
 * How a process gets in: under v2 it is best born there (clone3(2), CLONE_INTO_CGROUP), else it
 * writes "0" into a file of the group itself. Writing the number of another process would do too,
 * but makes the host wait for an RCU grace period, longer than everything else in a start.
 */
enum {
    CGROUP_ENTRIES = 16
};
struct cgroup_entry {
    int fds[CGROUP_ENTRIES];    /* to write into; owned; -1: could not be opened */
    int errors[CGROUP_ENTRIES]; /* errno of each, 0: entered */
    size_t n;
};
/* The directory to be born in, O_PATH, the caller's to close; -1: none. */
int cgroup_birthplace(const struct cgroup *cg);
/* Adds the groups of cg, but for one that the process was born in. */
void cgroup_entry_open(const struct cgroup *cg, bool born, struct cgroup_entry *ret_e);
/* Adds a directory that the caller made (OCI). */
void cgroup_entry_add(struct cgroup_entry *e, const char *dir);
/* The calling process, of one thread, enters. Signal safe. */
void cgroup_enter(struct cgroup_entry *e);
/* With the errors of the process that entered: what it could not join is given up, cg says
 * afterwards what holds. */
void cgroup_entered(struct cgroup *cg, bool born, const struct cgroup_entry *e);
void cgroup_entry_done(struct cgroup_entry *e);
/* Ends every process in it at once, where the kernel can (v2). */
void cgroup_kill(const struct cgroup *cg);
/* v1, after the sandbox's own processes have ended: whoever still is in it is killed, frozen if
 * need be. */
void cgroup_sweep(const struct cgroup *cg);
/* True when the limit of memory was hit and something was killed for it. */
bool cgroup_oom(const struct cgroup *cg);
/* Peak bytes; 0: unknown. */
uint64_t cgroup_memory_peak(const struct cgroup *cg);
/* Removes what cgroup_make made; everything in it has ended. */
void cgroup_remove(struct cgroup *cg);
/* The janitor's: kills what one directory holds, by whatever its kind offers, and removes it. */
void cgroup_clear(const char *dir);
