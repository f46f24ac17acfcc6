/* /proc as programs read it: formats and the values that a process can check for itself. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static char buf[1 << 20];

static ssize_t slurp(const char *path)
{
    int fd = open(path, O_RDONLY);
    ssize_t n, total = 0;
    if (fd < 0) {
        buf[0] = 0;
        return -errno;
    }
    while ((n = read(fd, buf + total, sizeof(buf) - 1 - (size_t)total)) > 0)
        total += n;
    close(fd);
    buf[total] = 0;
    return n < 0 ? -errno : total;
}

static void keys(const char *path, const char *const *want)
{
    slurp(path);
    printf("%s:", path);
    for (; *want; want++) {
        char *at = buf;
        size_t len = strlen(*want);
        while (at && strncmp(at, *want, len) != 0) {
            at = strchr(at, '\n');
            at = at ? at + 1 : NULL;
        }
        if (!at)
            printf(" no-%s", *want);
    }
    printf(" done\n");
}

static char *line_of(const char *key)
{
    static char line[256];
    char *at = strstr(buf, key);
    size_t n = at ? strcspn(at, "\n") : 0;
    snprintf(line, sizeof(line), "%.*s", (int)n, at ? at : "");
    return line;
}

static int count_fields(const char *s)
{
    int n = 0;
    while (*s) {
        s += strspn(s, " \n");
        n += *s != 0;
        s += strcspn(s, " \n");
    }
    return n;
}

static void self(void)
{
    char link[256], want[64];
    ssize_t n = readlink("/proc/self", link, sizeof(link) - 1);
    snprintf(want, sizeof(want), "%d", getpid());
    printf("self %d\n", n > 0 && (size_t)n == strlen(want) && memcmp(link, want, (size_t)n) == 0);
    snprintf(want, sizeof(want), "%d/task/%d", getpid(), getpid());
    n = readlink("/proc/thread-self", link, sizeof(link) - 1);
    printf("thread-self %d\n", n > 0 && memcmp(link, want, strlen(want)) == 0);
    slurp("/proc/self/stat");
    int pid, ppid, pgrp, session;
    char comm[32], state;
    printf("stat parses %d\n",
           sscanf(buf, "%d (%31[^)]) %c %d %d %d", &pid, comm, &state, &ppid, &pgrp, &session));
    printf("stat: pid %d ppid %d pgrp %d session %d comm %s state %c fields %d\n", pid == getpid(),
           ppid == getppid(), pgrp == getpgrp(), session == getsid(0), comm, state,
           count_fields(strrchr(buf, ')') + 1) + 2);
    slurp("/proc/self/statm");
    printf("statm fields %d\n", count_fields(buf));
    prctl(PR_SET_NAME, "new (name)");
    slurp("/proc/self/comm");
    printf("comm %s", buf);
    int fd = open("/proc/self/comm", O_WRONLY);
    printf("write comm %zd\n", write(fd, "written\n", 8));
    close(fd);
    prctl(PR_GET_NAME, buf);
    printf("comm now %s\n", buf);
    n = slurp("/proc/self/cmdline");
    printf("cmdline ends %d, %zu strings\n", buf[n - 1] == 0, (size_t)(n > 0));
    slurp("/proc/self/environ");
    printf("environ %d\n", memmem(buf, sizeof(buf), "HOME=/tmp", 10) != NULL);
    n = readlink("/proc/self/exe", link, sizeof(link) - 1);
    link[n > 0 ? n : 0] = 0;
    printf("exe %s\n", strrchr(link, '/') ? strrchr(link, '/') + 1 : link);
    struct stat a, b;
    printf("exe is the program %d\n", stat("/proc/self/exe", &a) == 0 && stat(link, &b) == 0 &&
                                          a.st_ino == b.st_ino && a.st_dev == b.st_dev);
    printf("cwd %d root %d\n", readlink("/proc/self/cwd", link, sizeof(link)) > 0,
           readlink("/proc/self/root", link, sizeof(link)) == 1);
}

static void status(void)
{
    static const char *const want[] = {"Name:",
                                       "Umask:",
                                       "State:",
                                       "Tgid:",
                                       "Ngid:",
                                       "Pid:",
                                       "PPid:",
                                       "TracerPid:",
                                       "Uid:",
                                       "Gid:",
                                       "FDSize:",
                                       "Groups:",
                                       "NStgid:",
                                       "NSpid:",
                                       "NSpgid:",
                                       "NSsid:",
                                       "VmPeak:",
                                       "VmSize:",
                                       "VmLck:",
                                       "VmHWM:",
                                       "VmRSS:",
                                       "RssAnon:",
                                       "VmData:",
                                       "VmStk:",
                                       "VmExe:",
                                       "VmLib:",
                                       "VmPTE:",
                                       "VmSwap:",
                                       "Threads:",
                                       "SigQ:",
                                       "SigPnd:",
                                       "ShdPnd:",
                                       "SigBlk:",
                                       "SigIgn:",
                                       "SigCgt:",
                                       "CapInh:",
                                       "CapPrm:",
                                       "CapEff:",
                                       "CapBnd:",
                                       "CapAmb:",
                                       "NoNewPrivs:",
                                       "Seccomp:",
                                       "Cpus_allowed:",
                                       "Cpus_allowed_list:",
                                       "Mems_allowed_list:",
                                       "voluntary_ctxt_switches:",
                                       NULL};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGUSR2, SIG_IGN);
    kill(getpid(), SIGUSR1);
    umask(027);
    keys("/proc/self/status", want);
    printf("%s\n", line_of("Umask:"));
    printf("%s\n", line_of("SigBlk:"));
    printf("%s\n", line_of("State:"));
    printf("%s\n", line_of("ShdPnd:"));
    printf("ignored %d\n", (strtoull(strstr(buf, "SigIgn:") + 8, NULL, 16) & 0x800) != 0);
    printf("threads %s\n", line_of("Threads:"));
    umask(022);
}

static void maps(void)
{
    void *heap = malloc(64),
         *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char *line, *save = NULL;
    int bad = 0, seen_stack = 0, seen_heap = 0, seen_vdso = 0, seen_shared = 0, seen_exe = 0;
    unsigned long last = 0, me = (unsigned long)&heap;
    slurp("/proc/self/maps");
    for (line = strtok_r(buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        unsigned long start, end, off, ino;
        unsigned maj, min;
        char perm[8], path[256] = "";
        if (strstr(line, "[vsyscall]"))
            continue;
        if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %255[^\n]", &start, &end, perm, &off, &maj,
                   &min, &ino, path) < 7 ||
            start < last || end <= start)
            bad++;
        if (path[0] && strlen(line) > 73 && line[72] != ' ')
            bad++;
        last = end;
        if (strcmp(path, "[stack]") == 0)
            seen_stack = me >= start && me < end;
        if (strcmp(path, "[heap]") == 0)
            seen_heap = 1;
        if (strcmp(path, "[vdso]") == 0)
            seen_vdso = strcmp(perm, "r-xp") == 0;
        if (strcmp(path, "/dev/zero (deleted)") == 0)
            seen_shared = start <= (unsigned long)shared && (unsigned long)shared < end &&
                          strcmp(perm, "rw-s") == 0;
        if (strstr(path, "/procfs") && strchr(perm, 'x'))
            seen_exe = start <= (unsigned long)&maps && (unsigned long)&maps < end;
    }
    printf("maps bad %d stack %d heap %d vdso %d shared %d exe %d\n", bad, seen_stack, seen_heap,
           seen_vdso, seen_shared, seen_exe);
    free(heap);
    static const char *const smaps[] = {
        "Size:", "Rss:", "Pss:", "Private_Dirty:", "Anonymous:", "Swap:", "VmFlags:", NULL};
    keys("/proc/self/smaps", smaps);
    static const char *const rollup[] = {"Rss:", "Pss:", "Private_Dirty:", NULL};
    keys("/proc/self/smaps_rollup", rollup);
}

static void descriptors(void)
{
    char link[64], path[64];
    int p[2], file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat st;
    (void)!pipe(p);
    fstat(p[0], &st);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", p[0]);
    ssize_t n = readlink(path, link, sizeof(link) - 1);
    link[n > 0 ? n : 0] = 0;
    char want[64];
    snprintf(want, sizeof(want), "pipe:[%lu]", (unsigned long)st.st_ino);
    printf("pipe name %d\n", strcmp(link, want) == 0);
    lstat(path, &st);
    printf("link mode %o\n", st.st_mode);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", p[1]);
    lstat(path, &st);
    printf("link mode %o\n", st.st_mode);
    lseek(file, 10, SEEK_SET);
    snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", file);
    slurp(path);
    printf("%s", strndup(buf, 7));
    printf("%s", strndup(buf + 7, strcspn(buf + 7, "\n") + 1));
    char gone[64];
    snprintf(gone, sizeof(gone), "/tmp/procfs-%d", getpid()); /* several run natively at once */
    int tmp = open(gone, O_RDWR | O_CREAT | O_EXCL, 0600);
    unlink(gone);
    (void)!write(tmp, "hidden", 6);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", tmp);
    n = readlink(path, link, sizeof(link) - 1);
    link[n > 0 ? n : 0] = 0;
    printf("deleted %d%s\n", strncmp(link, gone, strlen(gone)) == 0, link + strlen(gone));
    int again = open(path, O_RDONLY);
    n = read(again, link, sizeof(link));
    printf("opened again %zd %.6s\n", n, link);
    DIR *d = opendir("/proc/self/fd");
    int found = 0;
    for (struct dirent *e; (e = readdir(d));)
        found += atoi(e->d_name) == tmp || atoi(e->d_name) == again;
    printf("listed %d\n", found);
    closedir(d);
    close(p[0]);
    close(p[1]);
    close(file);
    close(tmp);
    close(again);
    printf("closed: %d\n", open(path, O_RDONLY) < 0 ? errno : 0);
}

