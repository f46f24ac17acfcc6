/*
 * lane.c: a process that makes one attack after the other, with canaries and a neighbour of its
 * own. Per attack: the attack, the oracles, a follow-up run, the twin, the verdict. Lanes run side
 * by side; what they share, the host, is compared while the others pause.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "escape-suite/harness/canary.h"
#include "escape-suite/harness/host_state.h"
#include "escape-suite/harness/neighbour.h"
#include "escape-suite/harness/run.h"
#include "escape-suite/harness/sandbox_report.h"
#include "escape-suite/harness/suite.h"
#include "escape-suite/harness/text.h"
#include "escape-suite/harness/verdict.h"
#include "lib/alloc.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "lib/parse.h"

enum {
    LEAK_AT = 20,
    QUIET_MS = 4000,
    TRIES = 3 /* for what others may have done */
};
static const uint64_t flood_bytes = 256u << 20;

struct lane {
    const struct settings *s;
    unsigned number, serial;
    char dir[300], report[400], marker[96];
    int lock; /* shared while a run goes on, exclusive to look at the host */
    struct canaries canaries;
    struct neighbour neighbour;
    struct args neighbour_cleanup;
    struct scan_set secrets;
    struct host_state host;
    char id[64]; /* of the current run */
};

/* -- commands -----------------------------------------------------------------------------------
 */

static void add_facts(const struct lane *l, const struct attack *a, struct args *argv)
{
    const struct canaries *c = &l->canaries;
    args_addf(argv, "runtime=%s", runtime_kind_name(l->s->runtime.kind));
    args_addf(argv, "kernel=%s", l->s->runtime.own_kernel ? "own" : "host");
    args_addf(argv, "host_file=%s", c->file);
    args_addf(argv, "host_dir=%s", c->dir);
    args_addf(argv, "run_dir=%s", l->s->scratch);
    args_addf(argv, "tcp_port=%u", c->tcp_port);
    args_addf(argv, "udp_port=%u", c->udp_port);
    args_addf(argv, "abstract=%s", c->abstract);
    args_addf(argv, "abstract_dgram=d%s", c->abstract + 1);
    args_addf(argv, "unix_path=%s", c->unix_path);
    args_addf(argv, "victim_pid=%d", (int)c->victim);
    args_addf(argv, "victim_addr=%p", c->victim_page);
    args_addf(argv, "harness_pid=%d", (int)getpid());
    args_addf(argv, "neighbour_pid=%d", (int)l->neighbour.pid);
    if (a->arg[0] != '\0')
        args_add(argv, a->arg);
}

static void next_id(struct lane *l)
{
    (void)snprintf(l->id, sizeof(l->id), "suite-%d-%u", (int)getpid(), l->serial++);
    (void)snprintf(l->marker, sizeof(l->marker), "ESCAPE_SUITE_RUN=%s", l->id);
    (void)snprintf(l->report, sizeof(l->report), "%s/%s.json", l->dir, l->id);
}

static int box_command(struct lane *l, const struct attack *a, char *const *argv, bool endless,
                       struct args *command, struct args *cleanup, struct error *err)
{
    bool debian = a != NULL && strcmp(a->image, "debian") == 0;
    struct job j = {
        .attack = a,
        .image = debian ? l->s->debian : l->s->busybox,
        .mount = debian ? l->s->attacks : NULL,
        .scratch = l->dir,
        .report = l->report,
        .id = l->id,
        .endless = endless,
        .argv = argv,
    };
    next_id(l);
    return runtime_command(&l->s->runtime, &j, command, cleanup, err);
}

static void program_name(const struct attack *a, const char *dir, char *buf, size_t cap)
{
    const char *dot = strrchr(a->file, '.');
    int n = dot != NULL && strcmp(dot, ".c") == 0 ? (int)(dot - a->file) : (int)strlen(a->file);
    (void)snprintf(buf, cap, "%s/%.*s", dir, n, a->file);
}

