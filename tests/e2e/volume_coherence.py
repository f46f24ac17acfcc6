"""Host and guest side by side on one volume: every change of the one is what the other sees next.

usage: volume_coherence.py BOOT-TOOL IMAGE WORK [UID]      an empty directory of the host for scratch
UID: as this user on the host, in the guest as root. Exit status 0 or 1.
"""
import hashlib
import os
import subprocess
import sys
import threading

tool, image, work = sys.argv[1:4]
uid = int(sys.argv[4]) if len(sys.argv) > 4 else None
vol, outside, ro = work + "/vol", work + "/outside", work + "/ro"
failures = 0


def check(name, want, got):
    global failures
    if want == got:
        print("ok  ", name)
    else:
        failures += 1
        print(f"FAIL {name}\n     expected: {want}\n     got:      {got}")


def put(path, text):
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


def get(path):
    with open(path, encoding="ascii") as f:
        return f.read()


class Guest:
    def __init__(self, *mounts):
        args = [tool, "--user", "0"]
        for m in mounts:
            args += ["--mount", m]
        here = os.path.dirname(os.path.abspath(__file__))
        args += ["--mount", f"bind:{here}:/agent:ro", image, "python3", "/agent/volume_agent.py"]
        self.p = subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def send(self, line):
        self.p.stdin.write(line + "\n")
        self.p.stdin.flush()

    def answer(self):
        return self.p.stdout.readline().rstrip("\n")

    def __call__(self, line):
        self.send(line)
        return self.answer()

    def end(self):
        self.p.stdin.close()
        self.p.stdout.close()
        return self.p.wait()


def tree(path):
    """Names, modes and contents below path, as one digest."""
    h = hashlib.sha256()
    for root, dirs, files in os.walk(path):
        dirs.sort()
        for name in sorted(files) + dirs:
            s = os.lstat(os.path.join(root, name))
            h.update(f"{root}/{name} {s.st_mode} {s.st_uid} {s.st_size} {s.st_mtime_ns} {s.st_nlink}".encode())
    return h.hexdigest()


def make():
    for d in (vol, outside, ro, vol + "/d"):
        os.mkdir(d)
    put(outside + "/secret", "outside")
    put(ro + "/f", "old")
    put(work + "/single", "one")


