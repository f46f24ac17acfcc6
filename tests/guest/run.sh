#!/bin/bash
# run.sh NAME [static|dynamic|musl]: runs a guest test program natively and in the sandbox and
# compares what it prints and its exit status. NAME.diff beside the source holds the deliberate
# differences: lines of `-native` and `+sandbox`, each under a `# reason`.
# Environment: GUEST_BUILD (folder of the programs), GUEST_ROOT (image with them in /guest), SENTRY,
# SENTRY_OPTIONS (more options of sentry run).
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
name=$1 variant=${2:-static}
build=${GUEST_BUILD:-$top/build/dev/guest}
root=${GUEST_ROOT:-$top/build/dev/guest-root}
sentry=${SENTRY:-$top/build/bin/sentry}
limit=${GUEST_TIMEOUT:-230}
read -ra options <<<"${SENTRY_OPTIONS:-}"
environment=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LANG=C.UTF-8)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -m 1777 "$work/cwd"
chmod 755 "$work"
cp "$build/$variant/$name" "$work/$name" || exit 1
chmod 755 "$work/$name"

# Natively as the same nobody that the sandbox has, in an empty directory.
as_nobody=()
[ "$(id -u)" != 0 ] || as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
(
    cd "$work/cwd" || exit 1
    exec timeout -k 1 "$limit" "${as_nobody[@]}" env -i "${environment[@]}" "$work/$name"
) >"$work/native" 2>"$work/native.err" </dev/null
echo "status $?" >>"$work/native"

timeout -k 5 "$limit" "$sentry" run --timeout "${limit}s" "${options[@]}" "$root" -- "/guest/$variant/$name" \
    >"$work/sandbox" 2>"$work/sandbox.err" </dev/null
echo "status $?" >>"$work/sandbox"

diff -U0 "$work/native" "$work/sandbox" | sed '1,2d' | grep -E '^[-+]' >"$work/found"
grep -E '^[-+]' "$here/$name.diff" >"$work/wanted" 2>/dev/null
if ! diff "$work/wanted" "$work/found" >"$work/delta"; then
    echo "$name ($variant): differs from native beyond what $name.diff allows (-native +sandbox):"
    cat "$work/found"
    echo "--- standard error, native:"
    head -20 "$work/native.err"
    echo "--- standard error, sandbox:"
    head -20 "$work/sandbox.err"
    exit 1
fi
lines=$(wc -l <"$work/native")
echo "$name ($variant): $lines lines equal, $(wc -l <"$work/wanted") deliberate differences"
# A program that prints nothing tests nothing.
[ "$lines" -gt 1 ] || {
    echo "$name: prints nothing"
    exit 1
}
