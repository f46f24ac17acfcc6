#!/bin/bash
# Whoever of monitor, sentry, gofer and volume server is killed: no process of the run is left.
source "$(dirname "$0")/lib.sh"

# All descendants of a pid.
tree() {
    local child
    for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
        echo "$child"
        tree "$child"
    done
}

wait_gone() {
    local i pid left
    # Long before the wall limit of a minute.
    for ((i = 0; i < 3000; i++)); do
        left=""
        for pid in "$@"; do
            # A zombie is gone as far as the run is concerned: only its parent can clear it.
            if [ -d "/proc/$pid" ] && ! grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null; then
                left="$left $pid"
            fi
        done
        [ -z "$left" ] && return 0
        read -r -t 0.01 <> <(:) || :
    done
    echo "     still there:$left"
    return 1
}

mkdir "$work/volume"
for victim in monitor sentry gofer volumes; do
    mkfifo "$work/out.$victim"
    "$sentry" run --volume "$work/volume:/mnt:ro" "$bb" -- sh -c 'sleep 1000 & sleep 1000 & while :; do :; done & echo up; wait' \
        >"$work/out.$victim" 2>/dev/null </dev/null &
    monitor=$!
    read -r line <"$work/out.$victim"
    check "$victim: the guest runs" up "$line"
    mapfile -t pids < <(tree "$monitor")
    case $victim in
    monitor) target=$monitor ;;
    gofer | volumes)
        mapfile -t servers < <(for p in "${pids[@]}"; do grep -qx sentry-gofer "/proc/$p/comm" && echo "$p"; done)
        target=${servers[0]}
        [ "$victim" = gofer ] || target=${servers[-1]}
        ;;
    sentry) target=$(for p in $(cat /proc/"$monitor"/task/*/children); do grep -qx sentry "/proc/$p/comm" && echo "$p"; done | head -1) ;;
    esac
    kill -KILL "$target"
    # Before anything waits for the monitor: the wall limit would end the run too, much later.
    if wait_gone "${pids[@]}"; then
        echo "ok   $victim killed: nothing left"
    else
        echo "FAIL $victim killed: processes left"
        failures=$((failures + 1))
    fi
    kill -KILL "$monitor" 2>/dev/null
    wait "$monitor" 2>/dev/null
done
finish
