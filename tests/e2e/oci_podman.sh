#!/bin/bash
# The real podman and conmon over runsc-shim, in roots of the test's own.
# timeout: 400
# shellcheck disable=SC2046,SC1010,SC2034,SC2045
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_oci.sh"
. "$(dirname "$0")/lib_podman.sh"

# -- run -------------------------------------------------------------------------------------------
check "run" "hi" "$(run bb:1 /bin/busybox echo hi)"
check "uname" "Linux" "$(run bb:1 uname -s)"
run bb:1 sh -c 'exit 42'
check "exit status" 42 $?
run bb:1 /bin/nothing 2>/dev/null
check "a missing command is 127" 127 $?
run bb:1 /etc/passwd 2>/dev/null
check "what is no program is 126" 126 $?
check "stdin" "abc" "$(echo abc | p run --rm -i $ulimits bb:1 cat)"
check "stdout and stderr" "out err" \
    "$(run bb:1 sh -c 'echo out; echo err >&2' 2>"$work/err") $(cat "$work/err")" | sed 's/\n/ /'
check "a megabyte" 1048576 "$(run bb:1 sh -c 'head -c 1048576 /dev/zero' | wc -c)"
check "--user" "12:34" "$(run --user 12:34 bb:1 sh -c 'echo $(id -u):$(id -g)')"
check "--group-add" "0 77" "$(run --group-add 77 bb:1 sh -c 'echo $(id -G)' | tr ' ' '\n' | sort -n | grep -x -e 0 -e 77 | tr '\n' ' ' | sed 's/ $//')"
check "--workdir" "/tmp" "$(run --workdir /tmp bb:1 pwd)"
check "--env" "b c d" "$(run --env A='b c d' bb:1 sh -c 'echo $A')"
check "--hostname" "box" "$(run --hostname box bb:1 hostname)"
check "HOME" "/root" "$(run bb:1 sh -c 'echo $HOME')"
run --read-only bb:1 sh -c 'echo x >/file' 2>/dev/null
check "--read-only: the root" 1 $?
check "--read-only: /tmp" x "$(run --read-only bb:1 sh -c 'echo x >/tmp/file; cat /tmp/file')"
check "a writable root" x "$(run bb:1 sh -c 'echo x >/file; cat /file')"
check "--init" "1 catatonit 0" \
    "$(if [ -x /usr/libexec/podman/catatonit ] || command -v catatonit >/dev/null; then
        run --init bb:1 sh -c 'echo 1 $(cat /proc/1/comm)' | sed 's/podman-init/catatonit/'
    else
        echo "1 catatonit"
    fi) $?"
check "--tmpfs" "tmpfs 1024 x" \
    "$(run --tmpfs /scratch:size=1m bb:1 sh -c 'echo $(grep " /scratch " /proc/mounts | cut -d" " -f1) $(df -k /scratch | tail -1 | awk "{print \$2}"); echo x >/scratch/f; cat /scratch/f' | tr '\n' ' ' | sed 's/ $//')"
check "--tmpfs over what is there" "passwd" \
    "$(run --tmpfs /etc bb:1 ls /etc | grep -x passwd)"
check "--ulimit" "77 99" "$(p run --rm --ulimit nofile=77:99 bb:1 sh -c 'echo $(ulimit -n) $(ulimit -Hn)')"
check "--cap-drop" "0000000000000000" \
    "$(run --cap-drop all bb:1 sed -n 's/CapEff:\t//p' /proc/self/status)"
check "capabilities by default: CHOWN and others, bounding as effective" "1 1" \
    "$(run bb:1 sed -n 's/Cap[EB][fn][fd]:\t//p' /proc/self/status | sort -u | awk 'END {print NR, /[13579bdf]$/}')"
check "--security-opt no-new-privileges" "1" \
    "$(run --security-opt no-new-privileges bb:1 sed -n 's/NoNewPrivs:\t//p' /proc/self/status)"
