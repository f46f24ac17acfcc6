/* tries: the rest of what only an administrator may: kexec, modules, iopl, swap, acct, quotactl,
 * clock, hostname, reboot, fanotify, userfaultfd, lookup_dcookie, nfsservctl, syslog, vm86, ldt, as
 * the box's root */
/* must fail because: each is refused by the sentry; none is made on the host */
/* an escape would: any of them worked */
/* source: ATTACKS.md P8 */
#include <sys/time.h>

#include "tricks.h"

static int worked;

/* Arguments are chosen so that a call that works does no harm: empty, wrong magic, what is there
 * already. */
#define TRY(name, ...)                                 \
    do {                                               \
        long r_ = sys(__VA_ARGS__);                    \
        if (r_ >= 0)                                   \
            worked++, step("%s works: %ld", name, r_); \
        else if (r_ != -EPERM && r_ != -ENOSYS)        \
            step("%s: %s", name, err_name(r_));        \
    } while (0)

/* Calls that a plain Linux grants to everybody: no escape, but kernel code within reach. */
#define SEE(name, ...)                           \
    do {                                         \
        if (sys(__VA_ARGS__) >= 0)               \
            step("%s reaches the kernel", name); \
    } while (0)

static int attack(void)
{
    struct timeval now;
    struct timespec ts;
    char buf[256] = "";
    gettimeofday(&now, NULL);
    clock_gettime(CLOCK_REALTIME, &ts);
    TRY("kexec_load", SYS_kexec_load, 0, 1, buf, 0);
    TRY("kexec_file_load", SYS_kexec_file_load, -1, -1, 0, "", 0);
    TRY("init_module", SYS_init_module, buf, sizeof(buf), "");
    TRY("finit_module", SYS_finit_module, open("/proc/self/exe", O_RDONLY), "", 0);
    TRY("delete_module", SYS_delete_module, "no_such_module", O_NONBLOCK);
    TRY("iopl", SYS_iopl, 3);
    TRY("ioperm", SYS_ioperm, 0x80, 1, 1);
    TRY("swapon", SYS_swapon, "/tmp/none", 0);
    TRY("swapoff", SYS_swapoff, "/tmp/none");
    TRY("acct", SYS_acct, "/tmp/none");
    TRY("quotactl", SYS_quotactl, 0x800002, "/dev/vda", 0, buf);
    TRY("quotactl_fd", SYS_quotactl_fd, 0, 0x800002, 0, buf);
    TRY("settimeofday", SYS_settimeofday, &now, NULL);
    TRY("clock_settime", SYS_clock_settime, CLOCK_REALTIME, &ts);
    gethostname(buf, sizeof(buf) - 1);
    /* A kernel of the runtime's own has names of its own; the harness looks at the host's. */
    if (own_kernel())
        SEE("sethostname", SYS_sethostname, buf, strlen(buf));
    else
        TRY("sethostname", SYS_sethostname, buf, strlen(buf));
    getdomainname(buf, sizeof(buf) - 1);
    if (own_kernel())
        SEE("setdomainname", SYS_setdomainname, buf, strlen(buf));
    else
        TRY("setdomainname", SYS_setdomainname, buf, strlen(buf));
    TRY("reboot", SYS_reboot, 0x12345, 0x12345, 0, 0);
    TRY("fanotify_init", SYS_fanotify_init, 0, 0);
    SEE("fanotify_init, reports", SYS_fanotify_init, 0x600, 0);
    TRY("userfaultfd", SYS_userfaultfd, 0);
    SEE("userfaultfd, user mode", SYS_userfaultfd, 1);
    TRY("lookup_dcookie", SYS_lookup_dcookie, 1ul, buf, sizeof(buf));
    TRY("syslog", SYS_syslog, 3, buf, sizeof(buf));
    SEE("modify_ldt", SYS_modify_ldt, 1, buf, 16);
    TRY("vhangup", SYS_vhangup);
    SEE("io_uring_setup", SYS_io_uring_setup, 8, buf);
    SEE("io_setup", SYS_io_setup, 8, buf);
    SEE("mbind", SYS_mbind, 0, 4096, 2, buf, 8, 0);
    TRY("move_pages", SYS_move_pages, fact_number("victim_pid", 1), 1, buf, NULL, buf, 0);
    SEE("mq_open", SYS_mq_open, "escape-suite", O_RDWR | O_CREAT, 0600, NULL);
    SEE("memfd_secret", SYS_memfd_secret, 0);
    SEE("setns", SYS_setns, open("/proc/self/ns/mnt", O_RDONLY), 0);
    SEE("landlock", SYS_landlock_create_ruleset, NULL, 0, 1);
    SEE("pkey_alloc", SYS_pkey_alloc, 0, 0);
    TRY("nfsservctl", SYS_nfsservctl, 0, NULL, NULL);
    TRY("ustat", SYS__sysctl, buf);
    TRY("uselib", SYS_uselib, "/bin/busybox");
    if (worked)
        return escaped("%d calls of an administrator worked", worked);
    return contained("27 calls of an administrator, none works");
}

static int twin(void)
{
    char name[65];
    struct timeval now;
    if (gethostname(name, sizeof(name)) < 0 || gettimeofday(&now, NULL) < 0 ||
        now.tv_sec < 1600000000)
        return broken("hostname and time: %s", err_name(errno));
    sync();
    return works("hostname and time can be read");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