static volatile int stop;

static void *idle(void *arg)
{
    (void)arg;
    while (!stop)
        usleep(1000);
    return NULL;
}

static int entries(const char *path)
{
    DIR *d = opendir(path);
    int n = 0;
    for (struct dirent *e; d && (e = readdir(d));)
        n += e->d_name[0] != '.';
    if (d)
        closedir(d);
    return n;
}

static void others(void)
{
    pthread_t th;
    char path[64];
    pthread_create(&th, NULL, idle, NULL);
    printf("threads %d\n", entries("/proc/self/task"));
    stop = 1;
    pthread_join(th, NULL);
    pid_t pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    /* It sleeps sooner or later, on a busy machine later. */
    for (int i = 0; i < 1000; i++) {
        slurp(path);
        if (*(strrchr(buf, ')') + 2) == 'S')
            break;
        usleep(10000);
    }
    printf("child state %c\n", *(strrchr(buf, ')') + 2));
    kill(pid, SIGKILL);
    siginfo_t si;
    waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT);
    slurp(path);
    printf("zombie state %c\n", *(strrchr(buf, ')') + 2));
    snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
    printf("zombie cmdline %zd\n", slurp(path));
    int dir = open("/proc/self", O_RDONLY | O_DIRECTORY);
    snprintf(path, sizeof(path), "/proc/%d/status", pid);
    int fd = open(path, O_RDONLY);
    waitpid(pid, NULL, 0);
    printf("reaped: open %d read %zd errno %d\n", open(path, O_RDONLY), read(fd, buf, 10), errno);
    close(fd);
    close(dir);
}

