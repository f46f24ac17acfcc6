#!/bin/bash
# runsc-shim by hand: every command, the states, the errors and how they are reported.
# timeout: 240
# shellcheck disable=SC2046,SC1010,SC2034,SC2045
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_oci.sh"
export LC_ALL=C

# -- run ------------------------------------------------------------------------------------------
bundle hello 'sh("echo hi; id -u; hostname; ulimit -n; exit 3")'
out=$(rt run --bundle "$work/hello" r1 </dev/null)
check "run: output and status" "3 hi 0 box 256" "$? $(echo $out)"
bundle sleeps 'c["process"]["args"] = ["sleep", "100"]'
rt run --bundle "$work/sleeps" r2 </dev/null &
until_true status_is r2 running
rt kill r2 KILL
wait $!
check "run: a signal is 128 + n" 137 $?
bundle stdin 'c["process"]["args"] = ["cat"]'
check "run: standard input" "abc" "$(echo abc | rt run -b "$work/stdin" r3)"
echo 12345 >"$work/file"
bundle fds 'sh("cat <&3; echo out >&4")'
echo three >"$work/three"
rt run -b "$work/fds" --preserve-fds 2 r5 3<"$work/three" 4>"$work/four" >"$work/o" </dev/null
check "run: --preserve-fds" "three out" "$(cat "$work/o" "$work/four" | tr '\n' ' ' | sed 's/ $//')"
bundle append 'sh("echo appended")'
(exec >>"$work/file" && rt run -b "$work/append" r4 </dev/null)
check "run: the position of standard output is kept" "12345 appended" "$(echo $(cat "$work/file"))"
bundle streams 'sh("cat && echo out && echo err >&2 && exit 7")'
rt run -b "$work/streams" r6 <&- >&- 2>&-
check "run: without standard streams" 7 $?
nothing_left "run"

# -- create, start, state, exec, kill, delete -------------------------------------------------------
bundle trap 'sh("trap \"echo got; exit 7\" TERM; echo up; while :; do sleep 0.1; done")'
create t trap
check "create" 0 $?
check "state: created" created "$(status t)"
pid=$(cat "$work/t.pid")
check "state: the pid" "$pid" "$(rt state t | sed -n 's/.*"pid": \(.*\),/\1/p')"
check "nothing ran before start" "" "$(cat "$work/t.out")"
create t trap 2>/dev/null
check "the id is taken: status" 1 $?
check "the id is taken: message" "runsc-shim: container with id exists already: t" \
    "$(cat "$work/t.out")"
rt delete t 2>"$work/err"
check "a created container can be deleted" "0" "$?"
create t trap
rt start t
check "start" 0 $?
until_true grep -q up "$work/t.out"
check "state: running" running "$(status t)"
rt start t 2>"$work/err"
check "start again" "1 runsc-shim: cannot start an already running container" \
    "$? $(cat "$work/err")"
rt delete t 2>"$work/err"
check "delete of a running one" \
    "1 runsc-shim: cannot delete container t that is not stopped: running" "$? $(cat "$work/err")"
check "list" "t running" "$(rt list | awk 'NR > 1 {print $1, $3}')"
check "list --quiet" t "$(rt list -q)"
check "list as json" "t running" \
    "$(rt list --format json | python3 -c 'import json,sys; [print(x["id"], x["status"]) for x in json.load(sys.stdin)]')"
check "ps" "sh" "$(rt ps t | awk '$2 == 1 {print $6}')"
check "ps as json" 1 "$(rt ps --format json t | python3 -c 'import json,sys; print(json.load(sys.stdin)[0])')"
check "exec: output and status" "5 in 7 /tmp" \
    "$(rt exec --env A=7 --cwd /tmp t sh -c 'echo in $A; pwd; exit 5' >"$work/o" 2>&1 </dev/null; echo $? $(cat "$work/o"))"
check "exec: user" "12 34" \
    "$(echo $(rt exec --user 12:34 t sh -c 'id -u; id -g' </dev/null))"
