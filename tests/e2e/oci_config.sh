#!/bin/bash
# What config.json says is what the guest sees: process, mounts, hooks, seccomp, cgroup, terminal.
# timeout: 200
# shellcheck disable=SC2046,SC1010,SC2034,SC2045
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_oci.sh"
export LC_ALL=C

# guest NAME EXPECTED PYTHON: the output (on one line) of a container whose config PYTHON made.
guest() {
    bundle g "$3"
    check "$1" "$2" "$(echo $(rt run -b "$work/g" g </dev/null 2>&1))"
}

# -- process ------------------------------------------------------------------------------------------
guest "ids and groups" "7 8 9 10" \
    'c["process"]["user"] = {"uid": 7, "gid": 8, "additionalGids": [9, 10]}; sh("id -u; id -g; sed -n s/Groups:.//p /proc/self/status")'
guest "umask" "0027" 'c["process"]["user"]["umask"] = 0o27; sh("umask")'
guest "cwd and environment" "/tmp b /usr/bin:/bin" \
    'c["process"]["cwd"] = "/tmp"; c["process"]["env"] += ["A=a", "A=b", "broken"]; sh("pwd; echo $A; echo $PATH")'
guest "rlimits" "256 512 unlimited" \
    'c["process"]["rlimits"].append({"type": "RLIMIT_CORE", "soft": 18446744073709551615, "hard": 18446744073709551615}); sh("ulimit -n; ulimit -Hn; ulimit -c")'
guest "capabilities" "0000000000000021 0000000000000021 0000000000000021" \
    'k = ["CAP_CHOWN", "CAP_KILL"]; c["process"]["capabilities"] = {"bounding": k, "effective": k, "permitted": k}
sh("for x in Prm Eff Bnd; do sed -n s/Cap$x:.//p /proc/self/status; done")'
guest "no capabilities for an ordinary user" "0000000000000000" \
    'k = ["CAP_CHOWN"]; c["process"]["capabilities"] = {"bounding": k, "effective": k, "permitted": k}
c["process"]["user"] = {"uid": 5, "gid": 5}; sh("sed -n s/CapEff:.//p /proc/self/status")'
guest "ambient capabilities for an ordinary user" "0000000000000001" \
    'k = ["CAP_CHOWN"]; c["process"]["capabilities"] = {"bounding": k, "effective": k, "permitted": k, "inheritable": k, "ambient": k}
c["process"]["user"] = {"uid": 5, "gid": 5}; sh("sed -n s/CapEff:.//p /proc/self/status")'
guest "noNewPrivileges" "1" \
    'c["process"]["noNewPrivileges"] = True; sh("sed -n s/NoNewPrivs:.//p /proc/self/status")'
guest "hostname, domainname" "name dom" \
    'c["hostname"] = "name"; c["domainname"] = "dom"; sh("hostname; cat /proc/sys/kernel/domainname")'
guest "sysctl" "70000" 'c["linux"]["sysctl"] = {"kernel.shmmax": "70000", "net.ipv4.ip_forward": "1"}; sh("cat /proc/sys/kernel/shmmax")'

# -- root and mounts ------------------------------------------------------------------------------------
guest "a read-only root" "no" 'sh("(echo x >/f) 2>/dev/null && echo yes || echo no")'
guest "a writable root" "x" 'c["root"]["readonly"] = False; sh("echo x >/f && cat /f")'
check "... is not the image" "no file" "$([ -e "$bb/f" ] || echo no file)"
guest "masked and read-only paths" "0 ro" \
    'c["linux"]["maskedPaths"] = ["/etc/passwd", "/not/there"]; c["linux"]["readonlyPaths"] = ["/tmp"]
sh("wc -c </etc/passwd; (echo x >/tmp/f) 2>/dev/null || echo ro")'
guest "tmpfs: size and mode" "1024 drwxr-x---" \
    'c["mounts"].append({"destination": "/mnt", "type": "tmpfs", "options": ["size=1m", "mode=0750"]})
sh("df -k /mnt | tail -1 | awk \"{print \\$2}\"; ls -ld /mnt | cut -c1-10")'
guest "devices" "crw-rw-rw- 1, 3 mine" \
    'c["linux"]["devices"] = [{"path": "/dev/mine", "type": "c", "major": 1, "minor": 3, "fileMode": 0o666}]
