/*
 * Compile-time comparison of our definitions with the kernel's UAPI headers: files, polling,
 * ioctl numbers and terminals. No code.
 */
#include <asm/fcntl.h>
#include <asm/ioctls.h>
#include <asm/poll.h>
#include <asm/stat.h>
#include <asm/statfs.h>
#include <asm/termbits.h>
#include <asm/termios.h>
#include <linux/close_range.h>
#include <linux/errno.h>
#include <linux/eventpoll.h>
#include <linux/fadvise.h>
#include <linux/falloc.h>
#include <linux/fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <linux/magic.h>
#include <linux/memfd.h>
#include <linux/openat2.h>
#include <linux/stat.h>
#include <linux/uio.h>
#include <linux/utime.h>
#include <linux/xattr.h>

#include "abi/abi_check.h"
#include "abi/errno.h"
#include "abi/file.h"
#include "abi/ioctl.h"
#include "abi/poll.h"
#include "abi/tty.h"

/* clang-format off */
/* abi/file.h */
CONST(O_ACCMODE) CONST(O_RDONLY) CONST(O_WRONLY) CONST(O_RDWR) CONST(O_CREAT) CONST(O_EXCL)
CONST(O_NOCTTY) CONST(O_TRUNC) CONST(O_APPEND) CONST(O_NONBLOCK) CONST(O_DSYNC) CONST(FASYNC)
CONST(O_DIRECT) CONST(O_DIRECTORY) CONST(O_NOFOLLOW) CONST(O_NOATIME) CONST(O_CLOEXEC)
CONST(O_SYNC) CONST(O_PATH) CONST(O_TMPFILE) CONST(AT_FDCWD) CONST(AT_SYMLINK_NOFOLLOW)
CONST(AT_EACCESS) CONST(AT_REMOVEDIR) CONST(AT_SYMLINK_FOLLOW) CONST(AT_NO_AUTOMOUNT)
CONST(AT_EMPTY_PATH) CONST(AT_STATX_SYNC_TYPE) CONST(AT_STATX_SYNC_AS_STAT)
CONST(AT_STATX_FORCE_SYNC) CONST(AT_STATX_DONT_SYNC) CONST(AT_RECURSIVE) CONST(RESOLVE_NO_XDEV)
CONST(RESOLVE_NO_MAGICLINKS) CONST(RESOLVE_NO_SYMLINKS) CONST(RESOLVE_BENEATH)
CONST(RESOLVE_IN_ROOT) CONST(RESOLVE_CACHED) CONST(F_DUPFD) CONST(F_GETFD) CONST(F_SETFD)
CONST(F_GETFL) CONST(F_SETFL) CONST(F_GETLK) CONST(F_SETLK) CONST(F_SETLKW) CONST(F_SETOWN)
CONST(F_GETOWN) CONST(F_SETSIG) CONST(F_GETSIG) CONST(F_SETOWN_EX) CONST(F_GETOWN_EX)
CONST(F_GETOWNER_UIDS) CONST(F_OFD_GETLK) CONST(F_OFD_SETLK) CONST(F_OFD_SETLKW) CONST(F_SETLEASE)
CONST(F_GETLEASE) CONST(F_CANCELLK) CONST(F_DUPFD_CLOEXEC) CONST(F_NOTIFY) CONST(F_SETPIPE_SZ)
CONST(F_GETPIPE_SZ) CONST(F_ADD_SEALS) CONST(F_GET_SEALS) CONST(F_GET_RW_HINT)
CONST(F_SET_RW_HINT) CONST(F_GET_FILE_RW_HINT) CONST(F_SET_FILE_RW_HINT) CONST(FD_CLOEXEC)
CONST(F_RDLCK) CONST(F_WRLCK) CONST(F_UNLCK) CONST(F_OWNER_TID) CONST(F_OWNER_PID)
CONST(F_OWNER_PGRP) CONST(F_SEAL_SEAL) CONST(F_SEAL_SHRINK) CONST(F_SEAL_GROW) CONST(F_SEAL_WRITE)
CONST(F_SEAL_FUTURE_WRITE) CONST(LOCK_SH) CONST(LOCK_EX) CONST(LOCK_NB) CONST(LOCK_UN)
CONST(S_IFMT) CONST(S_IFSOCK) CONST(S_IFLNK) CONST(S_IFREG) CONST(S_IFBLK) CONST(S_IFDIR)
CONST(S_IFCHR) CONST(S_IFIFO) CONST(S_ISUID) CONST(S_ISGID) CONST(S_ISVTX) CONST(S_IRWXU)
CONST(S_IRUSR) CONST(S_IWUSR) CONST(S_IXUSR) CONST(S_IRWXG) CONST(S_IRGRP) CONST(S_IWGRP)
CONST(S_IXGRP) CONST(S_IRWXO) CONST(S_IROTH) CONST(S_IWOTH) CONST(S_IXOTH) CONST(SEEK_SET)
CONST(SEEK_CUR) CONST(SEEK_END) CONST(SEEK_DATA) CONST(SEEK_HOLE) CONST(RENAME_NOREPLACE)
CONST(RENAME_EXCHANGE) CONST(RENAME_WHITEOUT) CONST(FALLOC_FL_KEEP_SIZE)
CONST(FALLOC_FL_PUNCH_HOLE) CONST(FALLOC_FL_NO_HIDE_STALE) CONST(FALLOC_FL_COLLAPSE_RANGE)
CONST(FALLOC_FL_ZERO_RANGE) CONST(FALLOC_FL_INSERT_RANGE) CONST(FALLOC_FL_UNSHARE_RANGE)
CONST(POSIX_FADV_NORMAL) CONST(POSIX_FADV_RANDOM) CONST(POSIX_FADV_SEQUENTIAL)
CONST(POSIX_FADV_WILLNEED) CONST(POSIX_FADV_DONTNEED) CONST(POSIX_FADV_NOREUSE)
CONST(SYNC_FILE_RANGE_WAIT_BEFORE) CONST(SYNC_FILE_RANGE_WRITE) CONST(SYNC_FILE_RANGE_WAIT_AFTER)
CONST(RWF_HIPRI) CONST(RWF_DSYNC) CONST(RWF_SYNC) CONST(RWF_NOWAIT) CONST(RWF_APPEND)
CONST(CLOSE_RANGE_UNSHARE) CONST(CLOSE_RANGE_CLOEXEC) CONST(XATTR_CREATE) CONST(XATTR_REPLACE)
CONST(XATTR_NAME_MAX) CONST(XATTR_SIZE_MAX) CONST(XATTR_LIST_MAX) CONST(NAME_MAX) CONST(PATH_MAX)
CONST(PIPE_BUF) CONST(TMPFS_MAGIC) CONST(PROC_SUPER_MAGIC) CONST(SYSFS_MAGIC)
CONST(DEVPTS_SUPER_MAGIC) CONST(OVERLAYFS_SUPER_MAGIC) CONST(EXT4_SUPER_MAGIC) CONST(RAMFS_MAGIC)
CONST(PIPEFS_MAGIC) CONST(SOCKFS_MAGIC) CONST(ANON_INODE_FS_MAGIC) CONST(CGROUP2_SUPER_MAGIC)
CONST(STATX_TYPE) CONST(STATX_MODE) CONST(STATX_NLINK) CONST(STATX_UID) CONST(STATX_GID)
CONST(STATX_ATIME) CONST(STATX_MTIME) CONST(STATX_CTIME) CONST(STATX_INO) CONST(STATX_SIZE)
CONST(STATX_BLOCKS) CONST(STATX_BASIC_STATS) CONST(STATX_BTIME) CONST(STATX_MNT_ID)
CONST(STATX_DIOALIGN) CONST(STATX_ALL) CONST(STATX_ATTR_COMPRESSED) CONST(STATX_ATTR_IMMUTABLE)
CONST(STATX_ATTR_APPEND) CONST(STATX_ATTR_NODUMP) CONST(STATX_ATTR_MOUNT_ROOT) CONST(MS_RDONLY)
CONST(MS_NOSUID) CONST(MS_NODEV) CONST(MS_NOEXEC) CONST(MS_REMOUNT) CONST(MS_NOATIME)
CONST(MS_NODIRATIME) CONST(MS_BIND) CONST(MS_REC) CONST(MS_RELATIME)

