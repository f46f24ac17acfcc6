# Sourced by the scripts with podman, after lib_oci.sh: podman in roots of the test's own, an image
# bb:1 of busybox. runsc-shim is the runtime as it is; runsc-bundle the same with --root-storage bundle.
# shellcheck shell=bash disable=SC2154,SC2034,SC2086
for program in podman conmon; do
    command -v $program >/dev/null || { echo "skipped: no $program here"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "skipped: podman is tested as root"; exit 77; }
export LC_ALL=C

# Names of sockets have 108 bytes at most, and podman's are long.
dir=$(mktemp -d /tmp/sp.XXXX)
mkdir "$dir/tmp"
cat >"$dir/containers.conf" <<X
[containers]
netns = "none"
log_driver = "k8s-file"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
tmp_dir = "$dir/tmp"
volume_path = "$dir/volumes"
runtime_supports_json = ["runsc-shim", "runsc-bundle"]
runtime_supports_nocgroup = ["runsc-shim", "runsc-bundle"]
[engine.runtimes]
runsc-shim = ["$dir/runsc-shim"]
runsc-bundle = ["$dir/runsc-bundle"]
X
# podman gives the runtime no --root; the test's containers have one of their own all the same.
printf '#!/bin/sh\nexec %q --root %q "$@"\n' "$shim" "$dir/state" >"$dir/runsc-shim"
printf '#!/bin/sh\nexec %q --root-storage bundle "$@"\n' "$dir/runsc-shim" >"$dir/runsc-bundle"
chmod +x "$dir/runsc-shim" "$dir/runsc-bundle"
export CONTAINERS_CONF=$dir/containers.conf TMPDIR=$dir/tmp
# No option -i unless a test asks for it: standard input of the script is not podman's.
p() {
    timeout 60 podman --root "$dir/root" --runroot "$dir/run" --tmpdir "$dir/tmp" \
        --storage-driver vfs --runtime runsc-shim "$@"
}
cleanup() {
    p rm -f -a -t 0 >/dev/null 2>&1
    p pod rm -f -a >/dev/null 2>&1
    umount -R "$dir/root" "$dir/run" 2>/dev/null
    rm -rf "$dir"
    oci_cleanup
    rm -rf "$work"
}
trap cleanup EXIT
ulimits="--ulimit nofile=1024:4096"
run() { p run --rm $ulimits "$@" </dev/null; }
# The containers are removed: no state, no group, no process of them may be there.
nothing_of_podman_left() {
    check "nothing of podman is left" "" "$(p ps -a -q)"
    state=$dir/state
    nothing_left "podman"
    check "no process is left" "" "$(grep -las "$dir" /proc/[0-9]*/cmdline 2>/dev/null | while read -r f; do
        { tr '\0' ' ' <"$f"; } 2>/dev/null | grep -E 'conmon|sentry|runsc-shim'
    done)"
}
running() { [ "$(p inspect -f '{{.State.Status}}' "$1" 2>/dev/null)" = "${2:-running}" ]; }

tar -C "$bb" -c . | p import -q - bb:1 >/dev/null || { echo "FAIL import"; exit 1; }

