/*
 * Donated host descriptors. Descriptors are a resource of the whole process, so there is one cache
 * for all image mounts: a list in order of use, at most `cap` long. A descriptor may be closed
 * whenever goferfs is entered again (mappings made from it stay valid on the host), so callers
 * use it at once. A message whose descriptor does not fit would end the connection to the gofer, so
 * before one is asked for, a free number is made sure of, if need be by closing the oldest.
 */
#include "sentry/fs/goferfs/goferfs.h"
#include "sentry/host/host.h"

static struct {
    struct list_head lru; /* oldest first */
    uint32_t count, cap;
    bool ready;
} fds;

static void fds_init(void)
{
    if (!fds.ready) {
        list_init(&fds.lru);
        fds.cap = 2048;
        fds.ready = true;
    }
}

void goferfs_fd_set_cap(uint32_t cap)
{
    fds_init();
    fds.cap = cap ? cap : 1;
    while (fds.count > fds.cap && goferfs_fd_drop_oldest()) {
    }
}

uint32_t goferfs_fd_count(void)
{
    return fds.count;
}

void goferfs_fd_drop(struct gofer_inode *gi)
{
    if (gi->fd < 0)
        return;
    list_del_init(&gi->fd_link);
    fds.count--;
    host_close(gi->fd);
    gi->fd = -1;
}

bool goferfs_fd_drop_oldest(void)
{
    fds_init();
    if (list_empty(&fds.lru))
        return false;
    goferfs_fd_drop(list_first(&fds.lru, struct gofer_inode, fd_link));
    return true;
}

static void keep_cap(void)
{
    fds_init();
    while (fds.count >= fds.cap && goferfs_fd_drop_oldest()) {
    }
}

void goferfs_fd_make_room(void)
{
    keep_cap();
    while (fds.count > 0) {
        int fd = host_dup(list_first(&fds.lru, struct gofer_inode, fd_link)->fd);

        if (fd >= 0) {
            host_close(fd);
            return;
        }
        goferfs_fd_drop_oldest();
    }
}

void goferfs_fd_keep(struct gofer_inode *gi, int fd)
{
    if (fd < 0)
        return;
    if (gi->fd >= 0) {
        host_close(fd);
        return;
    }
    keep_cap();
    gi->fd = fd;
    list_add_tail(&fds.lru, &gi->fd_link);
    fds.count++;
}

int goferfs_fd(struct gofer_inode *gi, int *ret_fd)
{
    int fd, r;

    fds_init();
    if (gi->fd >= 0) {
        list_del_init(&gi->fd_link);
        list_add_tail(&fds.lru, &gi->fd_link);
        *ret_fd = gi->fd;
        return 0;
    }
    goferfs_fd_make_room();
    do
        r = gofer_open(gi->fs->client, gi->node, &fd);
    while ((r == -EMFILE || r == -ENFILE) && goferfs_fd_drop_oldest());
    if (r < 0)
        return r == -EMFILE || r == -ENFILE ? -ENFILE : r;
    goferfs_fd_keep(gi, fd);
    *ret_fd = gi->fd;
    return 0;
}
