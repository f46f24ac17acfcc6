/*
 * main.c: the command line of escape-suite.
 *
 * A run: settings -> suite_run (lanes, one attack at a time each) -> one JSON document -> a report.
 * --merge reads documents of earlier runs instead, so that one page can show several runtimes.
 */
#include "lib/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "escape-suite/harness/report.h"
#include "escape-suite/harness/suite.h"
#include "escape-suite/harness/text.h"
#include "escape-suite/harness/verdict.h"
#include "lib/alloc.h"
#include "lib/buf.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "lib/parse.h"

enum {
    EXIT_CANNOT = 2,
    REPORT_MAX = 512 << 20
};

static const char usage[] =
    "usage: escape-suite [OPTIONS]\n"
    "       escape-suite --merge A.json [B.json...] --format FORMAT\n"
    "\n"
    "  --runtime R       'sentry run' (default; options may follow), 'bwrap', 'oci:runc', 'oci:crun',\n"
    "                    'oci:runsc', 'oci:runsc-shim', 'oci:/path/of/a/runtime'\n"
    "  --format F        text (default), tap, junit, json, html\n"
    "  --output FILE     where the report goes (default: standard output)\n"
    "  --only A,B        ids, beginnings of ids (n, n01), or groups (network)\n"
    "  --list            the attacks, one a line\n"
    "  --quick           without the slow ones\n"
    "  --jobs N          so many at once (default 2)\n"
    "  --deadline S      give each run up after so many seconds (default 180, or the attack's own)\n"
    "  --verbose         text: the transcripts too\n"
    "  --image-dir DIR   where the images busybox and debian are (default: build/images)\n"
    "  --attack-dir DIR  where the built attacks are (default: beside this program)\n"
    "  --merge           read JSON reports instead of making one\n"
    "\n"
    "Exit status: 0 all contained, 1 an escape or a broken twin, 2 something could not be judged.\n";

struct options {
    struct settings s;
    enum report_format format;
    bool list, merge;
    char **files;
    size_t nfiles;
};

static int refuse(const struct error *err)
{
    (void)fprintf(stderr, "escape-suite: %s\n", err->text);
    return EXIT_CANNOT;
}

/* In a build: bin/escape-suite -> ../escape/attacks and ../../images; installed:
 * ../lib/sentry/attacks. */
static void find_places(struct settings *s)
{
    char self[PATH_MAX] = "", path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[n > 0 ? n : 0] = '\0';
    (void)snprintf(s->bin, sizeof(s->bin), "%.511s", dirname(self));
    (void)snprintf(path, sizeof(path), "%s/../escape/attacks", s->bin);
    if (access(path, X_OK) < 0)
        (void)snprintf(path, sizeof(path), "%s/../lib/sentry/attacks", s->bin);
    if (s->attacks[0] == '\0')
        (void)snprintf(s->attacks, sizeof(s->attacks), "%.511s", path);
    if (s->images[0] == '\0')
        (void)snprintf(s->images, sizeof(s->images), "%.490s/../../images", s->bin);
}

/* Absolute, without links: runtimes are started in another directory. */
static void resolve(char *path, size_t cap)
{
    char real[PATH_MAX];
    if (realpath(path, real) != NULL && strlen(real) < cap)
        (void)snprintf(path, cap, "%s", real);
}

static int set_option(struct options *o, int c, const char *v, struct error *err)
{
    uint64_t n;
    switch (c) {
    case 'r':
        o->s.runtime_name = v;
        return 0;
    case 'f':
        o->s.format = v;
        o->format = report_format_find(v);
        return o->format < REPORT_FORMATS ? 0 : error_set(err, EINVAL, "no format '%s'", v);
    case 'o':
        o->s.output = v;
        return 0;
    case 'n':
        o->s.only = v;
        return 0;
    case 'j':
        if (parse_u64(v, 1, 16, &n, err) < 0)
            return error_prefix(err, "--jobs");
        o->s.jobs = (unsigned)n;
        return 0;
    case 'd':
        if (parse_u64(v, 1, 3600, &n, err) < 0)
            return error_prefix(err, "--deadline");
        o->s.deadline_s = (unsigned)n;
        return 0;
    case 'i':
        (void)snprintf(o->s.images, sizeof(o->s.images), "%s", v);
        return 0;
    case 'a':
        (void)snprintf(o->s.attacks, sizeof(o->s.attacks), "%s", v);
        return 0;
    case 'l':
        o->list = true;
        return 0;
    case 'q':
        o->s.quick = true;
        return 0;
    case 'v':
        o->s.verbose = true;
        return 0;
    case 'm':
        o->merge = true;
        return 0;
    default:
        return error_set(err, EINVAL, "escape-suite --help lists the options");
    }
}