/* abi/ioctl.h */
CONST(FIONREAD) CONST(FIOCLEX) CONST(FIONCLEX) CONST(FIONBIO) CONST(FIOASYNC) CONST(FIOQSIZE)
CONST(FS_IOC_GETFLAGS) CONST(FS_IOC_SETFLAGS) CONST(FS_IOC_GETVERSION) CONST(FS_IOC_FIEMAP)
CONST(FS_IOC_FSGETXATTR) CONST(FICLONE) CONST(FICLONERANGE) CONST(FIDEDUPERANGE) CONST(FIGETBSZ)
CONST(FIBMAP) CONST(FIFREEZE)

/* abi/poll.h */
CONST(POLLIN) CONST(POLLPRI) CONST(POLLOUT) CONST(POLLERR) CONST(POLLHUP) CONST(POLLNVAL)
CONST(POLLRDNORM) CONST(POLLRDBAND) CONST(POLLWRNORM) CONST(POLLWRBAND) CONST(POLLMSG)
CONST(POLLREMOVE) CONST(POLLRDHUP) CONST(EPOLL_CTL_ADD) CONST(EPOLL_CTL_DEL) CONST(EPOLL_CTL_MOD)
CONST(EPOLL_CLOEXEC)

/* abi/tty.h */
CONST(VINTR) CONST(VQUIT) CONST(VERASE) CONST(VKILL) CONST(VEOF) CONST(VTIME) CONST(VMIN)
CONST(VSWTC) CONST(VSTART) CONST(VSTOP) CONST(VSUSP) CONST(VEOL) CONST(VREPRINT) CONST(VDISCARD)
CONST(VWERASE) CONST(VLNEXT) CONST(VEOL2) CONST(IGNBRK) CONST(BRKINT) CONST(IGNPAR) CONST(PARMRK)
CONST(INPCK) CONST(ISTRIP) CONST(INLCR) CONST(IGNCR) CONST(ICRNL) CONST(IUCLC) CONST(IXON)
CONST(IXANY) CONST(IXOFF) CONST(IMAXBEL) CONST(IUTF8) CONST(OPOST) CONST(OLCUC) CONST(ONLCR)
CONST(OCRNL) CONST(ONOCR) CONST(ONLRET) CONST(OFILL) CONST(OFDEL) CONST(NLDLY) CONST(CRDLY)
CONST(TABDLY) CONST(TAB0) CONST(XTABS) CONST(BSDLY) CONST(VTDLY) CONST(FFDLY) CONST(CBAUD)
CONST(CBAUDEX) CONST(CSIZE) CONST(CS5) CONST(CS6) CONST(CS7) CONST(CS8) CONST(CSTOPB) CONST(CREAD)
CONST(PARENB) CONST(PARODD) CONST(HUPCL) CONST(CLOCAL) CONST(CIBAUD) CONST(CMSPAR) CONST(CRTSCTS)
CONST(BOTHER) CONST(B0) CONST(B50) CONST(B75) CONST(B110) CONST(B300) CONST(B1200) CONST(B2400)
CONST(B4800) CONST(B9600) CONST(B19200) CONST(B38400) CONST(B57600) CONST(B115200) CONST(B230400)
CONST(ISIG) CONST(ICANON) CONST(XCASE) CONST(ECHO) CONST(ECHOE) CONST(ECHOK) CONST(ECHONL)
CONST(NOFLSH) CONST(TOSTOP) CONST(ECHOCTL) CONST(ECHOPRT) CONST(ECHOKE) CONST(FLUSHO)
CONST(PENDIN) CONST(IEXTEN) CONST(EXTPROC) CONST(TCIFLUSH) CONST(TCOFLUSH) CONST(TCIOFLUSH)
CONST(TCOOFF) CONST(TCOON) CONST(TCIOFF) CONST(TCION) CONST(TCGETS) CONST(TCSETS) CONST(TCSETSW)
CONST(TCSETSF) CONST(TCGETA) CONST(TCSETA) CONST(TCSETAW) CONST(TCSETAF) CONST(TCSBRK)
CONST(TCXONC) CONST(TCFLSH) CONST(TIOCEXCL) CONST(TIOCNXCL) CONST(TIOCSCTTY) CONST(TIOCGPGRP)
CONST(TIOCSPGRP) CONST(TIOCOUTQ) CONST(TIOCSTI) CONST(TIOCGWINSZ) CONST(TIOCSWINSZ)
CONST(TIOCMGET) CONST(TIOCMBIS) CONST(TIOCMBIC) CONST(TIOCMSET) CONST(TIOCGSOFTCAR)
CONST(TIOCSSOFTCAR) CONST(TIOCINQ) CONST(TIOCLINUX) CONST(TIOCCONS) CONST(TIOCGSERIAL)
CONST(TIOCSSERIAL) CONST(TIOCPKT) CONST(TIOCNOTTY) CONST(TIOCSETD) CONST(TIOCGETD) CONST(TCSBRKP)
CONST(TIOCSBRK) CONST(TIOCCBRK) CONST(TIOCGSID) CONST(TIOCGPTN) CONST(TIOCSPTLCK) CONST(TIOCGDEV)
CONST(TIOCVHANGUP) CONST(TIOCGPKT) CONST(TIOCGPTLCK) CONST(TIOCGEXCL) CONST(TIOCGPTPEER)
CONST(TIOCPKT_DATA) CONST(TIOCPKT_FLUSHREAD) CONST(TIOCPKT_FLUSHWRITE) CONST(TIOCPKT_STOP)
CONST(TIOCPKT_START) CONST(TIOCPKT_NOSTOP) CONST(TIOCPKT_DOSTOP) CONST(TIOCPKT_IOCTL)
    /* clang-format on */

    SIZE(struct lx_stat, struct stat);
