/*
 * catalogue.c: expands attacks.def and parses the options column.
 */
#include "escape-suite/harness/catalogue.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/error.h"
#include "lib/parse.h"

enum {
    DEADLINE_S = 180
};

static struct attack attacks[] = {
/* NOLINTBEGIN(bugprone-macro-parentheses): an initializer's members */
#define ATTACK(i, g, f, w, n, o) \
    {.id = i, .group = GROUP_##g, .file = f, .what = w, .needs = n, .options = o},
/* NOLINTEND(bugprone-macro-parentheses) */
#include "escape-suite/attacks.def"
#undef ATTACK
};

static const struct notes all_notes[] = {
#include "notes.inc"
};

static const struct {
    const char *name, *title;
} groups[GROUP_COUNT] = {
    [GROUP_NETWORK] = {"network", "Reaching a network"},
    [GROUP_FILES] = {"files", "Files of the host"},
    [GROUP_PROCESSES] = {"processes", "Processes of others"},
    [GROUP_RESOURCES] = {"resources", "Exhausting the machine"},
    [GROUP_OUTLIVE] = {"outlive", "Outliving the turn"},
    [GROUP_SEE] = {"see", "Seeing another run"},
    [GROUP_COMPILER] = {"compiler", "Attacking the compiler"},
    [GROUP_OUTPUT] = {"output", "Flooding the answer"},
    [GROUP_SUPERVISOR] = {"supervisor", "Attacking the supervisor"},
    [GROUP_GOFER] = {"gofer", "Attacking the image server"},
    [GROUP_IMAGES] = {"images", "Attacking the OCI front and images"},
};

const char *group_name(enum group g)
{
    return groups[g].name;
}

const char *group_title(enum group g)
{
    return groups[g].title;
}

static bool same(const char *p, size_t n, const char *s)
{
    return strlen(s) == n && memcmp(p, s, n) == 0;
}

bool word_in(const char *list, char sep, const char *word)
{
    const char *p = list;
    while (*p != '\0') {
        const char *end = strchr(p, sep);
        size_t n = end != NULL ? (size_t)(end - p) : strlen(p);
        if (n > 0 && same(p, n, word))
            return true;
        p += n + (end != NULL ? 1 : 0);
    }
    return false;
}

bool attack_selected(const struct attack *a, const char *only)
{
    const char *p = only;
    if (only == NULL || *only == '\0')
        return true;
    while (*p != '\0') {
        size_t n = strcspn(p, ", ");
        if (n > 0 && (strncmp(a->id, p, n) == 0 || same(p, n, group_name(a->group))))
            return true;
        p += n + (p[n] != '\0' ? 1 : 0);
    }
    return false;
}

static int parse_number(const char *value, uint64_t max, int64_t *ret, struct error *err)
{
    uint64_t v;
    int r = parse_u64(value, 0, max, &v, err);
    if (r == 0)
        *ret = (int64_t)v;
    return r;
}

/* One word with a value: KEY=VALUE. */
static int parse_pair(struct attack *a, const char *word, const char *value, struct error *err)
{
    size_t n = (size_t)(value - word) - 1;
    int64_t v = 0;
    int r = 0;
    if (same(word, n, "image")) {
        if (strcmp(value, "busybox") != 0 && strcmp(value, "debian") != 0)
            return error_set(err, EINVAL, "image=%s", value);
        a->image = value[0] == 'b' ? "busybox" : "debian";
    } else if (same(word, n, "user") && strcmp(value, "0") == 0) {
        a->user0 = true;
    } else if (same(word, n, "expect") && strlen(value) < sizeof(a->expect)) {
        (void)snprintf(a->expect, sizeof(a->expect), "%s", value);
    } else if (same(word, n, "arg") && strlen(value) < sizeof(a->arg)) {
        (void)snprintf(a->arg, sizeof(a->arg), "%s", value);
    } else if (same(word, n, "stdout")) {
        r = parse_number(value, INT64_MAX, &a->want_stdout, err);
    } else if (same(word, n, "stderr")) {
        r = parse_number(value, INT64_MAX, &a->want_stderr, err);
    } else if (same(word, n, "deadline")) {
        r = parse_number(value, 3600, &v, err);
        a->deadline_s = (unsigned)v;
    } else if (same(word, n, "twin") && strcmp(value, "none") == 0) {
        a->no_twin = true;
    } else {
        return error_set(err, EINVAL, "no option '%s'", word);
    }
    return r;
}

static int parse_word(struct attack *a, const char *word, struct error *err)
{
    static const struct {
        const char *name;
        size_t offset;
    } flags[] = {
        {"writable", offsetof(struct attack, writable)},   {"tty", offsetof(struct attack, tty)},
        {"terminal", offsetof(struct attack, terminal)},   {"leak", offsetof(struct attack, leak)},
        {"host-side", offsetof(struct attack, host_side)}, {"slow", offsetof(struct attack, slow)},
    };
    const char *eq = strchr(word, '=');
    if (eq != NULL)
        return parse_pair(a, word, eq + 1, err);
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (strcmp(flags[i].name, word) == 0) {
            *(bool *)((char *)a + flags[i].offset) = true;
            return 0;
        }
    return error_set(err, EINVAL, "no option '%s'", word);
}

/* One piece between semicolons. */
static int parse_segment(struct attack *a, char *text, struct error *err)
{
    char *save = NULL;
    text += strspn(text, " \n");
    if (strncmp(text, "limits=", 7) == 0) {
        if (strlen(text + 7) >= sizeof(a->limits))
            return error_set(err, E2BIG, "limits are too long");
        (void)snprintf(a->limits, sizeof(a->limits), "%s", text + 7);
        return 0;
    }
    for (char *w = strtok_r(text, " \n", &save); w != NULL; w = strtok_r(NULL, " \n", &save)) {
        int r = parse_word(a, w, err);
        if (r < 0)
            return r;
    }
    return 0;
}

int attack_parse_options(struct attack *a, struct error *err)
{
    char copy[512], *save = NULL;
    a->image = "busybox";
    a->want_stdout = a->want_stderr = -1;
    a->deadline_s = DEADLINE_S;
    if (strlen(a->options) >= sizeof(copy))
        return error_set(err, E2BIG, "%s: options are too long", a->id);
    (void)snprintf(copy, sizeof(copy), "%s", a->options);
    for (char *s = strtok_r(copy, ";", &save); s != NULL; s = strtok_r(NULL, ";", &save))
        if (parse_segment(a, s, err) < 0)
            return error_prefix(err, "%s", a->id);
    return 0;
}

static const struct notes *notes_of(const char *file)
{
    for (size_t i = 0; i < ARRAY_LEN(all_notes); i++)
        if (all_notes[i].file != NULL && strcmp(all_notes[i].file, file) == 0)
            return &all_notes[i];
    return NULL;
}

int catalogue_load(struct error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(attacks); i++) {
        int r = attack_parse_options(&attacks[i], err);
        if (r < 0)
            return r;
        attacks[i].notes = notes_of(attacks[i].file);
        for (size_t k = 0; k < i; k++)
            if (strcmp(attacks[k].id, attacks[i].id) == 0)
                return error_set(err, EEXIST, "%s is listed twice", attacks[i].id);
    }
    return 0;
}

size_t catalogue_count(void)
{
    return ARRAY_LEN(attacks);
}

const struct attack *catalogue_get(size_t i)
{
    return &attacks[i];
}
