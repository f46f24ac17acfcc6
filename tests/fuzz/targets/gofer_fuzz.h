#pragma once
/* Shared by the two fuzz targets of the gofer: the served tree, and messages of one's own making.
 */
#include "lib/compiler.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>

#include "gofer/client.h"
#include "lib/assert.h"
#include "lib/fdio.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char fuzz_dir[] = "/tmp/fuzz-gofer-XXXXXX";

static inline void fuzz_tree_remove(void)
{
    static const char *const names[] = {"d/g", "d/e", "d", "l", "p", "f"};
    int d = open(fuzz_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        (void)unlinkat(d, names[i], i == 1 || i == 2 ? AT_REMOVEDIR : 0);
    fd_close(d);
    (void)rmdir(fuzz_dir);
}

/* A temporary directory with a few empty files, a fifo and a symlink out of it. */
static inline int fuzz_tree(void)
{
    int d = mkdtemp(fuzz_dir) ? open(fuzz_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    KASSERT(d >= 0 && mkdirat(d, "d", 0755) == 0 && mkdirat(d, "d/e", 0755) == 0);
    KASSERT(symlinkat("/etc", d, "l") == 0 && mkfifoat(d, "p", 0644) == 0);
    fd_close(openat(d, "f", O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    fd_close(openat(d, "d/g", O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    KASSERT(atexit(fuzz_tree_remove) == 0);
    return d;
}

/*
 * A message from a type byte and n bytes of body; with the top bit of the type set they are the
 * message, but for the tag.
 */
static inline size_t fuzz_message(uint8_t *buf, uint8_t type, uint32_t tag, const uint8_t *body,
                                  size_t n)
{
    struct gofer_header h = {.size = (uint32_t)(n + sizeof(h)), .type = type & 15, .tag = tag};
    size_t at = type & 0x80 ? 0 : sizeof(h);
    memcpy(buf, &h, sizeof(h));
    memcpy(buf + at, body, n);
    memcpy(buf + offsetof(struct gofer_header, tag), &tag, sizeof(tag));
    return at + n;
}

/* For gofer_readdir: names must have been checked before they come here. */
static inline bool fuzz_entry(UNUSED void *ctx, const struct gofer_dirent *e)
{
    KASSERT(strlen(e->name) == e->name_len && gofer_name_valid(e->name, e->name_len));
    return true;
}