OFFSET(struct lx_stat, st_dev, struct stat, st_dev);
OFFSET(struct lx_stat, st_ino, struct stat, st_ino);
OFFSET(struct lx_stat, st_nlink, struct stat, st_nlink);
OFFSET(struct lx_stat, st_mode, struct stat, st_mode);
OFFSET(struct lx_stat, st_uid, struct stat, st_uid);
OFFSET(struct lx_stat, st_gid, struct stat, st_gid);
OFFSET(struct lx_stat, st_rdev, struct stat, st_rdev);
OFFSET(struct lx_stat, st_size, struct stat, st_size);
OFFSET(struct lx_stat, st_blksize, struct stat, st_blksize);
OFFSET(struct lx_stat, st_blocks, struct stat, st_blocks);
OFFSET(struct lx_stat, st_atim.tv_sec, struct stat, st_atime);
OFFSET(struct lx_stat, st_atim.tv_nsec, struct stat, st_atime_nsec);
OFFSET(struct lx_stat, st_mtim.tv_sec, struct stat, st_mtime);
OFFSET(struct lx_stat, st_ctim.tv_nsec, struct stat, st_ctime_nsec);

SIZE(struct lx_statx, struct statx);
OFFSET(struct lx_statx, stx_mask, struct statx, stx_mask);
OFFSET(struct lx_statx, stx_blksize, struct statx, stx_blksize);
OFFSET(struct lx_statx, stx_attributes, struct statx, stx_attributes);
OFFSET(struct lx_statx, stx_nlink, struct statx, stx_nlink);
OFFSET(struct lx_statx, stx_uid, struct statx, stx_uid);
OFFSET(struct lx_statx, stx_gid, struct statx, stx_gid);
OFFSET(struct lx_statx, stx_mode, struct statx, stx_mode);
OFFSET(struct lx_statx, stx_ino, struct statx, stx_ino);
OFFSET(struct lx_statx, stx_size, struct statx, stx_size);
OFFSET(struct lx_statx, stx_blocks, struct statx, stx_blocks);
OFFSET(struct lx_statx, stx_attributes_mask, struct statx, stx_attributes_mask);
OFFSET(struct lx_statx, stx_atime, struct statx, stx_atime);
OFFSET(struct lx_statx, stx_btime, struct statx, stx_btime);
OFFSET(struct lx_statx, stx_ctime, struct statx, stx_ctime);
OFFSET(struct lx_statx, stx_mtime, struct statx, stx_mtime);
OFFSET(struct lx_statx, stx_rdev_major, struct statx, stx_rdev_major);
OFFSET(struct lx_statx, stx_rdev_minor, struct statx, stx_rdev_minor);
OFFSET(struct lx_statx, stx_dev_major, struct statx, stx_dev_major);
OFFSET(struct lx_statx, stx_dev_minor, struct statx, stx_dev_minor);
OFFSET(struct lx_statx, stx_mnt_id, struct statx, stx_mnt_id);
OFFSET(struct lx_statx, stx_dio_mem_align, struct statx, stx_dio_mem_align);
OFFSET(struct lx_statx, stx_dio_offset_align, struct statx, stx_dio_offset_align);