/* What a host-side program gets in its environment. */
static int host_side(struct lane *l, struct args *env)
{
    char scratch[400];
    const struct runtime *r = &l->s->runtime;
    (void)snprintf(scratch, sizeof(scratch), "%s/scratch-%u", l->dir, l->serial);
    if (mkdir(scratch, 0755) < 0)
        return -errno;
    char command[1024] = "";
    for (size_t i = 0; i < r->command.n; i++) {
        size_t n = strlen(command);
        (void)snprintf(command + n, sizeof(command) - n, "%s%s", i > 0 ? " " : "", r->command.v[i]);
    }
    args_addf(env, "RUNTIME=%s", command);
    args_addf(env, "RUNTIME_KIND=%s", runtime_kind_name(r->kind));
    args_addf(env, "RUNTIME_NAME=%s", r->name);
    args_addf(env, "SCRATCH=%s", scratch);
    args_addf(env, "IMAGE=%s", l->s->busybox);
    args_addf(env, "IMAGES=%s", l->s->images);
    args_addf(env, "BIN=%s", l->s->bin);
    args_addf(env, "ATTACKS=%s", l->s->attacks);
    args_add(env, "SENTRY_SUITE=1");
    return 0;
}

static unsigned deadline_ms(const struct lane *l, const struct attack *a, bool ends)
{
    char text[32];
    uint64_t ns = 20000000000;
    unsigned s = a != NULL ? a->deadline_s : 180;
    if (l->s->deadline_s > 0)
        return l->s->deadline_s * 1000;
    if (l->s->runtime.kind == RUNTIME_SENTRY || ends || a->host_side)
        return s * 1000;
    /* A runtime without a clock of its own: the harness is the caller with one. */
    if (limit_value(a, "--timeout", text, sizeof(text)) != NULL &&
        parse_duration(text, &ns, NULL) < 0)
        ns = 20000000000;
    return (unsigned)MIN(ns / 1000000, (uint64_t)60000) + 1000;
}

static const char attack_role[] = "attack"; /* the one that may go on for ever */

/* One run of a role ("attack", "twin"; NULL: the follow-up). */
static int run_role(struct lane *l, const struct attack *a, const char *role, struct observation *o,
                    struct error *err)
{
    struct args argv, command, cleanup, env;
    char program[600];
    int r = 0;
    args_init(&argv);
    args_init(&command);
    args_init(&cleanup);
    args_init(&env);
    if (role != NULL) {
        program_name(a, a->host_side ? l->s->attacks : "/attack", program, sizeof(program));
        args_add(&argv, program);
        args_add(&argv, role);
        add_facts(l, a, &argv);
    } else {
        args_add_words(&argv, "/bin/busybox echo ok");
    }
    bool outside = role != NULL && a->host_side;
    if (outside) {
        next_id(l);
        r = host_side(l, &env);
    } else {
        r = box_command(l, role != NULL ? a : NULL, argv.v, false, &command, &cleanup, err);
    }
    args_add(&env, l->marker);
    struct run_spec spec = {
        .argv = outside ? argv.v : command.v,
        .env = env.v,
        .deadline_ms = deadline_ms(l, role != NULL ? a : NULL, role != attack_role),
        .flood_bytes = flood_bytes,
        .tty = role != NULL && (a->tty || a->terminal),
        .leak = role != NULL && a->leak ? l->canaries.leak : NULL,
        .leak_at = LEAK_AT,
        .secrets = &l->secrets,
        .cleanup = cleanup.n > 0 ? cleanup.v : NULL,
        .marker = l->marker,
        .bystander = l->neighbour.pid,
    };
    if (r == 0)
        run_command(&spec, o);
    args_done(&argv);
    args_done(&command);
    args_done(&cleanup);
    args_done(&env);
    return r;
}

/* -- oracles ------------------------------------------------------------------------------------
 */

