/*
 * A line is put together in a buffer on the stack and written with one write(2), so that lines of
 * several processes that share the descriptor do not mix. A failed write is ignored: there is
 * nobody to tell. The rate limit counts per call site in windows of one second.
 */
#include "lib/log.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/error.h"

enum {
    LINE_MAX_BYTES = 1024,
    SITE_LINES = 10,
    GUEST_MAX = 256,
    GUEST_RING = 4,
};

#define WINDOW_NS 1000000000ull

static const char *const channel_names[CH_COUNT] = {
    [CH_MM] = "mm",       [CH_FS] = "fs",   [CH_SIG] = "sig", [CH_PLAT] = "plat",
    [CH_GOFER] = "gofer", [CH_LIM] = "lim", [CH_CLI] = "cli", [CH_SYS] = "sys",
};
static const char level_letters[] = "-EWID";

uint8_t log_levels[CH_COUNT] = {
    LOG_LEVEL_W, LOG_LEVEL_W, LOG_LEVEL_W, LOG_LEVEL_W,
    LOG_LEVEL_W, LOG_LEVEL_W, LOG_LEVEL_W, LOG_LEVEL_W,
};
static int out_fd = STDERR_FILENO;
static uint32_t task_pid, task_tid;

static uint64_t now_ns(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/* Whether this site may write now; *ret_dropped: lines dropped since it last did. */
static bool site_allows(struct log_site *site, enum log_level level, uint64_t now,
                        uint32_t *ret_dropped)
{
    *ret_dropped = 0;
    if (level == LOG_LEVEL_D)
        return true;
    if (site->window_start == 0 || now - site->window_start >= WINDOW_NS) {
        *ret_dropped = site->dropped;
        *site = (struct log_site){.window_start = now, .written = 1};
        return true;
    }
    if (site->written < SITE_LINES) {
        site->written++;
        return true;
    }
    site->dropped++;
    return false;
}

static size_t clamp(int n, size_t room)
{
    if (n < 0)
        return 0;
    return MIN((size_t)n, room);
}

static void put_line(char *line, size_t len)
{
    int saved = errno;

    line[len++] = '\n';
    if (out_fd >= 0 && write(out_fd, line, len) < 0) {
        /* nobody to tell */
    }
    errno = saved;
}

void log_write(struct log_site *site, enum log_level level, enum log_channel ch, const char *fmt,
               ...)
{
    char line[LINE_MAX_BYTES];
    const size_t room = sizeof(line) - 2;
    uint64_t now = now_ns();
    uint32_t dropped;
    va_list ap;

    if (!site_allows(site, level, now, &dropped))
        return;
    size_t len = clamp(snprintf(line, room, "%5u.%06u %c %-5s %u/%u ",
                                (unsigned)(now / 1000000000ull % 100000u),
                                (unsigned)(now / 1000u % 1000000u), level_letters[level],
                                channel_names[ch], task_pid, task_tid),
                       room - 1);
    va_start(ap, fmt);
    len += clamp(vsnprintf(line + len, room - len, fmt, ap), room - len - 1);
    va_end(ap);
    if (dropped && len < room - 1)
        len += clamp(snprintf(line + len, room - len, " (%u like this dropped)", dropped),
                     room - len - 1);
    put_line(line, len);
}

void log_raw(const char *text)
{
    char line[LINE_MAX_BYTES];
    size_t len = strlen(text);

    if (len > sizeof(line) - 1)
        len = sizeof(line) - 1;

    memcpy(line, text, len);
    put_line(line, len);
}

void log_set_fd(int fd)
{
    out_fd = fd;
}

int log_fd(void)
{
    return out_fd;
}

void log_set_task(uint32_t pid, uint32_t tid)
{
    task_pid = pid;
    task_tid = tid;
}

/* Level of a letter, or -1. */
static int level_of(const char *s, size_t n)
{
    if (n != 1 || *s == '-')
        return -1;
    const char *at = strchr(level_letters, toupper((unsigned char)*s));
    return at ? (int)(at - level_letters) : -1;
}

/* One "channel:L", "all:L" or "L" into levels. */
static int parse_part(const char *part, size_t n, uint8_t levels[CH_COUNT], struct error *err)
{
    const char *colon = memchr(part, ':', n);
    size_t name_len = colon ? (size_t)(colon - part) : 0;
    const char *letter = colon ? colon + 1 : part;
    int level = level_of(letter, n - (size_t)(letter - part));

    if (level < 0)
        return error_set(err, EINVAL, "log: '%.*s' has no level E, W, I or D", (int)n, part);
    if (!colon || (name_len == 3 && memcmp(part, "all", 3) == 0)) {
        memset(levels, level, CH_COUNT);
        return 0;
    }
    for (size_t ch = 0; ch < CH_COUNT; ch++) {
        if (strlen(channel_names[ch]) == name_len && !memcmp(channel_names[ch], part, name_len)) {
            levels[ch] = (uint8_t)level;
            return 0;
        }
    }
    return error_set(err, EINVAL, "log: no channel '%.*s' (mm fs sig plat gofer lim cli sys all)",
                     (int)name_len, part);
}

int log_parse_spec(const char *spec, struct error *err)
{
    uint8_t levels[CH_COUNT];

    memcpy(levels, log_levels, sizeof(levels));
    for (const char *part = spec;; part++) {
        size_t n = strcspn(part, ",");
        int r = parse_part(part, n, levels, err);
        if (r < 0)
            return r;
        part += n;
        if (*part == '\0')
            break;
    }
    memcpy(log_levels, levels, sizeof(levels));
    return 0;
}

/* Escaped form of one byte; returns its length (at most 4). */
static size_t escape_byte(unsigned char c, char out[5])
{
    static const char plain[] = "\n\r\t\\\"";
    static const char letters[] = "nrt\\\"";
    const char *at = c ? strchr(plain, c) : NULL;

    if (at) {
        out[0] = '\\';
        out[1] = letters[at - plain];
        return 2;
    }
    if (c >= 0x20 && c < 0x7f) {
        out[0] = (char)c;
        return 1;
    }
    (void)snprintf(out, 5, "\\x%02x", c);
    return 4;
}

const char *log_guest(const void *p, size_t n)
{
    static char ring[GUEST_RING][GUEST_MAX + 4];
    static unsigned next;
    char *out = ring[next++ % GUEST_RING];
    const unsigned char *bytes = p;
    size_t len = 0;

    for (size_t i = 0; i < n; i++) {
        char one[5];
        size_t one_len = escape_byte(bytes[i], one);
        if (len + one_len > GUEST_MAX) {
            memcpy(out + len, "...", 3);
            len += 3;
            break;
        }
        memcpy(out + len, one, one_len);
        len += one_len;
    }
    out[len] = '\0';
    return out;
}
