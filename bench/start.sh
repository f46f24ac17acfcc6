#!/bin/bash
# start.sh [--hold-workers] [BATCHES]: `true` in a sandbox beside bubblewrap, four rounds a batch, in turns; medians
# of all batches (30). --hold-workers is for a host with too many AF_UNIX sockets in flight, whose kernel looks through
# all of them at every message (docs/performance.md): during a batch, which takes a tenth of a second, the kernel's
# unbound workers get 0.05 ms of every 100 ms (SCHED_DEADLINE), afterwards they are as before. Needs root and bwrap.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
source "$top/bench/lib.sh"
bin=${BIN:-$top/build/release/bin}
bb=${BUSYBOX:-$top/build/images/busybox}
hold=no
[ "${1:-}" != --hold-workers ] || { hold=yes; shift; }
command -v bwrap >/dev/null || { echo "start.sh: no bwrap here" >&2; exit 1; }
rows=$(mktemp)
workers() {
    local pid
    [ $hold = yes ] || return 0
    for pid in $(ps -eo pid,comm --no-headers | awk '$2 ~ /^kworker\/u/ { print $1 }'); do
        if [ "$1" = hold ]; then
            chrt -d --sched-runtime 50000 --sched-deadline 100000000 --sched-period 100000000 -p 0 "$pid"
        else
            chrt -o -p 0 "$pid"
        fi 2>/dev/null || true
    done
}
trap 'workers release; rm -f "$rows"' EXIT
for _ in $(seq "${1:-30}"); do
    workers hold
    timeout 20 "$bin/sentry-bench" --only start --rounds 4 "$bb" | awk '/against bubblewrap/ { print $(NF - 4), $(NF - 2) }' >>"$rows" ||
        true
    workers release
    [ $hold = no ] || sleep 0.3
done
ours=$(median "$rows") theirs=$(median "$rows" 2)
awk -v a="$ours" -v b="$theirs" -v n="$(wc -l <"$rows")" 'BEGIN { printf "sentry %.2f ms, bubblewrap %.2f ms, ratio %.2f (%d batches)\n", a, b, a / b, n }'
