#pragma once
/*
 * Errno values of the guest ABI. Linux gives x86-64 the generic numbers, and so does the C library
 * that this program is built with, so kernel code writes -EINVAL and means the guest's EINVAL
 *: both come from the same kernel header.
 *
 * The codes below are internal: a blocked call returns a restart code, and dispatch turns it into a
 * restart or -EINTR before the guest sees a result; ESTEP is turned into task_yield.
 */
#include <errno.h>

#define ERESTARTSYS           512 /* restart if the handler has SA_RESTART, else EINTR */
#define ERESTARTNOINTR        513 /* always restart */
#define ERESTARTNOHAND        514 /* restart only if no handler runs */
#define ENOIOCTLCMD           515 /* becomes ENOTTY */
#define ERESTART_RESTARTBLOCK 516 /* restart through restart_syscall, EINTR if a handler runs */
#define ESTEP                 600 /* enough for one go: run the call again, after the others */
#define LX_MAX_ERRNO          4095

_Static_assert(EINVAL == 22 && ENOSYS == 38 && EWOULDBLOCK == EAGAIN, "generic errno numbers");
_Static_assert(EHWPOISON < ERESTARTSYS, "restart codes must not clash with errno values");
_Static_assert(ERESTARTSYS == 512 && ERESTARTNOINTR == 513 && ERESTARTNOHAND == 514 &&
                   ERESTART_RESTARTBLOCK == 516,
               "the numbers that strace and debuggers know");
