/* getrandom, uname, sysinfo, prctl, ids, capabilities, scheduling, personality. */
#include <sched.h>

#include <sys/auxv.h>
#include <sys/fsuid.h>
#include <sys/personality.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include "facts.h"

struct cap_header {
    uint32_t version;
    int pid;
};

int main(void)
{
    char a[64], b[64], name[32];
    struct utsname un;
    struct sysinfo si;
    uid_t r, e, s;
    facts_start();
    VALUE("getrandom", getrandom(a, 64, 0));
    VALUE("getrandom again", getrandom(b, 64, GRND_NONBLOCK));
    YES("they differ", memcmp(a, b, 64) != 0);
    VALUE("getrandom of nothing", getrandom(a, 0, 0));
    FACT("getrandom bad flag", getrandom(a, 1, 0x100));
    FACT("getrandom both sources", getrandom(a, 1, GRND_RANDOM | GRND_INSECURE));
    FACT("getrandom bad address", getrandom((void *)8, 16, 0));

    NEED(uname(&un));
    say("%s %s, release starts with a number: %d", un.sysname, un.machine,
        un.release[0] >= '0' && un.release[0] <= '9');
    FACT("uname bad address", syscall(SYS_uname, (void *)8));
    FACT("sethostname", sethostname("x", 1));
    NEED(sysinfo(&si));
    say("memory %d free %d unit %d procs %d", si.totalram > 0, si.freeram <= si.totalram,
        si.mem_unit >= 1, si.procs >= 1);

    NEED(prctl(PR_SET_NAME, "a name that is too long"));
    NEED(prctl(PR_GET_NAME, name));
    say("name \"%s\"", name);
    VALUE("PR_GET_DUMPABLE", prctl(PR_GET_DUMPABLE));
    FACT("PR_SET_DUMPABLE 2", prctl(PR_SET_DUMPABLE, 2));
    FACT("PR_SET_PDEATHSIG", prctl(PR_SET_PDEATHSIG, SIGUSR1));
    int v = 0;
    prctl(PR_GET_PDEATHSIG, &v);
    VALUE("PR_GET_PDEATHSIG", v);
    FACT("PR_SET_PDEATHSIG bad", prctl(PR_SET_PDEATHSIG, 99));
    prctl(PR_SET_PDEATHSIG, 0);
    FACT("no_new_privs bad value", prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0));
    FACT("PR_SET_NO_NEW_PRIVS", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    VALUE("PR_GET_NO_NEW_PRIVS", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
    FACT("PR_SET_TIMERSLACK", prctl(PR_SET_TIMERSLACK, 1000));
    VALUE("PR_GET_TIMERSLACK", prctl(PR_GET_TIMERSLACK));
    FACT("PR_SET_KEEPCAPS bad", prctl(PR_SET_KEEPCAPS, 2));
    FACT("unknown prctl", prctl(12345));
    VALUE("PR_CAPBSET_READ beyond", prctl(PR_CAPBSET_READ, 63));
    VALUE("PR_GET_SECUREBITS", prctl(PR_GET_SECUREBITS));

    say("ids %u %u %u %u", getuid(), geteuid(), getgid(), getegid());
    NEED(getresuid(&r, &e, &s));
    say("resuid %u %u %u", r, e, s);
    VALUE("groups", getgroups(0, NULL));
    FACT("setuid to oneself", setuid(65534));
    FACT("setuid to root", setuid(0));
    FACT("setgid to root", setgid(0));
    FACT("setgroups", setgroups(1, &(gid_t){5}));
    FACT("setresuid -1", setresuid((uid_t)-1, (uid_t)-1, (uid_t)-1));
    VALUE("setfsuid returns the old one", setfsuid(65534));
    struct cap_header h = {0x20080522, 0};
    uint32_t caps[6] = {1, 1, 1, 1, 1, 1};
    FACT("capget", syscall(SYS_capget, &h, caps));
    say("effective %x permitted %x", caps[0], caps[1]);
    h.version = 1;
    FACT("capget bad version", syscall(SYS_capget, &h, caps));
    say("version is corrected to %x", h.version);
    h = (struct cap_header){0x20080522, 0};
    caps[0] = caps[1] = ~0u;
    FACT("capset more", syscall(SYS_capset, &h, caps));
    FACT("chroot", chroot("/"));

    VALUE("scheduler", sched_getscheduler(0));
    FACT("SCHED_FIFO",
         sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1}));
    FACT("SCHED_BATCH",
         sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){.sched_priority = 0}));
    FACT("bad policy", sched_setscheduler(0, 99, &(struct sched_param){.sched_priority = 0}));
    FACT("bad priority",
         sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){.sched_priority = 5}));
    say("priorities %d %d %d", sched_get_priority_max(SCHED_FIFO),
        sched_get_priority_min(SCHED_FIFO), sched_get_priority_max(SCHED_OTHER));
    cpu_set_t set;
    CPU_ZERO(&set);
    YES("sched_getaffinity", sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) >= 1);
    FACT("setaffinity to the same", sched_setaffinity(0, sizeof(set), &set));
    CPU_ZERO(&set);
    FACT("setaffinity to none", sched_setaffinity(0, sizeof(set), &set));
    YES("the raw call returns bytes", syscall(SYS_sched_getaffinity, 0, 128, &set) >= 8);
    FACT("getaffinity too small", syscall(SYS_sched_getaffinity, 0, 1, &set));
    unsigned cpu = 999;
    YES("getcpu", syscall(SYS_getcpu, &cpu, NULL, NULL) == 0 && cpu < 999);
    VALUE("nice", nice(3));
    VALUE("getpriority", getpriority(PRIO_PROCESS, 0));
    FACT("setpriority lower", setpriority(PRIO_PROCESS, 0, 1));
    FACT("sched_yield", sched_yield());
    say("personality %x", personality(0xffffffff));
    FACT("mount", syscall(SYS_mount, "x", "/", "tmpfs", 0, NULL));
    FACT("reboot", syscall(SYS_reboot, 0, 0, 0, NULL));
    FACT("no such call", syscall(1234));
    FACT("far too large number", syscall(0x7fffffff));
    remove_work_dir();
    return 0;
}
