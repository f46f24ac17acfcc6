#!/bin/bash
# A caller with room for a few processes only: each run works or says why not, and nobody else's process is ended for it.
source "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || { echo "only root can be a user with no other processes"; exit 77; }
user=$((1000000000 + $$))
export ASAN_OPTIONS=detect_leaks=0 # the leak checker needs a process of its own
as() { timeout -s KILL 60 setpriv --reuid=$user --regid=$user --clear-groups "$@"; }
chmod 755 "$work"
setpriv --reuid=$user --regid=$user --clear-groups sleep 300 &
bystander=$!
until_gone() { for _ in $(seq 100); do [ "$(ps -o stat= -U $user | sed "/Z/d" | wc -l)" = 1 ] && break; sleep 0.05; done; }
for n in $(seq 1 12); do
    out=$(as prlimit --nproc="$n" "$sentry" run --cgroup none "$bb" -- true </dev/null 2>&1)
    rc=$?
    case "$rc" in 0 | 125 | 126) ;; *) check "room for $n processes: the status" "0, 125 or 126" "$rc" ;; esac
    [ $rc = 0 ] || [ "$(wc -l <<<"$out")" = 1 ] || check "room for $n processes: said" "one line" "$out"
    kill -0 $bystander 2>/dev/null || { check "room for $n processes: a bystander" alive gone; break; }
    until_gone
done
check "with room enough it ran" 0 "$rc"
kill $bystander
finish
