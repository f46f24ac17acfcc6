#!/bin/bash
# timeout: 300
# A running sandbox from outside: exec, ps, kill, list, pause, stats; as root and as an ordinary user.
# shellcheck disable=SC2016
source "$(dirname "$0")/lib.sh"

# as COMMAND...: as the user under test.
as() {
    if [ "$who" = root ]; then
        timeout 60 "$@"
    else
        timeout 60 env XDG_RUNTIME_DIR="$work/run" setpriv --reuid=1000 --regid=1000 --clear-groups "$@"
    fi
}

# up NAME [OPTIONS...] -- COMMAND: a sandbox in the background that says `up` once it is ready.
# Its pid is in $monitor.
up() {
    local name=$1 line i
    shift
    mkfifo "$work/fifo.$name"
    if [ "$who" = root ]; then
        "$sentry" run --name "$name" "$@" >"$work/fifo.$name" 2>"$work/err.$name" </dev/null &
    else
        XDG_RUNTIME_DIR="$work/run" setpriv --reuid=1000 --regid=1000 --clear-groups \
            "$sentry" run --name "$name" "$@" >"$work/fifo.$name" 2>"$work/err.$name" </dev/null &
    fi
    monitor=$!
    read -r line <"$work/fifo.$name"
    [ "$line" = up ] || { echo "FAIL $name did not start"; cat "$work/err.$name"; exit 1; }
    # Written by the monitor while the program runs already, or has ended.
    for ((i = 0; i < 1000; i++)); do
        if [ -e "$state/$name/state.json" ] || [ ! -e "$state/$name" ]; then
            return
        fi
        read -r -t 0.01 <> <(:) || :
    done
    echo "FAIL $name is not in the state directory"
    exit 1
}

# cmd NAME STATUS OUTPUT ARGS...: sentry ARGS ends with STATUS and prints OUTPUT.
cmd() {
    local name=$1 status=$2 output=$3 out rc
    shift 3
    out=$(as "$sentry" "$@" 2>"$work/err" </dev/null)
    rc=$?
    check "$who: $name" "$status $output" "$rc $out"
    [ "$rc" = "$status" ] || sed 's/^/     stderr: /' "$work/err" | head -5
}