sh("ls -l /dev/mine | awk \"{print \\$1, \\$5, \\$6}\"; echo x >/dev/mine && echo mine")'
guest "no network" "lo or nothing" 'sh("ls /sys/class/net 2>/dev/null | grep -v lo; echo lo or nothing")'
mkdir -p "$work/data/sub"
echo data >"$work/data/f"
m="c['mounts'].append({'destination': '/data', 'type': 'bind', 'source': '$work/data', 'options': ['rbind', OPT]})"
guest "a bind mount" "data sub" "${m/OPT/\"ro\"}; sh('cat /data/f; ls -d /data/sub | cut -d/ -f3')"
guest "a read-only bind mount" "ro" "${m/OPT/\"ro\"}; sh('(echo x >/data/new) 2>/dev/null || echo ro')"
guest "a writable bind mount" "done" "${m/OPT/\"rw\"}; sh('echo new >/data/new && rm /data/f && echo done')"
check "... reaches the host" "new gone" "$(cat "$work/data/new") $([ -e "$work/data/f" ] || echo gone)"
guest "a bind mount with dots stays below the root" "new" \
    "c['mounts'].append({'destination': '/../../mnt/x', 'type': 'bind', 'source': '$work/data', 'options': ['bind']}); sh('cat /mnt/x/new')"

# -- seccomp ------------------------------------------------------------------------------------------------
guest "seccomp: an errno" "no" \
    'c["linux"]["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW", "architectures": ["SCMP_ARCH_X86_64"], "syscalls": [{"names": ["mkdir", "mkdirat", "not_a_call"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1}]}
sh("mkdir /tmp/d 2>/dev/null && echo yes || echo no")'
guest "seccomp: an argument" "0 1" \
    'c["linux"]["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["kill"], "action": "SCMP_ACT_ERRNO", "args": [{"index": 1, "value": 10, "op": "SCMP_CMP_EQ"}]}]}
sh("sleep 9 & kill -0 $!; echo $?; kill -10 $! 2>/dev/null; echo $?; kill -9 $!")'
bundle g 'c["linux"]["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_KILL_PROCESS"}]}
sh("mkdir /tmp/d")'
rt run -b "$work/g" g </dev/null 2>/dev/null
check "seccomp: kill" 159 $?
bundle g 'sh("sleep 1000")
c["linux"]["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO"}]}'
create g g && rt start g
rt exec g mkdir /tmp/d 2>/dev/null </dev/null
check "seccomp: for exec too" 1 $?
rt delete --force g

# -- hooks -----------------------------------------------------------------------------------------------------
cat >"$work/hook" <<X
#!/bin/sh
state=\$(cat)
echo "\$1 \$(echo "\$state" | sed -n 's/.*"status": "\(.*\)".*/\1/p') \$KEY \$(pwd | sed 's,.*/,,') \$HOME" >>$work/trace
X
chmod +x "$work/hook"
hooks="c['hooks'] = {k: [{'path': '$work/hook', 'args': ['hook', k], 'env': ['KEY=v', 'PATH=/usr/bin:/bin']}] for k in
    ['prestart', 'createRuntime', 'createContainer', 'poststart', 'poststop']}"
bundle h "$hooks; sh('echo run >/tmp/x; sleep 1000')"
: >"$work/trace"
create h h
check "hooks of create" "prestart creating v h createRuntime creating v h createContainer creating v h" \
    "$(echo $(cat "$work/trace"))"
: >"$work/trace"
rt start h
check "hooks of start" "poststart running v h" "$(echo $(cat "$work/trace"))"
: >"$work/trace"
rt delete --force h
check "hooks of delete" "poststop stopped v h" "$(echo $(cat "$work/trace"))"
bundle h "c['root']['readonly'] = False
c['hooks'] = {'startContainer': [{'path': '/bin/sh', 'args': ['sh', '-c', 'grep -q created && echo hooked >/hooked']}]}
sh('cat /hooked')"
check "startContainer runs in the sandbox, before the program" hooked \
    "$(rt run -b "$work/h" h </dev/null)"
for kind in prestart createRuntime createContainer; do
    bundle h "c['hooks'] = {'$kind': [{'path': '/bin/sh', 'args': ['sh', '-c', 'echo reason >&2; exit 3']}]}"
    create h h
    check "a failing $kind" "1 1" \
        "$? $(grep -c "^runsc-shim: $kind hook 0: /bin/sh: exit status 3: reason\$" "$work/h.out")"
    nothing_left "a failing $kind"
done
bundle h "c['hooks'] = {'createRuntime': [{'path': '/bin/sh', 'args': ['sh', '-c', 'exec sleep 100'], 'timeout': 1}]}"
create h h
check "a hook without an end" "1 1" "$? $(grep -c 'not ready after 1 s' "$work/h.out")"
bundle h "c['hooks'] = {'createRuntime': [{'path': '/nothing'}]}"
create h h
check "a hook that is not there" 1 $?
for kind in poststart poststop; do
    bundle h "c['hooks'] = {'$kind': [{'path': '/bin/false'}]}; sh('echo fine')"
    check "a failing $kind is only noted" "fine" "$(rt run -b "$work/h" h </dev/null)"
done
nothing_left "hooks"

