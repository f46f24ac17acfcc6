/*
 * sandbox_report.c: reports in, observations out.
 */
#include "escape-suite/harness/sandbox_report.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "escape-suite/harness/text.h"
#include "escape-suite/harness/verdict.h"
#include "lib/alloc.h"
#include "lib/cleanup.h"
#include "lib/fdio.h"

enum {
    LINES = 40, /* of a transcript, each from its start and its end */
    LINE_TEXT = 300,
    ERR_TEXT = 600
};

static int base64_value(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *p = c != '\0' ? strchr(digits, c) : NULL;
    return p != NULL ? (int)(p - digits) : -1;
}

/* Are the first n bytes that the base64 text stands for those at p? */
static bool base64_is(const char *text, const char *p, size_t n)
{
    uint32_t bits = 0;
    unsigned have = 0;
    size_t done = 0;
    for (; done < n && *text != '\0' && *text != '='; text++) {
        int v = base64_value(*text);
        if (v < 0)
            return false;
        bits = bits << 6 | (uint32_t)v;
        have += 6;
        if (have >= 8) {
            have -= 8;
            if ((char)(bits >> have & 0xff) != p[done++])
                return false;
        }
    }
    return done == n;
}

/* With --capture: the report holds what came. */
static void check_capture(const json_t *doc, const char *name, const struct stream *s,
                          uint64_t kept, struct findings *f)
{
    const json_t *stream = json_object_get(doc, name);
    size_t n = MIN((size_t)kept, s->head.len);
    if (json_object_get(stream, "base64") != NULL &&
        !base64_is(json_text(stream, "base64"), s->head.data, n))
        findings_add(f, "the report's %s is not what came", name);
}

static void read_verdict(const json_t *doc, bool counts, struct observation *o, struct findings *f)
{
    const char *verdict = json_text(doc, "verdict");
    json_int_t kept = json_integer_value(json_object_get(json_object_get(doc, "stdout"), "kept"));
    json_int_t kept_err =
        json_integer_value(json_object_get(json_object_get(doc, "stderr"), "kept"));
    json_int_t code = json_integer_value(json_object_get(doc, "exit_code"));
    (void)snprintf(o->verdict, sizeof(o->verdict), "%s", verdict);
    (void)snprintf(o->message, sizeof(o->message), "%s", json_text(doc, "message"));
    if (verdict[0] == '\0')
        findings_add(f, "the report has no verdict");
    if (o->end == RUN_EXIT && code != o->status)
        findings_add(f, "the report says exit status %d, the runtime's was %d", (int)code,
                     o->status);
    o->guest_err = (uint64_t)kept_err;
    if (counts) {
        check_capture(doc, "stdout", &o->out, (uint64_t)kept, f);
        check_capture(doc, "stderr", &o->err, o->guest_err, f);
    }
    if (counts && o->err.bytes < o->guest_err)
        findings_add(f, "the report says %lld bytes of standard error, %llu came",
                     (long long)kept_err, (unsigned long long)o->err.bytes);
    if (counts && o->end == RUN_EXIT && (uint64_t)kept != o->out.bytes &&
        strcmp(verdict, "start-failed") != 0 && strcmp(verdict, "internal-error") != 0)
        findings_add(f, "the report says %lld bytes of standard output, %llu came", (long long)kept,
                     (unsigned long long)o->out.bytes);
}

void sandbox_report_read(const char *path, bool counts, struct observation *o, struct findings *f)
{
    char *text = NULL;
    size_t len = 0;
    json_error_t je;
    auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    json_t *doc =
        fd_read_all(fd, 64 << 20, &text, &len) == 0 ? json_loadb(text, len, 0, &je) : NULL;
    if (doc == NULL)
        findings_add(f, "the report is no valid JSON: %.200s", je.text);
    else
        read_verdict(doc, counts, o, f);
    json_decref(doc);
    kfree(text);
    (void)unlink(path);
}

static void append_lines(json_t *list, const char *p, size_t n, bool from_end)
{
    size_t lines = 0;
    if (from_end) {
        const char *q = p + n;
        while (q > p && lines <= LINES)
            lines += *--q == '\n';
        q += q > p ? 1 : 0;
        n -= (size_t)(q - p);
        p = q;
        lines = 0;
    }
    while (n > 0 && lines++ < LINES) {
        const char *end = memchr(p, '\n', n);
        size_t len = end != NULL ? (size_t)(end - p) : n;
        json_t *line = text_json(p, MIN(len, (size_t)LINE_TEXT));
        size_t have = json_array_size(list);
        /* A line like the one before says nothing new. */
        if (have > 0 && json_equal(line, json_array_get(list, have - 1)))
            json_decref(line);
        else
            (void)json_array_append_new(list, line);
        len += end != NULL ? 1 : 0;
        p += len;
        n -= len;
    }
}

static size_t count_lines(const char *p, size_t n)
{
    size_t lines = 0;
    for (size_t i = 0; i < n; i++)
        lines += p[i] == '\n';
    return lines;
}

static json_t *transcript_json(const struct stream *s)
{
    json_t *list = json_array();
    size_t n;
    const char *tail = stream_tail(s, &n);
    bool whole = s->bytes == s->head.len && count_lines(s->head.data, s->head.len) < LINES;
    if (whole) {
        append_lines(list, buf_cstr(&s->head), s->head.len, false);
        return list;
    }
    append_lines(list, buf_cstr(&s->head), MIN(s->head.len, (size_t)2000), false);
    (void)json_array_append_new(list, json_string("..."));
    append_lines(list, tail + n - MIN(n, (size_t)2000), MIN(n, (size_t)2000), true);
    return list;
}

json_t *observation_json(const struct observation *o)
{
    char status[300];
    size_t n;
    const char *err = stream_tail(&o->err, &n);
    observation_status(o, status, sizeof(status));
    if (n > ERR_TEXT) {
        err += n - ERR_TEXT;
        n = ERR_TEXT;
    }
    json_t *j = json_pack("{s:s, s:I, s:I, s:I, s:i, s:o}", "status", status, "ms",
                          (json_int_t)o->ms, "stdout_bytes", (json_int_t)o->out.bytes,
                          "stderr_bytes", (json_int_t)o->err.bytes, "survivors", (int)o->survivors,
                          "lines", transcript_json(&o->out));
    if (j != NULL && o->verdict[0] != '\0') {
        (void)json_object_set_new(j, "verdict", text_json(o->verdict, strlen(o->verdict)));
        (void)json_object_set_new(j, "message", text_json(o->message, strlen(o->message)));
    }
    if (j != NULL && n > 0)
        (void)json_object_set_new(j, "stderr", text_json(err, n));
    return j;
}
