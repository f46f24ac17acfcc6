#pragma once
/*
 * An image in memory behind the functions of gofer/client.h, for tests of goferfs and overlay. It
 * counts requests, so that a test can prove what is asked only once.
 */
#include "lib/compiler.h"

#include "sentry/fs/vfs.h"

struct fake_file {
    const char *path; /* "/bin/sh"; parents before children */
    uint32_t mode;
    const char *content; /* of a regular file, or target of a symlink */
    uint64_t ino;        /* 0: its own */
    uint32_t nlink;      /* 0: 1 */
};

struct gofer_client;

/* files ends with an entry without path; "/" is added. */
struct gofer_client *fake_image_new(const struct fake_file *files);
void fake_image_free(struct gofer_client *c);
uint32_t fake_image_requests(const struct gofer_client *c);
/* Live node ids that were handed out and not forgotten, roots excluded. */
uint32_t fake_image_nodes(const struct gofer_client *c);
/* The next n opens fail with -EMFILE. */
void fake_image_fail_opens(struct gofer_client *c, uint32_t n);
