/*
 * main.c: runsc-shim, which stands where runc stands.
 *
 * How it works: a bundle's config.json (oci_*.c) becomes a boot description (to_boot.c); `create`
 * (create.c) forks a monitor that starts the sandbox with it, and leaves. Everything later goes
 * through the state directory (container.c), the control socket of the sentry and the cgroup
 * (cgroup_*.c). README.md has the files in reading order.
 */
#include <signal.h>

#include "runsc-shim/shim.h"

int main(int argc, char **argv)
{
    /* The caller may have ignored it; then nobody's end could be waited for. */
    (void)signal(SIGCHLD, SIG_DFL);
    return shim_main(argc, argv);
}