SIZE(struct lx_statx_timestamp, struct statx_timestamp);
OFFSET(struct lx_statx_timestamp, tv_sec, struct statx_timestamp, tv_sec);
OFFSET(struct lx_statx_timestamp, tv_nsec, struct statx_timestamp, tv_nsec);

SIZE(struct lx_statfs, struct statfs);
OFFSET(struct lx_statfs, f_type, struct statfs, f_type);
OFFSET(struct lx_statfs, f_bsize, struct statfs, f_bsize);
OFFSET(struct lx_statfs, f_blocks, struct statfs, f_blocks);
OFFSET(struct lx_statfs, f_bfree, struct statfs, f_bfree);
OFFSET(struct lx_statfs, f_bavail, struct statfs, f_bavail);
OFFSET(struct lx_statfs, f_files, struct statfs, f_files);
OFFSET(struct lx_statfs, f_ffree, struct statfs, f_ffree);
OFFSET(struct lx_statfs, f_fsid, struct statfs, f_fsid);
OFFSET(struct lx_statfs, f_namelen, struct statfs, f_namelen);
OFFSET(struct lx_statfs, f_frsize, struct statfs, f_frsize);
OFFSET(struct lx_statfs, f_flags, struct statfs, f_flags);

SIZE(struct lx_iovec, struct iovec);
OFFSET(struct lx_iovec, iov_base, struct iovec, iov_base);
OFFSET(struct lx_iovec, iov_len, struct iovec, iov_len);