# -- terminal ----------------------------------------------------------------------------------------------------
cat >"$work/console.py" <<'X'
# The engine's side of --console-socket: takes the master, sets a size, talks, prints what came.
import array, fcntl, os, socket, struct, subprocess, sys, termios, time
path, wait, say = sys.argv[1:4]
s = socket.socket(socket.AF_UNIX)
s.bind(path)
s.listen(1)
p = subprocess.Popen(sys.argv[4:], stdin=subprocess.DEVNULL)
conn, _ = s.accept()
data, anc, _, _ = conn.recvmsg(100, socket.CMSG_LEN(4))
fd = array.array("i", anc[0][2])[0]
assert data.startswith(b"/dev/pts/")
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
if p.wait():
    sys.exit("failed")
out = b""
while True:
    try:
        chunk = os.read(fd, 4096)
    except OSError:
        break
    if not chunk:
        break
    out += chunk
    if wait and wait.encode() in out:
        os.write(fd, say.encode().decode("unicode_escape").encode())
        wait = ""
print(out.decode().replace("\r", ""))
X
bundle tty 'c["process"]["terminal"] = True; c["process"]["consoleSize"] = {"height": 10, "width": 20}
sh("tty; test -t 0 && test -t 1 && echo yes; echo ready; read x; stty size; echo got $x")'
out=$(timeout 60 python3 "$work/console.py" "$work/sock" ready 'abc\n' sh -c "
    '$shim' --root '$state' create --bundle '$work/tty' --console-socket '$work/sock' tty && '$shim' --root '$state' start tty")
check "a terminal: name, size, input" "/dev/pts/0 yes ready abc 40 100 got abc" "$(echo $out)"
rt delete --force tty
bundle sleeps 'sh("sleep 1000")'
create tty sleeps && rt start tty
rm -f "$work/sock"
out=$(timeout 60 python3 "$work/console.py" "$work/sock" ready 'abc\n' "$shim" --root "$state" exec \
    --tty --detach --console-socket "$work/sock" tty sh -c 'echo ready; read x; stty size; echo got $x')
check "a terminal of an exec" "ready abc 40 100 got abc" "$(echo $out)"
rt delete --force tty
create tty tty --console-socket /nowhere/sock
check "nobody at the console socket" "1 1" "$? $(grep -c 'console-socket: /nowhere/sock' "$work/tty.out")"
create tty sleeps --console-socket /nowhere/sock
check "a console socket without a terminal" 1 $?
nothing_left "terminals"

# -- cgroup --------------------------------------------------------------------------------------------------------
if [ -d /sys/fs/cgroup/memory ] && [ -d /sys/fs/cgroup/pids ]; then
    bundle cg 'sh("sleep 1000"); c["linux"]["resources"] = {"memory": {"limit": 419430400}, "pids": {"limit": 20}, "cpu": {"shares": 300, "quota": 50000, "period": 100000}}'
    create k cg && rt start k
    g=/sys/fs/cgroup
    check "cgroup v1: limits" "419430400 124 300 50000" \
        "$(echo $(cat $g/memory/$cgroup_parent/cg/memory.limit_in_bytes $g/pids/$cgroup_parent/cg/pids.max $g/cpu/$cgroup_parent/cg/cpu.shares $g/cpu/$cgroup_parent/cg/cpu.cfs_quota_us))"
    check "cgroup v1: every process is in it" "0" \
        "$(for p in $(cat "$work/k.pid") $(pgrep -P "$(cat "$work/k.pid")"); do grep -q "memory:/.*$cgroup_parent/cg\$" /proc/$p/cgroup || echo $p; done | wc -l)"
    rt delete --force k
elif [ -e /sys/fs/cgroup/cgroup.controllers ]; then
    bundle cg 'sh("sleep 1000"); c["linux"]["resources"] = {"memory": {"limit": 419430400}, "pids": {"limit": 20}, "cpu": {"shares": 1024, "quota": 50000, "period": 100000}}'
    create k cg && rt start k
    g=/sys/fs/cgroup/$cgroup_parent/cg
    check "cgroup v2: limits" "419430400 124 39 50000 100000" \
        "$(echo $(cat $g/memory.max $g/pids.max $g/cpu.weight $g/cpu.max))"
    check "cgroup v2: every process is in it" "0" \
        "$(for p in $(cat "$work/k.pid") $(pgrep -P "$(cat "$work/k.pid")"); do grep -q "^0::.*$cgroup_parent/cg\$" /proc/$p/cgroup || echo $p; done | wc -l)"
    rt delete --force k
fi
bundle cg 'sh("i=0; while [ $i -lt 20 ]; do sleep 3 & i=$((i+1)); done"); c["linux"]["resources"] = {"pids": {"limit": 8}}'
check "pids: a fork fails, the container lives" 1 \
    "$(rt run -b "$work/cg" k 2>&1 </dev/null | grep -c "can't fork" | sed 's/^[1-9].*/1/')"
nothing_left "cgroups"
finish
