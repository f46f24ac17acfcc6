/*
 * messages.c: --log and standard error.
 *
 * Engines read the log after a failure and expect one JSON value in it, so notes are kept until the
 * command has succeeded, and a failure writes its one line only.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/buf.h"
#include "lib/fdio.h"
#include "runsc-shim/shim.h"

enum {
    MAX_NOTES = 65536
};

static struct buf notes = {.max = MAX_NOTES};

static void quote(struct buf *out, const char *text)
{
    (void)buf_putc(out, '"');
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            (void)buf_printf(out, "\\%c", *c);
        else if (*c == '\n')
            (void)buf_puts(out, "\\n");
        else if (*c < 0x20 || *c == 0x7f)
            (void)buf_printf(out, "\\u%04x", *c);
        else
            (void)buf_putc(out, (char)*c);
    }
    (void)buf_putc(out, '"');
}

/* As the log library of the engines writes its lines. */
static void format(struct buf *out, enum shim_level level, const char *text)
{
    static const char *const names[] = {"debug", "info", "warning", "error"};
    char when[40];
    time_t now = time(NULL);
    struct tm tm;

    (void)gmtime_r(&now, &tm);
    (void)strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
    if (shim.log_json) {
        (void)buf_printf(out, "{\"level\":\"%s\",\"msg\":", names[level]);
        quote(out, text);
        (void)buf_printf(out, ",\"time\":\"%s\"}\n", when);
    } else {
        (void)buf_printf(out, "time=\"%s\" level=%s msg=", when, names[level]);
        quote(out, text);
        (void)buf_putc(out, '\n');
    }
}

static void write_log(const struct buf *text)
{
    if (text->len == 0)
        return;
    int fd = shim.log_path != NULL
                 ? open(shim.log_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0644)
                 : 2;
    if (fd < 0) {
        (void)fprintf(stderr, "runsc-shim: %s: %s\n", shim.log_path, strerror(errno));
        return;
    }
    (void)!fd_write_full(fd, text->data, text->len);
    if (fd != 2)
        (void)close(fd);
}

void shim_note(enum shim_level level, const char *fmt, ...)
{
    char text[768];
    va_list ap;

    /* Without a log only what matters reaches the terminal. */
    if (!shim.debug && (level == SHIM_DEBUG || (level == SHIM_INFO && shim.log_path == NULL)))
        return;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    format(&notes, level, text);
}

void shim_note_lines(enum shim_level level, const char *text)
{
    while (*text != '\0') {
        size_t n = strcspn(text, "\n");
        shim_note(level, "%.*s", (int)MIN(n, (size_t)700), text);
        text += n + (text[n] == '\n');
    }
}

void shim_notes_flush(void)
{
    write_log(&notes);
    buf_done(&notes);
    buf_init(&notes, MAX_NOTES);
}

void shim_fail(const char *text)
{
    struct buf line;

    (void)fprintf(stderr, "runsc-shim: %s\n", text);
    buf_done(&notes);
    buf_init(&notes, MAX_NOTES);
    if (shim.log_path == NULL)
        return;
    buf_init(&line, MAX_NOTES);
    format(&line, SHIM_ERROR, text);
    write_log(&line);
    buf_done(&line);
}