SIZE(struct lx_flock, struct flock);
OFFSET(struct lx_flock, l_type, struct flock, l_type);
OFFSET(struct lx_flock, l_whence, struct flock, l_whence);
OFFSET(struct lx_flock, l_start, struct flock, l_start);
OFFSET(struct lx_flock, l_len, struct flock, l_len);
OFFSET(struct lx_flock, l_pid, struct flock, l_pid);

SIZE(struct lx_f_owner_ex, struct f_owner_ex);
OFFSET(struct lx_f_owner_ex, type, struct f_owner_ex, type);
OFFSET(struct lx_f_owner_ex, pid, struct f_owner_ex, pid);

SIZE(struct lx_open_how, struct open_how);
OFFSET(struct lx_open_how, flags, struct open_how, flags);
OFFSET(struct lx_open_how, mode, struct open_how, mode);
OFFSET(struct lx_open_how, resolve, struct open_how, resolve);

SIZE(struct lx_utimbuf, struct utimbuf);
OFFSET(struct lx_utimbuf, actime, struct utimbuf, actime);
OFFSET(struct lx_utimbuf, modtime, struct utimbuf, modtime);

SIZE(struct lx_pollfd, struct pollfd);
OFFSET(struct lx_pollfd, fd, struct pollfd, fd);
OFFSET(struct lx_pollfd, events, struct pollfd, events);
OFFSET(struct lx_pollfd, revents, struct pollfd, revents);

SIZE(struct lx_epoll_event, struct epoll_event);
OFFSET(struct lx_epoll_event, events, struct epoll_event, events);
OFFSET(struct lx_epoll_event, data, struct epoll_event, data);

SIZE(struct lx_termios, struct termios);
OFFSET(struct lx_termios, c_iflag, struct termios, c_iflag);
OFFSET(struct lx_termios, c_oflag, struct termios, c_oflag);
OFFSET(struct lx_termios, c_cflag, struct termios, c_cflag);
OFFSET(struct lx_termios, c_lflag, struct termios, c_lflag);
OFFSET(struct lx_termios, c_line, struct termios, c_line);
OFFSET(struct lx_termios, c_cc, struct termios, c_cc);

SIZE(struct lx_termios2, struct termios2);
OFFSET(struct lx_termios2, c_iflag, struct termios2, c_iflag);
OFFSET(struct lx_termios2, c_line, struct termios2, c_line);
OFFSET(struct lx_termios2, c_cc, struct termios2, c_cc);
OFFSET(struct lx_termios2, c_ispeed, struct termios2, c_ispeed);
OFFSET(struct lx_termios2, c_ospeed, struct termios2, c_ospeed);

SIZE(struct lx_termio, struct termio);
OFFSET(struct lx_termio, c_iflag, struct termio, c_iflag);
OFFSET(struct lx_termio, c_oflag, struct termio, c_oflag);
OFFSET(struct lx_termio, c_cflag, struct termio, c_cflag);
OFFSET(struct lx_termio, c_lflag, struct termio, c_lflag);
OFFSET(struct lx_termio, c_line, struct termio, c_line);
OFFSET(struct lx_termio, c_cc, struct termio, c_cc);

SIZE(struct lx_winsize, struct winsize);
OFFSET(struct lx_winsize, ws_row, struct winsize, ws_row);
OFFSET(struct lx_winsize, ws_col, struct winsize, ws_col);
OFFSET(struct lx_winsize, ws_xpixel, struct winsize, ws_xpixel);
OFFSET(struct lx_winsize, ws_ypixel, struct winsize, ws_ypixel);

_Static_assert(sizeof(struct lx_termios) == 36 && sizeof(struct lx_epoll_event) == 12,
               "as on the wire");
_Static_assert(LX_NCCS == NCCS, "NCCS");
_Static_assert(LX_TCGETS2 == TCGETS2 && LX_TCSETS2 == TCSETS2 && LX_TCSETSW2 == TCSETSW2 &&
                   LX_TCSETSF2 == TCSETSF2,
               "termios2");
