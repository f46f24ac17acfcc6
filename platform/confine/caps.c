/*
 * caps.c: the two interfaces (prctl, capset) by which capabilities are given up.
 */
#include "platform/confine/caps.h"

#include <errno.h>
#include <unistd.h>

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

int caps_keep(uint64_t keep)
{
    struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct want[2] = {{.permitted = (uint32_t)keep},
                                             {.permitted = (uint32_t)(keep >> 32)}};
    want[0].effective = want[0].permitted;
    want[1].effective = want[1].permitted;
    for (int cap = 0; prctl(PR_CAPBSET_DROP, cap) == 0; cap++)
        continue;
    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    return syscall(SYS_capset, &h, want) < 0 ? -errno : 0;
}
