#!/bin/bash
# The guest programs about files, with a writable bind mount of the host's directory as their /tmp, and in
# a root that is written through: the same facts as natively.
# timeout: 240
source "$(dirname "$0")/lib.sh"
tool=$SENTRY_BIN/boot-tool
programs=$SENTRY_BIN/../guest/static
root=$SENTRY_BIN/../guest-root
[ -x "$programs/file_attr" ] || { echo "no guest programs built"; exit 77; }
[ "$(id -u)" = 0 ] || { echo "only root can be nobody on both sides"; exit 77; }
chmod 755 "$work"
written=$work/written
cp -a "$root" "$written"

for name in file_attr file_copy file_data file_dirs file_inotify file_locks file_names file_open file_xattr mem_map \
    unix_names proc_exec; do
    mkdir -m 1777 "$work/native.$name" "$work/inside.$name"
    cp "$programs/$name" "$work/$name"
    (cd "$work/native.$name" && timeout 50 setpriv --reuid=65534 --regid=65534 --clear-groups \
        env -i PATH=/bin:/usr/bin HOME=/tmp LANG=C.UTF-8 "$work/$name") >"$work/native" 2>/dev/null </dev/null
    echo "status $?" >>"$work/native"
    timeout 50 "$tool" --mount "bind:$work/inside.$name:/tmp:rw" "$root" sh -c "cd /tmp; exec /guest/static/$name" \
        >"$work/inside" 2>"$work/err" </dev/null
    echo "status $?" >>"$work/inside"
    check "$name" "" "$(diff "$work/native" "$work/inside")"
    left() { ls -lAn "$1" | awk '{print $1, $3, $4, $9}'; }
    check "$name: what it left behind" "$(left "$work/native.$name")" "$(left "$work/inside.$name")"
    rm -rf "$written/tmp"
    mkdir -m 1777 "$written/tmp"
    timeout 50 "$tool" --oci --through --user 65534:65534 --mount proc::/proc --mount dev::/dev --mount sysfs::/sys "$written" \
        sh -c "cd /tmp; HOME=/tmp LANG=C.UTF-8 exec /guest/static/$name" >"$work/inside" 2>"$work/err" </dev/null
    echo "status $?" >>"$work/inside"
    check "$name, on the root" "" "$(diff "$work/native" "$work/inside")"
    check "$name, on the root: what it left behind" "$(left "$work/native.$name")" "$(left "$written/tmp")"
done
finish
