"""What a program sees of a directory that it may write: facts, one a line, the same natively and on a bind
mount. Run as root in an empty directory: volume_facts.py DIR."""
import ctypes
import errno
import fcntl
import mmap
import os
import socket
import stat
import sys

os.chdir(sys.argv[1])
os.umask(0o022)
libc = ctypes.CDLL(None, use_errno=True)


def fact(name, fn):
    try:
        r = fn()
    except OSError as e:
        r = errno.errorcode[e.errno]
    print(name, r)


def put(path, text, flags=os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode=0o666):
    fd = os.open(path, flags, mode)
    os.write(fd, text.encode())
    os.close(fd)


def get(path):
    with open(path, encoding="ascii") as f:
        return f.read()


def rename2(old, new, flags):
    if libc.syscall(316, -100, old.encode(), -100, new.encode(), flags) < 0:
        raise OSError(ctypes.get_errno(), "renameat2")


def st(path):
    s = os.lstat(path)
    return f"{stat.filemode(s.st_mode)} {s.st_nlink if not stat.S_ISDIR(s.st_mode) else ''} {s.st_uid}:{s.st_gid} {s.st_size if stat.S_ISREG(s.st_mode) else ''}"


# -- making and modes
put("a", "hello")
fact("create", lambda: st("a"))
fact("excl", lambda: put("a", "", os.O_WRONLY | os.O_CREAT | os.O_EXCL))
os.umask(0o077)
put("b", "x", mode=0o777)
os.umask(0o022)
fact("umask", lambda: st("b"))
os.mkdir("d", 0o777)
fact("mkdir", lambda: st("d"))
fact("mkdir again", lambda: os.mkdir("d"))
os.mkdir("g")
os.chown("g", 7, 8)
os.chmod("g", 0o2775)
put("g/f", "")
os.mkdir("g/sub")
fact("setgid file", lambda: st("g/f"))
fact("setgid dir", lambda: st("g/sub"))
fact("rmdir full", lambda: os.rmdir("g"))
fact("unlink dir", lambda: os.unlink("g"))
fact("rmdir file", lambda: os.rmdir("a"))
fact("no entry", lambda: get("none"))
fact("long name", lambda: put("n" * 256, ""))
fact("name of 255", lambda: put("n" * 255, "") or os.unlink("n" * 255))
fact("below a file", lambda: put("a/x", ""))

# -- names
fact("link", lambda: (os.link("a", "d/a2"), st("a"), st("d/a2"))[1:])
fact("link exists", lambda: os.link("a", "b"))
fact("link dir", lambda: os.link("d", "d2"))
fact("symlink", lambda: (os.symlink("../etc/passwd", "s"), os.readlink("s"), st("s"))[1:])
fact("nofollow", lambda: os.open("s", os.O_RDONLY | os.O_NOFOLLOW))
os.symlink("a", "to-a")
fact("through symlink", lambda: get("to-a"))
fact("link of symlink", lambda: (os.link("to-a", "to-a2", follow_symlinks=False), os.readlink("to-a2"))[1])
fact("noreplace", lambda: rename2("a", "b", 1))
fact("noreplace new", lambda: rename2("a", "c", 1))
fact("exchange", lambda: (rename2("b", "c", 2), get("b"), get("c"))[1:])
fact("exchange none", lambda: rename2("b", "none", 2))
fact("exchange dir", lambda: (rename2("b", "d", 2), st("b"), st("d"))[1:])
rename2("b", "d", 2)
fact("rename over", lambda: (os.rename("c", "b"), get("b"))[1])
fact("rename dir over file", lambda: os.rename("d", "b"))
fact("rename into itself", lambda: os.rename("d", "d/x"))
fact("rename dir", lambda: (os.rename("d", "e"), sorted(os.listdir("e")))[1])
os.mkdir("full")
put("full/x", "")
fact("rename over full", lambda: os.rename("e", "full"))
fact("list", lambda: sorted(os.listdir(".")))

# -- attributes
fact("chmod", lambda: (os.chmod("b", 0o4751), st("b"))[1])
fact("chown", lambda: (os.chown("b", 5, 6), st("b"))[1])
fact("lchown", lambda: (os.lchown("s", 9, 10), st("s"))[1])
os.utime("b", ns=(1000000001, 2000000002))
fact("utime", lambda: (os.stat("b").st_atime_ns, os.stat("b").st_mtime_ns))
os.utime("s", ns=(3000000003, 4000000004), follow_symlinks=False)
fact("utime of symlink", lambda: os.lstat("s").st_mtime_ns)
fact("xattr", lambda: (os.setxattr("b", "user.k", b"value"), os.getxattr("b", "user.k"), os.listxattr("b"))[1:])
fact("xattr create", lambda: os.setxattr("b", "user.k", b"", os.XATTR_CREATE))
fact("xattr none", lambda: os.getxattr("b", "user.none"))
fact("xattr of dir", lambda: (os.setxattr("e", "user.d", b"1"), os.listxattr("e"))[1])
fact("xattr of symlink", lambda: os.setxattr("s", "user.k", b"", follow_symlinks=False))
fact("removexattr", lambda: (os.removexattr("b", "user.k"), os.listxattr("b"))[1])
fact("access", lambda: (os.access("b", os.X_OK), os.access("none", os.F_OK)))

