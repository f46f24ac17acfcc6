/*
 * suite.c: hands the attacks to lanes, one at a time each, and collects the answers. A lane that
 * dies costs the attack that it was at (not judged) and is replaced. Answers are passed on in the
 * order of the list, however they come in.
 */
#include "escape-suite/harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "escape-suite/harness/run.h"
#include "escape-suite/harness/scratch.h"
#include "escape-suite/harness/text.h"
#include "escape-suite/harness/verdict.h"
#include "lib/alloc.h"
#include "lib/error.h"
#include "lib/fdio.h"

enum {
    LANES_MAX = 16,
    STOP_MS = 20000, /* for a lane to remove what it has made */
    ANSWER_MAX = 16 << 20
};

struct worker {
    pid_t pid; /* 0: none */
    int ask, answer;
    size_t at; /* position in the selection; SIZE_MAX: idle */
};

struct suite {
    struct settings *s;
    struct worker workers[LANES_MAX];
    size_t nworkers;
    size_t *selected; /* indices into the catalogue */
    size_t nselected, next, shown;
    json_t **answers;
    suite_each_fn *each;
    void *arg;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
    interrupted = sig;
}

json_t *attack_json(const struct attack *a)
{
    static const struct notes none = {"", "", "", "", ""};
    const struct notes *n = a->notes != NULL ? a->notes : &none;
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "id", a->id, "group",
                     group_name(a->group), "what", a->what, "file", a->file, "tries", n->tries,
                     "must_fail", n->must_fail, "escape", n->escape, "source", n->source);
}

void attack_json_outcome(json_t *o, const char *outcome, const char *reason)
{
    (void)json_object_set_new(o, "outcome", json_string(outcome));
    (void)json_object_set_new(o, "reason", text_json(reason, strlen(reason)));
}

/* -- lanes --------------------------------------------------------------------------------------
 */

static int start_lane(struct suite *u, unsigned number)
{
    int ask[2], answer[2];
    struct worker *w = &u->workers[number];
    if (pipe2(ask, O_CLOEXEC) < 0)
        return -errno;
    if (pipe2(answer, O_CLOEXEC) < 0) {
        (void)close(ask[0]);
        (void)close(ask[1]);
        return -errno;
    }
    (void)fflush(NULL);
    w->pid = fork();
    if (w->pid == 0) {
        for (size_t i = 0; i < u->nworkers; i++)
            if (i != number && u->workers[i].pid > 0) {
                (void)close(u->workers[i].ask);
                (void)close(u->workers[i].answer);
            }
        (void)close(ask[1]);
        (void)close(answer[0]);
        (void)signal(SIGINT, SIG_IGN); /* the parent passes it on */
        (void)signal(SIGHUP, SIG_IGN);
        (void)signal(SIGTERM, SIG_DFL);
        lane_main(u->s, number, ask[0], answer[1]);
    }
    (void)close(ask[0]);
    (void)close(answer[1]);
    *w = (struct worker){w->pid, ask[1], answer[0], SIZE_MAX};
    return w->pid < 0 ? -errno : 0;
}

static void stop_lane(struct worker *w, bool at_once)
{
    if (w->pid <= 0)
        return;
    fd_close(w->ask);
    /* It still ends what it started. */
    if (at_once)
        (void)kill(w->pid, SIGTERM);
    int pidfd = (int)syscall(SYS_pidfd_open, w->pid, 0);
    struct pollfd p = {.fd = pidfd, .events = POLLIN};
    uint64_t end = now_ms() + STOP_MS;
    while (now_ms() < end && poll(&p, 1, 1000) <= 0)
        continue;
    (void)kill(w->pid, SIGKILL);
    (void)waitpid(w->pid, NULL, 0);
    fd_close(pidfd);
    fd_close(w->answer);
    *w = (struct worker){.ask = -1, .answer = -1, .at = SIZE_MAX};
}

static void give_work(struct suite *u, struct worker *w)
{
    if (u->next == u->nselected || w->pid <= 0)
        return;
    uint32_t index = (uint32_t)u->selected[u->next];
    w->at = u->next++;
    /* A dead lane is seen when its answer is read. */
    (void)!fd_write_full(w->ask, &index, sizeof(index));
}

static void show(struct suite *u)
{
    while (u->shown < u->nselected && u->answers[u->shown] != NULL) {
        if (u->each != NULL)
            u->each(u->arg, u->answers[u->shown]);
        u->shown++;
    }
}

static json_t *read_answer(int fd)
{
    uint32_t len;
    json_t *doc = NULL;
    if (fd_read_full(fd, &len, sizeof(len)) != (int64_t)sizeof(len) || len > ANSWER_MAX)
        return NULL;
    char *text = kalloc(len);
    if (text != NULL && fd_read_full(fd, text, len) == (int64_t)len)
        doc = json_loadb(text, len, 0, NULL);
    kfree(text);
    return doc;
}

