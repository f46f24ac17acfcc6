#!/bin/bash
# root.sh BUSYBOX_IMAGE GUEST_BUILD ROOT: makes the image that guest test programs run in: busybox,
# the C library of this machine for the dynamic programs, and the programs in /guest.
set -euo pipefail
image=$1 build=$2 root=$3

[ -x "$image/bin/busybox" ] || {
    echo "root.sh: no busybox image at $image; ./dev image busybox makes it" >&2
    exit 1
}
rm -rf "$root.new"
cp -a "$image" "$root.new"
cp -r "$build" "$root.new/guest"

# Whatever libraries the dynamic programs name, the loader included, at their own paths.
find "$build/dynamic" -type f -perm -1 -exec ldd {} + 2>/dev/null |
    grep -oE '/[^ ]+\.so[^ ]*' | sort -u | while read -r lib; do
    mkdir -p "$root.new$(dirname "$lib")"
    cp -L "$lib" "$root.new$lib"
done
# Loaded by the C library at run time (thread cancellation), so ldd does not show it.
unwinder=$(gcc -print-file-name=libgcc_s.so.1)
libc=$(find "$root.new" -name libc.so.6 | head -n 1)
if [ -n "$libc" ] && [ -e "$unwinder" ]; then
    cp -L "$unwinder" "$(dirname "$libc")/libgcc_s.so.1"
fi
chmod -R go+rX "$root.new/guest"
rm -rf "$root"
mv "$root.new" "$root"