# -- data
fd = os.open("data", os.O_RDWR | os.O_CREAT, 0o644)
fact("pwrite", lambda: os.pwrite(fd, b"0123456789", 5000))
fact("size", lambda: os.fstat(fd).st_size)
fact("hole", lambda: os.pread(fd, 4, 100))
fact("pread", lambda: os.pread(fd, 20, 5005))
fact("end", lambda: (os.lseek(fd, 0, os.SEEK_END), os.read(fd, 1)))
fact("ftruncate", lambda: (os.ftruncate(fd, 5003), os.pread(fd, 20, 5000)))
fact("truncate", lambda: (os.truncate("data", 6000), os.stat("data").st_size)[1])
fact("fallocate", lambda: (os.posix_fallocate(fd, 0, 8192), os.fstat(fd).st_size)[1])
fact("fsync", lambda: (os.fsync(fd), os.fdatasync(fd)))
app = os.open("data", os.O_WRONLY | os.O_APPEND)
os.write(fd, b"x")
fact("append", lambda: (os.write(app, b"end"), os.lseek(app, 0, os.SEEK_CUR), os.pread(fd, 10, 8190)))
fact("append pwrite", lambda: (os.pwrite(app, b"END", 0), os.fstat(fd).st_size, os.pread(fd, 3, 0)))
os.close(app)
m = mmap.mmap(fd, 4096, mmap.MAP_SHARED)
m[0:4] = b"MAPS"
fact("mapping to file", lambda: os.pread(fd, 4, 0))
os.pwrite(fd, b"file", 8)
fact("file to mapping", lambda: m[8:12])
p = mmap.mmap(fd, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
p[0:4] = b"PRIV"
fact("private mapping", lambda: (p[0:4], os.pread(fd, 4, 0)))
fact("msync", lambda: m.flush())
ro = os.open("data", os.O_RDONLY)
fact("map read-only", lambda: mmap.mmap(ro, 4096, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE))
fact("write read-only", lambda: os.write(ro, b"x"))
fact("flock", lambda: (fcntl.flock(ro, fcntl.LOCK_EX | fcntl.LOCK_NB), fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)))
fact("trunc on open", lambda: (put("data", "new"), os.fstat(fd).st_size)[1])
fact("copy_file_range", lambda: (os.copy_file_range(os.open("b", os.O_RDONLY), fd, 1), os.pread(fd, 1, 0))[0])

# -- without a name
os.unlink("data")
fact("unlinked", lambda: (os.fstat(fd).st_nlink, os.pwrite(fd, b"gone", 0), os.pread(fd, 4, 0)))
fact("unlinked fchmod", lambda: (os.fchmod(fd, 0o640), oct(os.fstat(fd).st_mode))[1])
fact("unlinked fchown", lambda: (os.fchown(fd, 3, 4), os.fstat(fd).st_uid)[1])
fact("unlinked again", lambda: os.pread(os.open(f"/proc/self/fd/{fd}", os.O_RDWR), 4, 0))
fact("unlinked truncate", lambda: (os.ftruncate(fd, 2), os.fstat(fd).st_size)[1])
dfd = os.open("e", os.O_RDONLY | os.O_DIRECTORY)
os.rename("e", "moved")
fact("dirfd after rename", lambda: sorted(os.listdir(dfd)))
put("x", "", 0o101)
fact("dirfd create", lambda: (os.close(os.open("made", os.O_CREAT | os.O_WRONLY, dir_fd=dfd)), sorted(os.listdir("moved")))[1])
fact("fsync dir", lambda: os.fsync(dfd))
os.chdir("moved")
fact("dotdot", lambda: "moved" in os.listdir(".."))
os.chdir("..")
os.mkdir("gone")
gone = os.open("gone", os.O_RDONLY)
os.rmdir("gone")
fact("in a removed directory", lambda: os.open("f", os.O_CREAT | os.O_WRONLY, dir_fd=gone))

# -- special files
os.mkfifo("fifo", 0o600)
fact("fifo", lambda: st("fifo"))
r = os.open("fifo", os.O_RDONLY | os.O_NONBLOCK)
w = os.open("fifo", os.O_WRONLY)
fact("through fifo", lambda: (os.write(w, b"abc"), os.read(r, 10)))
server = socket.socket(socket.AF_UNIX)
server.bind("sock")
server.listen(1)
client = socket.socket(socket.AF_UNIX)
client.connect("sock")
fact("socket", lambda: (st("sock").split()[0], server.accept()[0].send(b"abc"), client.recv(10)))
fact("socket open", lambda: os.open("sock", os.O_RDWR))

# -- many entries
os.mkdir("many")
for i in range(700):
    os.close(os.open(f"many/entry-with-a-name-{i}", os.O_CREAT | os.O_WRONLY))
fact("many", lambda: len(set(os.listdir("many"))))
for n in os.listdir("many"):
    os.unlink("many/" + n)
fact("many gone", lambda: os.rmdir("many"))
fact("statvfs", lambda: os.statvfs(".").f_bavail > 0)
