/*
 * control_server_exec.c: CONTROL_EXEC: from the blob and the descriptors to a process.
 */
#include "lib/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include <sys/stat.h>

#include "lib/alloc.h"
#include "lib/error.h"
#include "sentry/cli/console.h"
#include "sentry/cli/control_conn.h"
#include "sentry/cli/process.h"
#include "sentry/fs/dev/tty.h"
#include "sentry/fs/file.h"
#include "sentry/host/host.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/task.h"

enum {
    EXIT_NOEXEC = 126,
    EXIT_NOTFOUND = 127
};
#define BLOB_SEALS (F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK)

static struct conn *console_conn(const struct console *console)
{
    struct conn *c;
    list_for_each_entry (c, &control_conns, link) {
        if (c->console == console)
            return c;
    }
    return NULL;
}

static void console_written(struct console *console)
{
    struct conn *c = console_conn(console);
    if (c != NULL && c->exited)
        conn_later(c);
}

static void console_hung(struct console *console)
{
    struct conn *c = console_conn(console);
    if (c == NULL)
        return;
    c->hung = true;
    conn_later(c);
}

/* A private copy; the seals say that the pages are a memfd's, so reading it cannot wait. */
static int read_blob(int fd, void **ret_blob, size_t *ret_len)
{
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || (seals & BLOB_SEALS) != BLOB_SEALS || fstat(fd, &st) < 0 || st.st_size <= 0 ||
        st.st_size > CONTROL_MAX_BLOB)
        return -EBADMSG;
    size_t len = (size_t)st.st_size;
    void *blob = kalloc(len);
    if (blob == NULL)
        return -ENOMEM;
    if (host_pread(fd, blob, len, 0) != (int64_t)len) {
        kfree(blob);
        return -EBADMSG;
    }
    *ret_blob = blob;
    *ret_len = len;
    return 0;
}

/* The terminal of an exec, or its three streams; descriptors are used up. */
static int give_stdio(struct conn *c, const struct control_exec *ex, int stdio[3],
                      struct kernel_start *start, struct error *err)
{
    static const char *const names[] = {"stdin", "stdout", "stderr"};
    int r = 0;
    if (ex->terminal) {
        c->console = kalloc(sizeof(*c->console));
        if (c->console == NULL)
            return error_set(err, ENOMEM, "no memory");
        r = console_begin(c->console, stdio[0], stdio[1], err);
        stdio[0] = stdio[1] = -1;
        if (r < 0)
            return r;
        c->console->written = console_written;
        c->console->hung = console_hung;
        for (int i = 0; i < 3; i++)
            start->stdio_files[i] = file_get(c->console->slave);
        start->console = c->console->master;
        if (ex->rows != 0 || ex->cols != 0)
            tty_console_resize(c->console->master, ex->rows, ex->cols);
        return 0;
    }
    for (int i = 0; i < 3 && r == 0; i++) {
        r = host_file_new(stdio[i], i == 0 ? LX_O_RDONLY : LX_O_WRONLY, names[i],
                          &start->stdio_files[i]);
        if (r == 0)
            stdio[i] = -1;
    }
    return r < 0 ? error_errno(err, -r, "standard streams") : 0;
}

static int exec_exit_code(bool exec_failed, int r)
{
    if (!exec_failed)
        return EXIT_OTHER;
    return r == -ENOENT ? EXIT_NOTFOUND : EXIT_NOEXEC;
}

/* What the request does not say is as for the first process. */
static void inherit(struct boot_process *p, const struct boot_process *first)
{
    if (!p->caps_given && first->caps_given) {
        p->caps_given = true;
        p->cap_bounding = first->cap_bounding;
        p->cap_effective = first->cap_effective;
        p->cap_inheritable = first->cap_inheritable;
        p->cap_permitted = first->cap_permitted;
        p->cap_ambient = first->cap_ambient;
    }
    if (p->rlimits_given == 0) {
        p->rlimits_given = first->rlimits_given;
        memcpy(p->rlimit, first->rlimit, sizeof(p->rlimit));
    }
    if (!p->umask_given) {
        p->umask_given = first->umask_given;
        p->umask = first->umask;
    }
    if (!p->oom_given) {
        p->oom_given = first->oom_given;
        p->oom_score_adj = first->oom_score_adj;
    }
    p->no_new_privs |= first->no_new_privs;
    p->find_home |= first->find_home;
}

/* fds: the three streams, then nmore to be passed on; -1 once they are used. */
static int exec_process(struct conn *c, const struct control_exec *ex, int *fds, size_t nmore,
                        int *ret_exit_code, struct error *err)
{
    const struct boot *b = control_config.boot;
    struct thread_group *tg = NULL;
    struct process p;
    struct boot_process rights = ex->process;
    bool exec_failed = false;
    struct process_words w = {
        .argv = ex->argv,
        .env = ex->env,
        .base_env = ex->inherit ? (const char *const *)b->env : NULL,
        .cwd = ex->cwd != NULL ? ex->cwd : b->cwd,
        .user = ex->user,
        .process = &rights,
        .default_ids = control_config.ids,
    };

    *ret_exit_code = EXIT_OTHER;
    if (ex->inherit)
        inherit(&rights, &b->process);
    int r = process_describe(&w, &p, err);
    if (r == 0)
        r = give_stdio(c, ex, fds, &p.start, err);
    if (r == 0)
        r = process_add_files(&p, fds + 3, nmore, err);
    if (r == 0) {
        r = kernel_exec_process(&p.start, &tg, &exec_failed, err);
        *ret_exit_code = exec_exit_code(exec_failed, r);
    }
    process_done(&p);
    for (int i = 0; i < 3; i++)
        file_put(p.start.stdio_files[i]);
    if (r < 0) {
        conn_drop_console(c);
        return r;
    }
    if (c->console != NULL) {
        /* Only guests hold it open from here on. */
        file_put(c->console->slave);
        c->console->slave = NULL;
    }
    struct control_reply rp = {.kind = CONTROL_STARTED, .pid = (int32_t)tg->pid};
    conn_answer(c, &rp);
    conn_watch(c, tg);
    return 0;
}

void conn_exec(struct conn *c, int *fds, size_t nfds)
{
    struct control_exec_parsed parsed = {0};
    struct error err;
    void *blob = NULL;
    size_t len;
    int code = EXIT_OTHER;

    error_init(&err);
    if (c->tg != NULL) {
        conn_fail(c, EBUSY, "this connection has a process already");
        return;
    }
    if (kernel.ended || kernel.init == NULL || kernel.init->zombie) {
        conn_fail(c, ESRCH, "the sandbox has ended");
        return;
    }
    if (kernel.paused) {
        conn_fail(c, EBUSY, "the sandbox is paused");
        return;
    }
    int r = read_blob(fds[0], &blob, &len);
    if (r == 0)
        r = control_exec_parse(blob, len, &parsed);
    if (r < 0)
        (void)error_errno(&err, -r, "the description of the process");
    else
        r = exec_process(c, &parsed.ex, fds + 1, nfds - CONTROL_EXEC_FDS, &code, &err);
    control_exec_parsed_done(&parsed);
    kfree(blob);
    if (r < 0)
        conn_fail_with(c, code, &err);
}