# cmd_says NAME STATUS PATTERN ARGS...: one line on stderr.
cmd_says() {
    local name=$1 status=$2 pattern=$3 rc
    shift 3
    as "$sentry" "$@" >/dev/null 2>"$work/err" </dev/null
    rc=$?
    if [ "$rc" = "$status" ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -Eq -- "$pattern" "$work/err"; then
        echo "ok   $who: $name"
    else
        echo "FAIL $who: $name (status $rc, wanted $status)"
        sed 's/^/     stderr: /' "$work/err" | head -5
        failures=$((failures + 1))
    fi
}

entries() {
    as "$sentry" list --json | python3 -c '
import json, sys
print(" ".join(e["id"] for e in json.load(sys.stdin) if e["id"].startswith(sys.argv[1])))' "$1"
}

exec_tests() {
    up "$n" "$bb" -- sh -c 'trap "exit 5" TERM; echo up; while :; do sleep 0.05; done'
    cmd "output" 0 "hi" exec "$n" -- echo hi
    cmd "no separator" 0 "hi" exec "$n" echo hi
    cmd "status" 3 "" exec "$n" -- sh -c 'exit 3'
    cmd "signal" 143 "" exec "$n" -- sh -c 'kill -TERM $$'
    check "$who: stdin" 6 "$(echo hello | as "$sentry" exec "$n" -- wc -c)"
    as "$sentry" exec "$n" -- sh -c 'echo e >&2' 2>"$work/err" >"$work/out"
    check "$who: stderr" "e " "$(cat "$work/err") $(cat "$work/out")"
    cmd "parent is nobody, session is its own" 0 "0 yes" exec "$n" -- \
        sh -c 'set -- $(cat /proc/$$/stat); echo $4 $([ "$6" = $$ ] && echo yes)'
    cmd "first program's directory and user" 0 "/tmp 65534" exec "$n" -- sh -c 'echo $(pwd) $(id -u)'
    cmd "workdir" 0 /etc exec --workdir /etc "$n" -- pwd
    cmd "user" 0 "5 6" exec --user 5:6 "$n" -- sh -c 'echo $(id -u) $(id -g)'
    cmd "user root" 0 "0 000001ffffffffff" exec --user 0 "$n" -- \
        sh -c 'echo $(id -u) $(sed -n "s/CapEff:.//p" /proc/self/status)'
    cmd "no capability" 0 0000000000000000 exec "$n" -- sed -n 's/CapEff:.//p' /proc/self/status
    cmd "environment" 0 "v /tmp" exec --env K=v "$n" -- sh -c 'echo $K $HOME'
    cmd "environment replaced" 0 "/x" exec --env HOME=/x "$n" -- sh -c 'echo $HOME'
    cmd "sees the others" 0 1 exec "$n" -- sh -c 'ls -d /proc/1 | wc -l'
    cmd "same files" 0 x exec "$n" -- sh -c 'echo x >/tmp/shared; cat /proc/1/cwd/shared'
    cmd_says "not found" 127 'exec: "nosuch": executable file not found in \$PATH' exec "$n" nosuch
    cmd_says "not found, path" 127 'stat /nosuch: no such file or directory' exec "$n" /nosuch
    cmd_says "not executable" 126 'exec: "/etc/passwd": permission denied' exec "$n" /etc/passwd
    cmd_says "no directory" 125 '/nope' exec --workdir /nope "$n" true
    cmd_says "no user" 125 'nosuchuser' exec --user nosuchuser "$n" true
    cmd_says "no program" 125 'no program' exec "$n"
    cmd_says "no sandbox" 125 "no sandbox 'nosuch" exec nosuch-$$ true
    cmd_says "bad id" 125 'no id' exec ../x true
    cmd_says "unknown option" 125 '--frob' exec --frob "$n" true
    cmd_says "taken name" 125 'exists already' run --name "$n" "$bb" true
    check "$who: large output" "1000000 0" \
        "$(as "$sentry" exec "$n" -- sh -c 'head -c 1000000 /dev/zero' | wc -c) $?"
    check "$who: many at once" "0 1 2 3 4 5 6 7 8 9" "$(for i in 0 1 2 3 4 5 6 7 8 9; do
        as "$sentry" exec "$n" -- sh -c "echo $i" &
    done | sort | tr '\n' ' ' | sed 's/ $//')"
    check "$who: ps" "1 0" "$(as "$sentry" ps --json "$n" | python3 -c '
import json, sys
p = json.load(sys.stdin)[0]
print(p["pid"], p["ppid"])')"
    check "$who: listed" "$n" "$(entries "$n")"
    cmd_says "no process" 125 "no such process" kill "$n" 9999
    cmd_says "no signal" 125 "no signal" kill -s FROB "$n"
    cmd "signal 0" 0 "" kill -s 0 "$n"
    cmd "kill" 0 "" kill -s TERM "$n"
    wait "$monitor"
    check "$who: the handler's status" 5 $?
    check "$who: not listed" "" "$(entries "$n")"
    cmd_says "exec when it has ended" 125 "no sandbox" exec "$n" true
}

# Whoever is in the sandbox when the first program ends, ends with it.
end_tests() {
    up "$n-e" "$bb" -- sh -c 'echo up; sleep 100'
    mkfifo "$work/fifo.end"
    as "$sentry" exec "$n-e" -- sh -c 'echo here; sleep 100' >"$work/fifo.end" &
    local pid=$!
    read -r line <"$work/fifo.end"
    check "$who: runs beside" here "$line"
    cmd "kill -9" 0 "" kill -s KILL "$n-e"
    wait "$pid"
    check "$who: an exec ends with the sandbox" 137 $?
    wait "$monitor"
    check "$who: killed" 137 $?
    rm "$work/fifo.end"
    up "$n-k" "$bb" -- sh -c 'echo up; sleep 100 & sleep 100 & wait'
    check "$who: one process of it" "0" "$(
        pid=$(as "$sentry" ps --json "$n-k" | python3 -c 'import json,sys; print(json.load(sys.stdin)[-1]["pid"])')
        as "$sentry" kill -s KILL "$n-k" "$pid"
        echo $?)"
    cmd "all of it" 0 "" kill --all -s KILL "$n-k"
    wait "$monitor"
    check "$who: all killed" 137 $?
}