static void memory(void)
{
    static char text[] = "some text";
    int fd = open("/proc/self/mem", O_RDWR);
    char got[16] = "";
    printf("mem read %zd", pread(fd, got, sizeof(text), (off_t)(unsigned long)text));
    printf(" %s\n", got);
    printf("mem write %zd", pwrite(fd, "SOME", 4, (off_t)(unsigned long)text));
    printf(" %s\n", text);
    printf("mem of nothing %zd", pread(fd, got, 8, 64));
    printf(" %d\n", errno);
    close(fd);
}

static void system_files(void)
{
    static const char *const meminfo[] = {
        "MemTotal:", "MemFree:",      "MemAvailable:",    "Buffers:",
        "Cached:",   "SwapTotal:",    "SwapFree:",        "Shmem:",
        "Slab:",     "Committed_AS:", "HugePages_Total:", "Hugepagesize:",
        NULL};
    static const char *const stat[] = {"cpu ",     "cpu0 ",      "intr ",          "ctxt ",
                                       "btime ",   "processes ", "procs_running ", "procs_blocked ",
                                       "softirq ", NULL};
    static const char *const cpuinfo[] = {"processor\t: 0",
                                          "vendor_id\t: ",
                                          "model name\t: ",
                                          "flags\t\t: ",
                                          "bogomips\t: ",
                                          "address sizes\t: ",
                                          NULL};
    double up, idle_time;
    keys("/proc/meminfo", meminfo);
    keys("/proc/stat", stat);
    keys("/proc/cpuinfo", cpuinfo);
    slurp("/proc/uptime");
    printf("uptime %d\n", sscanf(buf, "%lf %lf", &up, &idle_time));
    slurp("/proc/loadavg");
    printf("loadavg fields %d\n", count_fields(buf));
    slurp("/proc/version");
    printf("version %d\n", strncmp(buf, "Linux version ", 14) == 0);
    static const char *const paths[] = {"/proc/sys/kernel/ostype",
                                        "/proc/sys/kernel/cap_last_cap",
                                        "/proc/sys/kernel/ngroups_max",
                                        "/proc/sys/kernel/overflowuid",
                                        "/proc/sys/vm/overcommit_memory",
                                        "/proc/self/oom_score_adj",
                                        "/proc/self/loginuid",
                                        "/proc/self/setgroups",
                                        "/proc/self/personality",
                                        "/proc/self/timerslack_ns",
                                        NULL};
    for (const char *const *p = paths; *p; p++) {
        slurp(*p);
        printf("%s %s%s", *p, buf, strchr(buf, '\n') ? "" : "\n");
    }
    printf("uuid length %zd, boot id %zd\n", slurp("/proc/sys/kernel/random/uuid"),
           slurp("/proc/sys/kernel/random/boot_id"));
    slurp("/proc/self/limits");
    printf("%s|\n", line_of("Limit "));
    printf("%s|\n", line_of("Max realtime timeout"));
    slurp("/proc/self/mounts");
    printf("mounts: root %d, proc %d\n", strstr(buf, " / ") != NULL,
           strstr(buf, " /proc proc ") != NULL);
    slurp("/proc/self/mountinfo");
    printf("mountinfo: proc %d\n", strstr(buf, " /proc ") && strstr(buf, " - proc "));
    slurp("/proc/net/dev");
    printf("net/dev %d\n", strncmp(buf, "Inter-|   Receive ", 18) == 0);
    struct stat st;
    static const char *const modes[] = {"/proc",         "/proc/self/status", "/proc/self/environ",
                                        "/proc/self/fd", "/proc/self/task",   "/proc/self/mem",
                                        "/proc/meminfo", "/proc/sys/kernel",  NULL};
    for (const char *const *p = modes; *p; p++)
        printf("%s %o\n", *p, lstat(*p, &st) == 0 ? st.st_mode : 0);
    printf("absent %d, not a directory %d\n", open("/proc/nothing", O_RDONLY) < 0 ? errno : 0,
           open("/proc/meminfo/x", O_RDONLY) < 0 ? errno : 0);
    int r = mkdir("/proc/x", 0755);
    printf("mkdir %d\n", r);
    slurp("/proc/1/comm");
    printf("pid 1 has a name %d\n", buf[0] != 0);
    r = open("/sys/devices/system/cpu/online", O_RDONLY);
    printf("cpus listed %d, configured %d\n", r >= 0 && read(r, buf, 1) == 1 && buf[0] == '0',
           sysconf(_SC_NPROCESSORS_CONF) >= sysconf(_SC_NPROCESSORS_ONLN));
}

int main(void)
{
    alarm(30);
    setvbuf(stdout, NULL, _IONBF, 0);
    self();
    status();
    maps();
    descriptors();
    others();
    memory();
    system_files();
    return 0;
}
