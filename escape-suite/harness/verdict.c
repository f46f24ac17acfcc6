/*
 * verdict.c: the rules. An oracle's finding or the program's own ESCAPED is an escape, whatever
 * else was said. Contained is only what was shown to be contained; everything that could not be
 * shown is not judged.
 */
#include "escape-suite/harness/verdict.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *word;
    enum last_line last;
} words[] = {
    {"contained", LAST_CONTAINED}, {"ESCAPED", LAST_ESCAPED}, {"cannot", LAST_CANNOT},
    {"works", LAST_WORKS},         {"broken", LAST_BROKEN},
};

static void parse_line(const char *p, size_t n, struct transcript *t)
{
    if (t->escaped) /* whatever is said later */
        return;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        size_t len = strlen(words[i].word);
        if (n < len || memcmp(p, words[i].word, len) != 0 || (n > len && p[len] != ' '))
            continue;
        t->last = words[i].last;
        t->escaped = t->last == LAST_ESCAPED;
        p += len;
        n -= len;
        n = MIN(n, sizeof(t->text) - 1);
        if (n > 0) {
            p++;
            n--;
        }
        (void)memcpy(t->text, p, n);
        t->text[n] = '\0';
        return;
    }
}

void transcript_parse(const char *p, size_t n, struct transcript *t)
{
    *t = (struct transcript){.last = LAST_NONE};
    while (n > 0) {
        const char *end = memchr(p, '\n', n);
        size_t len = end != NULL ? (size_t)(end - p) : n;
        parse_line(p, len > 0 && p[len - 1] == '\r' ? len - 1 : len, t);
        len += end != NULL ? 1 : 0;
        p += len;
        n -= len;
    }
}

static void parse_stream(const struct stream *s, struct transcript *t)
{
    size_t n;
    const char *p = stream_tail(s, &n);
    struct transcript head;
    transcript_parse(buf_cstr(&s->head), s->head.len, &head);
    transcript_parse(p, n, t);
    if (head.escaped)
        *t = head;
}

void observation_status(const struct observation *o, char *buf, size_t cap)
{
    const char *verdict = o->verdict[0] != '\0' ? o->verdict : NULL;
    int n = 0;
    switch (o->end) {
    case RUN_NOT_STARTED:
        n = snprintf(buf, cap, "not started: %s", strerror(o->status));
        break;
    case RUN_EXIT:
        n = snprintf(buf, cap, "exit status %d", o->status);
        break;
    case RUN_SIGNAL:
        n = snprintf(buf, cap, "signal %d", o->status);
        break;
    case RUN_GIVEN_UP:
    default:
        n = snprintf(buf, cap, "given up%s", o->flooded ? " (too much output)" : "");
        break;
    }
    if (verdict != NULL && n > 0 && (size_t)n < cap)
        (void)snprintf(buf + n, cap - (size_t)n, ", %s", verdict);
}

struct judgement {
    const struct evidence *e;
    char *reason;
    size_t cap;
};

static enum outcome say(const struct judgement *j, enum outcome o, const char *fmt, ...)
    PRINTF(3, 4);
static enum outcome say(const struct judgement *j, enum outcome o, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(j->reason, j->cap, fmt, ap);
    va_end(ap);
    return o;
}

/* The sandbox itself failed: neither contained nor an escape that we can show. */
static bool runtime_failed(const struct observation *o)
{
    return o->end == RUN_NOT_STARTED || strcmp(o->verdict, "internal-error") == 0 ||
           strcmp(o->verdict, "start-failed") == 0;
}

static bool wants(const struct attack *a, const char *verdict)
{
    return a->expect[0] != '\0' && word_in(a->expect, '|', verdict);
}

/* The attack is to be ended by a limit. */
static enum outcome judge_expected(const struct judgement *j, const struct transcript *t)
{
    const struct attack *a = j->e->attack;
    const struct observation *o = j->e->run;
    char status[300];
    observation_status(o, status, sizeof(status));
    if (o->verdict[0] != '\0' && wants(a, o->verdict))
        return say(j, OUTCOME_CONTAINED, "%s", o->message[0] != '\0' ? o->message : status);
    if (t->last == LAST_CANNOT)
        return say(j, OUTCOME_NOT_JUDGED, "%s", t->text);
    if (t->last == LAST_CONTAINED && (wants(a, "transcript") || j->e->kind != RUNTIME_SENTRY))
        return say(j, OUTCOME_CONTAINED, "%s", t->text);
    if (j->e->kind != RUNTIME_SENTRY && !a->host_side) {
        /* No verdict in words: ended from outside, and nothing is left. */
        bool ended = o->end == RUN_GIVEN_UP || o->end == RUN_SIGNAL || o->status > 128;
        return ended ? say(j, OUTCOME_CONTAINED, "ended: %s", status)
                     : say(j, OUTCOME_NOT_JUDGED, "no last line, %s", status);
    }
    if (o->end == RUN_GIVEN_UP)
        return say(j, OUTCOME_NOT_JUDGED, "the runtime did not end it in time");
    bool by_itself = strcmp(o->verdict, "ok") == 0 || strcmp(o->verdict, "exit") == 0;
    if (by_itself && t->last != LAST_NONE)
        return say(j, OUTCOME_ESCAPED, "no limit ended it (expected %s): %s", a->expect, t->text);
    return say(j, by_itself ? OUTCOME_ESCAPED : OUTCOME_NOT_JUDGED, "expected %s, but: %s",
               a->expect, status);
}

