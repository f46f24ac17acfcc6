/*
 * exec_strings.c: argument and environment strings of execve, and the "#!" line.
 */
#include "lib/compiler.h"

#include <string.h>

#include "abi/errno.h"
#include "abi/rlimit.h"

#include "lib/alloc.h"
#include "lib/buf.h"
#include "sentry/kernel/exec.h"
#include "sentry/kernel/exec_load.h"
#include "sentry/kernel/limits.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"

enum {
    STRING_MAX = 131072,
    VECTOR_MAX = 1 << 17,
    STRINGS_MAX = 6 << 20,
    POINTERS = 64,
    WINDOW = 4096
};

static size_t strings_cap(const struct task *t)
{
    uint64_t cap = task_rlimit(t, LX_RLIMIT_STACK)->rlim_cur / 4;
    cap = MIN(cap, (uint64_t)STRINGS_MAX);
    return (size_t)MAX(cap, (uint64_t)STRING_MAX);
}

/* A copied piece of guest memory. Strings of one vector mostly lie side by side, so one copy serves
 * many of them, and each byte is still copied once. */
struct window {
    uint64_t start;
    size_t len;
    char bytes[WINDOW];
};

/* What the window holds from at on, after a copy if need be: bytes, at least 1, or -EFAULT. */
static int64_t window_at(struct task *t, struct window *w, uint64_t at, const char **ret_bytes)
{
    if (at < w->start || at - w->start >= w->len) {
        int64_t n = copy_from_user_partial(t, w->bytes, GADDR(at), sizeof(w->bytes));
        if (n <= 0)
            return -EFAULT;
        w->start = at;
        w->len = (size_t)n;
    }
    *ret_bytes = w->bytes + (at - w->start);
    return (int64_t)(w->len - (at - w->start));
}

static int copy_one(struct task *t, struct window *w, uint64_t at, struct buf *b)
{
    for (size_t total = 0; total < STRING_MAX;) {
        const char *p;
        int64_t room = window_at(t, w, at + total, &p);
        if (room < 0)
            return (int)room;
        const char *nul = memchr(p, 0, (size_t)room);
        size_t n = nul != NULL ? (size_t)(nul - p) + 1 : (size_t)room;
        int r = buf_append(b, p, n);
        if (r < 0 || nul != NULL)
            return r;
        total += n;
    }
    return -E2BIG;
}

/* Appends the strings of a NULL-terminated vector of guest pointers. */
static int copy_vector(struct task *t, struct window *w, gaddr_t vec, struct buf *b,
                       uint32_t *ret_n)
{
    uint64_t ptrs[POINTERS];
    uint32_t n = 0, have = 0;
    *ret_n = 0;
    if (gaddr_is_null(vec))
        return 0;
    for (;; n++) {
        uint32_t i = n % POINTERS;
        if (i == 0 || i >= have) {
            int64_t got = copy_from_user_partial(t, ptrs + i, gaddr_add(vec, (uint64_t)n * 8),
                                                 sizeof(ptrs) - i * sizeof(ptrs[0]));
            if (got < (int64_t)sizeof(ptrs[0]))
                return -EFAULT;
            have = i + (uint32_t)((uint64_t)got / sizeof(ptrs[0]));
        }
        if (ptrs[i] == 0)
            break;
        if (n >= VECTOR_MAX)
            return -E2BIG;
        int r = copy_one(t, w, ptrs[i], b);
        if (r < 0)
            return r;
    }
    *ret_n = n;
    return 0;
}

static int strings_from_buf(struct buf *b, uint32_t argc, uint32_t envc, struct exec_strings *ret_s)
{
    struct exec_strings s = {.len = b->len, .argc = argc, .envc = envc};
    int r = buf_error(b);
    if (r == 0)
        r = limit_charge(LIMIT_EXEC_BYTES, s.len);
    if (r < 0)
        return r;
    s.data = buf_take(b);
    *ret_s = s;
    return 0;
}

