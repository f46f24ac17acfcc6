/*
 * How this works: every kind has one entry, in one of three places: names and flags in
 * argfmt_names.c, structures in argfmt_struct.c, numbers and memory in the table below. argfmt_arg
 * finds the entry and calls its function. Formatters append to a buffer with a cap and look at
 * no error: a full buffer only makes the line shorter.
 */
#include "sentry/sys/argfmt.h"

#include <inttypes.h>
#include <string.h>

#include "abi/file.h"

#include "sentry/sys/argfmt_private.h"

void argfmt_bytes(struct buf *out, const void *p, size_t n)
{
    const unsigned char *s = p;
    buf_putc(out, '"');
    for (size_t i = 0; i < n; i++) {
        unsigned char c = s[i];
        if (c == '\n')
            buf_puts(out, "\\n");
        else if (c == '\t')
            buf_puts(out, "\\t");
        else if (c == '\r')
            buf_puts(out, "\\r");
        else if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c >= 0x20 && c < 0x7f)
            buf_putc(out, (char)c);
        else
            buf_printf(out, "\\x%02x", c);
    }
    buf_putc(out, '"');
}

void argfmt_put_addr(struct buf *out, uint64_t v)
{
    if (v == 0)
        buf_puts(out, "NULL");
    else
        buf_printf(out, "0x%" PRIx64, v);
}

bool argfmt_fetch(struct argfmt *f, uint64_t addr, void *dst, size_t n)
{
    if (addr != 0 && f->read(f->ctx, GADDR(addr), dst, n) == (int64_t)n)
        return true;
    argfmt_put_addr(f->out, addr);
    return false;
}

void argfmt_put_memory(struct argfmt *f, uint64_t addr, uint64_t n)
{
    char part[ARGFMT_STR_MAX];
    size_t want = n < sizeof(part) ? (size_t)n : sizeof(part);
    int64_t got = addr != 0 ? f->read(f->ctx, GADDR(addr), part, want) : -1;
    if (got < 0 || (got == 0 && want > 0)) {
        argfmt_put_addr(f->out, addr);
        return;
    }
    argfmt_bytes(f->out, part, (size_t)got);
    if ((uint64_t)got < n)
        buf_puts(f->out, "...");
}

/* A NUL-terminated string; reads in steps that do not cross a page, so a short one at the end of a
 * mapping is not lost. */
void argfmt_put_path(struct argfmt *f, uint64_t addr)
{
    char part[ARGFMT_STR_MAX + 1];
    size_t len = 0;
    if (addr == 0) {
        buf_puts(f->out, "NULL");
        return;
    }
    while (len < sizeof(part)) {
        uint64_t at = addr + len;
        size_t step = MIN(sizeof(part) - len, (size_t)(4096 - (at & 4095)));
        int64_t got = f->read(f->ctx, GADDR(at), part + len, step);
        if (got <= 0 && len == 0) {
            argfmt_put_addr(f->out, addr);
            return;
        }
        if (got <= 0)
            break;
        const char *nul = memchr(part + len, 0, (size_t)got);
        if (nul) {
            argfmt_bytes(f->out, part, (size_t)(nul - part));
            return;
        }
        len += (size_t)got;
    }
    argfmt_bytes(f->out, part, MIN(len, (size_t)ARGFMT_STR_MAX));
    buf_puts(f->out, "...");
}

/* -- numbers -------------------------------------------------------------------------------------
 */

static void put_int(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    buf_printf(f->out, "%" PRId32, (int32_t)(uint32_t)v);
}

static void put_uint(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    buf_printf(f->out, "%" PRIu32, (uint32_t)v);
}

static void put_long(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    buf_printf(f->out, "%" PRId64, (int64_t)v);
}

static void put_size(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    buf_printf(f->out, "%" PRIu64, v);
}

static void put_hex(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    buf_printf(f->out, v ? "0x%" PRIx64 : "%" PRIu64, v);
}

static void put_address(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    argfmt_put_addr(f->out, v);
}

static void put_dirfd(struct argfmt *f, unsigned i, uint64_t v)
{
    if ((int32_t)(uint32_t)v == LX_AT_FDCWD)
        buf_puts(f->out, "AT_FDCWD");
    else
        put_int(f, i, v);
}

static void put_mode(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    buf_printf(f->out, "0%03" PRIo32, (uint32_t)v);
}

static void put_dev(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    buf_printf(f->out, "%" PRIu32 ":%" PRIu32, lx_major(v), lx_minor(v));
}

/* -- memory ------------------------------------------------------------------------------------ */

static void put_path(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    argfmt_put_path(f, v);
}

static void put_buffer(struct argfmt *f, unsigned i, uint64_t v)
{
    argfmt_put_memory(f, v, i < 5 ? f->args[i + 1] : 0);
}

static void put_buffer_out(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    if (f->result < 0)
        argfmt_put_addr(f->out, v);
    else
        argfmt_put_memory(f, v, (uint64_t)f->result);
}

/* getcwd counts the NUL, readlink does not. */
static void put_text_out(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    char last;
    uint64_t n = f->result > 0 ? (uint64_t)f->result : 0;
    if (n > 0 && f->read(f->ctx, GADDR(v + n - 1), &last, 1) == 1 && last == 0)
        n--;
    if (f->result < 0)
        argfmt_put_addr(f->out, v);
    else
        argfmt_put_memory(f, v, n);
}

