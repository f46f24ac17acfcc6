#pragma once
/*
 * Owner, mode, times and extended attributes of a member, checked and applied.
 */
#include "lib/compiler.h"

#include <time.h>

#include <sys/types.h>

struct archive_entry;
struct error;
struct layers;

struct attributes {
    uint32_t uid, gid;
    mode_t mode; /* permission bits with setuid, setgid, sticky */
    struct timespec mtime;
    struct archive_entry *entry; /* borrowed: the extended attributes */
    struct layers *layers;
};

int attributes_read(struct attributes *a, struct archive_entry *entry, struct layers *l,
                    struct error *err) MUST_CHECK;
/* On an open file or directory; a directory may have been there before, with other attributes. */
int attributes_set_fd(const struct attributes *a, int fd, bool dir, struct error *err) MUST_CHECK;
/* On a link or fifo: owner and time only. */
int attributes_set_name(const struct attributes *a, int dir, const char *last, struct error *err)
    MUST_CHECK;