int exec_copy_strings(struct task *t, gaddr_t argv, gaddr_t envp, struct exec_strings *ret_strings)
{
    struct buf b;
    uint32_t argc = 0, envc = 0;
    struct window *w = kalloc(sizeof(*w));

    if (w == NULL)
        return -ENOMEM;
    buf_init(&b, strings_cap(t));
    int r = copy_vector(t, w, argv, &b, &argc);
    if (r == 0 && argc == 0) {
        r = buf_append(&b, "", 1);
        argc = 1;
    }
    if (r == 0)
        r = copy_vector(t, w, envp, &b, &envc);
    if (r == 0)
        r = strings_from_buf(&b, argc, envc, ret_strings);
    buf_done(&b);
    kfree(w);
    return r;
}

int exec_strings_from_kernel(const char *const *argv, const char *const *envp,
                             struct exec_strings *ret_strings)
{
    struct buf b;
    uint32_t argc = 0, envc = 0;
    int r = 0;

    buf_init(&b, STRINGS_MAX);
    for (; argv[argc] != NULL && r == 0; argc++)
        r = buf_append(&b, argv[argc], strlen(argv[argc]) + 1);
    for (; envp != NULL && envp[envc] != NULL && r == 0; envc++)
        r = buf_append(&b, envp[envc], strlen(envp[envc]) + 1);
    if (r == 0)
        r = strings_from_buf(&b, argc, envc, ret_strings);
    buf_done(&b);
    return r;
}

void exec_strings_done(struct exec_strings *s)
{
    if (s->data != NULL)
        limit_release(LIMIT_EXEC_BYTES, s->len);
    kfree(s->data);
    *s = (struct exec_strings){0};
}

/* -- "#!" -------------------------------------------------------------------------------------- */

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

int script_parse(const char *head, size_t n, struct script_line *ret_line)
{
    struct script_line sl = {0};
    if (n < 2 || head[0] != '#' || head[1] != '!')
        return 0;
    const char *p = head + 2, *end = memchr(p, '\n', n - 2);
    bool whole = end != NULL || n < SCRIPT_HEAD;
    if (end == NULL)
        end = head + n;
    while (p < end && blank(*p))
        p++;
    const char *path = p;
    while (p < end && !blank(*p) && *p != '\0')
        p++;
    size_t len = (size_t)(p - path);
    /* A path that the line's first 256 bytes do not hold completely is no path. */
    if (len == 0 || (p == end && !whole))
        return -ENOEXEC;
    memcpy(sl.interp, path, len);
    while (p < end && blank(*p))
        p++;
    while (end > p && (blank(end[-1]) || end[-1] == '\0'))
        end--;
    sl.has_arg = end > p;
    memcpy(sl.arg, p, (size_t)(end - p));
    *ret_line = sl;
    return 1;
}

/* argv becomes INTERP [ARG] PATH ARGV[1]... */
int script_strings(const struct script_line *sl, const char *path, struct exec_strings *s)
{
    struct buf b;
    struct exec_strings fresh;
    size_t first = strnlen(s->data, s->len) + 1;

    buf_init(&b, STRINGS_MAX + 8192);
    (void)buf_append(&b, sl->interp, strlen(sl->interp) + 1);
    if (sl->has_arg)
        (void)buf_append(&b, sl->arg, strlen(sl->arg) + 1);
    (void)buf_append(&b, path, strlen(path) + 1);
    if (s->argc > 0)
        (void)buf_append(&b, s->data + first, s->len - first);
    else
        (void)buf_append(&b, s->data, s->len);
    uint32_t argc = 2 + sl->has_arg + (s->argc > 0 ? s->argc - 1 : 0);
    int r = strings_from_buf(&b, argc, s->envc, &fresh);
    buf_done(&b);
    if (r < 0)
        return r;
    exec_strings_done(s);
    *s = fresh;
    return 0;
}
