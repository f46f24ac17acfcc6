#pragma once
/*
 * Files as the x86-64 Linux ABI shows them: open flags, stat and its relatives, descriptor
 * control, vectors. Values and layouts only. Pointers that the kernel follows are gaddr_t.
 */
#include "lib/compiler.h"

#include "abi/time.h"
#include "abi/types.h"

/* open(2) */
#define LX_O_ACCMODE   03
#define LX_O_RDONLY    0
#define LX_O_WRONLY    01
#define LX_O_RDWR      02
#define LX_O_CREAT     0100
#define LX_O_EXCL      0200
#define LX_O_NOCTTY    0400
#define LX_O_TRUNC     01000
#define LX_O_APPEND    02000
#define LX_O_NONBLOCK  04000
#define LX_O_NDELAY    04000
#define LX_O_DSYNC     010000
#define LX_FASYNC      020000
#define LX_O_ASYNC     020000
#define LX_O_DIRECT    040000
#define LX_O_LARGEFILE 0100000
#define LX_O_DIRECTORY 0200000
#define LX_O_NOFOLLOW  0400000
#define LX_O_NOATIME   01000000
#define LX_O_CLOEXEC   02000000
#define LX_O_SYNC      04010000
#define LX_O_PATH      010000000
#define LX_O_TMPFILE   020200000

/* The *at calls, linkat, statx, fstatat, execveat, faccessat2 */
#define LX_AT_FDCWD                (-100)
#define LX_AT_SYMLINK_NOFOLLOW     0x100
#define LX_AT_EACCESS              0x200
#define LX_AT_REMOVEDIR            0x200
#define LX_AT_SYMLINK_FOLLOW       0x400
#define LX_AT_NO_AUTOMOUNT         0x800
#define LX_AT_EMPTY_PATH           0x1000
#define LX_AT_HANDLE_FID           0x200
#define LX_AT_HANDLE_MNT_ID_UNIQUE 0x1
#define LX_AT_STATX_SYNC_TYPE      0x6000
#define LX_AT_STATX_SYNC_AS_STAT   0x0
#define LX_AT_STATX_FORCE_SYNC     0x2000
#define LX_AT_STATX_DONT_SYNC      0x4000
#define LX_AT_RECURSIVE            0x8000

/* openat2(2) */
#define LX_RESOLVE_NO_XDEV       0x1
#define LX_RESOLVE_NO_MAGICLINKS 0x2
#define LX_RESOLVE_NO_SYMLINKS   0x4
#define LX_RESOLVE_BENEATH       0x8
#define LX_RESOLVE_IN_ROOT       0x10
#define LX_RESOLVE_CACHED        0x20
#define LX_OPEN_HOW_SIZE_VER0    24

/* access(2) */
#define LX_F_OK 0
#define LX_X_OK 1
#define LX_W_OK 2
#define LX_R_OK 4

/* fcntl(2) */
#define LX_F_DUPFD             0
#define LX_F_GETFD             1
#define LX_F_SETFD             2
#define LX_F_GETFL             3
#define LX_F_SETFL             4
#define LX_F_GETLK             5
#define LX_F_SETLK             6
#define LX_F_SETLKW            7
#define LX_F_SETOWN            8
#define LX_F_GETOWN            9
#define LX_F_SETSIG            10
#define LX_F_GETSIG            11
#define LX_F_SETOWN_EX         15
#define LX_F_GETOWN_EX         16
#define LX_F_GETOWNER_UIDS     17
#define LX_F_OFD_GETLK         36
#define LX_F_OFD_SETLK         37
#define LX_F_OFD_SETLKW        38
#define LX_F_SETLEASE          1024
#define LX_F_GETLEASE          1025
#define LX_F_CANCELLK          1029
#define LX_F_DUPFD_CLOEXEC     1030
#define LX_F_NOTIFY            1026
#define LX_F_SETPIPE_SZ        1031
#define LX_F_GETPIPE_SZ        1032
#define LX_F_ADD_SEALS         1033
#define LX_F_GET_SEALS         1034
#define LX_F_GET_RW_HINT       1035
#define LX_F_SET_RW_HINT       1036
#define LX_F_GET_FILE_RW_HINT  1037
#define LX_F_SET_FILE_RW_HINT  1038
#define LX_F_DUPFD_QUERY       1027
#define LX_F_CREATED_QUERY     1028
#define LX_FD_CLOEXEC          1
#define LX_F_RDLCK             0
#define LX_F_WRLCK             1
#define LX_F_UNLCK             2
#define LX_F_OWNER_TID         0
#define LX_F_OWNER_PID         1
#define LX_F_OWNER_PGRP        2
#define LX_F_SEAL_SEAL         0x1
#define LX_F_SEAL_SHRINK       0x2
#define LX_F_SEAL_GROW         0x4
#define LX_F_SEAL_WRITE        0x8
#define LX_F_SEAL_FUTURE_WRITE 0x10
#define LX_F_SEAL_EXEC         0x0020

