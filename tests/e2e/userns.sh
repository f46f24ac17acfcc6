#!/bin/bash
# shellcheck disable=SC2046
# Where the caller is the root of a user namespace, as under a rootless engine: with subordinate ids,
# and with none. And an ordinary user whose image belongs to somebody else.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_oci.sh"
skip() {
    echo "skipped: $*"
    exit 77
}
[ "$(id -u)" = 0 ] || skip "only root can give ids to a namespace"
chmod 755 "$work"
mkdir "$work/run" && chown 1000:1000 "$work/run"

apart() { [ "$(readlink /proc/self/ns/user)" != "$(readlink "/proc/$1/ns/user")" ]; }

# in_map COMMAND...: as the root of a new user namespace with the lines $map, in the places of user 1000.
in_map() {
    local holder rc
    unshare --user sleep 100 >/dev/null 2>&1 &
    holder=$!
    until_true apart $holder || return 99
    for file in uid_map gid_map; do
        printf '%s' "$map" | dd bs=4096 of=/proc/$holder/$file 2>/dev/null || rc=1
    done
    [ "${rc:-0}" = 0 ] || { kill $holder; return 98; }
    timeout 60 nsenter --user --target $holder env -u USER XDG_RUNTIME_DIR="$work/run" HOME=/ "$@"
    rc=$?
    kill $holder
    wait $holder 2>/dev/null
    return $rc
}


oci() { in_map "$shim" --log "$work/run/log" run --bundle "$work/b" "c$$"; }

bundle b 'c["process"]["args"] = ["sh", "-c", "echo oci $(id -u)"]'
chmod 755 "$work/b"

map=$'0 1000 1\n1 100000 65536\n'
check "the namespace" 0 "$(in_map id -u)"
check "with subordinate ids" "guest 65534" \
    "$(in_map "$sentry" run "$bb" -- sh -c 'echo guest $(id -u)' </dev/null)"
check "root's image is root's" "0 0" \
    "$(in_map "$sentry" run "$bb" -- stat -c '%u %g' /bin </dev/null | sed 's/65534/0/g')"
check "the OCI runtime" "oci 0" "$(oci </dev/null)"
check "its state is the user's" "drwx------ 1000" "$(stat -c '%A %u' "$work/run/sentry")"
map=$'0 1000 1\n'
check "without any: the namespace" 0 "$(in_map id -u)"
check "without any" "guest 65534" \
    "$(in_map "$sentry" run "$bb" -- sh -c 'echo guest $(id -u)' </dev/null)"
check "without any: the OCI runtime" "oci 0" "$(oci </dev/null)"
bundle kept 'c["process"]["args"] = ["sh", "-c", "mkdir /d && echo mine >/d/f && stat -c %u:%g /d/f /bin"]
c["root"] = {"path": "rootfs"}'
for map in $'0 1000 1\n1 100000 65536\n' $'0 1000 1\n'; do
    rm -rf "$work/kept/rootfs"
    cp -a "$bb" "$work/kept/rootfs" && chown -R 1000:1000 "$work/kept/rootfs" && chmod 755 "$work/kept"
    out=$(in_map "$shim" --root-storage bundle --log "$work/run/log" run --bundle "$work/kept" "c$$" </dev/null)
    check "a root that is kept" "0:0 0:0 mine 1000" \
        "$(echo $out $(cat "$work/kept/rootfs/d/f") $(stat -c %u "$work/kept/rootfs/d/f"))"
done
check "nothing of it is left" "" "$(ls "$work/run/sentry")"

# An ordinary user sees an owner that he has no number for as root, not as the guest's own user.
mkdir -p "$work/image/bin" "$work/image/locked"
cp "$bb/bin/busybox" "$work/image/bin/" && ln -s busybox "$work/image/bin/sh"
chmod 700 "$work/image/locked"
out=$(timeout 60 env XDG_RUNTIME_DIR="$work/run" setpriv --reuid=1000 --regid=1000 --clear-groups \
    "$sentry" run --writable "$work/image" -- sh -c \
    'cd /locked 2>/dev/null || echo refused; busybox stat -c %u /locked' </dev/null 2>&1)
check "an ordinary user, somebody else's image" "refused 0" "$(echo $out)"
finish
