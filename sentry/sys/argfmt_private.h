#pragma once
/* Shared by the argfmt_*.c files: name tables and the formatters of structures. */
#include "lib/compiler.h"

#include "sentry/sys/argfmt.h"

struct argfmt_name {
    uint64_t value;
    const char *name;
};

/* A word made of one value of a field (mask) and any number of flags. */
struct argfmt_flags {
    uint64_t mask; /* of the field; 0: only flags */
    const struct argfmt_name *field;
    size_t nfield;
    const struct argfmt_name *flags;
    size_t nflags;
};

typedef void argfmt_fn(struct argfmt *f, unsigned i, uint64_t v);

/* How one kind is printed: a function of its own, a set of flags, or one name out of a list. */
struct argfmt_kind {
    argfmt_fn *fn;
    const struct argfmt_flags *flags;
    const struct argfmt_name *names;
    size_t nnames;
    bool out;
};

/* argfmt_names.c: for kinds that are names or flags; NULL for the others. */
const struct argfmt_kind *argfmt_name_kind(enum syscall_arg_kind kind);
/* argfmt_struct.c: for kinds that are structures; NULL for the others. */
const struct argfmt_kind *argfmt_struct_kind(enum syscall_arg_kind kind);
/* argfmt_io.c: for those of polling and sockets. */
const struct argfmt_kind *argfmt_io_kind(enum syscall_arg_kind kind);
/* True when the call failed and an output argument therefore holds nothing: its address was put. */
bool argfmt_nothing_written(struct argfmt *f, uint64_t v);
/* The segments at v; total is how many bytes of them, from the start on, are worth showing. */
void argfmt_put_segments(struct argfmt *f, uint64_t v, uint64_t count, uint64_t total);

void argfmt_put_flags(struct buf *out, const struct argfmt_flags *t, uint64_t v);
void argfmt_put_name(struct buf *out, const struct argfmt_name *names, size_t n, uint64_t v);
/* Prints an argument of another kind, or a value as if it were one. */
void argfmt_put_kind(struct argfmt *f, unsigned i, enum syscall_arg_kind kind, uint64_t v);
/* Copies a whole structure; prints the address (or NULL) and returns false when it cannot. */
bool argfmt_fetch(struct argfmt *f, uint64_t addr, void *dst, size_t n);
/* At most n bytes at addr as a quoted string. */
void argfmt_put_memory(struct argfmt *f, uint64_t addr, uint64_t n);
void argfmt_put_addr(struct buf *out, uint64_t v);
void argfmt_put_path(struct argfmt *f, uint64_t addr);
void argfmt_put_sigset(struct buf *out, uint64_t set);
