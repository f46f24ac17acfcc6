#pragma once
/* The names that a directory lists, as one text with a blank behind each: for unit tests. */
#include "sentry/fs/file.h"

struct listing {
    struct dir_context dc;
    char names[256];
    size_t room; /* names that still fit: the buffer of the caller is full behind them */
    bool hidden; /* names that begin with a dot as well */
};

void listing_init(struct listing *l, bool hidden);