static void check_streams(const struct observation *o, const char *role, struct findings *f)
{
    const struct stream *both[2] = {&o->out, &o->err};
    for (int i = 0; i < 2; i++)
        if (both[i]->scan.found != NULL)
            findings_add(f, "the %s's output holds the secret of %s, %s", role, both[i]->scan.found,
                         both[i]->scan.form);
    if (o->flags_changed)
        findings_add(f, "the %s changed the caller's pipes (flags, size or owner)", role);
    if (o->survivors > 0)
        findings_add(f, "%u processes outlived the %s by a second, the first is %s", o->survivors,
                     role, o->survivor);
}

/* Nothing of the guest may command the caller's terminal. */
static void check_terminal(const struct observation *o, struct findings *f)
{
    for (size_t i = 0; i < o->out.head.len; i++) {
        unsigned char c = (unsigned char)o->out.head.data[i];
        /* The string's end is a NUL byte. */
        uint8_t next = (uint8_t)o->out.head.data[i + 1];
        bool c1 = c == 0xc2 && next >= 0x80 && next < 0xa0;
        if ((c < 0x20 && memchr("\n\r\t", c, 3) == NULL) || c == 0x7f || c1) {
            findings_add(f, "the control character %02x reached the caller's terminal", c);
            return;
        }
    }
}

/* Different from before, although nothing else goes on? Then it is a finding, once. */
static void check_host(struct lane *l, const struct observation *o, struct findings *f)
{
    struct host_state now;
    struct host_marks marks = {o->pid, l->id, strrchr(l->dir, '/') + 1};
    if (host_state_take(&now, l->s->runtime.path) < 0)
        return;
    if (host_state_diff(&l->host, &now, &marks, NULL) > 0) {
        uint64_t end = now_ms() + QUIET_MS;
        (void)flock(l->lock, LOCK_EX);
        do {
            host_state_done(&now);
            (void)usleep(50000);
            if (host_state_take(&now, l->s->runtime.path) < 0)
                break;
        } while (host_state_diff(&l->host, &now, &marks, NULL) > 0 && now_ms() < end);
        if (now.items != NULL && host_state_diff(&l->host, &now, &marks, f) > 0)
            host_state_sweep(&l->host, &now, &marks);
        (void)flock(l->lock, LOCK_UN);
    }
    host_state_done(&l->host);
    l->host = now;
}

static int start_neighbour(struct lane *l, struct error *err)
{
    char *const argv[] = {(char[]){"/attack/tool-neighbour"}, NULL};
    struct args command;
    args_init(&command);
    neighbour_stop(&l->neighbour, l->neighbour_cleanup.v); /* what is left of the last one */
    args_done(&l->neighbour_cleanup);
    int r = box_command(l, NULL, argv, true, &command, &l->neighbour_cleanup, err);
    if (r == 0)
        r = neighbour_start(&l->neighbour, command.v, err);
    args_done(&command);
    return r;
}

/* -- one attack ---------------------------------------------------------------------------------
 */

/* Runs part by part; the reason is set when one could not even be started. */
static void run_all(struct lane *l, const struct attack *a, struct observation o[3],
                    struct findings *f, struct error *err)
{
    static const char *const roles[3] = {attack_role, NULL, "twin"};
    for (int i = 0; i < 3; i++) {
        if ((i == 2 && a->no_twin) || run_interrupted())
            break;
        (void)flock(l->lock, LOCK_SH);
        int r = run_role(l, a, roles[i], &o[i], err);
        (void)flock(l->lock, LOCK_UN);
        if (r < 0)
            return;
        if (roles[i] == NULL || !a->host_side)
            sandbox_report_read(l->report, !a->tty && !a->terminal, &o[i], f);
        check_streams(&o[i], i == 0 ? "attack" : i == 1 ? "follow-up" : "twin", f);
        if (i == 0 && a->terminal)
            check_terminal(&o[i], f);
        if (i == 0) {
            canaries_check(&l->canaries, f);
            neighbour_check(&l->neighbour, f);
            check_host(l, &o[i], f);
        }
    }
    /* A twin uses its calls honestly: whatever it touches is its own. */
    canaries_check(&l->canaries, f);
}

