#!/bin/bash
# timeout: 250
# What judges have been known to get wrong: a verdict that is another's, a process that stays, a number
# that nobody can use.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/lib_limits.sh"
guest_build

g() {
    local name=$1 verdict=$2
    shift 2
    ends "$name" "$verdict" "${guest[@]}" "$@"
}

# The memory limit is crossed by a thread that is not the first: still the memory limit, no signal.
for cg in auto none; do
    g "memory in a second thread ($cg)" memory-limit --cgroup $cg --memory 128M "$bb" -- /mnt/g thread-memory
    check "no signal ($cg)" None "$(field signal)"
done

# Both ways of holding memory count the same thing.
peak_of() {
    g "$2 MiB of pages ($1)" ok --cgroup "$1" --memory 512M "$bb" -- /mnt/g private "$2"
    peak=$(field memory_peak_bytes)
}
for mib in 0 64; do
    [ $mib = 0 ] && what=1 || what=$mib
    peak_of auto "$what"
    first=$peak
    peak_of none "$what"
    check "the peaks of both agree: $what MiB" yes "$(python3 -c '
import sys
a, b, n = (int(v) / (1 << 20) for v in sys.argv[1:3]), 0, int(sys.argv[3])
a = list(a)
print("yes" if all(n <= v <= n + 60 for v in a) and abs(a[0] - a[1]) < 40 else a)' "$first" "$peak" "$what")"
done

# A program that writes too much and ends at once: the output limit, every time.
for ((i = 0; i < 25; i++)); do
    timeout 300 "$sentry" run --output 64K --report "$work/report" "$bb" -- head -c 100000 /dev/zero >/dev/null 2>&1
    echo "$? $(field verdict) $(field stdout.kept)"
done | sort | uniq -c | sed 's/^ *//' >"$work/verdicts"
check "too much output, then the end" "25 124 output-limit 65536" "$(cat "$work/verdicts")"
ends "output without end" output-limit --output 1M "$bb" -- sh -c 'yes | head -c 2000000000'

# 700 MiB into files: stopped by the disk limit, or by the memory limit where that is lower.
runs "files, stopped by the disk limit" 1 "67108864 28" "${guest[@]}" --file-size 1G "$bb" -- /mnt/g grow 734003200
g "files, stopped by the memory limit" memory-limit --memory 128M --disk 1G --file-size 1G "$bb" -- /mnt/g grow 734003200

# A fork bomb leaves nothing behind, not even zombies. It has a process group of its own to be found by.
set -m
timeout 300 "$sentry" run --report "$work/report" --pids 64 "${guest[@]}" "$bb" -- /mnt/g bomb >/dev/null 2>&1 </dev/null &
group=$!
wait $group
set +m
check "fork bomb" pids-limit "$(field verdict)"
# A process that is ending can still be seen for a moment.
for ((i = 0; i < 1000; i++)); do
    left=$(ps -e -o pgid=,pid=,comm= | awk -v g=$group '$1 == g')
    [ -z "$left" ] && break
    read -r -t 0.01 <> <(:) || :
done
check "fork bomb: nothing is left" "" "$left"

# Inside of a container: limits end programs there too.
if unshare -pfm --mount-proc true 2>/dev/null; then
    timeout 300 unshare -pfm --mount-proc "$sentry" run --report "$work/report" --timeout 500ms "$bb" -- \
        sh -c 'while :; do :; done' >/dev/null 2>&1 </dev/null
    check "in a pid namespace: busy loop" "wall-limit" "$(field verdict)"
    timeout 300 unshare -pfm --mount-proc "$sentry" run --report "$work/report" --cgroup none --memory 128M \
        "${guest[@]}" "$bb" -- /mnt/g private 400 >/dev/null 2>&1 </dev/null
    check "in a pid namespace: memory without a cgroup" "memory-limit sentry" "$(field verdict) $(field enforced_by.memory)"
else
    echo "     no pid namespace: a container was not tried"
fi

# An ordinary user, who may make no cgroup: memory is held all the same, and the report says how.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && [ -r "$bb/bin/busybox" ]; then
    mkdir -p "$work/bin" && cp -L "$sentry" "$(dirname "$sentry")/sentry-gofer" "$work/bin/" && chmod 755 "$work/bin"/*
    mkdir "$work/mine" && chown 12345:12345 "$work/mine"
    as_user() {
        (cd / && timeout 300 setpriv --reuid 12345 --regid 12345 --clear-groups "$work/bin/sentry" run \
            --report "$work/mine/report" "$@" </dev/null)
    }
    if as_user "$bb" -- true 2>"$work/err"; then
        as_user --memory 128M "${guest[@]}" "$bb" -- /mnt/g private 400 >/dev/null 2>&1
        cp "$work/mine/report" "$work/report"
        check "an ordinary user: memory" "memory-limit" "$(field verdict)"
        case $(field enforced_by.memory) in
        sentry | cgroup2) echo "ok   an ordinary user: named" ;;
        *) check "an ordinary user: named" "sentry or cgroup2" "$(field enforced_by.memory)" ;;
        esac
    else
        echo "     no run as an ordinary user here: $(head -1 "$work/err")"
    fi
fi
finish
