/*
 * The system calls behind drop.h. Each function leaves the process with less than it had; the order
 * is the caller's business: descriptors and mounts first, then ids and capabilities, then Landlock
 * (which forbids mounting), and the filter last.
 */
#include "gofer/drop.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "platform/confine/filter.h"
#include "platform/confine/landlock.h"

#include "gofer/proto.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "lib/idmap.h"

enum {
    NOBODY = 65534
};

enum {
    LANDLOCK_WRITES_FILE = LANDLOCK_WRITE_FILE | LANDLOCK_TRUNCATE,
    LANDLOCK_WRITES_DIR = LANDLOCK_REMOVE_DIR | LANDLOCK_REMOVE_FILE | LANDLOCK_MAKE_DIR |
                          LANDLOCK_MAKE_REG | LANDLOCK_MAKE_SOCK | LANDLOCK_MAKE_FIFO |
                          LANDLOCK_MAKE_SYM | LANDLOCK_REFER
};

void drop_files(const int *keep, size_t n)
{
    unsigned from = 0;
    for (;;) {
        unsigned next = ~0u; /* the lowest descriptor to keep that is >= from */
        for (size_t i = 0; i < n; i++) {
            if ((unsigned)keep[i] >= from)
                next = MIN(next, (unsigned)keep[i]);
        }
        if (next == ~0u)
            break;
        if (next > from)
            (void)syscall(SYS_close_range, from, next - 1, 0);
        from = next + 1;
    }
    (void)syscall(SYS_close_range, from, ~0u, 0);
}

static bool caps_get(struct __user_cap_data_struct data[2])
{
    struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
    return syscall(SYS_capget, &h, data) == 0;
}

bool drop_holds(int cap)
{
    struct __user_cap_data_struct data[2] = {0};
    return caps_get(data) && (data[cap / 32].effective >> cap % 32 & 1) != 0;
}

static bool become(uint32_t id)
{
    return syscall(SYS_setresgid, id, id, id) == 0 && syscall(SYS_setresuid, id, id, id) == 0;
}

uint32_t drop_id(void)
{
    char map[IDMAP_TEXT];
    uint32_t n = 0, id = NOBODY;
    if (getrandom(&n, sizeof(n), GRND_NONBLOCK) != sizeof(n))
        n = (uint32_t)getpid();
    idmap_read("uid_map", map);
    (void)idmap_spare(map, n, &id);
    return id;
}

/*
 * Root's ids own files of the host. An id that nobody else has owns none, and shares no limit of
 * the host's (descriptors in flight, processes) with other sandboxes, as nobody's would. Ordinary
 * users stay who they are.
 */
static void become_nobody(uint32_t id)
{
    if (geteuid() != 0)
        return;
    (void)setgroups(0, NULL);
    (void)prctl(PR_SET_KEEPCAPS, 1);
    if (!become(id))
        (void)become(NOBODY);
    (void)prctl(PR_SET_KEEPCAPS, 0);
}

uint64_t drop_privilege(uint32_t id, uint64_t keep)
{
    struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct old[2] = {0};
    struct __user_cap_data_struct want[2] = {0};
    for (int cap = 0; prctl(PR_CAPBSET_DROP, cap) == 0; cap++)
        ;
    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    become_nobody(id);
    if (keep && caps_get(old))
        want[0].permitted = old[0].permitted & (uint32_t)keep;
    want[0].effective = want[0].permitted;
    if (syscall(SYS_capset, &h, want) < 0 || !caps_get(old))
        return UINT64_MAX;
    return (uint64_t)old[1].permitted << 32 | old[0].permitted;
}

int drop_process(struct error *err)
{
    struct rlimit none = {0};
    if (setrlimit(RLIMIT_CORE, &none) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0 ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        return error_errno(err, errno, "give up privileges");
    return 0;
}

int drop_syscalls(const struct confine_filter *filter, struct error *err)
{
    int rc = confine_filter_enter(filter);
    return rc < 0 ? error_errno(err, -rc, "install the syscall filter") : 0;
}

static uint64_t rights_of(const struct drop_path *p)
{
    uint64_t rights = LANDLOCK_READ_FILE | (p->writable ? LANDLOCK_WRITES_FILE : 0);
    if (p->directory)
        rights |= LANDLOCK_READ_DIR | (p->writable ? LANDLOCK_WRITES_DIR : 0);
    return rights;
}

int drop_paths(const struct drop_path *paths, size_t n)
{
    struct landlock_path rules[GOFER_ROOTS_MAX];
    if (n > ARRAY_LEN(rules))
        return 0;
    for (size_t i = 0; i < n; i++)
        rules[i] = (struct landlock_path){.fd = paths[i].fd, .rights = rights_of(&paths[i])};
    int abi = landlock_enter(rules, n);
    return MAX(abi, 0);
}
