/*
 * control_blob.c: the strings of an exec as bytes, for the memfd that travels with the request.
 *
 *   struct blob_head, then NUL-terminated strings: cwd, user (if there), arguments, environment
 *
 * The reader gets a private copy that nobody else can change; every count and every NUL is checked,
 * and nothing may be left over.
 */
#include "lib/compiler.h"

#include <errno.h>
#include <string.h>

#include "lib/alloc.h"
#include "sentry/cli/control.h"

enum {
    BLOB_MAX_STRINGS = 1 << 17
};

enum blob_flags {
    BLOB_CWD = 1,
    BLOB_USER = 2,
    BLOB_INHERIT = 4,
    BLOB_TERMINAL = 8,
    BLOB_FLAGS = 15
};

/* Without holes; struct boot_process is taken apart so that no padding travels. */
struct blob_head {
    uint32_t magic, flags, nargs, nenv;
    uint32_t rows, cols;
    uint32_t ids_given, uid, gid, ngroups;
    uint32_t caps_given, no_new_privs, umask_given, umask, oom_given;
    int32_t oom_score_adj;
    uint32_t rlimits_given, find_home;
    uint64_t cap_bounding, cap_effective, cap_inheritable, cap_permitted, cap_ambient;
    uint64_t rlimit[BOOT_RLIMITS][2];
    uint32_t groups[BOOT_MAX_GROUPS];
};
_Static_assert(sizeof(struct blob_head) == 18 * 4 + 5 * 8 + BOOT_RLIMITS * 16 + BOOT_MAX_GROUPS * 4,
               "no padding");

static uint32_t count(const char *const *list)
{
    uint32_t n = 0;
    while (list != NULL && list[n] != NULL)
        n++;
    return n;
}

static void head_from_process(struct blob_head *h, const struct boot_process *p)
{
    h->ids_given = p->ids_given;
    h->uid = p->uid;
    h->gid = p->gid;
    h->ngroups = p->ngroups;
    h->caps_given = p->caps_given;
    h->no_new_privs = p->no_new_privs;
    h->umask_given = p->umask_given;
    h->umask = p->umask;
    h->oom_given = p->oom_given;
    h->oom_score_adj = p->oom_score_adj;
    h->rlimits_given = p->rlimits_given;
    h->find_home = p->find_home;
    h->cap_bounding = p->cap_bounding;
    h->cap_effective = p->cap_effective;
    h->cap_inheritable = p->cap_inheritable;
    h->cap_permitted = p->cap_permitted;
    h->cap_ambient = p->cap_ambient;
    for (size_t i = 0; i < BOOT_RLIMITS; i++) {
        h->rlimit[i][0] = p->rlimit[i].cur;
        h->rlimit[i][1] = p->rlimit[i].max;
    }
    memcpy(h->groups, p->groups, sizeof(h->groups));
}

int control_exec_pack(const struct control_exec *ex, struct buf *out)
{
    struct blob_head h = {
        .magic = CONTROL_MAGIC,
        .flags = (ex->cwd != NULL ? BLOB_CWD : 0) | (ex->user != NULL ? BLOB_USER : 0) |
                 (ex->inherit ? BLOB_INHERIT : 0) | (ex->terminal ? BLOB_TERMINAL : 0),
        .nargs = count(ex->argv),
        .nenv = count(ex->env),
        .rows = ex->rows,
        .cols = ex->cols,
    };
    head_from_process(&h, &ex->process);
    (void)buf_append(out, &h, sizeof(h));
    if (ex->cwd != NULL)
        (void)buf_append(out, ex->cwd, strlen(ex->cwd) + 1);
    if (ex->user != NULL)
        (void)buf_append(out, ex->user, strlen(ex->user) + 1);
    for (uint32_t i = 0; i < h.nargs; i++)
        (void)buf_append(out, ex->argv[i], strlen(ex->argv[i]) + 1);
    for (uint32_t i = 0; i < h.nenv; i++)
        (void)buf_append(out, ex->env[i], strlen(ex->env[i]) + 1);
    return buf_error(out);
}

/* -- reading ------------------------------------------------------------------------------------
 */

struct reader {
    const char *at;
    size_t left;
};