check "exec: standard input" abc "$(echo abc | rt exec t cat)"
check "exec: --preserve-fds" three \
    "$(rt exec --preserve-fds 1 t sh -c 'cat <&3' 3<"$work/three" </dev/null)"
rt exec t /bin/nothing >/dev/null 2>"$work/err" </dev/null
check "exec of what is not there: status" 127 $?
check "exec of what is not there: message" 1 "$(grep -ic 'runsc-shim: .*/bin/nothing.*no such file or directory' "$work/err")"
rt exec t /etc/passwd >/dev/null 2>&1 </dev/null
check "exec of what is no program" 126 $?
rt exec t sh -c 'kill -9 $$' </dev/null
check "exec: a signal" 137 $?
rt exec t sh -c 'kill -15 $$' </dev/null
check "exec: another signal" 143 $?

cat >"$work/process.json" <<X
{"args": ["sh", "-c", "id -u; pwd; sleep 0.2; exit 9"], "cwd": "/tmp", "user": {"uid": 5, "gid": 6},
 "env": ["PATH=/bin"], "selinuxLabel": "x"}
X
# The engine is the parent of the process that it waits for: here a subreaper in Python.
cat >"$work/engine.py" <<'X'
import ctypes, os, subprocess, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
pidfile = sys.argv[1]
r = subprocess.run(sys.argv[2:])
if r.returncode:
    sys.exit(f"failed {r.returncode}")
pid = int(open(pidfile).read())
while True:
    p, st = os.waitpid(-1, 0)
    if p == pid:
        print("signal %d" % os.WTERMSIG(st) if os.WIFSIGNALED(st) else "exit %d" % os.WEXITSTATUS(st))
        break
X
engine() {
    timeout 60 python3 "$work/engine.py" "$@"
}
out=$(engine "$work/x.pid" "$shim" --root "$state" exec --detach --pid-file "$work/x.pid" \
    --process "$work/process.json" t </dev/null)
check "exec --detach --process: the pid ends with the status" "5 /tmp exit 9" "$(echo $out)"
out=$(engine "$work/x.pid" "$shim" --root "$state" exec -d --pid-file "$work/x.pid" t \
    sh -c 'kill -15 $$' </dev/null)
check "exec --detach: the pid dies of the signal" "signal 15" "$out"

# -- pause, resume, events, update -------------------------------------------------------------------
rt exec -d t sh -c 'i=0; while :; do i=$((i+1)); echo $i >/tmp/n; done' </dev/null >/dev/null 2>&1
until_true rt exec t test -s /tmp/n
rt pause t
check "pause" "0 paused" "$? $(status t)"
rt pause t 2>/dev/null
check "pause again" 1 $?
rt exec t true 2>"$work/err" </dev/null
check "exec in a paused one" "255 runsc-shim: cannot exec in a paused container" \
    "$? $(cat "$work/err")"
# Nothing of the guest computes while it is paused: not one tick in its cgroup or processes.
ticks() {
    local p sum=0 t
    for p in $(pgrep -P "$(pgrep -P "$(cat "$work/t.pid")" -x sentry | head -1)" 2>/dev/null); do
        t=$(awk '{print $14 + $15}' "/proc/$p/stat" 2>/dev/null)
        sum=$((sum + ${t:-0}))
    done
    echo $sum
}
a=$(ticks)
sleep 0.3
check "nobody computes meanwhile" "$a" "$(ticks)"
rt resume t
check "resume" "0 running" "$? $(status t)"
rt resume t 2>/dev/null
check "resume again" 1 $?
n=$(rt exec t cat /tmp/n </dev/null)
until_true rt exec t sh -c "[ \$(cat /tmp/n || echo 0) -gt ${n:-0} ]" </dev/null 2>/dev/null
check "it goes on" 0 $?
check "events --stats" "stats t True" \
    "$(rt events --stats t | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["type"], d["id"], "pids" in d["data"] and d["data"]["memory"]["usage"]["usage"] >= 0)')"
