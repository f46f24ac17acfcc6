#!/bin/bash
# --systemd-cgroup on a host that systemd runs with cgroup v2 alone: the scope, what is in it, its end.
# timeout: 200
# shellcheck disable=SC2046
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_oci.sh"
skip() {
    echo "skipped: $*"
    exit 77
}
[ "$(id -u)" = 0 ] || skip "needs root"
[ -e /sys/fs/cgroup/cgroup.controllers ] || skip "cgroup v2 is not the only one here"
[ -d /run/systemd/system ] && command -v busctl >/dev/null || skip "no systemd"
slice=system.slice unit=sentrytest-$$
scope=/sys/fs/cgroup/$slice/$unit-s.scope
s() { rt --systemd-cgroup "$@"; }

bundle s "c['linux']['cgroupsPath'] = '$slice:$unit:s'
c['linux']['resources'] = {'memory': {'limit': 128 << 20}, 'pids': {'limit': 20}, 'cpu': {'quota': 50000, 'period': 100000}}
sh('echo up; sleep 1000')"
s create --bundle "$work/s" --pid-file "$work/s.pid" "s$$" >"$work/s.out" 2>&1 </dev/null
check "create" 0 $?
sed 's/^/     /' "$work/s.out"
check "its group" "0::/$slice/$unit-s.scope/container" "$(cat "/proc/$(cat "$work/s.pid")/cgroup")"
check "the limits" "$((128 << 20)) $((20 * 3 + 64)) 50000 100000" \
    "$(cd "$scope/container" && echo $(cat memory.max pids.max cpu.max))"
check "nothing else in the scope" "" "$(cat "$scope/cgroup.procs")"
s start "s$$"
check "start" "0 running" "$? $(status "s$$")"
check "all of it is in the group" "1" "$(($(wc -l <"$scope/container/cgroup.procs") >= 4))"
s update --memory $((256 << 20)) "s$$"
check "update" $((256 << 20)) "$(cat "$scope/container/memory.max")"
check "events" 1 "$(s events --stats "s$$" | grep -c '"pids"')"
systemctl daemon-reload
check "systemd leaves it alone" "$((256 << 20))" "$(cat "$scope/container/memory.max")"
s delete --force "s$$"
check "delete" 0 $?
gone() { [ ! -e "$scope" ]; }
until_true gone
check "the scope is gone" 0 $?

bundle m "c['linux']['cgroupsPath'] = '$slice:$unit:m'
c['linux']['resources'] = {'memory': {'limit': 64 << 20}}
sh('dd if=/dev/zero of=/dev/null bs=200M count=1')"
s run --bundle "$work/m" "m$$" </dev/null >/dev/null 2>&1
check "a memory limit" 137 $?
bundle n "c['linux']['cgroupsPath'] = 'nothing:good:here'"
s run --bundle "$work/n" "n$$" </dev/null 2>"$work/err"
check "no slice" "1 1" "$? $(grep -c 'no units of systemd' "$work/err")"
nothing_left "systemd"
finish