static int parse(int argc, char **argv, struct options *o, struct error *err)
{
    static const struct option longs[] = {
        {"runtime", required_argument, NULL, 'r'},
        {"format", required_argument, NULL, 'f'},
        {"output", required_argument, NULL, 'o'},
        {"only", required_argument, NULL, 'n'},
        {"jobs", required_argument, NULL, 'j'},
        {"image-dir", required_argument, NULL, 'i'},
        {"attack-dir", required_argument, NULL, 'a'},
        {"list", no_argument, NULL, 'l'},
        {"quick", no_argument, NULL, 'q'},
        {"verbose", no_argument, NULL, 'v'},
        {"deadline", required_argument, NULL, 'd'},
        {"merge", no_argument, NULL, 'm'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    o->s.runtime_name = "sentry run";
    o->s.jobs = 2;
    for (int c; (c = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
        if (c == 'h') {
            (void)fputs(usage, stdout);
            exit(0);
        }
        int r = set_option(o, c, optarg, err);
        if (r < 0)
            return r;
    }
    o->files = argv + optind;
    o->nfiles = (size_t)(argc - optind);
    if (o->nfiles > 0 && !o->merge)
        return error_set(err, EINVAL, "'%s': no such argument", o->files[0]);
    if (o->merge && o->nfiles == 0)
        return error_set(err, EINVAL, "--merge needs JSON reports");
    find_places(&o->s);
    resolve(o->s.images, sizeof(o->s.images));
    resolve(o->s.attacks, sizeof(o->s.attacks));
    return 0;
}

static int list_attacks(const struct options *o)
{
    size_t n = 0;
    for (size_t i = 0; i < catalogue_count(); i++) {
        const struct attack *a = catalogue_get(i);
        if (!attack_selected(a, o->s.only) || (o->s.quick && a->slow))
            continue;
        n++;
        (void)printf("%-32s %-10s %s\n", a->id, group_name(a->group), a->what);
    }
    return n > 0 ? 0 : EXIT_CANNOT;
}

static int write_out(const struct options *o, const struct buf *b, struct error *err)
{
    if (buf_error(b) < 0)
        return error_errno(err, -buf_error(b), "report");
    auto_fd int fd = o->s.output != NULL
                         ? open(o->s.output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
                         : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    int r = fd < 0 ? -errno : fd_write_full(fd, b->data, b->len);
    return r < 0 ? error_errno(err, -r, "%s", o->s.output != NULL ? o->s.output : "report") : 0;
}

/* Text is shown as it comes. */
static void show_attack(void *arg, const json_t *attack)
{
    const struct options *o = arg;
    struct buf b;
    struct error err;
    error_init(&err);
    if (o->format != REPORT_TEXT || o->s.output != NULL)
        return;
    buf_init(&b, REPORT_MAX);
    (void)report_text_attack(&b, attack, o->s.verbose);
    (void)!write_out(o, &b, &err);
    buf_done(&b);
}

/* All of a text report (shown: what came along already is left out). */
static void text(struct buf *b, const json_t *docs, bool verbose, bool shown)
{
    json_t *doc, *a;
    size_t i, k;
    json_array_foreach(docs, i, doc)
    {
        if (!shown) {
            (void)report_text_head(b, doc);
            json_array_foreach(json_object_get(doc, "attacks"), k, a)
            {
                (void)report_text_attack(b, a, verbose);
            }
        }
        (void)report_text_summary(b, doc);
    }
}

static int report(const struct options *o, const json_t *docs, struct error *err)
{
    struct buf b;
    const json_t *first = json_array_get(docs, 0);
    buf_init(&b, REPORT_MAX);
    switch (o->format) {
    case REPORT_TAP:
        (void)report_tap(&b, first);
        break;
    case REPORT_JUNIT:
        (void)report_junit(&b, first);
        break;
    case REPORT_JSON:
        (void)report_json(&b, first);
        break;
    case REPORT_HTML:
        (void)report_html(&b, docs);
        break;
    case REPORT_TEXT:
    case REPORT_FORMATS:
    default:
        text(&b, docs, o->s.verbose, !o->merge && o->s.output == NULL);
        break;
    }
    int r = write_out(o, &b, err);
    buf_done(&b);
    return r;
}

static int merge(const struct options *o, json_t *docs, struct error *err)
{
    bool many = o->format == REPORT_HTML || o->format == REPORT_TEXT;
    if (o->nfiles > 1 && !many)
        return error_set(err, EINVAL, "--merge of several reports needs --format html or text");
    for (size_t i = 0; i < o->nfiles; i++) {
        json_error_t je;
        json_t *doc = json_load_file(o->files[i], 0, &je);
        if (doc == NULL)
            return error_set(err, EINVAL, "%s:%d: %s", o->files[i], je.line, je.text);
        if (strcmp(json_text(doc, "suite"), "escape-suite") != 0) {
            json_decref(doc);
            return error_set(err, EINVAL, "%s: no report of escape-suite", o->files[i]);
        }
        (void)json_array_append_new(docs, doc);
    }
    return 0;
}

static int make(struct options *o, json_t *docs, struct error *err)
{
    json_t *doc = NULL;
    int r = runtime_find(&o->s.runtime, o->s.runtime_name, o->s.bin, err);
    if (r == 0 && o->format == REPORT_TEXT && o->s.output == NULL)
        (void)printf("runtime: %s (%s)\n", o->s.runtime.name, o->s.runtime.version);
    if (r == 0)
        r = suite_run(&o->s, show_attack, o, &doc, err);
    runtime_done(&o->s.runtime);
    return r < 0 ? r : json_array_append_new(docs, doc);
}

int main(int argc, char **argv)
{
    static struct options o;
    struct error err;
    error_init(&err);
    /* What our caller left open is no leak of the runtime's. */
    (void)close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
    if (catalogue_load(&err) < 0 || parse(argc, argv, &o, &err) < 0)
        return refuse(&err);
    if (o.list)
        return list_attacks(&o);
    json_t *docs = json_array();
    int r = o.merge ? merge(&o, docs, &err) : make(&o, docs, &err);
    r = r < 0 ? r : report(&o, docs, &err);
    unsigned counts[OUTCOME_COUNT];
    report_counts(json_array_get(docs, 0), counts);
    json_decref(docs);
    if (r < 0)
        return refuse(&err);
    return o.merge ? 0 : suite_status(counts);
}
