/*
 * How this works: the convenience calls over ops->read and ops->write, and the platform in use.
 * Strings are read page by page, so that a string that ends right before an unmapped page is found
 * whole and nothing beyond its last page is touched.
 */
#include <string.h>

#include "abi/errno.h"

#include "platform/platform.h"

#include "lib/checked.h"

const struct plat_ops *plat_ops;

int plat_read(struct plat_as *as, gaddr_t addr, void *buf, size_t len)
{
    struct plat_seg seg = {addr.v, len};

    if (!len)
        return 0;
    return plat_ops->read(as, &seg, 1, buf, len) == (int64_t)len ? 0 : -EFAULT;
}

int plat_write(struct plat_as *as, gaddr_t addr, const void *buf, size_t len)
{
    struct plat_seg seg = {addr.v, len};

    if (!len)
        return 0;
    return plat_ops->write(as, &seg, 1, buf, len) == (int64_t)len ? 0 : -EFAULT;
}

int64_t plat_read_str(struct plat_as *as, gaddr_t addr, char *buf, size_t cap)
{
    size_t done = 0;

    while (done < cap) {
        uint64_t at = addr.v + done;
        size_t part = MIN((size_t)(PAGE_SIZE - at % PAGE_SIZE), cap - done);
        struct plat_seg seg = {at, part};
        int64_t n = plat_ops->read(as, &seg, 1, buf + done, part);
        const char *nul;

        if (n <= 0)
            return -EFAULT;
        nul = memchr(buf + done, 0, (size_t)n);
        if (nul)
            return nul - buf;
        if ((size_t)n < part)
            return -EFAULT;
        done += part;
    }
    return -ENAMETOOLONG;
}
