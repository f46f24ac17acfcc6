/*
 * tar_image.c: tars by hand, so that they may also be wrong.
 */
#include "tests/support/tar_image.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/stat.h>

#include "lib/assert.h"
#include "lib/fdio.h"
#include "rootfs/tree.h"

enum {
    BLOCK = 512
};

static void octal(char *field, size_t n, unsigned long v)
{
    (void)snprintf(field, n, "%0*lo", (int)n - 1, v);
}

void tar_add(struct buf *tar, const struct tar_member *m)
{
    size_t n = m->data != NULL ? strlen(m->data) : 0;
    char *h = buf_extend(tar, BLOCK);
    unsigned sum = 0;
    KASSERT(h != NULL);
    (void)snprintf(h, 100, "%s", m->name);
    octal(h + 100, 8, m->mode != 0 ? m->mode : m->type == '5' ? 0755 : 0644);
    octal(h + 108, 8, 0);
    octal(h + 116, 8, 0);
    octal(h + 124, 12, n);
    octal(h + 136, 12, 1000000000);
    memset(h + 148, ' ', 8);
    h[156] = m->type;
    (void)snprintf(h + 157, 100, "%s", m->link != NULL ? m->link : "");
    memcpy(h + 257,
           "ustar\0"
           "00",
           8);
    for (size_t i = 0; i < BLOCK; i++)
        sum += (unsigned char)h[i];
    (void)snprintf(h + 148, 8, "%06o", sum);
    if (n > 0) {
        (void)buf_append(tar, m->data, n);
        (void)buf_extend(tar, (BLOCK - n % BLOCK) % BLOCK);
    }
}

void tar_make(struct buf *tar, const struct tar_member *members)
{
    for (; members->name != NULL; members++)
        tar_add(tar, members);
    (void)buf_extend(tar, (size_t)2 * BLOCK);
    KASSERT(buf_error(tar) == 0);
}

int tar_file(const struct buf *tar)
{
    int fd = memfd_create("tar", MFD_CLOEXEC);
    KASSERT(fd >= 0 && fd_write_full(fd, tar->data, tar->len) == 0);
    return fd;
}

int tar_dir(char path[64])
{
    (void)snprintf(path, 64, "/tmp/sentry-tar-XXXXXX");
    KASSERT(mkdtemp(path) != NULL);
    int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    KASSERT(fd >= 0);
    return fd;
}

void tar_rm(const char *path)
{
    int dir = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int r = tree_remove(dir, path + strlen("/tmp/"));
    KASSERT(r == 0);
    fd_close(dir);
}

const char *tar_text(int dir, const char *name)
{
    static char text[256];
    int fd = openat(dir, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    int64_t n = fd < 0 ? -1 : fd_read_full(fd, text, sizeof(text) - 1);
    fd_close(fd);
    if (n < 0)
        return "(none)";
    text[n] = '\0';
    return text;
}

bool tar_there(int dir, const char *name)
{
    struct stat st;
    return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}