check "no network" "" "$(run bb:1 sh -c 'ls /sys/class/net' 2>/dev/null)"
run --network none bb:1 nc 127.0.0.1 9 2>/dev/null
check "no connection" 1 $?
check "masked paths" "0" "$(run bb:1 sh -c 'cat /proc/kcore | wc -c' 2>/dev/null)"
run bb:1 sh -c 'echo x >/proc/sys/kernel/hostname' 2>/dev/null
check "read-only paths" 1 $?
check "--sysctl" 65536 "$(run --sysctl kernel.shmmax=65536 bb:1 cat /proc/sys/kernel/shmmax)"
run --device /dev/kmsg bb:1 true 2>"$work/err"
check "a device of the host is refused" "126 1" "$? $(grep -c 'no such device' "$work/err")"

# -- volumes ------------------------------------------------------------------------------------------
mkdir "$work/vol"
echo host >"$work/vol/in"
echo one >"$work/single"
check "volume, read" host "$(run -v "$work/vol:/vol" bb:1 cat /vol/in)"
run -v "$work/vol:/vol" bb:1 sh -c 'echo guest >/vol/out && mkdir /vol/d && mv /vol/in /vol/d/moved'
check "volume, written" "guest host" "$(cat "$work/vol/out") $(cat "$work/vol/d/moved")"
run -v "$work/vol:/vol:ro" bb:1 sh -c 'echo x >/vol/no' 2>/dev/null
check "volume, read-only" "1 no file" "$? $([ -e "$work/vol/no" ] || echo no file)"
check "a single file" one "$(run -v "$work/single:/etc/single:ro" bb:1 cat /etc/single)"
run -v "$work/single:/etc/single" bb:1 sh -c 'echo two >/etc/single'
check "a single file, written" two "$(cat "$work/single")"
p volume create v >/dev/null
run -v v:/data bb:1 sh -c 'echo kept >/data/f'
check "a named volume" kept "$(run -v v:/data bb:1 cat /data/f)"
run -v "$work/vol:/vol" bb:1 sh -c 'ln -s /etc/shadow /vol/link; cat /vol/../vol/link' >/dev/null 2>&1
check "a link in a volume is the guest's" 0 "$(run -v "$work/vol:/vol" bb:1 cat /vol/link 2>/dev/null | grep -c root:)"

# -- limits --------------------------------------------------------------------------------------------
if [ -d /sys/fs/cgroup/memory ] || grep -qs memory /sys/fs/cgroup/cgroup.controllers; then
    run --memory 300m bb:1 sh -c 'head -c 900m /dev/zero | tail >/dev/null' 2>/dev/null
    check "--memory is a limit" 137 $?
fi
check "--pids-limit is a limit" "1" \
    "$(run --pids-limit 10 bb:1 sh -c 'i=0; while [ $i -lt 30 ]; do sleep 5 & i=$((i+1)); done' 2>&1 | grep -c "can't fork" | sed 's/^[1-9].*/1/')"

# -- a life ------------------------------------------------------------------------------------------------
p run -d --name t --memory 400m --pids-limit 50 $ulimits bb:1 \
    sh -c 'trap "echo got TERM; exit 3" TERM; echo up; while :; do sleep 0.1; done' >/dev/null
check "run -d" 0 $?
up() { p logs "$1" 2>/dev/null | grep -q "$2"; }
until_true up t up
check "logs" up "$(p logs t)"
check "ps" "t" "$(p ps --format '{{.Names}}')"
check "exec" "5 hi" "$(p exec t sh -c 'echo hi; exit 5' >"$work/o" </dev/null; echo $? $(cat "$work/o"))"
check "exec sees the processes" 1 "$(p exec t ps </dev/null | grep -c 'trap')"
check "exec -i" abc "$(echo abc | p exec -i t cat)"
check "exec --user --workdir --env" "5 /tmp z" \
    "$(echo $(p exec --user 5 --workdir /tmp --env Z=z t sh -c 'id -u; pwd; echo $Z' </dev/null))"