if [ -d "/sys/fs/cgroup/memory/$cgroup_parent/trap" ] || [ -f /sys/fs/cgroup/cgroup.controllers ]; then
    rt update --memory 400M --pids-limit 40 t
    check "update by options" 0 $?
    bundle many 'c["process"]["args"] = ["sleep", "1000"]'
    create many many && rt start many
    # forks N: so many processes of the guest at once; one that cannot be made is an error.
    forks() {
        rt exec many sh -c "i=0; while [ \$i -lt $1 ]; do sleep 100 & i=\$((i+1)); done; kill \$(jobs -p)" \
            >/dev/null 2>&1 </dev/null
    }
    threads_max() { rt exec many cat /proc/sys/kernel/threads-max </dev/null; }
    rt update --pids-limit 12 many
    ! forks 20
    check "update: more tasks than that" 0 $?
    rt exec many killall -9 sleep </dev/null 2>/dev/null
    rt update --pids-limit 60 many
    forks 20
    check "update: the limit is raised" "0 60" "$? $(threads_max)"
    rt update --pids-limit -1 many
    check "update: no limit" "0 4096" "$? $(threads_max)"
    rt delete --force many
    echo '{"memory": {"limit": 314572800}, "cpu": {"shares": 512}}' | rt update --resources - t
    check "update --resources -" "0 314572800" \
        "$? $(rt events --stats t | python3 -c 'import json,sys; print(json.load(sys.stdin)["data"]["memory"]["usage"]["limit"])')"
fi
echo '{"memory": {"limit": "x"}}' | rt update --resources - t 2>"$work/err"
check "update with a wrong type" \
    "1 runsc-shim: standard input:1: memory.limit: must be an integer, not a string" \
    "$? $(cat "$work/err")"

# -- the end ------------------------------------------------------------------------------------------
rt kill t TERM
check "kill" 0 $?
until_true status_is t stopped
check "the handler ran" got "$(tail -1 "$work/t.out")"
check "state: stopped, pid 0" 0 "$(rt state t | sed -n 's/.*"pid": \(.*\),/\1/p')"
rt kill t 9 2>"$work/err"
check "kill of a stopped one" "1 runsc-shim: container not running" "$? $(cat "$work/err")"
rt kill --all t 9
check "kill --all of a stopped one" 0 $?
rt exec t true 2>"$work/err" </dev/null
check "exec in a stopped one" "255 runsc-shim: cannot exec in a stopped container" \
    "$? $(cat "$work/err")"
rt start t 2>"$work/err"
check "start of a stopped one" "1 runsc-shim: cannot start a container that has stopped" \
    "$? $(cat "$work/err")"
rt delete t
check "delete" 0 $?
rt delete t 2>"$work/err"
check "delete again" "1 runsc-shim: container does not exist" "$? $(cat "$work/err")"
rt delete --force t
check "delete --force of what is not there" 0 $?
rt state t 2>"$work/err"
check "state of what is not there" "1 runsc-shim: container does not exist" "$? $(cat "$work/err")"
nothing_left "one life"

