#!/bin/bash
# timeout: 240
# `sentry pull` from a registry: Debian's docker-registry on a free port of the loopback, no TLS.
source "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
skip() {
    echo "skipped: $*"
    exit 77
}
command -v docker-registry >/dev/null || skip "no docker-registry: apt-get install docker-registry"
command -v skopeo >/dev/null || skip "no skopeo: apt-get install --no-install-recommends skopeo"
export SENTRY_STORE=$work/store HOME=$work/home
mkdir -p "$HOME/.config/containers"
[ -e /etc/containers/policy.json ] ||
    echo '{"default": [{"type": "insecureAcceptAnything"}]}' >"$HOME/.config/containers/policy.json"

# --- the registry ----------------------------------------------------------------------------------
pids=()
cleanup() {
    [ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null
    chmod -R u+rwX "$work" 2>/dev/null
    rm -rf "$work"
}
trap cleanup EXIT
# serve DIR: a registry, at $at. A port that somebody else takes meanwhile is tried again.
serve() {
    local try port
    mkdir -p "$1"
    for try in 1 2 3 4 5; do
        port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
        cat >"$work/registry.yml" <<END
version: 0.1
log: {level: info}
storage: {filesystem: {rootdirectory: $1}}
http: {addr: "127.0.0.1:$port"}
END
        docker-registry serve "$work/registry.yml" >"$work/registry.log" 2>&1 &
        pids+=($!)
        for _ in $(seq 300); do
            kill -0 "${pids[-1]}" 2>/dev/null || break
            (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null && at=127.0.0.1:$port && return
            sleep 0.1
        done
    done
    echo "FAIL no registry after $try tries"
    cat "$work/registry.log"
    exit 1
}
serve "$work/registry"
push() {
    timeout 60 skopeo --insecure-policy copy -q --dest-tls-verify=false "$1" "docker://$at/$2" >"$work/log" 2>&1 ||
        cat "$work/log"
}
python3 "$here/images_make.py" "$work/i" "$bb/bin/busybox" || exit 1
push "oci:$work/i/plain" bb:1
push "oci:$work/i/gzip" other/gz:latest

# --- pull ------------------------------------------------------------------------------------------
says "without TLS it has to be told" 125 \
    "^sentry: skopeo could not copy docker://$at/bb:1: .*HTTPS client.*--tls-verify=false" pull "$at/bb:1"
check "nothing is in the store" "" "$("$sentry" images | tail -n +2)"
timeout 60 "$sentry" pull --tls-verify=false "$at/bb:1" >"$work/out" 2>"$work/err"
check "pull" "0 1 0" "$? $(wc -l <"$work/out") $(wc -c <"$work/err")"
id=$(cut -d' ' -f1 "$work/out")
check "its ID is the digest of its configuration" "$id" \
    "$(skopeo inspect --tls-verify=false --raw "docker://$at/bb:1" | python3 -c '
import json, sys
print(json.load(sys.stdin)["config"]["digest"][7:19])')"
check "images" "$at/bb:1" "$("$sentry" images | awk -v id="$id" '$1 == id { print $NF }')"
runs "run by its name" 0 "from cmd" "$at/bb:1"
runs "run by its ID" 0 "from cmd" "$id"
blobs=$(find "$SENTRY_STORE/blobs/sha256" -type f)
check "layers are kept" yes "$([ -n "$blobs" ] && echo yes)"
for f in $blobs; do
    check "layer ${f##*/}" "${f##*/}" "$(sha256sum <"$f" | cut -d' ' -f1)"
done
fetched() { grep -c 'GET /v2/bb/blobs/.*HTTP' "$work/registry.log"; }
before=$(fetched)
push "oci:$work/i/plain" bb:2
check "pull of the same layers under a new tag" 0 \
    "$(timeout 60 "$sentry" pull --tls-verify false "$at/bb:2" >/dev/null 2>&1; echo $?)"
check "no layer was fetched again" yes "$([ $(($(fetched) - before)) -le 1 ] && echo yes)"
check "one image, two names" 2 "$("$sentry" images | awk -v id="$id" '$1 == id { print NF - 2 }')"

# registries.conf says it for all tools.
printf '[[registry]]\nlocation = "%s"\ninsecure = true\n' "$at" >"$HOME/.config/containers/registries.conf"
check "registries.conf: insecure" 0 "$(timeout 60 "$sentry" pull "$at/other/gz" >/dev/null 2>"$work/err"; echo $?)"
runs "run by a name without tag" 0 "ok" "$at/other/gz" -- /bin/sh -c 'echo ok'

# --- what goes wrong is one line -------------------------------------------------------------------
says "a wrong tag" 125 "^sentry: skopeo could not copy docker://$at/bb:3: .*manifest unknown" pull "$at/bb:3"
says "a wrong name" 125 "^sentry: skopeo could not copy docker://$at/nope:1: .*unknown" pull "$at/nope:1"
says "no registry there" 125 "^sentry: skopeo could not copy .*refused" pull 127.0.0.1:1/bb:1
push "oci:$work/i/names" names:1
says "too large" 125 "unpacks to more than 1024 bytes .--max-size" pull --max-size 1K "$at/names:1"
says "a bad option" 125 "tls-verify is true or false" pull --tls-verify=maybe "$at/bb:1"
says "no argument" 125 "usage: sentry pull" pull
mkdir "$work/none"
timeout 60 env PATH="$work/none" "$sentry" pull "$at/bb:1" >/dev/null 2>"$work/err"
check "without skopeo it says how to get it" "125 1 1" "$? $(wc -l <"$work/err") $(grep -c 'apt-get install skopeo' "$work/err")"
# The registry lies: the layer it sends is another one, of the same length.
push "oci:$work/i/whiteouts" bad:1
layer=$(skopeo inspect --tls-verify=false --raw "docker://$at/bad:1" | python3 -c '
import json, sys
print(json.load(sys.stdin)["layers"][-1]["digest"][7:])')
python3 - "$work/registry/docker/registry/v2/blobs/sha256/${layer:0:2}/$layer/data" <<'PY'
import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(200)
    f.write(b"damaged")
PY
says "a layer that is not its digest" 125 "^sentry: .*(igest|match|gzip|invalid|verif)" pull "$at/bad:1"
check "what failed left nothing" "0 2" "$(find "$SENTRY_STORE/tmp" -mindepth 1 | wc -l) $(find "$SENTRY_STORE/images" -mindepth 1 -maxdepth 1 | wc -l)"
check "nor that layer" "" "$(find "$SENTRY_STORE/blobs" -name "$layer")"

# --- killed ----------------------------------------------------------------------------------------
# A skopeo that stands still in the middle: it dies with the command that started it.
mkdir "$work/fake"
cat >"$work/fake/skopeo" <<'END'
#!/bin/bash
for a; do case $a in oci:*) layout=${a#oci:} layout=${layout%:pulled} ;; esac; done
mkdir -p "$layout" && echo half >"$layout/oci-put-blob" && echo $$ >"$FAKE_PID.new" && mv "$FAKE_PID.new" "$FAKE_PID"
exec sleep 1000
END
chmod +x "$work/fake/skopeo"
export FAKE_PID=$work/fake.pid
env PATH="$work/fake:$PATH" "$sentry" pull "$at/bb:9" >/dev/null 2>&1 &
puller=$!
for _ in $(seq 600); do [ -s "$FAKE_PID" ] && break; sleep 0.1; done
kill -9 "$puller"
{ wait "$puller"; } 2>/dev/null
fake=$(cat "$FAKE_PID")
for _ in $(seq 300); do kill -0 "$fake" 2>/dev/null || break; sleep 0.1; done
check "skopeo is gone too" 1 "$(kill -0 "$fake" 2>/dev/null; echo $?)"
says "no half image has a name" 125 "no image" run "$at/bb:9" -- x
# The real one, killed while it copies something large; then once more, in peace.
python3 - "$work" <<'PY'
import os, sys, tarfile, io
with tarfile.open(sys.argv[1] + "/large.tar", "w") as t:
    for n in range(64):
        i = tarfile.TarInfo("noise/%d" % n)
        i.size = 1 << 20
        t.addfile(i, io.BytesIO(os.urandom(i.size)))
PY
timeout 60 python3 - "$work/large.tar" "$work/large" <<'PY'
import hashlib, json, os, sys
tar, lay = sys.argv[1:]
os.makedirs(lay + "/blobs/sha256")
def put(data, media):
    h = hashlib.sha256(data).hexdigest()
    open(f"{lay}/blobs/sha256/{h}", "wb").write(data)
    return {"mediaType": "application/vnd.oci.image." + media, "digest": "sha256:" + h, "size": len(data)}
layer = put(open(tar, "rb").read(), "layer.v1.tar")
config = put(json.dumps({"os": "linux", "architecture": "amd64", "config": {"Cmd": ["/x"]},
                         "rootfs": {"type": "layers", "diff_ids": [layer["digest"]]}}).encode(), "config.v1+json")
m = put(json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                    "config": config, "layers": [layer]}).encode(), "manifest.v1+json")
json.dump({"schemaVersion": 2, "manifests": [m]}, open(lay + "/index.json", "w"))
open(lay + "/oci-layout", "w").write('{"imageLayoutVersion":"1.0.0"}')
PY
push "oci:$work/large" large:1
"$sentry" prune >/dev/null
"$sentry" pull "$at/large:1" >/dev/null 2>&1 &
puller=$!
for _ in $(seq 3000); do
    [ -n "$(find "$SENTRY_STORE/tmp" -type f -size +64k -print -quit 2>/dev/null)" ] && break
    kill -0 "$puller" 2>/dev/null || break
    sleep 0.01
done
kill -9 "$puller" 2>/dev/null
wait "$puller" 2>/dev/null
check "prune after a kill" "0 0" \
    "$("$sentry" prune >/dev/null; echo $?) $(find "$SENTRY_STORE/tmp" -mindepth 1 | wc -l)"
check "pull after a kill" 0 "$(timeout 60 "$sentry" pull "$at/large:1" >/dev/null 2>"$work/err"; echo $?)"
check "it is whole" 64 "$(find "$SENTRY_STORE"/images/*/rootfs/noise -type f -size 1024k 2>/dev/null | wc -l)"
check "no store file is half" "" "$(cd "$SENTRY_STORE/blobs/sha256" && sha256sum * | awk '$1 != $2')"
check "rmi" 0 "$("$sentry" rmi "$at/large:1" "$at/bb:1" "$at/bb:2" "$at/other/gz"; echo $?)"
"$sentry" prune >/dev/null
check "rmi and prune leave nothing" "" "$(find "$SENTRY_STORE/images" "$SENTRY_STORE/blobs" -mindepth 2 2>/dev/null)"
finish
