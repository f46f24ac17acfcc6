/* Modes, owners, times, stat and statx, access. */
#include <linux/stat.h>
#include <sys/time.h>

#include "facts.h"

static unsigned mode_of(const char *name)
{
    struct stat st;
    return lstat(name, &st) < 0 ? 0xffff : st.st_mode & 07777;
}

int main(void)
{
    struct stat st;
    facts_start();
    int fd = make_file("f", "12345");
    say("mode after open 0644: %04o", mode_of("f"));
    umask(077);
    close(NEED(open("g", O_CREAT | O_RDWR, 0666)));
    say("mode under umask 077: %04o", mode_of("g"));
    VALUE("umask returns the old one", umask(022));
    NEED(mkdir("d", 0777));
    say("directory: %04o", mode_of("d"));
    FACT("chmod", chmod("f", 04755));
    say("setuid bit: %04o", mode_of("f"));
    FACT("write", write(fd, "x", 1));
    say("after a write: %04o", mode_of("f"));
    FACT("chmod missing", chmod("missing", 0644));
    FACT("chmod ignores file type bits", chmod("f", S_IFDIR | 0640));
    say("mode: %04o", mode_of("f"));
    FACT("fchmodat2 of a link itself", syscall(452, AT_FDCWD, "f", 0600, 0));
    FACT("chown to oneself", chown("f", getuid(), getgid()));
    FACT("chown to -1", chown("f", (uid_t)-1, (gid_t)-1));
    FACT("chown to another", chown("f", 1, (gid_t)-1));
    FACT("chown to root's group", chown("f", (uid_t)-1, 0));

    struct timespec times[2] = {{1000, 5}, {2000, 7}};
    FACT("utimensat", utimensat(AT_FDCWD, "f", times, 0));
    NEED(stat("f", &st));
    say("times: %ld.%ld %ld.%ld", (long)st.st_atim.tv_sec, st.st_atim.tv_nsec,
        (long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    times[0].tv_nsec = UTIME_OMIT;
    times[1].tv_sec = 3000;
    FACT("UTIME_OMIT", utimensat(AT_FDCWD, "f", times, 0));
    NEED(stat("f", &st));
    say("times: %ld %ld", (long)st.st_atim.tv_sec, (long)st.st_mtim.tv_sec);
    times[0].tv_nsec = 1000000000;
    FACT("nanoseconds out of range", utimensat(AT_FDCWD, "f", times, 0));
    FACT("utimes", utimes("f", (struct timeval[2]){{1, 2}, {3, 4}}));
    FACT("now", utimensat(AT_FDCWD, "f", NULL, 0));
    NEED(stat("f", &st));
    YES("now is after 2020", st.st_mtim.tv_sec > 1577836800);

    struct statx sx;
    long r = syscall(SYS_statx, AT_FDCWD, "f", 0, STATX_BASIC_STATS, &sx);
    fact_result("statx", r, errno, false);
    YES("same inode", sx.stx_ino == st.st_ino);
    YES("same size", sx.stx_size == (uint64_t)st.st_size);
    YES("same mode", sx.stx_mode == st.st_mode);
    YES("same mtime",
        sx.stx_mtime.tv_sec == st.st_mtim.tv_sec && sx.stx_mtime.tv_nsec == st.st_mtim.tv_nsec);
    YES("basic stats were given", (sx.stx_mask & STATX_BASIC_STATS) == STATX_BASIC_STATS);
    FACT("statx with both sync types",
         syscall(SYS_statx, AT_FDCWD, "f", 0x6000, STATX_BASIC_STATS, &sx));
    FACT("statx reserved mask", syscall(SYS_statx, AT_FDCWD, "f", 0, 0x80000000u, &sx));
    FACT("statx of a descriptor", syscall(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_SIZE, &sx));
    FACT("fstatat with empty path", fstatat(fd, "", &st, AT_EMPTY_PATH));
    FACT("fstatat with empty path, no flag", fstatat(fd, "", &st, 0));
    FACT("fstatat unknown flag", fstatat(AT_FDCWD, "f", &st, 0x8));
    FACT("stat to a bad address", syscall(SYS_stat, "f", (void *)8));
    VALUE("blksize", (long)st.st_blksize);
    VALUE("links of a directory with one child", ({
              mkdir("d/e", 0755);
              stat("d", &st);
              (long)st.st_nlink;
          }));

    NEED(chmod("f", 0400));
    FACT("access R_OK", access("f", R_OK));
    FACT("access W_OK", access("f", W_OK));
    FACT("access X_OK", access("f", X_OK));
    FACT("access F_OK missing", access("missing", F_OK));
    FACT("access bad mode", access("f", 0x80));
    FACT("faccessat2 AT_EACCESS", syscall(439, AT_FDCWD, "f", R_OK, AT_EACCESS));
    FACT("faccessat2 unknown flag", syscall(439, AT_FDCWD, "f", R_OK, 0x8));
    FACT("faccessat2 of /etc/passwd", syscall(439, AT_FDCWD, "/etc/passwd", R_OK, AT_EACCESS));
    NEED(stat("/dev/null", &st));
    say("/dev/null is %s %u:%u", S_ISCHR(st.st_mode) ? "chr" : "?", (unsigned)(st.st_rdev >> 8),
        (unsigned)(st.st_rdev & 0xff));
    struct statfs fs;
    NEED(statfs(".", &fs));
    say("statfs: type %lx bsize %ld namelen %ld", (long)fs.f_type, (long)fs.f_bsize,
        (long)fs.f_namelen);
    remove_work_dir();
    return 0;
}
