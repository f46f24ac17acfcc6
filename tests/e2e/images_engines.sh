#!/bin/bash
# timeout: 240
# Images that skopeo, umoci and podman write; `sentry pull` through skopeo.
source "$(dirname "$0")/lib.sh"
skip() {
    echo "skipped: $*"
    exit 77
}
command -v skopeo >/dev/null || skip "no skopeo: apt-get install --no-install-recommends skopeo"
export SENTRY_STORE=$work/store HOME=$work/home
mkdir "$HOME"
policy=$work/policy.json
echo '{"default": [{"type": "insecureAcceptAnything"}]}' >"$policy"
copy() {
    timeout 60 skopeo --insecure-policy copy -q "$@" >"$work/log" 2>&1 || { cat "$work/log"; return 1; }
}

python3 "$(dirname "$0")/images_make.py" "$work/i" "$bb/bin/busybox"
base=oci:$work/i/plain
copy "$base" "docker-archive:$work/docker.tar:bb:1"
runs "skopeo docker-archive" 0 "from cmd" "$work/docker.tar"
copy "$base" "oci-archive:$work/oci.tar:bb:1"
runs "skopeo oci-archive" 0 "from cmd" "$work/oci.tar"
copy --dest-compress-format gzip "$base" "oci:$work/gz:bb"
runs "skopeo oci, gzip" 0 "from cmd" "$work/gz:bb"
copy --dest-compress-format zstd "oci:$work/gz:bb" "oci:$work/zst:bb" &&
    runs "skopeo oci, zstd" 0 "from cmd" "$work/zst"
check "one image in the store" 1 "$(find "$SENTRY_STORE/images" -mindepth 1 -maxdepth 1 | wc -l)"

# pull: skopeo asks for a policy file; Debian's package of it may be missing where only the binary is.
if [ ! -e /etc/containers/policy.json ]; then
    mkdir -p "$HOME/.config/containers" && cp "$policy" "$HOME/.config/containers/policy.json"
fi
check "pull" "0" "$(timeout 100 "$sentry" pull "oci:$work/gz:bb" >"$work/out" 2>"$work/err"; echo $?)"
runs "run by the name" 0 "from cmd" "oci:$work/gz:bb"
check "layers are kept by digest" yes "$([ -n "$(find "$SENTRY_STORE/blobs/sha256" -type f)" ] && echo yes)"
for f in "$SENTRY_STORE"/blobs/sha256/*; do
    check "blob ${f##*/}" "${f##*/}" "$(sha256sum <"$f" | cut -d' ' -f1)"
done
timeout 60 "$sentry" pull "oci:$work/nothing" >/dev/null 2>"$work/err"
check "pull of nothing" "125 1" "$? $(grep -c '^sentry: skopeo could not copy' "$work/err")"
mkdir "$work/none"
timeout 60 env PATH="$work/none" "$sentry" pull debian:12 >/dev/null 2>"$work/err"
check "without skopeo it says how to get it" "1" "$(grep -c 'apt-get install skopeo' "$work/err")"
"$sentry" rmi "oci:$work/gz:bb" && "$sentry" prune >/dev/null
check "prune removes its layers" "" "$(find "$SENTRY_STORE/blobs" -type f)"

if command -v umoci >/dev/null; then
    umoci init --layout "$work/um" >/dev/null
    umoci new --image "$work/um:a" >/dev/null
    rootless=()
    [ "$(id -u)" = 0 ] || rootless=(--rootless)
    umoci insert "${rootless[@]}" --image "$work/um:a" "$bb" / >/dev/null 2>&1
    umoci insert "${rootless[@]}" --image "$work/um:a" --whiteout /etc/passwd >/dev/null 2>&1
    runs "umoci, whiteout" 1 "" "$work/um:a" -- /bin/busybox cat /etc/passwd
    runs "umoci" 0 "ok" "$work/um:a" -- /bin/busybox echo ok
fi

if command -v podman >/dev/null && [ "$(id -u)" = 0 ]; then
    podman=(timeout 100 podman --root "$work/pr" --runroot "$work/prr" --tmpdir "$work/pt" --storage-driver vfs
        --cgroup-manager cgroupfs --events-backend file)
    if tar -C "$bb" -c . | "${podman[@]}" import -q --change CMD='["/bin/busybox","echo","podman"]' - localhost/bb:1 >"$work/log" 2>&1; then
        "${podman[@]}" save -q --format docker-archive -o "$work/pd.tar" bb:1 >>"$work/log" 2>&1
        runs "podman save, docker-archive" 0 "hi" "$work/pd.tar" -- echo hi
        runs "its Cmd" 0 "podman" "$work/pd.tar"
        "${podman[@]}" save -q --format oci-archive -o "$work/po.tar" bb:1 >>"$work/log" 2>&1
        runs "podman save, oci-archive" 0 "podman" "$work/po.tar"
        "${podman[@]}" save -q --format oci-dir -o "$work/pod" bb:1 >>"$work/log" 2>&1
        runs "podman save, oci-dir" 0 "podman" "$work/pod"
        if copy "containers-storage:[vfs@$work/pr+$work/prr]localhost/bb:1" "oci:$work/cs"; then
            runs "containers-storage to oci" 0 "hi" "$work/cs" -- echo hi
        else
            check "containers-storage to oci" 0 1
        fi
    else
        echo "podman cannot import here: $(tail -1 "$work/log")"
        check "podman import" 0 1
    fi
fi
finish