/* Nothing but what other people of this machine do too: install a package, mount a disk? */
static bool others_may_have(const struct findings *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (strncmp(f->text[i], "host: ", 6) != 0 ||
            (strstr(f->text[i], ": file /") == NULL && strstr(f->text[i], ": mount ") == NULL))
            return false;
    return f->n > 0;
}

/* All runs of an attack; once more where others may have done what was found. What comes every time
 * is the attack's. */
static void run_until_sure(struct lane *l, const struct attack *a, struct observation o[3],
                           struct findings *f, struct error *err)
{
    for (int i = 0; i < TRIES; i++) {
        for (int k = 0; i > 0 && k < 3; k++) {
            observation_done(&o[k]);
            observation_init(&o[k]);
        }
        f->n = 0;
        run_all(l, a, o, f, err);
        if (err->code != 0 || !others_may_have(f))
            return;
    }
}

static void judge_one(struct lane *l, const struct attack *a, json_t *doc)
{
    auto_free struct findings *f = kalloc(sizeof(*f));
    auto_free struct observation *o = kalloc_array(3, sizeof(*o));
    static const char *const names[3] = {"attack", "next", "twin"};
    char reason[600] = "";
    struct error err;
    error_init(&err);
    if (f == NULL || o == NULL)
        return attack_json_outcome(doc, outcome_name(OUTCOME_NOT_JUDGED), "no memory");
    for (int i = 0; i < 3; i++)
        observation_init(&o[i]);
    run_until_sure(l, a, o, f, &err);
    struct evidence e = {a, l->s->runtime.kind, &o[0], a->no_twin ? NULL : &o[2], &o[1], f};
    enum outcome v = judge(&e, reason, sizeof(reason));
    if (err.code != 0 && v != OUTCOME_ESCAPED) {
        v = OUTCOME_NOT_JUDGED;
        (void)snprintf(reason, sizeof(reason), "%s", err.text);
    }
    attack_json_outcome(doc, outcome_name(v), reason);
    json_t *list = json_array();
    for (size_t i = 0; i < f->n; i++)
        (void)json_array_append_new(list, text_json(f->text[i], strlen(f->text[i])));
    (void)json_object_set_new(doc, "findings", list);
    for (int i = 0; i < 3; i++) {
        if (i < 2 || !a->no_twin)
            (void)json_object_set_new(doc, names[i], observation_json(&o[i]));
        observation_done(&o[i]);
    }
    if (l->neighbour.lost)
        (void)start_neighbour(l, &err);
}

static bool command_exists(const char *name)
{
    char path[600];
    static const char *const dirs[] = {"/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin"};
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", dirs[i], name);
        if (access(path, X_OK) == 0)
            return true;
    }
    return false;
}

/* Something that keeps this attack from being made here; *ret: what that means. */
static const char *obstacle(const struct lane *l, const struct attack *a, enum outcome *ret)
{
    static char text[160];
    char needs[128], *save = NULL;
    enum runtime_kind kind = l->s->runtime.kind;
    *ret = OUTCOME_NOT_APPLICABLE;
    bool ours = kind == RUNTIME_SENTRY || (l->s->runtime.own_shim && !a->host_side);
    if ((word_in(a->needs, ' ', "sentry") && !ours) ||
        (word_in(a->needs, ' ', "oci") && kind != RUNTIME_OCI))
        return "about another kind of runtime";
    *ret = OUTCOME_NOT_JUDGED;
    (void)snprintf(needs, sizeof(needs), "%s", a->needs);
    for (char *w = strtok_r(needs, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save)) {
        bool special = strcmp(w, "sentry") == 0 || strcmp(w, "oci") == 0;
        bool there = strcmp(w, "root") == 0     ? geteuid() == 0
                     : strcmp(w, "cgroup") == 0 ? access("/sys/fs/cgroup", W_OK) == 0
                                                : command_exists(w);
        (void)snprintf(text, sizeof(text), "needs %s", w);
        if (!special && !there)
            return text;
    }
    if (strcmp(a->image, "debian") == 0 && l->s->debian[0] == '\0')
        return "no image debian (./dev image debian makes it)";
    return runtime_lacks(&l->s->runtime, a);
}