p exec t /bin/nothing >/dev/null 2>&1 </dev/null
check "exec of what is not there" 127 $?
p exec t /etc/passwd >/dev/null 2>&1 </dev/null
check "exec of what is no program" 126 $?
p exec t sh -c 'kill -9 $$' </dev/null
check "exec, killed" 137 $?
p exec -d t sh -c 'echo done >/tmp/flag' >/dev/null
until_true p exec t test -e /tmp/flag </dev/null
check "exec -d" done "$(p exec t cat /tmp/flag </dev/null)"
check "stats" "t" "$(p stats --no-stream --format '{{.Name}}' t)"
p pause t >/dev/null
check "pause" "0 paused" "$? $(p inspect -f '{{.State.Status}}' t)"
p unpause t >/dev/null
check "unpause" "0 running" "$? $(p inspect -f '{{.State.Status}}' t)"
check "exec after unpause" hi "$(p exec t echo hi </dev/null)"
p stop -t 20 t >/dev/null
check "stop, with a handler" 0 $?
check "wait" 3 "$(p wait t)"
check "the handler ran" "got TERM" "$(p logs t | tail -1)"
p start t >/dev/null
until_true running t
check "start again" running "$(p inspect -f '{{.State.Status}}' t)"
p restart -t 1 t >/dev/null
check "restart" "0 running" "$? $(p inspect -f '{{.State.Status}}' t)"
p rm -f -t 0 t >/dev/null
check "rm -f" 0 $?
p run -d --name t $ulimits bb:1 sh -c 'echo up; while :; do sleep 0.1; done' >/dev/null
until_true up t up
p stop -t 1 t >/dev/null 2>&1
check "stop, without a handler" 137 "$(p wait t)"
p rm t >/dev/null
p run -d --name t $ulimits bb:1 sh -c \
    'for s in HUP INT QUIT USR1 USR2 TERM WINCH CONT; do trap "echo $s" $s; done; echo up; while :; do sleep 0.05; done' >/dev/null
until_true up t up
for s in HUP INT QUIT USR1 USR2 TERM WINCH CONT; do
    p kill -s $s t >/dev/null
    until_true up t "^$s"
    check "kill -s $s" 0 $?
done
p kill -s KILL t >/dev/null
check "kill -s KILL" 137 "$(p wait t)"
p rm t >/dev/null

# -- attach, terminals ---------------------------------------------------------------------------------------
p run -d --name a $ulimits bb:1 \
    sh -c 'while [ ! -e /tmp/go ]; do echo tick; sleep 0.05; done; echo attached; exit 8' >/dev/null
p attach --no-stdin a >"$work/attach" 2>/dev/null </dev/null &
attach=$!
ticks() { grep -qs tick "$work/attach"; }
until_true ticks
p exec a touch /tmp/go </dev/null
wait $attach
check "attach" attached "$(grep -v -e tick -e '^$' "$work/attach")"
check "attach: wait" 8 "$(p wait a)"
p rm -f a >/dev/null
# A pty of the test's own: what the container prints, and what it is told.
cat >"$work/terminal.py" <<'X'
import os, pty, select, sys, time, struct, fcntl, termios
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[3], sys.argv[3:])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 77, 0, 0))
wait, say, out = sys.argv[1], sys.argv[2], b""
end = time.time() + 60
while time.time() < end:
    r, _, _ = select.select([fd], [], [], 1)
    if not r:
        continue
    try:
        data = os.read(fd, 4096)
    except OSError:
        break
    if not data:
        break
    out += data
    if wait and wait.encode() in out:
        os.write(fd, say.encode().decode("unicode_escape").encode())
        wait = ""