/* flock(2) */
#define LX_LOCK_SH 1
#define LX_LOCK_EX 2
#define LX_LOCK_NB 4
#define LX_LOCK_UN 8

/* st_mode */
#define LX_S_IFMT      0170000
#define LX_S_IFSOCK    0140000
#define LX_S_IFLNK     0120000
#define LX_S_IFREG     0100000
#define LX_S_IFBLK     0060000
#define LX_S_IFDIR     0040000
#define LX_S_IFCHR     0020000
#define LX_S_IFIFO     0010000
#define LX_S_ISUID     0004000
#define LX_S_ISGID     0002000
#define LX_S_ISVTX     0001000
#define LX_S_IRWXU     0000700
#define LX_S_IRUSR     0000400
#define LX_S_IWUSR     0000200
#define LX_S_IXUSR     0000100
#define LX_S_IRWXG     0000070
#define LX_S_IRGRP     0000040
#define LX_S_IWGRP     0000020
#define LX_S_IXGRP     0000010
#define LX_S_IRWXO     0000007
#define LX_S_IROTH     0000004
#define LX_S_IWOTH     0000002
#define LX_S_IXOTH     0000001
#define LX_S_IALLUGO   0007777
#define LX_S_IRWXUGO   0000777
#define LX_S_ISREG(m)  (((m)&LX_S_IFMT) == LX_S_IFREG)
#define LX_S_ISDIR(m)  (((m)&LX_S_IFMT) == LX_S_IFDIR)
#define LX_S_ISLNK(m)  (((m)&LX_S_IFMT) == LX_S_IFLNK)
#define LX_S_ISCHR(m)  (((m)&LX_S_IFMT) == LX_S_IFCHR)
#define LX_S_ISBLK(m)  (((m)&LX_S_IFMT) == LX_S_IFBLK)
#define LX_S_ISFIFO(m) (((m)&LX_S_IFMT) == LX_S_IFIFO)
#define LX_S_ISSOCK(m) (((m)&LX_S_IFMT) == LX_S_IFSOCK)

/* st_dev in struct stat and the device argument of mknod: the "new" 32 bit encoding. */
static inline uint64_t lx_makedev(uint32_t major, uint32_t minor)
{
    return (minor & 0xffu) | ((uint64_t)(major & 0xfffu) << 8) |
           ((uint64_t)(minor & ~0xffu) << 12) | ((uint64_t)(major & ~0xfffu) << 32);
}

static inline uint32_t lx_major(uint64_t dev)
{
    return (uint32_t)((dev >> 8) & 0xfffu) | (uint32_t)((dev >> 32) & ~0xfffull);
}

static inline uint32_t lx_minor(uint64_t dev)
{
    return (uint32_t)(dev & 0xffu) | (uint32_t)((dev >> 12) & ~0xffull);
}

/* lseek(2) */
#define LX_SEEK_SET  0
#define LX_SEEK_CUR  1
#define LX_SEEK_END  2
#define LX_SEEK_DATA 3
#define LX_SEEK_HOLE 4

/* renameat2(2) */
#define LX_RENAME_NOREPLACE 0x1
#define LX_RENAME_EXCHANGE  0x2
#define LX_RENAME_WHITEOUT  0x4

/* fallocate(2) */
#define LX_FALLOC_FL_KEEP_SIZE      0x1
#define LX_FALLOC_FL_PUNCH_HOLE     0x2
#define LX_FALLOC_FL_NO_HIDE_STALE  0x4
#define LX_FALLOC_FL_COLLAPSE_RANGE 0x8
#define LX_FALLOC_FL_ZERO_RANGE     0x10
#define LX_FALLOC_FL_INSERT_RANGE   0x20
#define LX_FALLOC_FL_UNSHARE_RANGE  0x40
#define LX_FALLOC_FL_WRITE_ZEROES   0x80

