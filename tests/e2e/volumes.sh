#!/bin/bash
# Bind mounts: the same facts as natively, coherence with the host, races, as root and as a user.
# timeout: 240
source "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
tool=$SENTRY_BIN/boot-tool
chmod 755 "$work"

if [ "$(id -u)" = 0 ] && command -v python3 >/dev/null; then
    mkdir "$work/native" "$work/inside"
    timeout 60 python3 "$here/volume_facts.py" "$work/native" >"$work/native.txt" 2>&1
    timeout 100 "$tool" --user 0 --mount "bind:$work/inside:/v:rw" --mount "bind:$here:/agent:ro" "$deb" \
        python3 /agent/volume_facts.py /v >"$work/inside.txt" 2>&1
    check "facts as natively" "" "$(diff "$work/native.txt" "$work/inside.txt")"
    listing() { (cd "$1" && find . -printf '%p %y %m %n %U:%G %s %l\n' | sort | sed 's/^\(.* d [0-7]* [0-9]* [0-9]*:[0-9]*\) [0-9]*/\1/'); }
    check "the host's view of it" "$(listing "$work/native")" "$(listing "$work/inside")"
    mkdir "$work/root"
    timeout 100 python3 "$here/volume_coherence.py" "$tool" "$deb" "$work/root" || failures=$((failures + 1))
    mkdir "$work/user"
    if setpriv --reuid 12345 --regid 12345 --clear-groups unshare -U true 2>/dev/null; then
        timeout 100 python3 "$here/volume_coherence.py" "$tool" "$deb" "$work/user" 12345 || failures=$((failures + 1))
    else
        echo "ok   (no user namespaces for ordinary users here: not tried as one)"
    fi
else
    echo "not root, or no python3: only the plain checks"
fi

mkdir "$work/v" && echo data >"$work/v/f"
boots() {
    local name=$1 status=$2 output=$3 out rc
    shift 3
    out=$(timeout 60 "$tool" "$@" 2>"$work/err" </dev/null)
    rc=$?
    check "$name" "$status $output" "$rc $out"
    [ "$rc" = "$status" ] || sed 's/^/     stderr: /' "$work/err" | head -5
}
boots "written data is there" 0 "" --user 0 --mount "bind:$work/v:/mnt:rw" "$bb" sh -c 'echo new >/mnt/f'
check "on the host" "new" "$(cat "$work/v/f")"
boots "two binds are two file systems" 1 "" --user 0 --mount "bind:$work/v:/mnt:rw" --mount "bind:$work/v:/opt:rw" \
    "$bb" sh -c 'ln /mnt/f /opt/g'
boots "noexec" 126 "" --user 0 --mount "bind:$bb/bin:/mnt:noexec" "$bb" /mnt/busybox true
boots "exec from a volume" 0 "ok" --user 0 --mount "bind:$bb/bin:/mnt:ro" "$bb" /mnt/busybox echo ok
boots "on a place that the image lacks" 0 "new" --oci --mount "bind:$work/v/f:/run/a/b:ro" "$bb" cat /run/a/b
if [ "$(id -u)" = 0 ]; then
    mkdir -p "$work/tree/sub"
    echo below >"$work/tree/sub/f"
    # In a mount namespace of its own: something else is mounted inside of the source.
    nested() {
        timeout 60 unshare -m bash -c 'mount -t tmpfs none "$0/tree/sub" && echo above >"$0/tree/sub/f" && "$@" </dev/null;
            echo "host: $(cat "$0/tree/sub/f")"' "$work" "$tool" --user 0 --mount "bind:$work/tree:/mnt:$1" "$bb" sh -c "$2" 2>&1
    }
    # The host keeps mounts together that another user namespace was given: that place is then shut.
    check "bind: what is mounted below is not shown" "shut
host: above" "$(nested bind 'cat /mnt/sub/f >/dev/null 2>&1 || echo shut')"
    check "rbind: it is part of it" "above
1
no link
host: guest" "$(nested rbind 'cat /mnt/sub/f; echo "$(stat -c %d /mnt /mnt/sub | uniq | wc -l)"; echo guest >/mnt/sub/f
        ln /mnt/sub/f /mnt/l 2>/dev/null || echo no link')"
fi
ln -s /etc "$work/v/etc"
boots "a symlink is the guest's own" 0 "root" --user 0 --mount "bind:$work/v:/mnt:rw" "$bb" \
    sh -c 'head -1 /mnt/etc/passwd | cut -d: -f1'
mkfifo "$work/v/p"
boots "a fifo is no source" 125 "" --mount "bind:$work/v/p:/mnt:rw" "$bb" true
finish