static enum outcome judge_transcript(const struct judgement *j, const struct transcript *t)
{
    const struct observation *o = j->e->run;
    char status[300];
    observation_status(o, status, sizeof(status));
    if (o->end == RUN_GIVEN_UP)
        return say(j, OUTCOME_NOT_JUDGED, "the runtime did not end in time");
    if (t->last == LAST_CONTAINED)
        return say(j, OUTCOME_CONTAINED, "%s", t->text);
    if (t->last == LAST_CANNOT)
        return say(j, OUTCOME_NOT_JUDGED, "%s", t->text);
    return say(j, OUTCOME_NOT_JUDGED, "the program did not say what came (%s)", status);
}

static enum outcome judge_counts(const struct judgement *j, enum outcome so_far)
{
    const struct attack *a = j->e->attack;
    const struct observation *o = j->e->run;
    const struct {
        const char *name;
        int64_t want;
        uint64_t got;
    } streams[] = {
        {"standard output", a->want_stdout, o->out.bytes},
        {"standard error", a->want_stderr, o->verdict[0] != '\0' ? o->guest_err : o->err.bytes}};
    for (size_t i = 0; i < 2 && so_far == OUTCOME_CONTAINED; i++)
        if (streams[i].want >= 0 && (uint64_t)streams[i].want != streams[i].got)
            so_far = say(j, OUTCOME_ESCAPED, "%llu bytes came out of %s, not %lld",
                         (unsigned long long)streams[i].got, streams[i].name,
                         (long long)streams[i].want);
    return so_far;
}

static enum outcome judge_attack(const struct judgement *j)
{
    struct transcript t;
    char status[300];
    parse_stream(&j->e->run->out, &t);
    observation_status(j->e->run, status, sizeof(status));
    if (t.escaped)
        return say(j, OUTCOME_ESCAPED, "%s", t.text);
    if (runtime_failed(j->e->run) && !wants(j->e->attack, j->e->run->verdict))
        return say(j, OUTCOME_NOT_JUDGED, "the runtime failed: %s %s", status, j->e->run->message);
    enum outcome o =
        j->e->attack->expect[0] != '\0' ? judge_expected(j, &t) : judge_transcript(j, &t);
    return judge_counts(j, o);
}

/* The twin's word: contained stands for "works". */
static enum outcome judge_twin(const struct judgement *j)
{
    struct transcript t;
    char status[300];
    const struct observation *o = j->e->twin;
    observation_status(o, status, sizeof(status));
    parse_stream(&o->out, &t);
    if (o->end == RUN_GIVEN_UP)
        return say(j, OUTCOME_NOT_JUDGED, "the twin did not end in time");
    if (t.last == LAST_WORKS && !t.escaped)
        return OUTCOME_CONTAINED;
    if (t.last == LAST_CANNOT)
        return say(j, OUTCOME_NOT_JUDGED, "the twin could not run: %s", t.text);
    if (t.last == LAST_BROKEN)
        return say(j, OUTCOME_TWIN_BROKEN, "%s", t.text);
    return say(j, OUTCOME_TWIN_BROKEN, "the twin said nothing of use (%s) %s", status, o->message);
}

static enum outcome judge_next(const struct judgement *j)
{
    const struct observation *o = j->e->next;
    char status[300];
    bool ok = o->end == RUN_EXIT && o->status == 0 && o->out.head.len >= 2 &&
              memcmp(o->out.head.data, "ok", 2) == 0;
    observation_status(o, status, sizeof(status));
    if (ok)
        return OUTCOME_CONTAINED;
    return say(j, OUTCOME_ESCAPED, "the next run in the same place is broken: %s", status);
}

enum outcome judge(const struct evidence *e, char *reason, size_t cap)
{
    struct judgement j = {e, reason, cap};
    char text[400];
    struct judgement later = {e, text, sizeof(text)};
    reason[0] = text[0] = '\0';
    if (e->findings->n > 0)
        return say(&j, OUTCOME_ESCAPED, "%s", e->findings->text[0]);
    enum outcome o = judge_attack(&j);
    if (o == OUTCOME_ESCAPED)
        return o;
    enum outcome next = e->next != NULL ? judge_next(&later) : OUTCOME_CONTAINED;
    if (next == OUTCOME_CONTAINED && e->twin != NULL)
        next = judge_twin(&later);
    /* What comes later wins when it is worse: an escape, a broken twin, then not judged. */
    if (next == OUTCOME_ESCAPED || next == OUTCOME_TWIN_BROKEN ||
        (next == OUTCOME_NOT_JUDGED && o == OUTCOME_CONTAINED)) {
        (void)say(&j, next, "%s", text);
        o = next;
    }
    return o;
}

const char *outcome_name(enum outcome o)
{
    static const char *const names[OUTCOME_COUNT] = {
        [OUTCOME_CONTAINED] = "contained",           [OUTCOME_ESCAPED] = "escaped",
        [OUTCOME_TWIN_BROKEN] = "twin-broken",       [OUTCOME_NOT_JUDGED] = "not-judged",
        [OUTCOME_NOT_APPLICABLE] = "not-applicable",
    };
    return names[o];
}

int suite_status(const unsigned counts[static OUTCOME_COUNT])
{
    if (counts[OUTCOME_ESCAPED] + counts[OUTCOME_TWIN_BROKEN] > 0)
        return 1;
    return counts[OUTCOME_NOT_JUDGED] > 0 || counts[OUTCOME_CONTAINED] == 0 ? 2 : 0;
}
