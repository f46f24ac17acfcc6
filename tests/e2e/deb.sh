#!/bin/bash
# timeout: 300
# The Debian package, made from the release build, installed on a clean Debian 12 (a copy of the debian
# image with a root of its own) and run there as root and as somebody else.
source "$(dirname "$0")/lib.sh"
skip() {
    echo "skipped: $*"
    exit 77
}
[ "$(id -u)" = 0 ] || skip "needs root"
release=$top/build/release
[ -x "$release/bin/sentry" ] || skip "no release build: ./dev build release"
[ "$release/bin/sentry" -nt "$top/sentry/cli/main.c" ] || skip "the release build is older than the sources"
command -v dpkg-deb >/dev/null || skip "no dpkg-deb"
[ -x "$deb/usr/bin/dpkg" ] || skip "no debian image: ./dev image debian"

(cd "$work" && timeout 200 cpack -G DEB -D CPACK_COMPONENTS_ALL=runtime --config "$release/CPackConfig.cmake" \
    -B "$work/p") >"$work/log" 2>&1
check "cpack" 0 $?
package=$(echo "$work"/p/sentry_*_amd64.deb)
[ -f "$package" ] || { cat "$work/log"; finish; }
check "no dependencies" "" "$(dpkg-deb -f "$package" Depends)"
check "its files" "./usr/bin/runsc-shim ./usr/bin/sentry ./usr/bin/sentry-gofer" \
    "$(dpkg-deb -c "$package" | awk '{ print $6 }' | grep '/bin/.' | sort | tr '\n' ' ' | sed 's/ $//')"

cp -a "$deb" "$work/root"
cp "$package" "$work/root/sentry.deb"
mkdir "$work/root/bb" && cp -a "$bb/." "$work/root/bb"
cat >"$work/root/inside" <<'INSIDE'
set -e
mount -t proc proc /proc
mount -t sysfs sysfs /sys 2>/dev/null || true
mount -t tmpfs tmpfs /dev && mknod -m 666 /dev/null c 1 3 && mknod -m 666 /dev/urandom c 1 9
umount -l /old && rmdir /old 2>/dev/null || true
PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
export PATH HOME
dpkg -i /sentry.deb >/dev/null
echo "installed $(dpkg-query -W -f '${Version}' sentry)"
sentry run /bb -- echo as root
mkdir -p /home/u && chown 1000:1000 /home/u
HOME=/home/u setpriv --reuid 1000 --regid 1000 --clear-groups sentry run /bb -- echo as user
sentry run / -- cat /etc/debian_version
dpkg -r sentry >/dev/null && [ ! -e /usr/bin/sentry ] && echo removed
INSIDE
out=$(timeout 100 unshare --mount --pid --fork --propagation private sh -c '
    mount --bind "$1" "$1" && cd "$1" && mkdir -p old && pivot_root . old && exec /bin/bash /inside' - \
    "$work/root" 2>"$work/err")
check "on a clean Debian 12" "installed 0.1.0 as root as user 12 removed" \
    "$(echo "$out" | sed 's/^12\..*/12/' | tr '\n' ' ' | sed 's/ $//')"
[ ! -s "$work/err" ] || sed 's/^/     stderr: /' "$work/err" | head -5
finish
