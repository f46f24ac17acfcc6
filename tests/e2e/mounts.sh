#!/bin/bash
# The mount list of an OCI configuration: types, options, places that the image lacks, masked and
# read-only paths, settings; what of it the program sees.
source "$(dirname "$0")/lib.sh"
tool=$SENTRY_BIN/boot-tool

# boots NAME STATUS OUTPUT ARGS...: as runs, with boot-tool.
boots() {
    local name=$1 status=$2 output=$3 out rc
    shift 3
    out=$(timeout 60 "$tool" "$@" 2>"$work/err" </dev/null)
    rc=$?
    check "$name" "$status $output" "$rc $out"
    [ "$rc" = "$status" ] || sed 's/^/     stderr: /' "$work/err" | head -5
}
usual=(--oci --user 0 --mount "proc::/proc:nosuid,noexec,nodev"
    --mount "tmpfs:tmpfs:/dev:nosuid,strictatime,mode=755,size=65536k"
    --mount "devpts:devpts:/dev/pts:nosuid,noexec,newinstance,ptmxmode=0666,mode=0620,gid=5"
    --mount "sysfs:sysfs:/sys:nosuid,noexec,nodev,ro"
    --mount "mqueue:mqueue:/dev/mqueue:nosuid,noexec,nodev"
    --mount "cgroup:cgroup:/sys/fs/cgroup:rprivate,nosuid,noexec,nodev,relatime,ro")

boots "types and options" 0 "proc rw,nosuid,nodev,noexec,relatime
tmpfs rw,nosuid,relatime,size=65536k,mode=755
devpts rw,nosuid,noexec,relatime,gid=5,mode=620,ptmxmode=666
sysfs ro,nosuid,nodev,noexec,relatime
mqueue rw,nosuid,nodev,noexec,relatime
cgroup2 ro,nosuid,nodev,noexec,relatime" \
    "${usual[@]}" "$bb" sh -c 'sed -n "2,\$p" /proc/self/mounts | while read a b c d e; do echo $c $d; done'
boots "only what is given" 0 "/dev /dev/mqueue /dev/pts /proc /sys /sys/fs/cgroup" "${usual[@]}" "$bb" \
    sh -c 'echo $(cut -d" " -f2 /proc/self/mounts | sed 1d | sort)'
boots "devices" 0 "console fd full mqueue null ptmx pts random shm stderr stdin stdout tty urandom zero" \
    "${usual[@]}" "$bb" sh -c 'echo x >/dev/null; head -c 3 /dev/zero | wc -c >/dev/full; echo $(ls /dev)'
boots "cgroup" 0 "max" "${usual[@]}" "$bb" cat /sys/fs/cgroup/memory.max
boots "places that the image lacks" 0 "a/b/c y z" --oci --user 0 --mount tmpfs::/made/a/b/c --mount tmpfs::/made/y \
    --mount tmpfs::/made/z "$bb" sh -c 'cd /made; echo x >a/b/c/f && echo $(find a -type d | tail -1) $(ls | tail -2)'
boots "listed in the image's directories" 0 "made" --oci --mount tmpfs::/made "$bb" sh -c 'ls / | grep made'
boots "in a writable root" 0 "made ok" --oci --user 0 --writable --mount tmpfs::/made/a "$bb" \
    sh -c 'echo $(ls / | grep made; touch /made/f && echo ok)'
boots "the image stays as it was" 1 "" --oci --user 0 --mount tmpfs::/made/a "$bb" touch /made/f
boots "tmpfs size" 1 "" --oci --user 0 --mount tmpfs::/t:size=64k "$bb" \
    sh -c 'head -c 100000 /dev/zero >/t/f; wc -c </t/f | grep -q 65536 && exit 1'
boots "tmpfs mode, owner, inodes" 0 "drwxr-x--- 7 8" --oci --user 0 \
    --mount tmpfs::/t:mode=750,uid=7,gid=8,nr_inodes=2 "$bb" \
    sh -c 'touch /t/a; touch /t/b && exit 1; stat -c "%A %u %g" /t'
boots "tmpcopyup" 0 "root ok" --oci --user 0 --mount tmpfs::/etc:tmpcopyup "$bb" \
    sh -c 'echo new >/etc/new; echo $(head -1 /etc/passwd | cut -d: -f1) $(test -s /etc/new && echo ok)'
boots "noexec" 126 "" --oci --user 0 --mount tmpfs::/t:noexec "$bb" \
    sh -c 'cp /bin/busybox /t/b; /t/b true'
for option in suid:0 nosuid:1000; do
    boots "${option%:*}" 0 "${option#*:}" --oci --user 0 --mount tmpfs::/t:${option%:*} "$deb" \
        sh -c 'cp /usr/bin/id /t/id; chmod 4755 /t/id; setpriv --reuid 1000 --clear-groups /t/id -u'
done
boots "nodev" 1 "" --oci --user 0 --mount tmpfs::/t:nodev "$bb" \
    sh -c 'mknod /t/n c 1 3 && cat /t/n'
boots "ro" 1 "" --oci --user 0 --mount tmpfs::/t:ro "$bb" touch /t/f
boots "masked" 0 "0 0 1" "${usual[@]}" --masked /proc/cpuinfo --masked /sys/class --masked /nothing --masked /etc/passwd \
    "$bb" sh -c 'a=$(cat /etc/passwd | wc -c); b=$(ls /sys/class | wc -l); touch /sys/class/x 2>/dev/null; echo $a $b $?'
boots "read-only paths" 1 "box" "${usual[@]}" --readonly /proc/sys --readonly /nothing "$bb" \
    sh -c 'cat /proc/sys/kernel/hostname; echo y >/proc/sys/kernel/hostname'
boots "read-only bind shows its root" 0 "/sys /proc/sys" "${usual[@]}" --readonly /proc/sys "$bb" \
    sh -c 'while read a b c d e f; do test $e = /proc/sys && echo $d $e; done </proc/self/mountinfo'
boots "settings" 0 "4096 other 9" "${usual[@]}" --sysctl kernel.shmmax=4096 --sysctl kernel.hostname=other \
    --sysctl net.ipv4.ip_forward=1 --sysctl net/core/somaxconn=9 --sysctl net.made.up=1 "$bb" \
    sh -c 'echo $(cat /proc/sys/kernel/shmmax; hostname; cat /proc/sys/net/core/somaxconn)'
boots "a setting counts" 0 "22" "${usual[@]}" --sysctl kernel.shmmax=4096 "$deb" \
    python3 -c 'import ctypes; l = ctypes.CDLL(None, use_errno=True); l.shmget(0, ctypes.c_size_t(8192), 0o1600); print(ctypes.get_errno())'
boots "unknown setting" 125 "" "${usual[@]}" --sysctl kernel.nothing=1 "$bb" true
boots "unknown type" 125 "" --oci --mount nfs::/n "$bb" true
boots "unknown option" 125 "" --oci --mount tmpfs::/n:frobnicate "$bb" true
boots "a directory on a file" 125 "" --oci --mount tmpfs::/etc/passwd "$bb" true
finish