static void put_strings(struct argfmt *f, uint64_t v, bool count_only)
{
    uint64_t ptr = 0, n = 0;
    if (v == 0) {
        buf_puts(f->out, "NULL");
        return;
    }
    if (!count_only)
        buf_putc(f->out, '[');
    for (; n < 4096; n++) {
        if (f->read(f->ctx, GADDR(v + n * 8), &ptr, 8) != 8 || ptr == 0)
            break;
        if (count_only)
            continue;
        if (n == ARGFMT_LIST_MAX) {
            buf_puts(f->out, ", ...");
            break;
        }
        if (n > 0)
            buf_puts(f->out, ", ");
        argfmt_put_path(f, ptr);
    }
    if (count_only)
        buf_printf(f->out, "0x%" PRIx64 " /* %" PRIu64 " vars */", v, n);
    else
        buf_putc(f->out, ']');
}

static void put_strv(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    put_strings(f, v, false);
}

static void put_strv_count(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    put_strings(f, v, true);
}

static void put_int_ptr(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    int32_t value;
    if (argfmt_fetch(f, v, &value, sizeof(value)))
        buf_printf(f->out, "[%" PRId32 "]", value);
}

static void put_long_ptr(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    int64_t value;
    if (argfmt_fetch(f, v, &value, sizeof(value)))
        buf_printf(f->out, "[%" PRId64 "]", value);
}

static void put_fd_pair(struct argfmt *f, UNUSED unsigned i, uint64_t v)
{
    int32_t fds[2];
    if (f->result < 0)
        argfmt_put_addr(f->out, v);
    else if (argfmt_fetch(f, v, fds, sizeof(fds)))
        buf_printf(f->out, "[%" PRId32 ", %" PRId32 "]", fds[0], fds[1]);
}

static const struct argfmt_kind plain_kinds[A_COUNT] = {
    [A_INT] = {.fn = put_int},
    [A_UINT] = {.fn = put_uint},
    [A_LONG] = {.fn = put_long},
    [A_SIZE] = {.fn = put_size},
    [A_OFF] = {.fn = put_long},
    [A_HEX] = {.fn = put_hex},
    [A_ADDR] = {.fn = put_address},
    [A_PID] = {.fn = put_int},
    [A_ID] = {.fn = put_int},
    [A_FD] = {.fn = put_int},
    [A_DIRFD] = {.fn = put_dirfd},
    [A_DEV] = {.fn = put_dev},
    [A_MODE] = {.fn = put_mode},
    [A_PATH] = {.fn = put_path},
    [A_STR] = {.fn = put_path},
    [A_STRV] = {.fn = put_strv},
    [A_STRV_COUNT] = {.fn = put_strv_count},
    [A_BUF] = {.fn = put_buffer},
    [A_BUF_OUT] = {.fn = put_buffer_out, .out = true},
    [A_STR_OUT] = {.fn = put_text_out, .out = true},
    [A_INT_PTR] = {.fn = put_int_ptr},
    [A_INT_PTR_OUT] = {.fn = put_int_ptr, .out = true},
    [A_LONG_PTR] = {.fn = put_long_ptr},
    [A_FDPAIR_OUT] = {.fn = put_fd_pair, .out = true},
    [A_DIRENTS_OUT] = {.fn = put_address, .out = true},
};

/* -- choosing -------------------------------------------------------------------------------------
 */

static const struct argfmt_kind *find_kind(enum syscall_arg_kind kind)
{
    if ((unsigned)kind >= A_COUNT)
        return &plain_kinds[A_HEX];
    if (plain_kinds[kind].fn)
        return &plain_kinds[kind];
    const struct argfmt_kind *k = argfmt_name_kind(kind);
    if (!k)
        k = argfmt_struct_kind(kind);
    if (!k)
        k = argfmt_io_kind(kind);
    return k ? k : &plain_kinds[A_HEX];
}

void argfmt_put_name(struct buf *out, const struct argfmt_name *names, size_t n, uint64_t v)
{
    for (size_t i = 0; i < n; i++) {
        if (names[i].value == v) {
            buf_puts(out, names[i].name);
            return;
        }
    }
    buf_printf(out, "0x%" PRIx64, v);
}

void argfmt_put_flags(struct buf *out, const struct argfmt_flags *t, uint64_t v)
{
    const char *sep = "";
    if (t->mask != 0) {
        argfmt_put_name(out, t->field, t->nfield, v & t->mask);
        v &= ~t->mask;
        sep = "|";
    }
    for (size_t i = 0; i < t->nflags && v != 0; i++) {
        uint64_t bits = t->flags[i].value;
        if (bits != 0 && (v & bits) == bits) {
            buf_printf(out, "%s%s", sep, t->flags[i].name);
            v &= ~bits;
            sep = "|";
        }
    }
    if (v != 0)
        buf_printf(out, "%s0x%" PRIx64, sep, v);
    else if (sep[0] == '\0')
        buf_putc(out, '0');
}

void argfmt_put_kind(struct argfmt *f, unsigned i, enum syscall_arg_kind kind, uint64_t v)
{
    const struct argfmt_kind *k = find_kind(kind);
    if (k->fn)
        k->fn(f, i, v);
    else if (k->flags)
        argfmt_put_flags(f->out, k->flags, v);
    else
        argfmt_put_name(f->out, k->names, k->nnames, v);
}

bool argfmt_is_out(enum syscall_arg_kind kind)
{
    return find_kind(kind)->out;
}

void argfmt_arg(struct argfmt *f, unsigned i, enum syscall_arg_kind kind)
{
    argfmt_put_kind(f, i, kind, f->args[i]);
}
