/*
 * control_server.c: the sentry's side of the control socket.
 */
#include "lib/compiler.h"

#include <errno.h>

#include "lib/error.h"
#include "sentry/cli/control.h"

int control_server_begin(const struct boot *b, void (*start)(void), struct error *err)
{
    (void)start;
    if (b->listen_fd >= 0)
        return error_set(err, ENOTSUP, "the control socket is not served yet");
    return 0;
}

void control_server_end(void)
{
}