/* A lane has something to say, or is dead. */
static int take_answer(struct suite *u, unsigned number)
{
    struct worker *w = &u->workers[number];
    size_t at = w->at;
    json_t *doc = read_answer(w->answer);
    int r = 0;
    if (doc == NULL) {
        doc = attack_json(catalogue_get(u->selected[at]));
        attack_json_outcome(doc, outcome_name(OUTCOME_NOT_JUDGED), "the harness's process died");
        stop_lane(w, true);
        r = start_lane(u, number);
    }
    u->answers[at] = doc;
    w->at = SIZE_MAX;
    show(u);
    give_work(u, w);
    return r;
}

static int loop(struct suite *u, struct error *err)
{
    while (u->shown < u->nselected) {
        struct pollfd p[LANES_MAX];
        for (size_t i = 0; i < u->nworkers; i++)
            p[i] = (struct pollfd){.fd = u->workers[i].at != SIZE_MAX ? u->workers[i].answer : -1,
                                   .events = POLLIN};
        int n = poll(p, u->nworkers, -1);
        if (interrupted)
            return error_set(err, EINTR, "ended by signal %d", (int)interrupted);
        for (unsigned i = 0; n > 0 && i < u->nworkers; i++)
            if (p[i].revents != 0 && take_answer(u, i) < 0)
                return error_errno(err, EAGAIN, "no new lane");
    }
    return 0;
}

/* -- the whole ----------------------------------------------------------------------------------
 */

static int selection(struct suite *u, struct error *err)
{
    const struct settings *s = u->s;
    u->selected = kalloc_array(catalogue_count(), sizeof(*u->selected));
    u->answers = kalloc_array(catalogue_count(), sizeof(json_t *));
    if (u->selected == NULL || u->answers == NULL)
        return error_set(err, ENOMEM, "no memory");
    for (size_t i = 0; i < catalogue_count(); i++) {
        const struct attack *a = catalogue_get(i);
        if (attack_selected(a, s->only) && !(s->quick && a->slow))
            u->selected[u->nselected++] = i;
    }
    return u->nselected > 0 ? 0 : error_set(err, ENOENT, "no attack is called '%s'", s->only);
}

static json_t *head(const struct settings *s)
{
    struct utsname un;
    char host[300], when[40];
    time_t now = time(NULL);
    struct tm tm;
    (void)uname(&un);
    (void)snprintf(host, sizeof(host), "%s %s %s, %s", un.sysname, un.release, un.machine,
                   geteuid() == 0 ? "as root" : "as an ordinary user");
    (void)strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
    return json_pack("{s:i, s:s, s:o, s:o, s:o, s:s}", "version", 1, "suite", "escape-suite",
                     "runtime", text_json(s->runtime.name, strlen(s->runtime.name)),
                     "runtime_version", text_json(s->runtime.version, strlen(s->runtime.version)),
                     "host", text_json(host, strlen(host)), "started", when);
}

static json_t *document(struct suite *u, uint64_t begin)
{
    json_t *doc = head(u->s), *list = json_array(), *sum = json_object();
    for (size_t i = 0; i < u->nselected; i++)
        (void)json_array_append(list, u->answers[i]);
    for (int o = 0; o < OUTCOME_COUNT; o++) {
        const char *name = outcome_name((enum outcome)o);
        json_int_t n = 0;
        for (size_t i = 0; i < u->nselected; i++)
            n += strcmp(json_text(u->answers[i], "outcome"), name) == 0;
        (void)json_object_set_new(sum, name, json_integer(n));
    }
    (void)json_object_set_new(sum, "attacks", json_integer((json_int_t)u->nselected));
    (void)json_object_set_new(sum, "duration_ms", json_integer((json_int_t)(now_ms() - begin)));
    (void)json_object_set_new(doc, "attacks", list);
    (void)json_object_set_new(doc, "summary", sum);
    return doc;
}

static void catch_signals(void)
{
    struct sigaction sa = {.sa_handler = on_signal};
    (void)sigaction(SIGINT, &sa, NULL);
    (void)sigaction(SIGTERM, &sa, NULL);
    (void)sigaction(SIGHUP, &sa, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
}

int suite_run(struct settings *s, suite_each_fn *each, void *arg, json_t **ret_doc,
              struct error *err)
{
    struct suite *u = kalloc(sizeof(*u));
    uint64_t begin = now_ms();
    if (u == NULL)
        return error_set(err, ENOMEM, "no memory");
    *u = (struct suite){.s = s, .each = each, .arg = arg};
    catch_signals();
    int r = selection(u, err);
    if (r == 0)
        r = scratch_make(s, err);
    u->nworkers = MIN(MIN((size_t)s->jobs, (size_t)LANES_MAX), MAX(u->nselected, (size_t)1));
    for (unsigned i = 0; r == 0 && i < u->nworkers; i++) {
        r = start_lane(u, i) < 0 ? error_errno(err, EAGAIN, "lane") : 0;
        give_work(u, &u->workers[i]);
    }
    if (r == 0)
        r = loop(u, err);
    for (size_t i = 0; i < u->nworkers; i++)
        stop_lane(&u->workers[i], r < 0);
    if (r == 0)
        *ret_doc = document(u, begin);
    for (size_t i = 0; i < u->nselected; i++)
        json_decref(u->answers[i]);
    kfree(u->selected);
    kfree(u->answers);
    kfree(u);
    scratch_remove(s->scratch);
    return r;
}