# A monitor that is killed leaves an entry that nobody takes for a sandbox.
stale_tests() {
    up "$n-s" "$bb" -- sh -c 'echo up; sleep 100'
    kill -KILL "$monitor"
    wait "$monitor" 2>/dev/null
    check "$who: a killed one is not listed" "" "$(entries "$n-s")"
    up "$n-s2" "$bb" -- sh -c 'echo up; sleep 100'
    kill -KILL "$monitor"
    wait "$monitor" 2>/dev/null
    cmd_says "nor found" 125 "no sandbox|has ended" exec "$n-s2" true
    cmd "and its name is free" 0 x run --name "$n-s2" "$bb" -- echo x
    # What is not a direct run's is not touched, by whoever cleans up.
    as mkdir "$state/$n-c"
    cmd "a run beside" 0 "" run "$bb" -- true
    check "$who: not listed without a state" "" "$(entries "$n-c")"
    as rmdir "$state/$n-c"
    check "$who: a container's directory is left alone" 0 $?
    up "$n-s3" "$bb" -- sh -c 'echo up; sleep 100'
    kill -TERM "$monitor"
    wait "$monitor" 2>/dev/null
    check "$who: one ended by a signal leaves nothing" no "$([ -e "$state/$n-s3" ] && echo yes || echo no)"
}

# A loop that counts in a file stands still while the sandbox is paused.
pause_tests() {
    up "$n-p" "$bb" -- sh -c 'echo up; i=0; while :; do i=$((i+1)); echo $i >/tmp/i; done'
    cmd "pause" 0 "" pause "$n-p"
    cmd_says "paused already" 125 "paused already" pause "$n-p"
    local one two
    one=$(as "$sentry" stats --json "$n-p" | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["syscalls"], d["paused"])')
    two=$(as "$sentry" stats --json "$n-p" | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["syscalls"], d["paused"])')
    check "$who: nothing happens" "$one" "$two"
    check "$who: says so" 1 "${one#* }"
    cmd_says "no exec meanwhile" 125 "is paused" exec "$n-p" true
    cmd "resume" 0 "" resume "$n-p"
    cmd_says "resumed already" 125 "not paused" resume "$n-p"
    cmd "goes on" 0 "yes" exec "$n-p" -- sh -c 'i=$(cat /tmp/i); while [ "$(cat /tmp/i)" = "$i" ]; do :; done; echo yes'
    cmd "pause again" 0 "" pause "$n-p"
    local box child
    box=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["sentry"])' "$state/$n-p/state.json")
    cmd "kill while paused" 0 "" kill -s KILL "$n-p"
    wait "$monitor"
    check "$who: ended" 137 $?
    check "$who: nothing of it is left" no "$([ -d "/proc/$box" ] && echo yes || echo no)"
    # A paused one dies with its monitor too.
    up "$n-q" "$bb" -- sh -c 'echo up; while :; do :; done'
    box=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["sentry"])' "$state/$n-q/state.json")
    child=$(cat "/proc/$box/task/$box/children")
    cmd "pause a busy one" 0 "" pause "$n-q"
    kill -KILL "$monitor"
    wait "$monitor" 2>/dev/null
    # shellcheck disable=SC2086
    gone "$box" $child
    check "$who: a paused one dies with its monitor" 0 $?
}

# gone PID...: within a second.
gone() {
    local i pid left
    for ((i = 0; i < 100; i++)); do
        left=""
        for pid in "$@"; do
            [ -d "/proc/$pid" ] && ! grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null && left="$left $pid"
        done
        [ -z "$left" ] && return 0
        read -r -t 0.01 <> <(:) || :
    done
    echo "     still there:$left"
    return 1
}

