/*
 * pipe and pipe2. The numbers are copied out before the call ends; if that fails both ends are
 * closed again, so the guest never owns descriptors that it was not told of.
 */
#include "lib/compiler.h"

#include "sentry/fs/file.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/usercopy.h"
#include "sentry/sys/sys.h"

static struct sys_res do_pipe(struct task *t, gaddr_t out, uint32_t flags)
{
    bool cloexec = (flags & LX_O_CLOEXEC) != 0;
    struct file *r, *w;
    int32_t fds[2];
    int err;

    if (flags & ~(uint32_t)(LX_O_CLOEXEC | LX_O_NONBLOCK | LX_O_DIRECT))
        return sys_ret(-EINVAL);
    err = pipe_new(flags, &r, &w);
    if (err < 0)
        return sys_ret(err);
    fds[0] = fd_install(t, r, cloexec, 0);
    if (fds[0] < 0) {
        file_put(r);
        file_put(w);
        return sys_ret(fds[0]);
    }
    fds[1] = fd_install(t, w, cloexec, 0);
    if (fds[1] < 0) {
        (void)fdtable_close(t, fds[0]);
        file_put(w);
        return sys_ret(fds[1]);
    }
    err = copy_to_user(t, out, fds, sizeof(fds));
    if (err < 0) {
        (void)fdtable_close(t, fds[0]);
        (void)fdtable_close(t, fds[1]);
    }
    return sys_ret(err);
}

struct sys_res sys_pipe(struct task *t, const struct sys_args *a)
{
    return do_pipe(t, sys_addr(a, 0), 0);
}

struct sys_res sys_pipe2(struct task *t, const struct sys_args *a)
{
    return do_pipe(t, sys_addr(a, 0), sys_uint(a, 1));
}