/* posix_fadvise(2), sync_file_range(2) */
#define LX_POSIX_FADV_NORMAL           0
#define LX_POSIX_FADV_RANDOM           1
#define LX_POSIX_FADV_SEQUENTIAL       2
#define LX_POSIX_FADV_WILLNEED         3
#define LX_POSIX_FADV_DONTNEED         4
#define LX_POSIX_FADV_NOREUSE          5
#define LX_SYNC_FILE_RANGE_WAIT_BEFORE 1
#define LX_SYNC_FILE_RANGE_WRITE       2
#define LX_SYNC_FILE_RANGE_WAIT_AFTER  4

/* preadv2(2), pwritev2(2) */
#define LX_RWF_HIPRI     0x1
#define LX_RWF_DSYNC     0x2
#define LX_RWF_SYNC      0x4
#define LX_RWF_NOWAIT    0x8
#define LX_RWF_APPEND    0x10
#define LX_RWF_NOAPPEND  0x20
#define LX_RWF_ATOMIC    0x40
#define LX_RWF_DONTCACHE 0x80

/* splice(2), tee(2), vmsplice(2) */
#define LX_SPLICE_F_MOVE     0x1
#define LX_SPLICE_F_NONBLOCK 0x2
#define LX_SPLICE_F_MORE     0x4
#define LX_SPLICE_F_GIFT     0x8

/* close_range(2) */
#define LX_CLOSE_RANGE_UNSHARE 0x2
#define LX_CLOSE_RANGE_CLOEXEC 0x4

/* xattr(7) */
#define LX_XATTR_CREATE   0x1
#define LX_XATTR_REPLACE  0x2
#define LX_XATTR_NAME_MAX 255
#define LX_XATTR_SIZE_MAX 65536
#define LX_XATTR_LIST_MAX 65536

/* limits */
#define LX_NAME_MAX     255
#define LX_PATH_MAX     4096
#define LX_PIPE_BUF     4096
#define LX_IOV_MAX      1024
#define LX_MAX_RW_COUNT 0x7ffff000
#define LX_MAXSYMLINKS  40
#define LX_LINK_MAX     127

/* statfs(2): f_type and f_flags */
#define LX_TMPFS_MAGIC           0x1021994
#define LX_PROC_SUPER_MAGIC      0x9fa0
#define LX_SYSFS_MAGIC           0x62656572
#define LX_DEVPTS_SUPER_MAGIC    0x1cd1
#define LX_OVERLAYFS_SUPER_MAGIC 0x794c7630
#define LX_EXT4_SUPER_MAGIC      0xef53
#define LX_RAMFS_MAGIC           0x858458f6u
#define LX_PIPEFS_MAGIC          0x50495045
#define LX_SOCKFS_MAGIC          0x534f434b
#define LX_ANON_INODE_FS_MAGIC   0x9041934
#define LX_CGROUP2_SUPER_MAGIC   0x63677270
#define LX_MQUEUE_MAGIC          0x19800202
#define LX_PID_FS_MAGIC          0x50494446
#define LX_ST_RDONLY             0x0001
#define LX_ST_NOSUID             0x0002
#define LX_ST_NODEV              0x0004
#define LX_ST_NOEXEC             0x0008
#define LX_ST_SYNCHRONOUS        0x0010
#define LX_ST_VALID              0x0020
#define LX_ST_NOATIME            0x0400
#define LX_ST_NODIRATIME         0x0800
#define LX_ST_RELATIME           0x1000

/* statx(2) */
#define LX_STATX_TYPE            0x1
#define LX_STATX_MODE            0x2
#define LX_STATX_NLINK           0x4
#define LX_STATX_UID             0x8
#define LX_STATX_GID             0x10
#define LX_STATX_ATIME           0x20
#define LX_STATX_MTIME           0x40
#define LX_STATX_CTIME           0x80
#define LX_STATX_INO             0x100
#define LX_STATX_SIZE            0x200
#define LX_STATX_BLOCKS          0x400
#define LX_STATX_BASIC_STATS     0x7ff
#define LX_STATX_BTIME           0x800
#define LX_STATX_MNT_ID          0x1000
#define LX_STATX_DIOALIGN        0x2000
#define LX_STATX_ALL             0xfff
#define LX_STATX__RESERVED       0x80000000u
#define LX_STATX_ATTR_COMPRESSED 0x4
#define LX_STATX_ATTR_IMMUTABLE  0x10
#define LX_STATX_ATTR_APPEND     0x20
#define LX_STATX_ATTR_NODUMP     0x40
#define LX_STATX_ATTR_MOUNT_ROOT 0x2000

