#!/bin/bash
# Every process of a container's life is killed at every step: what is left reads as stopped, and
# delete --force gets back to nothing. The shim itself is killed by its hooks and by strace at chosen
# system calls, so no step depends on time.
# timeout: 240
# shellcheck disable=SC2046,SC1010,SC2034,SC2045
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_oci.sh"

loop='sh("echo up; while :; do sleep 0.1; done")'
bundle loop "$loop"

# cleaned NAME ID: delete --force works, twice, and nothing is left.
cleaned() {
    rt delete --force "$2" 2>"$work/err"
    check "$1: delete --force" 0 $?
    [ -s "$work/err" ] && sed 's/^/     /' "$work/err"
    rt delete --force "$2"
    nothing_left "$1"
}

monitor_of() {
    rt state "$1" | sed -n 's/.*"pid": \(.*\),/\1/p'
}

child_of() { # NAME PID: the child of that name
    pgrep -P "$2" -f "$1" | head -1
}

# -- the sandbox's processes, in each state -----------------------------------------------------------
for step in created running paused; do
    for victim in monitor sentry gofer; do
        create k loop
        [ $step = created ] || { rt start k && until_true grep -q up "$work/k.out"; }
        [ $step = paused ] && rt pause k
        monitor=$(monitor_of k)
        case $victim in
        monitor) pid=$monitor ;;
        gofer) pid=$(child_of sentry-gofer "$monitor") ;;
        sentry) pid=$(pgrep -P "$monitor" | grep -vx "$(child_of sentry-gofer "$monitor")" | head -1) ;;
        esac
        kill -9 "$pid"
        until_true status_is k stopped || echo "     ($step, $victim)"
        check "$step, the $victim dies: stopped" stopped "$(status k)"
        rt start k 2>/dev/null
        check "$step, the $victim dies: no start" 1 $?
        rt kill --all k 9
        check "$step, the $victim dies: kill --all" 0 $?
        cleaned "$step, the $victim dies" k
    done
done

# -- who waits for an exec ------------------------------------------------------------------------------
create k loop && rt start k
rt exec --detach --pid-file "$work/exec.pid" k sleep 1000 </dev/null >/dev/null 2>&1
kill -9 "$(cat "$work/exec.pid")"
check "the waiter of an exec dies: the container lives" running "$(status k)"
check "the waiter of an exec dies: exec works" hi "$(rt exec k echo hi </dev/null)"
rt exec --detach --pid-file "$work/exec.pid" k sleep 1000 </dev/null >/dev/null 2>&1
rt delete --force k
gone() { ! kill -0 "$(cat "$work/exec.pid")" 2>/dev/null; }
until_true gone
check "the container ends: so does the waiter" 0 $?
nothing_left "exec"

# -- the shim, by its own hooks -----------------------------------------------------------------------------
cat >"$work/murder" <<'X'
#!/bin/sh
cat >/dev/null
[ -e "$1" ] || { : >"$1"; kill -9 $PPID; }
X
chmod +x "$work/murder"
for kind in prestart createRuntime createContainer poststart poststop; do
    rm -f "$work/once"
    bundle hooked "$loop
c['hooks'] = {'$kind': [{'path': '$work/murder', 'args': ['murder', '$work/once']}]}"
    create k hooked
    a=$?
    rt start k 2>/dev/null
    b=$?
    rt kill k 9 2>/dev/null
    until_true status_is k stopped
    case $kind in
    poststop)
        rt delete k
        check "the shim dies in $kind" "0 0 137" "$a $b $?"
        ;;
    poststart) check "the shim dies in $kind" "0 137" "$a $b" ;;
    *) check "the shim dies in $kind" "137 1" "$a $b" ;;
    esac
    create k loop
    check "the shim died in $kind: the id is taken" 1 $?
    cleaned "the shim died in $kind" k
done

# -- the shim, by strace at chosen calls ------------------------------------------------------------------------
if strace -o /dev/null true 2>/dev/null; then
    export ASAN_OPTIONS=detect_leaks=0
    # strace_kill CALL N COMMAND...: killed at its Nth CALL, if it comes so far.
    strace_kill() {
        local call=$1 n=$2
        shift 2
        # The shell that waits for it would say "Killed".
        (
            timeout 60 strace -o /dev/null -e trace="$call" \
                -e "inject=$call:signal=SIGKILL:when=$n" \
                "$shim" --root "$state" --log "$work/log" "$@" >"$work/k.out" 2>&1 </dev/null
            exit $?
        ) 2>/dev/null
    }
    for at in mkdirat:1 mkdir:1 mkdir:3 flock:1 renameat:1 renameat:2 renameat:3 rename:1 \
        rename:2 rename:3 bind:1 listen:1 clone:1 pipe2:1 pipe2:2 write:1 write:3 write:5; do
        strace_kill "${at%:*}" "${at#*:}" create --bundle "$work/loop" \
            --pid-file "$work/k.pid" k
        rt state k >/dev/null 2>&1
        rt start k >/dev/null 2>&1
        cleaned "create dies at $at" k
    done
    for at in flock:1 connect:1 sendmsg:1 renameat:1 rename:1; do
        rm -f "$work/k.up"
        create k loop
        mv "$work/k.out" "$work/k.up"
        strace_kill "${at%:*}" "${at#*:}" start k
        # It was let go before the state was written.
        [ $at != renameat:1 ] || until_true grep -q up "$work/k.up"
        rt state k >/dev/null
        check "start dies at $at: there is a state" 0 $?
        if grep -q up "$work/k.up" 2>/dev/null; then
            rt start k 2>/dev/null
            check "start died at $at, the program runs: start says so" "1 running" "$? $(status k)"
        fi
        cleaned "start dies at $at" k
    done
    for at in flock:1 kill:1 unlinkat:1 unlinkat:2 rmdir:1 rmdir:2 pidfd_open:1; do
        create k loop && rt start k
        strace_kill "${at%:*}" "${at#*:}" delete --force k
        cleaned "delete --force dies at $at" k
    done
else
    echo "skipped: the shim under strace (no strace here)"
fi

# -- two at once -----------------------------------------------------------------------------------------------
for i in 1 2 3 4 5; do
    rt create --bundle "$work/loop" k >"$work/o1" 2>&1 </dev/null &
    one=$!
    rt create --bundle "$work/loop" k >"$work/o2" 2>&1 </dev/null &
    two=$!
    wait $one
    a=$?
    wait $two
    check "two creates of one id: one of them" 1 $((a + $?))
    rt delete --force k &
    one=$!
    rt delete --force k &
    two=$!
    wait $one
    a=$?
    wait $two
    check "two deletes at once" "0 0" "$a $?"
    nothing_left "two at once"
done
finish
