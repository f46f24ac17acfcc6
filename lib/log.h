#pragma once
/*
 * The log. One line: time, level, channel, guest pid/tid, text. Levels are chosen per channel at
 * run time (log_parse_spec); lines go to an inherited descriptor. Each call site may write ten
 * lines a second at levels E, W and I; the next line says how many were dropped. What a guest can
 * cause at will is level D, and bytes that a guest chose go through log_guest.
 */
#include "lib/compiler.h"

struct error;

enum log_level {
    LOG_LEVEL_NONE, /* nothing at all */
    LOG_LEVEL_E,
    LOG_LEVEL_W,
    LOG_LEVEL_I,
    LOG_LEVEL_D,
};

enum log_channel {
    CH_MM,
    CH_FS,
    CH_SIG,
    CH_PLAT,
    CH_GOFER,
    CH_LIM,
    CH_CLI,
    CH_SYS,
    CH_COUNT,
};

/* State of one call site, for the rate limit. */
struct log_site {
    uint64_t window_start; /* ns */
    uint32_t written, dropped;
};

/* Highest level that is written, per channel; LOG_LEVEL_W at start. */
extern uint8_t log_levels[CH_COUNT];

#define LOG_AT(level, ch, ...)                                 \
    do {                                                       \
        static struct log_site log_site_;                      \
        if (UNLIKELY(log_levels[ch] >= (level)))               \
            log_write(&log_site_, (level), (ch), __VA_ARGS__); \
    } while (0)
#define LOG_E(ch, ...) LOG_AT(LOG_LEVEL_E, ch, __VA_ARGS__)
#define LOG_W(ch, ...) LOG_AT(LOG_LEVEL_W, ch, __VA_ARGS__)
#define LOG_I(ch, ...) LOG_AT(LOG_LEVEL_I, ch, __VA_ARGS__)
#define LOG_D(ch, ...) LOG_AT(LOG_LEVEL_D, ch, __VA_ARGS__)

void log_write(struct log_site *site, enum log_level level, enum log_channel ch, const char *fmt,
               ...) PRINTF(4, 5);
/* One line without any check, for the end of the program. */
void log_raw(const char *text);

/* Borrowed for the life of the program; -1: nothing is written. Standard error at start. */
void log_set_fd(int fd);
int log_fd(void);
/* Guest pid and tid that the lines carry from now on; 0, 0: none. */
void log_set_task(uint32_t pid, uint32_t tid);
/* "fs:D,mm:I", "D" or "all:D" for all channels; nothing is changed on error. */
int log_parse_spec(const char *spec, struct error *err) MUST_CHECK;

/* Guest bytes made printable: escaped as in C, cut at 256 characters. Valid for the next three
 * calls. */
const char *log_guest(const void *p, size_t n);
