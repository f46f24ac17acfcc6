/*
 * links: test_tar rootfs lib
 * Layer bytes onto a small tree with a link that leads out. Whatever the bytes say, what is beside
 * the tree stays as it is.
 */
#include <fcntl.h>
#include <grp.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>

#include "lib/assert.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "rootfs/layer.h"
#include "tests/support/tar_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int apply(struct layers *l, const void *data, size_t size, bool first)
{
    struct buf bytes = {.data = (char *)(uintptr_t)data, .len = size};
    struct error err;
    int fd = tar_file(&bytes);
    struct blob b = {.fd = fd, .size = size};
    error_init(&err);
    int r = layer_apply(l, &b, first, NULL, NULL, &err);
    KASSERT(r == 0 || err.text[0] != '\0');
    fd_close(fd);
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct tar_member base[] = {
        TAR_FILE("etc/x", "1"), TAR_LINK("out", '2', "../outside"),
        TAR_LINK("abs", '2', "/outside"), TAR_LINK("sub", '2', "etc"), TAR_END};
    struct image_limits limits = IMAGE_LIMITS_DEFAULT;
    struct layers l;
    struct buf tar;
    struct stat before, after;
    char path[64];
    if (geteuid() == 0)
        KASSERT(setgroups(0, NULL) == 0 && setresgid(65534, 65534, 65534) == 0 &&
                setresuid(65534, 65534, 65534) == 0);
    int dir = tar_dir(path);
    limits.bytes = 1 << 20;
    limits.entries = 200;
    buf_init(&tar, 1 << 16);
    tar_make(&tar, base);
    KASSERT(mkdirat(dir, "root", 0755) == 0 && mkdirat(dir, "outside", 0755) == 0);
    KASSERT(mkdirat(dir, "outside/kept", 0755) == 0 && fstatat(dir, "outside", &before, 0) == 0);
    int root = tree_open_at(dir, "root", O_PATH | O_DIRECTORY, 0);
    layers_init(&l, root, &limits);
    KASSERT(apply(&l, tar.data, tar.len, true) == 0);
    (void)apply(&l, data, size, false);
    layers_done(&l);
    KASSERT(tar_there(dir, "outside/kept") && fstatat(dir, "outside", &after, 0) == 0);
    KASSERT(before.st_mtim.tv_nsec == after.st_mtim.tv_nsec && before.st_mode == after.st_mode &&
            before.st_nlink == after.st_nlink && before.st_ctim.tv_nsec == after.st_ctim.tv_nsec);
    fd_close(root);
    fd_close(dir);
    buf_done(&tar);
    tar_rm(path);
    return 0;
}