# An exec is refused at the limit of tasks, which does not end the run; nor does a file that is none.
limit_tests() {
    local pid line
    up "$n-l" --user 0 --writable --pids 2 "$bb" -- \
        sh -c 'rm -f /etc/passwd; mkfifo /etc/passwd; echo up; exec sleep 100'
    cmd_says "no user in a pipe" 125 "no user 'x'" exec --user x "$n-l" true
    mkfifo "$work/fifo.limit"
    as "$sentry" exec "$n-l" -- sh -c 'echo here; exec sleep 100' >"$work/fifo.limit" &
    pid=$!
    read -r line <"$work/fifo.limit"
    check "$who: one more" here "$line"
    rm "$work/fifo.limit"
    cmd_says "one too many" 125 "limit of 2 tasks" exec "$n-l" true
    cmd "it goes on" 0 "" kill -s KILL "$n-l"
    wait "$pid"
    wait "$monitor"
    check "$who: until it is killed" 137 $?
}

race_tests() {
    local i rc=0
    for i in 1 2 3 4 5 6; do
        up "$n-r$i" "$bb" -- sh -c 'echo up; read x </proc/self/stat'
        for _ in 1 2 3; do
            as "$sentry" exec "$n-r$i" -- true >/dev/null 2>"$work/err" </dev/null
            case $? in 0 | 137) ;; 125) grep -q 'no sandbox\|has ended' "$work/err" || rc=1 ;; *) rc=1 ;; esac
            as "$sentry" list >/dev/null 2>"$work/err" || rc=1
        done
        wait "$monitor" || rc=1
    done
    check "$who: exec and list beside the end" 0 $rc
}

tty_tests() {
    up "$n-t" "$bb" -- sh -c 'echo up; sleep 100'
    local command=("$sentry")
    [ "$who" = root ] || command=(env XDG_RUNTIME_DIR="$work/run" setpriv --reuid=1000 --regid=1000
        --clear-groups "$sentry")
    timeout 60 python3 "$top/tests/e2e/control_tty.py" "$n-t" "${command[@]}"
    check "$who: terminal" 0 $?
    as "$sentry" kill -s KILL "$n-t"
    wait "$monitor"
}

hostile_tests() {
    up "$n-h" "$bb" -- sh -c 'echo up; sleep 100'
    local pid
    pid=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["sentry"])' "$state/$n-h/state.json")
    timeout 100 python3 "$top/tests/e2e/control_hostile.py" "$state/$n-h" "$pid"
    check "$who: hostile client" 0 $?
    as "$sentry" kill -s KILL "$n-h"
    wait "$monitor"
    check "$who: the sandbox lived through it" 137 $?
}

all_tests() {
    exec_tests
    end_tests
    stale_tests
    pause_tests
    limit_tests
    race_tests
    tty_tests
}

n=e2e-$$
if [ "$(id -u)" = 0 ]; then
    who=root state=/run/sentry
    all_tests
    hostile_tests
    rm -f "$work"/fifo.*
    if setpriv --reuid=1000 --regid=1000 --clear-groups test -x "$sentry" -a -x "$bb"; then
        who=user state=$work/run/sentry
        chmod 711 "$work"
        install -d -o 1000 -g 1000 -m 700 "$work/run"
        all_tests
        check "user: directory" 700 "$(stat -c %a "$work/run/sentry")"
    else
        echo "not looked at as uid 1000: it cannot reach the program"
    fi
else
    who=root state=${XDG_RUNTIME_DIR:-/tmp/sentry-$(id -u)}
    [ -z "${XDG_RUNTIME_DIR:-}" ] || state=$XDG_RUNTIME_DIR/sentry
    all_tests
fi
# Without a state directory nothing but --name fails.
mkdir "$work/locked" && touch "$work/locked/sentry"
if [ "$(id -u)" != 0 ] || [ "$who" = user ]; then
    out=$(timeout 60 env XDG_RUNTIME_DIR="$work/locked" setpriv --reuid=1000 --regid=1000 --clear-groups \
        "$sentry" run "$bb" -- echo fine 2>&1)
    check "no state directory" fine "$out"
    timeout 60 env XDG_RUNTIME_DIR="$work/locked" setpriv --reuid=1000 --regid=1000 --clear-groups \
        "$sentry" run --name x "$bb" -- echo fine >/dev/null 2>"$work/err"
    check "no state directory, but a name" "125 yes" "$? $(grep -q -- --name "$work/err" && echo yes)"
fi
finish
