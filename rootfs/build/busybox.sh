#!/bin/bash
# busybox.sh DEST: a small root file system in the new directory DEST, from Debian's static busybox:
# one program, a symlink for each of its applets, and the few files that programs expect.
set -euo pipefail

dest=$1
busybox=$(command -v busybox) || {
    echo "busybox.sh: no busybox on this machine (Debian: apt-get install busybox-static)" >&2
    exit 1
}

if readelf -lW "$busybox" | grep -q INTERP; then
    echo "busybox.sh: $busybox is not static (Debian: apt-get install busybox-static)" >&2
    exit 1
fi

mkdir "$dest"
chmod 755 "$dest"
cd "$dest"
mkdir bin sbin dev etc lib lib64 home mnt opt proc root run sys tmp usr usr/bin usr/sbin usr/lib \
    var var/tmp var/log
chmod 1777 tmp var/tmp
chmod 700 root

install -m 755 "$busybox" bin/busybox
bin/busybox --list-full | while read -r applet; do
    [ -e "$applet" ] || ln -s /bin/busybox "$applet"
done

cat >etc/passwd <<'EOF'
root:x:0:0:root:/root:/bin/sh
nobody:x:65534:65534:nobody:/nonexistent:/bin/sh
EOF
cat >etc/group <<'EOF'
root:x:0:
tty:x:5:
nogroup:x:65534:
EOF
printf '127.0.0.1 localhost\n::1 localhost\n' >etc/hosts
printf 'passwd: files\ngroup: files\nhosts: files\n' >etc/nsswitch.conf
printf 'PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin\n' >etc/profile
echo sandbox >etc/hostname