# The engine's view: exit status and signal of the pid in the pid file.
for end in 'exit 0:exit 0' 'exit 42:exit 42' 'exec /nothing:exit 127'; do
    bundle e "sh('''${end%:*}''')"
    out=$(engine "$work/e.pid" sh -c "
        '$shim' --root '$state' create --bundle '$work/e' --pid-file '$work/e.pid' e &&
        '$shim' --root '$state' start e" </dev/null)
    check "the pid: ${end%:*}" "${end#*:}" "$out"
    rt delete e
done
# (The first process of a pid namespace cannot signal itself: the signal comes from outside.)
out=$(engine "$work/e.pid" sh -c "
    '$shim' --root '$state' create --bundle '$work/sleeps' --pid-file '$work/e.pid' e &&
    '$shim' --root '$state' start e && '$shim' --root '$state' kill e KILL" </dev/null)
check "the pid: SIGKILL" "signal 9" "$out"
rt delete e
# A pid file takes the place of a file, never of a device or a pipe that was named by mistake.
mkfifo "$work/pipe.pid"
rt create --bundle "$work/sleeps" --pid-file "$work/pipe.pid" e 2>"$work/err"
check "a pipe as the pid file" "1 1" "$? $(grep -c 'not a regular file' "$work/err")"
check "the pipe is still one" 0 "$(test -p "$work/pipe.pid"; echo $?)"
rt delete --force e
# First process and signals: those it does not handle do nothing, SIGKILL always works.
bundle deaf 'sh("echo up; while :; do sleep 0.1; done")'
create d deaf && rt start d
until_true grep -q up "$work/d.out"
rt kill d TERM
rt kill d USR1
check "an unhandled signal does nothing" "up running" "$(cat "$work/d.out") $(status d)"
rt kill d KILL
check "SIGKILL" 0 $?
until_true status_is d stopped
rt delete d
for sig in NOSUCH 65 -3; do
    create d deaf && rt kill d "$sig" 2>/dev/null
    check "signal $sig" 1 $?
    rt delete --force d
done
create d deaf && rt start d && rt pause d && rt kill d KILL
until_true status_is d stopped
check "SIGKILL reaches a paused container" "stopped" "$(status d)"
rt delete d
create d deaf && rt start d && rt pause d && rt delete --force d
check "delete --force of a paused one" 0 $?
nothing_left "signals"

# -- what cannot be started is found at create ------------------------------------------------------------
fails() { # NAME BUNDLE PATTERN
    : >"$work/log"
    create f "$2"
    local rc=$?
    local lines
    lines=$(wc -l <"$work/f.out")
    if [ $rc = 1 ] && [ "$lines" = 1 ] && grep -Eq -- "$3" "$work/f.out" &&
        python3 - "$work/log" "$3" <<'PY'; then
import json, re, sys
lines = open(sys.argv[1]).read().splitlines()
d = json.loads(lines[0])
sys.exit(not (len(lines) == 1 and d["level"] == "error" and re.search(sys.argv[2], d["msg"]) and d["time"]))
PY
        echo "ok   $1"
    else
        echo "FAIL $1: status $rc"
        cat "$work/f.out" "$work/log"
        failures=$((failures + 1))
    fi
    rt delete --force f
}
bundle b 'c["process"]["args"] = ["/bin/nothing"]'
fails "a missing program" b 'no such file or directory'
bundle b 'c["process"]["args"] = ["nothing"]'
fails "a missing program by name" b 'executable file not found in .PATH'
bundle b 'c["process"]["args"] = ["/etc/passwd"]'
fails "what is no program" b 'permission denied'
bundle b 'c["process"]["args"] = 7'
fails "a wrong type" b 'config.json:1: process.args: must be an array, not an integer'
bundle b 'del c["root"]'
fails "no root" b 'needs the key "root"'
bundle b 'c["root"]["path"] = "../.."'
fails "a root outside of the bundle" b 'root.path: .* leads out of the bundle'
bundle b 'c["root"]["path"] = "/nowhere"'
fails "a root that is not there" b 'root.path: /nowhere: No such file or directory'
bundle b 'c["mounts"].append({"destination": "/x", "type": "ext4", "source": "/dev/sda"})'
fails "a file system of the host" b "type 'ext4' is not supported"
bundle b 'c["mounts"].append({"destination": "/x", "type": "bind", "source": "/dev/mem", "options": ["bind"]})'
fails "a device as a bind mount" b '(only directories and files|No such file)'
bundle b 'c["mounts"].append({"destination": "/x", "type": "tmpfs", "options": ["frob"]})'
fails "an unknown mount option" b "option 'frob' is not known"
bundle b 'c["linux"]["devices"] = [{"path": "/dev/sda", "type": "b", "major": 8, "minor": 0}]'
fails "a device of the host" b 'there is no such device'
bundle b 'c["linux"]["sysctl"] = {"kernel.core_pattern": "|/bin/sh"}'
fails "a sysctl of the host" b "'kernel.core_pattern' is not one of a container's own"
bundle b 'c["linux"]["cgroupsPath"] = "/../.."'
fails "the top of the cgroups" b 'not below the top'
bundle b 'c["process"]["terminal"] = True'
fails "a terminal without a socket" b 'console socket'
printf '{"ociVersion": "1.0.2", "root": ' >"$work/b/config.json"
fails "a broken document" b 'config.json:1:'
rm "$work/b/config.json"
fails "no document" b 'config.json: No such file or directory'
mkfifo "$work/b/config.json"
fails "a pipe as the document" b 'config.json'
rm "$work/b/config.json"
nothing_left "failures"

# -- the log ----------------------------------------------------------------------------------------------
bundle w 'c["news"] = 1; c["process"]["capabilities"] = {"bounding": ["CAP_MAGIC"]}'
: >"$work/log"
rt run -b "$work/w" w </dev/null
check "unknown fields are warnings, the network is named once" "2 warning 1 info" \
    "$(python3 - "$work/log" <<'PY'
import json, sys
l = [json.loads(x) for x in open(sys.argv[1])]
print(len([x for x in l if x["level"] == "warning" and "config.json" in x["msg"]]), "warning",
      len([x for x in l if x["level"] == "info" and "no network" in x["msg"]]), "info")
PY
)"
timeout 60 "$shim" --root "$state" --log "$work/text" state nobody 2>/dev/null
check "the log as text" 1 "$(grep -c 'level=error msg="container does not exist"' "$work/text")"

# -- ids, options, the rest ----------------------------------------------------------------------------------
for id in '' . .. a/b 'a b' "$(printf 'a\nb')" ../x 'a;b'; do
    rt state "$id" >/dev/null 2>&1
    check "id '$id'" 1 $?
done
bundle hello 'sh("echo hi")'
check "a plain id" hi "$(rt run -b "$work/hello" "A_9+b.c-d" </dev/null)"
check "--version" "runsc-shim" "$("$shim" --version | awk 'NR == 1 {print $1}')"
check "features" "1.2.0" "$(rt features | python3 -c 'import json,sys; print(json.load(sys.stdin)["ociVersionMax"])')"
mkdir "$work/spec"
(cd "$work/spec" && "$shim" --root "$state" spec && "$shim" spec 2>/dev/null)
check "spec, not twice" "1 1.2.0" "$? $(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["ociVersion"])' "$work/spec/config.json")"
for c in checkpoint restore; do
    rt $c x 2>"$work/err"
    check "$c" "1 1" "$? $(grep -c 'not supported' "$work/err")"
done
rt frobnicate 2>/dev/null
check "an unknown command" 1 $?
rt state --frob x 2>/dev/null
check "an unknown option" 1 $?
rt --systemd-cgroup create -b "$work/hello" s 2>"$work/err"
check "--systemd-cgroup" "1 1" "$? $(grep -c 'cgroupfs\|SLICE:PREFIX:NAME' "$work/err")"
check "--cgroup-manager disabled" hi \
    "$(rt --cgroup-manager disabled run -b "$work/hello" s </dev/null)"
group=/sys/fs/cgroup/memory/$cgroup_parent/busy
[ ! -e /sys/fs/cgroup/cgroup.controllers ] || group=/sys/fs/cgroup/$cgroup_parent/busy
if mkdir -p "$group" 2>/dev/null; then
    sleep 60 &
    sleeper=$!
    echo $sleeper >"$group/cgroup.procs"
    bundle busy
    create s busy
    check "a cgroup in use" "1 1 1" \
        "$? $(grep -c 'is in use' "$work/s.out") $(kill -0 $sleeper && echo 1)"
    kill $sleeper
    wait $sleeper 2>/dev/null
    until_true rmdir "$group" 2>/dev/null
fi
nothing_left "all"
finish
