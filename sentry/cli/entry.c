/*
 * entry.c: a direct run's entry in the state directory.
 *
 * A lock on the directory says that the monitor lives; no other trace is needed, so nothing that a
 * killed monitor leaves behind can be taken for a running sandbox. A signal that ends the monitor
 * removes the entry first; after SIGKILL the janitor does, or the next who looks.
 */
#include "sentry/cli/entry.h"

#include "lib/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/random.h>

#include "lib/alloc.h"
#include "lib/buf.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "lib/log.h"
#include "sentry/cli/boot.h"
#include "sentry/cli/control.h"
#include "sentry/cli/janitor.h"

enum {
    CLAIM_TRIES = 8,
    SWEEP_MAX = 8,
    COMMAND_MAX = 1024
};

/* -- signals -------------------------------------------------------------------------------------
 */

/* What the handler needs; async-signal-safe calls only. */
static struct {
    char path[STATE_PATH_MAX + STATE_ID_MAX + 2];
    int dir;
} dying = {.dir = -1};

static const int fatal_signals[] = {SIGHUP, SIGINT, SIGTERM, SIGQUIT};

static void end_with_signal(int signo)
{
    (void)unlinkat(dying.dir, "state.json", 0);
    (void)unlinkat(dying.dir, CONTROL_SOCK, 0);
    (void)rmdir(dying.path);
    (void)raise(signo); /* SA_RESETHAND: now it ends us */
}

static void catch_signals(const struct entry *e)
{
    struct sigaction act = {.sa_handler = end_with_signal, .sa_flags = (int)SA_RESETHAND}, old;
    (void)snprintf(dying.path, sizeof(dying.path), "%s/%s", e->root, e->id);
    dying.dir = e->dir;
    for (size_t i = 0; i < ARRAY_LEN(fatal_signals); i++) {
        if (sigaction(fatal_signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            (void)sigaction(fatal_signals[i], &act, NULL);
    }
}

/* -- life of an entry ----------------------------------------------------------------------------
 */

static void make_id(char *buf, size_t cap)
{
    uint64_t v = 0;
    (void)!getrandom(&v, sizeof(v), GRND_NONBLOCK);
    (void)snprintf(buf, cap, "%012llx", (unsigned long long)(v & 0xffffffffffffull));
}

/* The entry of a dead monitor is taken away; true when the name may be free now. */
static bool remove_stale(const char *root, const char *id)
{
    int dir;
    if (state_open(root, id, &dir, NULL) < 0)
        return true;
    int r = state_claim(dir, false);
    if (r == 0)
        r = state_remove(root, id, NULL);
    (void)close(dir);
    return r == 0 || r == -ENOENT;
}

static int claim(struct entry *e, struct error *err)
{
    for (int i = 0; i < CLAIM_TRIES; i++) {
        int r = state_create_claimable(e->root, e->id, &e->dir, err);
        /* Somebody who sweeps may have been faster, here and before the claim. */
        if (r == -ENOENT || (r == -EEXIST && remove_stale(e->root, e->id)))
            continue;
        if (r < 0)
            return r;
        r = state_claim(e->dir, true);
        if (r == 0)
            return 0;
        (void)close(e->dir);
    }
    return error_set(err, EBUSY, "sandbox '%s' is being made or removed", e->id);
}

int entry_begin(struct entry *e, struct boot *b, struct error *err)
{
    *e = (struct entry){.dir = -1};
    int r = state_default_root(e->root, sizeof(e->root), err);
    if (r < 0)
        return r;
    if (b->name != NULL)
        (void)snprintf(e->id, sizeof(e->id), "%s", b->name);
    else
        make_id(e->id, sizeof(e->id));
    janitor_tell_entry(e->root, e->id);
    r = claim(e, err);
    if (r < 0) {
        janitor_release();
        return r;
    }
    e->made = true;
    r = b->listen_fd >= 0 ? control_bind(e->dir, b->listen_fd, err)
                          : control_listen(e->dir, &b->listen_fd, err);
    if (r < 0) {
        entry_end(e);
        return r;
    }
    catch_signals(e);
    return 0;
}

static char *words(char *const *argv)
{
    struct buf out;
    buf_init(&out, COMMAND_MAX);
    for (size_t i = 0; argv[i] != NULL; i++)
        (void)buf_printf(&out, "%s%s", i > 0 ? " " : "", argv[i]);
    char *text = buf_take(&out);
    buf_done(&out);
    return text;
}

void entry_write(const struct entry *e, const struct boot *b, pid_t sentry)
{
    struct state s;
    struct error err;
    char link[64], image[STATE_PATH_MAX];

    if (!e->made)
        return;
    error_init(&err);
    state_init(&s);
    (void)snprintf(s.id, sizeof(s.id), "%s", e->id);
    s.status = STATE_RUNNING;
    s.monitor = getpid();
    s.monitor_time = state_process_time(s.monitor);
    s.sentry = sentry;
    state_set_created_now(&s);
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", b->image_fd);
    ssize_t n = readlink(link, image, sizeof(image) - 1);
    s.image = n > 0 ? kstrndup(image, (size_t)n) : NULL;
    s.command = words(b->argv);
    if (state_write(e->dir, &s, false, &err) < 0)
        LOG_I(CH_CLI, "%s", err.text);
    state_done(&s);
}

void entry_end(struct entry *e)
{
    struct error err;
    if (!e->made)
        return;
    error_init(&err);
    if (state_remove(e->root, e->id, &err) < 0)
        LOG_I(CH_CLI, "%s", err.text);
    state_sweep(e->root, SWEEP_MAX);
    /* The handler must not find a descriptor that means something else by then. */
    dying.dir = -1;
    dying.path[0] = '\0';
    (void)close(e->dir);
    janitor_release();
    e->made = false;
}

/* -- clients -------------------------------------------------------------------------------------
 */

int entry_connect(const char *id, int *ret_sock, struct error *err)
{
    char root[STATE_PATH_MAX];
    struct error e;
    int dir = -1;

    error_init(&e);
    int r = state_default_root(root, sizeof(root), err);
    if (r == 0)
        r = state_open(root, id, &dir, err);
    if (r < 0)
        return r;
    r = control_connect(dir, ret_sock, &e);
    (void)close(dir);
    if (r == 0)
        return 0;
    if (r == -ECONNREFUSED || r == -ENOENT) {
        (void)remove_stale(root, id);
        return error_set(err, ENOENT, "no sandbox '%s' is running", id);
    }
    return error_set(err, e.code, "%s", e.text);
}