st = os.waitpid(pid, 0)[1]
sys.stdout.write(out.decode(errors="replace").replace("\r", ""))
print("exit", os.waitstatus_to_exitcode(st))
X
tty() { timeout 90 python3 "$work/terminal.py" "$@"; }
pod_words=(podman --root "$dir/root" --runroot "$dir/run" --tmpdir "$dir/tmp" --storage-driver vfs
    --runtime runsc-shim)
out=$(tty '' '' "${pod_words[@]}" run --rm -it $ulimits bb:1 sh -c 'tty; test -t 0 && test -t 1 && echo yes; exit 4')
check "run -it" "/dev/pts/0 yes exit 4" "$(echo $out)"
out=$(tty 'ready' 'hello\n' "${pod_words[@]}" run --rm -it $ulimits bb:1 sh -c 'echo ready; read x; echo "got $x"')
check "run -it: typed" "got hello exit 0" "$(echo "$out" | tail -2 | tr '\n' ' ' | sed 's/ $//')"
p run -d --name i $ulimits bb:1 sleep 1000 >/dev/null
out=$(tty ready 'abc\n' "${pod_words[@]}" exec -it i sh -c 'echo ready; read x; stty size; exit 6')
check "exec -it: size and status" "ready abc 33 77 exit 6" "$(echo $out)"
p rm -f -t 0 i >/dev/null

# -- healthcheck, build, pods --------------------------------------------------------------------------------
p run -d --name h $ulimits --health-cmd 'test -e /tmp/fine' --health-interval disable bb:1 sleep 1000 >/dev/null
p healthcheck run h >/dev/null 2>&1
check "healthcheck, bad" 1 $?
p exec h touch /tmp/fine </dev/null
p healthcheck run h >/dev/null 2>&1
check "healthcheck, good" 0 $?
p rm -f -t 0 h >/dev/null
p run -d --name k $ulimits bb:1 sh -c 'echo up; sleep 1000' >/dev/null
p generate kube k >"$work/k.yaml" 2>/dev/null
p rm -f -t 0 k >/dev/null
# Nothing is to be started again while it is taken down.
grep -q restartPolicy "$work/k.yaml" || sed -i 's/^spec:/spec:\n  restartPolicy: Never/' "$work/k.yaml"
p play kube --network none "$work/k.yaml" >/dev/null 2>"$work/err"
check "play kube" "0 running" "$? $(p inspect -f '{{.State.Status}}' k-pod-k)"
p play kube --down "$work/k.yaml" >/dev/null 2>"$work/err"
check "play kube --down" 0 $?
sed 's/^/     /' "$work/err"
p pod rm -f -a >/dev/null
mkdir "$work/build"
# What RUN writes to the root is in memory and gone with its container, so a build can run programs
# but keeps only what COPY and ADD bring (docs/oci.md).
echo copied >"$work/build/file"
cat >"$work/build/Containerfile" <<'X'
FROM localhost/bb:1
COPY file /copied
RUN test "$(cat /copied)" = copied && echo built >/made && cat /made
ENV A=b
CMD ["sh", "-c", "cat /copied; echo $A"]
X
p build -q --isolation oci --network none --ulimit nofile=1024:4096 -t made:1 "$work/build" \
    >"$work/o" 2>&1
check "build --isolation oci" 0 $?
grep -i error "$work/o"
check "the image that was built" "copied b" "$(echo $(run made:1 2>&1))"
check "inspect" runsc-shim "$(p run -d --name q $ulimits bb:1 sleep 100 >/dev/null; p inspect -f '{{.OCIRuntime}}' q)"
# The container's pid is in an empty mount namespace: cp into a running container must not write to
# the host's file of that name.
echo copied >"$work/c"
p cp "$work/c" "q:$dir/canary" 2>/dev/null
check "cp into a running container stays out of the host" "1 no file" \
    "$(($? != 0)) $([ -e "$dir/canary" ] || echo no file)"
p rm -f -t 0 q >/dev/null
nothing_of_podman_left
finish