struct lx_stat {
    uint64_t st_dev;
    uint64_t st_ino;
    uint64_t st_nlink;
    uint32_t st_mode;
    uint32_t st_uid;
    uint32_t st_gid;
    uint32_t pad0;
    uint64_t st_rdev;
    int64_t st_size;
    int64_t st_blksize;
    int64_t st_blocks; /* in units of 512 bytes */
    struct lx_timespec st_atim;
    struct lx_timespec st_mtim;
    struct lx_timespec st_ctim;
    int64_t unused[3];
};

struct lx_statx_timestamp {
    int64_t tv_sec;
    uint32_t tv_nsec;
    int32_t reserved;
};

struct lx_statx {
    uint32_t stx_mask;
    uint32_t stx_blksize;
    uint64_t stx_attributes;
    uint32_t stx_nlink;
    uint32_t stx_uid;
    uint32_t stx_gid;
    uint16_t stx_mode;
    uint16_t spare0;
    uint64_t stx_ino;
    uint64_t stx_size;
    uint64_t stx_blocks;
    uint64_t stx_attributes_mask;
    struct lx_statx_timestamp stx_atime;
    struct lx_statx_timestamp stx_btime;
    struct lx_statx_timestamp stx_ctime;
    struct lx_statx_timestamp stx_mtime;
    uint32_t stx_rdev_major;
    uint32_t stx_rdev_minor;
    uint32_t stx_dev_major;
    uint32_t stx_dev_minor;
    uint64_t stx_mnt_id;
    uint32_t stx_dio_mem_align;
    uint32_t stx_dio_offset_align;
    uint64_t spare3[12];
};

struct lx_fsid {
    int32_t val[2];
};

struct lx_statfs {
    int64_t f_type;
    int64_t f_bsize;
    uint64_t f_blocks;
    uint64_t f_bfree;
    uint64_t f_bavail;
    uint64_t f_files;
    uint64_t f_ffree;
    struct lx_fsid f_fsid;
    int64_t f_namelen;
    int64_t f_frsize;
    int64_t f_flags;
    int64_t f_spare[4];
};

struct lx_iovec {
    gaddr_t iov_base;
    uint64_t iov_len;
};

struct lx_flock {
    int16_t l_type;
    int16_t l_whence;
    int32_t pad0;
    int64_t l_start;
    int64_t l_len;
    int32_t l_pid;
    int32_t pad1;
};

struct lx_f_owner_ex {
    int32_t type;
    int32_t pid;
};

struct lx_open_how {
    uint64_t flags;
    uint64_t mode;
    uint64_t resolve;
};

struct lx_utimbuf {
    int64_t actime;
    int64_t modtime;
};

/* utimensat(2): special values of tv_nsec */
#define LX_UTIME_NOW  0x3fffffff
#define LX_UTIME_OMIT 0x3ffffffe

/* ustat(2) */
struct lx_ustat {
    int32_t f_tfree;
    int32_t pad0;
    uint64_t f_tinode;
    char f_fname[6];
    char f_fpack[6];
    int32_t pad1;
};

/* mount(2), umount2(2): seen in /proc/self/mountinfo and statfs only */
#define LX_MS_RDONLY     0x1
#define LX_MS_NOSUID     0x2
#define LX_MS_NODEV      0x4
#define LX_MS_NOEXEC     0x8
#define LX_MS_REMOUNT    0x20
#define LX_MS_NOATIME    0x400
#define LX_MS_NODIRATIME 0x800
#define LX_MS_BIND       0x1000
#define LX_MS_REC        0x4000
#define LX_MS_RELATIME   0x200000

/* name_to_handle_at(2); the handle's bytes follow */
struct lx_file_handle {
    uint32_t handle_bytes;
    int32_t handle_type;
};
#define LX_MAX_HANDLE_SZ  128
#define LX_FILEID_INVALID 0xff
