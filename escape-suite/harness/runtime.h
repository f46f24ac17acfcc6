#pragma once
/*
 * The runtimes that can be judged: `sentry run` with its options, bwrap, OCI runtimes. A runtime
 * turns a job (a program, an image, an attack's options) into the command of the host that runs it.
 */
#include "lib/compiler.h"

#include "escape-suite/harness/args.h"
#include "escape-suite/harness/catalogue.h"

struct error;

enum runtime_kind {
    RUNTIME_SENTRY,
    RUNTIME_BWRAP,
    RUNTIME_OCI
};

struct runtime {
    enum runtime_kind kind;
    const char *name;    /* as given: "sentry run", "oci:runc" */
    struct args command; /* the words to start with */
    char path[512];      /* of the program */
    char version[160];   /* what it says of itself */
    bool own_shim;       /* runsc-shim: mounts into an image need no directory there */
    bool own_kernel;     /* the host's kernel is not the guest's: stricter promises */
};

/* What is to be run, once. Strings are borrowed. */
struct job {
    const struct attack *attack; /* NULL: no options (the follow-up, the neighbour) */
    const char *image;           /* root file system */
    const char *mount;           /* host directory for /attack; NULL: the image has it */
    const char *scratch;         /* a directory for what the runtime needs */
    const char *report;          /* where sentry's report goes */
    const char *id;              /* unique name of this run */
    bool endless;                /* no time limit */
    char *const *argv;           /* in the box */
};

/* name as on the command line, bin: the directory of our own programs. */
int runtime_find(struct runtime *r, const char *name, const char *bin, struct error *err)
    MUST_CHECK;
void runtime_done(struct runtime *r);
const char *runtime_kind_name(enum runtime_kind k);
/* Fills the command; cleanup (may stay empty) removes what a run that was given up left. */
int runtime_command(const struct runtime *r, const struct job *j, struct args *command,
                    struct args *cleanup, struct error *err) MUST_CHECK;
/* Why the attack cannot be judged with this runtime, or NULL. */
const char *runtime_lacks(const struct runtime *r, const struct attack *a);
/* The value of "--name VALUE" in an attack's limits, or NULL. */
const char *limit_value(const struct attack *a, const char *name, char *buf, size_t cap);

/* oci.c: writes the bundle of a job (config.json, a root to mount on) and names its directory. */
int oci_bundle(const struct runtime *r, const struct job *j, char *ret_dir, size_t cap,
               struct error *err) MUST_CHECK;