static const char *next_string(struct reader *r)
{
    const char *s = r->at;
    size_t n = strnlen(s, r->left);
    if (n == r->left)
        return NULL;
    r->at += n + 1;
    r->left -= n + 1;
    return s;
}

static bool head_valid(const struct blob_head *h)
{
    return h->magic == CONTROL_MAGIC && (h->flags & ~(uint32_t)BLOB_FLAGS) == 0 && h->nargs >= 1 &&
           h->nargs <= BLOB_MAX_STRINGS && h->nenv <= BLOB_MAX_STRINGS && h->rows <= UINT16_MAX &&
           h->cols <= UINT16_MAX && h->ids_given <= 1 && h->ngroups <= BOOT_MAX_GROUPS &&
           h->caps_given <= 1 && h->no_new_privs <= 1 && h->umask_given <= 1 && h->umask <= 0777 &&
           h->oom_given <= 1 && h->oom_score_adj >= -1000 && h->oom_score_adj <= 1000 &&
           h->rlimits_given < 1u << BOOT_RLIMITS && h->find_home <= 1;
}

static void process_from_head(struct boot_process *p, const struct blob_head *h)
{
    *p = (struct boot_process){
        .ids_given = h->ids_given != 0,
        .uid = h->uid,
        .gid = h->gid,
        .ngroups = h->ngroups,
        .caps_given = h->caps_given != 0,
        .cap_bounding = h->cap_bounding,
        .cap_effective = h->cap_effective,
        .cap_inheritable = h->cap_inheritable,
        .cap_permitted = h->cap_permitted,
        .cap_ambient = h->cap_ambient,
        .no_new_privs = h->no_new_privs != 0,
        .umask_given = h->umask_given != 0,
        .umask = h->umask,
        .oom_given = h->oom_given != 0,
        .oom_score_adj = h->oom_score_adj,
        .rlimits_given = h->rlimits_given,
        .find_home = h->find_home != 0,
    };
    for (size_t i = 0; i < BOOT_RLIMITS; i++) {
        p->rlimit[i].cur = h->rlimit[i][0];
        p->rlimit[i].max = h->rlimit[i][1];
    }
    memcpy(p->groups, h->groups, sizeof(p->groups));
}

static int read_strings(struct reader *r, uint32_t n, const char ***ret_list)
{
    /* Each takes a byte at least, so a false count costs no more memory than the blob. */
    if (n > r->left)
        return -EBADMSG;
    const char **list = kalloc_array((size_t)n + 1, sizeof(*list));
    if (list == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        list[i] = next_string(r);
        if (list[i] == NULL) {
            kfree(list);
            return -EBADMSG;
        }
    }
    *ret_list = list;
    return 0;
}

int control_exec_parse(const void *blob, size_t len, struct control_exec_parsed *ret)
{
    struct control_exec_parsed p = {0};
    struct blob_head h;

    if (len < sizeof(h) || len > CONTROL_MAX_BLOB)
        return -EBADMSG;
    memcpy(&h, blob, sizeof(h));
    if (!head_valid(&h))
        return -EBADMSG;
    struct reader r = {(const char *)blob + sizeof(h), len - sizeof(h)};
    p.ex.inherit = (h.flags & BLOB_INHERIT) != 0;
    p.ex.terminal = (h.flags & BLOB_TERMINAL) != 0;
    p.ex.rows = (uint16_t)h.rows;
    p.ex.cols = (uint16_t)h.cols;
    process_from_head(&p.ex.process, &h);
    int e = 0;
    if ((h.flags & BLOB_CWD) && (p.ex.cwd = next_string(&r)) == NULL)
        e = -EBADMSG;
    if (e == 0 && (h.flags & BLOB_USER) && (p.ex.user = next_string(&r)) == NULL)
        e = -EBADMSG;
    if (e == 0)
        e = read_strings(&r, h.nargs, &p.argv);
    if (e == 0)
        e = read_strings(&r, h.nenv, &p.env);
    if (e == 0 && r.left != 0)
        e = -EBADMSG;
    if (e < 0) {
        control_exec_parsed_done(&p);
        return e;
    }
    p.ex.argv = p.argv;
    p.ex.env = p.env;
    *ret = p;
    return 0;
}

void control_exec_parsed_done(struct control_exec_parsed *p)
{
    kfree(p->argv);
    kfree(p->env);
    *p = (struct control_exec_parsed){0};
}
