/*
 * host_err.c: which errors of host file I/O a guest may see.
 */
#include "lib/compiler.h"

#include "abi/errno.h"

#include "lib/log.h"
#include "sentry/host/host.h"

int host_to_guest(int64_t host_errno)
{
    if (host_errno >= 0)
        return (int)host_errno;
    switch (-host_errno) {
    case EAGAIN:
    case EPIPE:
    case ENOSPC:
    case EFBIG:
    case ENOMEM:
    case EISDIR:
    case ENXIO:
    case ESPIPE:
    case EBADF:
    case EINVAL:
    case EROFS:
    case EPERM:
    case EOPNOTSUPP:
    case ETXTBSY:
    case EDQUOT:
        return (int)host_errno;
    case EMFILE:
    case ENFILE:
        return -ENFILE;
    case ECONNRESET:
        return -EPIPE;
    default:
        LOG_W(CH_FS, "unexpected host error %d becomes EIO", (int)-host_errno);
        return -EIO;
    }
}