def side_by_side(g):
    put(vol + "/f", "one")
    check("a file of the host", "'one'", g("open('/v/f').read()"))
    put(vol + "/f", "longer than before")
    check("changed by the host", "'longer than before'", g("open('/v/f').read()"))
    g("!fd = os.open('/v/f', os.O_RDWR)")
    put(vol + "/f", "xyz")
    check("an open file sees the size", "3", g("os.fstat(fd).st_size"))
    check("and the data", "b'xyz'", g("os.pread(fd, 10, 0)"))
    g("os.pwrite(fd, b'G', 1)")
    check("the host sees a write", "xGz", get(vol + "/f"))
    g("!import mmap; m = mmap.mmap(fd, 3)")
    with open(vol + "/f", "r+", encoding="ascii") as f:
        f.write("H")
    check("a mapping sees the host", "b'HGz'", g("m[:]"))
    g("!m[2:3] = b'M'")
    check("the host sees the mapping", "HGM", get(vol + "/f"))
    os.rename(vol + "/f", vol + "/f2")
    check("renamed by the host", "(False, True)", g("os.path.exists('/v/f'), os.path.exists('/v/f2')"))
    put(vol + "/f", "new one")
    check("the old file goes on", "b'HGM'", g("os.pread(fd, 10, 0)"))
    check("the name is another", "'new one'", g("open('/v/f').read()"))
    os.unlink(vol + "/f2")
    check("unlinked by the host", "0", g("os.fstat(fd).st_nlink"))
    check("listed", "['d', 'f']", g("sorted(os.listdir('/v'))"))
    os.chmod(vol + "/f", 0o640)
    check("mode", "'0o100640'", g("oct(os.stat('/v/f').st_mode)"))
    g("os.chmod('/v/f', 0o604)")
    check("mode by the guest", 0o604, os.stat(vol + "/f").st_mode & 0o7777)
    g("os.rename('/v/f', '/v/d/g')")
    check("renamed by the guest", ["g"], os.listdir(vol + "/d"))
    g("!os.chdir('/v/d')")
    os.rename(vol + "/d", vol + "/dd")
    check("a directory of the guest's moved", "['g']", g("os.listdir('.')"))
    os.symlink(outside, vol + "/link")
    check("a symlink leads nowhere", "errno 2", g("open('/v/link/secret').read()"))
    os.symlink("../outside/secret", vol + "/up")
    check("nor upwards", "errno 2", g("open('/v/up').read()"))
    check("created by both", "'3'", g("str(os.open('/v/new', os.O_CREAT | os.O_WRONLY | os.O_EXCL) * 0 + 3)"))
    try:
        os.close(os.open(vol + "/new", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        check("exclusively", "an error", "none")
    except FileExistsError:
        check("exclusively", 0, 0)
    check("fifo is not opened", "errno 6", g(f"[os.mkfifo('/v/p')] and os.open('/v/p', os.O_WRONLY | os.O_NONBLOCK)"))


def owners(g):
    if uid is None:
        g("os.close(os.open('/v/owned', os.O_CREAT)), os.chown('/v/owned', 12, 34)")
        s = os.stat(vol + "/owned")
        check("ids are the host's", (12, 34), (s.st_uid, s.st_gid))
        os.chown(vol + "/owned", 77, 88)
        check("both ways", "(77, 88)", g("(lambda s: (s.st_uid, s.st_gid))(os.stat('/v/owned'))"))
    else:
        g("os.close(os.open('/v/owned', os.O_CREAT))")
        check("everything is the caller's", uid, os.stat(vol + "/owned").st_uid)
        check("which the guest sees as its own", "0", g("os.stat('/v/owned').st_uid"))
        check("nobody else's", "errno 1", g("os.chown('/v/owned', 12, 34)"))


def read_only(g):
    check("read-only", "'old'", g("open('/ro/f').read()"))
    put(ro + "/f", "changed by the host")
    check("read-only, not frozen", "'changed by the host'", g("open('/ro/f').read()"))
    for name, line in (("write", "open('/ro/f', 'w')"), ("mkdir", "os.mkdir('/ro/d')"), ("unlink", "os.unlink('/ro/f')"),
                       ("chmod", "os.chmod('/ro/f', 0)"), ("rename", "os.rename('/ro/f', '/ro/g')")):
        check("read-only: " + name, "errno 30", g(line))
    check("a single file", "'one'", g("open('/etc/single').read()"))
    g("!f = open('/etc/single', 'a'); f.write('+'); f.close()")
    check("a single file, written", "one+", get(work + "/single"))
    put(work + "/single.new", "replaced")
    os.rename(work + "/single.new", work + "/single")
    check("a bind stays on its file", "'one+'", g("open('/etc/single').read()"))
    check("cannot be removed", "errno 30", g("os.unlink('/etc/single')"))


def appenders(g):
    """Both append at the same time: nothing is lost or torn."""
    n = 2000
    g("!log = os.open('/v/log', os.O_CREAT | os.O_WRONLY | os.O_APPEND)")
    g.send(f"[os.write(log, b'guest %06d\\n' % i) for i in range({n})][0]")
    fd = os.open(vol + "/log", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    for i in range(n):
        os.write(fd, b"host! %06d\n" % i)
    os.close(fd)
    g.answer()
    lines = get(vol + "/log").splitlines()
    check("appended lines", 2 * n, len(lines))
    for who in ("guest", "host!"):
        check(f"{who}: in order", True, [f"{who} {i:06d}" for i in range(n)] == [x for x in lines if x.startswith(who)])


def races(g):
    """The host swaps a directory and a file for symlinks out of the volume while the guest walks through them."""
    os.mkdir(vol + "/in")
    put(vol + "/in/secret", "inside")
    os.symlink(outside, vol + "/out")
    put(vol + "/file", "inside")
    os.symlink(outside + "/secret", vol + "/filelink")
    before = tree(outside)
    stop = threading.Event()

    def swap(a, b):
        while not stop.is_set():
            os.rename(a, a + ".t")
            os.rename(b, a)
            os.rename(a + ".t", b)
    threads = [threading.Thread(target=swap, args=(vol + "/in", vol + "/out")),
               threading.Thread(target=swap, args=(vol + "/file", vol + "/filelink"))]
    for t in threads:
        t.start()
    seen = g("sorted({str(x) for _ in range(1500) for x in (tryread('/v/in/secret'), tryread('/v/file'))})")
    g("[trywrite('/v/in/secret') or trywrite('/v/file') or trymake('/v/in/made') for _ in range(1500)][0]")
    stop.set()
    for t in threads:
        t.join()
    check("only what is inside was read", [], [x for x in eval(seen) if "outside" in x])
    check("something was read", True, "inside" in seen)
    check("nothing outside has changed", before, tree(outside))


def guest_races(g):
    """The same from inside: one process swaps a directory for a symlink to a path of the host, another reads."""
    before = tree(outside)
    g("!exec(" + repr(f"""
os.mkdir('/v/gd')
open('/v/gd/secret', 'w').write('inside')
os.symlink('../../../../../../../..{outside}', '/v/gl')
pid = os.fork()
if pid == 0:
    for i in range(1000):
        os.rename('/v/gd', '/v/gt')
        os.rename('/v/gl', '/v/gd')
        os.rename('/v/gt', '/v/gl')
    os._exit(0)
seen = set()
for i in range(1500):
    seen.add(str(tryread('/v/gd/secret')))
    trywrite('/v/gd/secret')
    trymake('/v/gd/made')
status = os.waitpid(pid, 0)[1]
""") + ", scope)")
    check("the guest's own race", ("0", True, []),
          (g("status"), "inside" in g("seen"), [x for x in eval(g("seen")) if "outside" in x]))
    check("nothing outside has changed by it", before, tree(outside))


make()
if uid is not None:
    for root, dirs, files in os.walk(work):
        for name in ["."] + dirs + files:
            os.chown(os.path.join(root, name), uid, uid, follow_symlinks=False)
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
guest = Guest(f"bind:{vol}:/v:rw", f"bind:{ro}:/ro:ro", f"bind:{work}/single:/etc/single:rw")
guest("!exec(" + repr("""
def tryread(p):
    try:
        return open(p).read()
    except OSError as e:
        return e.errno
def trywrite(p):
    try:
        open(p, 'r+').write('inside')
    except OSError as e:
        return None
def trymake(p):
    try:
        os.close(os.open(p, os.O_CREAT))
        os.unlink(p)
    except OSError as e:
        return None
""") + ", scope)")
appenders(guest)
os.unlink(vol + "/log")
side_by_side(guest)
owners(guest)
read_only(guest)
races(guest)
guest_races(guest)
check("the guest ended", 0, guest.end())
sys.exit(1 if failures else 0)