static json_t *answer(struct lane *l, const struct attack *a, const char *broken)
{
    json_t *doc = attack_json(a);
    enum outcome o = OUTCOME_NOT_JUDGED;
    uint64_t begin = now_ms();
    const char *why = broken != NULL ? broken : obstacle(l, a, &o);
    if (why != NULL)
        attack_json_outcome(doc, outcome_name(o), why);
    else
        judge_one(l, a, doc);
    (void)json_object_set_new(doc, "ms", json_integer((json_int_t)(now_ms() - begin)));
    return doc;
}

/* Where allowed: mounts and IPC objects of a lane's own, so that those of other people on this
 * machine are not taken for something that an attack has made. What an attack makes is still seen.
 */
static void own_view(void)
{
    if (unshare(CLONE_NEWNS) == 0)
        (void)mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
    (void)unshare(CLONE_NEWIPC);
}

static int lane_start(struct lane *l, struct error *err)
{
    char path[400];
    (void)snprintf(l->dir, sizeof(l->dir), "%s/lane-%u-%d", l->s->scratch, l->number,
                   (int)getpid());
    (void)snprintf(path, sizeof(path), "%s/lock", l->s->scratch);
    own_view();
    int r = mkdir(l->dir, 0755) < 0 ? -errno : run_prepare();
    l->lock = r == 0 ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (l->lock < 0)
        return error_errno(err, errno, "lane in %s", l->dir);
    r = canaries_make(&l->canaries, l->dir, err);
    if (r < 0)
        return r;
    scan_set_add(&l->secrets, "the host's file", canary_digits(l->canaries.file_secret));
    scan_set_add(&l->secrets, "the victim process", canary_digits(l->canaries.victim_secret));
    r = start_neighbour(l, err);
    if (r < 0)
        return r;
    scan_set_add(&l->secrets, "the neighbouring run", canary_digits(l->neighbour.secret));
    return host_state_take(&l->host, l->s->runtime.path) < 0
               ? error_set(err, EIO, "the host could not be looked at")
               : 0;
}

void lane_main(const struct settings *s, unsigned number, int in, int out)
{
    auto_free struct lane *l = kalloc(sizeof(*l));
    struct error err;
    uint32_t index;
    error_init(&err);
    if (l == NULL)
        _exit(1);
    *l =
        (struct lane){.s = s, .number = number, .lock = -1, .neighbour = {.ask = -1, .answer = -1}};
    int r = lane_start(l, &err);
    while (!run_interrupted() &&
           fd_read_full(in, &index, sizeof(index)) == (int64_t)sizeof(index)) {
        const struct attack *a = index < catalogue_count() ? catalogue_get(index) : NULL;
        json_t *doc = a != NULL ? answer(l, a, r < 0 ? err.text : NULL) : NULL;
        char *text = doc != NULL ? json_dumps(doc, JSON_COMPACT) : NULL;
        uint32_t len = text != NULL ? (uint32_t)strlen(text) : 0;
        json_decref(doc);
        if (fd_write_full(out, &len, sizeof(len)) < 0 || fd_write_full(out, text, len) < 0)
            break;
        free(text);
    }
    neighbour_stop(&l->neighbour, l->neighbour_cleanup.v);
    canaries_done(&l->canaries);
    _exit(0);
}
