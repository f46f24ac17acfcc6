#!/bin/bash
# timeout: 600
# Images that are not directories: layouts and archives, good and hostile, the store. As root also as
# somebody else.
source "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)

if [ "$(id -u)" = 0 ] && [ "${IMAGES_AS_USER:-}" = "" ]; then
    chmod 755 "$work"
    mkdir "$work/user" && chown 12345:12345 "$work/user"
    IMAGES_AS_USER=1 HOME=$work/user TMPDIR=$work/user setpriv --reuid 12345 --regid 12345 \
        --clear-groups bash "$here/images.sh" >"$work/user.out" 2>&1
    code=$?
    grep -v '^ok' "$work/user.out" | sed 's/^/as user: /'
    check "everything as an ordinary user" 0 "$code"
fi

export SENTRY_STORE=$work/store
mkdir "$work/canary" "$work/tmp"
echo safe >"$work/canary/victim"
export TMPDIR=$work/tmp
find "$work/canary" /etc/passwd /etc/group -exec stat -c '%n %i %s %Y %Z %a %u' {} + >"$work/before"
python3 "$here/images_make.py" "$work/i" "$bb/bin/busybox" || exit 1
i=$work/i

unchanged() {
    find "$work/canary" /etc/passwd /etc/group -exec stat -c '%n %i %s %Y %Z %a %u' {} + >"$work/after"
    check "$1: the host is unchanged" "" "$(diff "$work/before" "$work/after" | head -3)"
}

# store_has N: as many images, and nothing unfinished.
store_has() {
    check "$1: images in the store" "$2 0" \
        "$(find "$SENTRY_STORE/images" -mindepth 1 -maxdepth 1 | wc -l) $(find "$SENTRY_STORE/tmp" -mindepth 1 | wc -l)"
}

# --- bad images: one line, status 125, nothing left ------------------------------------------------
mkdir -p "$SENTRY_STORE" && chmod 700 "$SENTRY_STORE"
while IFS=$'\t' read -r name kind pattern; do
    [ "$kind" = bad ] || continue
    says "bad: $name" 125 "^sentry: image $i/$name: .*($pattern)" run "$i/$name" -- /bin/sh -c true
    [ ! -d "$SENTRY_STORE/images" ] || store_has "$name" 0
done <"$i/cases"
unchanged "bad images"

# --- good images -----------------------------------------------------------------------------------
runs "entrypoint and cmd" 0 "from cmd" "$i/plain"
runs "program replaces both" 0 "mine" "$i/plain" -- /bin/busybox echo mine
runs "workdir is made" 0 "/made/up" "$i/plain" -- /bin/busybox pwd
runs "workdir option" 0 "/etc" --workdir /etc "$i/plain" -- /bin/busybox pwd
runs "env" 0 "image mine" --env B=mine "$i/plain" -- /bin/sh -c 'echo $A $B'
runs "user and group by name" 0 "33 35" "$i/plain" -- /bin/sh -c 'echo $(busybox id -u) $(busybox id -g)'
runs "user option" 0 "5" --user 5 "$i/plain" -- /bin/busybox id -u
store_has "good images" 1
sh='/bin/sh'
runs "gzip" 0 "x" "$i/gzip" -- /bin/busybox cat /etc/x
[ ! -d "$i/zstd" ] || runs "zstd" 0 "x" "$i/zstd" -- /bin/busybox cat /etc/x
for n in large-gzip large-twice large-zstd; do
    [ ! -d "$i/$n" ] || runs "$n" 0 "400000 400000" "$i/$n" -- $sh -c 'busybox stat -c %s /noise/0 /noise/7 | busybox xargs busybox echo'
done
runs "whiteouts" 0 "o o/new o/sub o/sub/new w w/b" "$i/whiteouts" -- $sh -c \
    'cd /; echo $(busybox find o p w 2>/dev/null | busybox sort)'
runs "hard links" 0 "one 4 one loop" "$i/links" -- $sh -c \
    'cd /l; echo $(busybox cat two; busybox stat -c %h one; busybox cat four; busybox readlink five)'
runs "hard links, one file" 0 "1" "$i/links" -- $sh -c \
    'busybox stat -c %i /l/one /l/two /l/three /l/four | busybox sort -u | busybox wc -l'
runs "through a link" 0 "a b" "$i/through" -- $sh -c 'echo $(busybox cat /usr/lib/a /usr/lib/b)'
runs "replaced" 0 "in in now a file passwd" "$i/replace" -- $sh -c \
    'cd /r; echo $(busybox cat file/in link/in dir) $(busybox ls /etc | busybox grep passwd)'
runs "names" 0 "pax u nl gnu dot abs abc" "$i/names" -- $sh -c \
    'cd /; echo $(busybox cat n/d*/d*/d*/d*/d*/d*/d*/d*/d*/d*/d*/d*/d*/d*/d*/d*/d*/d*/d*/d*/e* n/*ut n/new* g/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/end dot/x abs/x a/b/c)'
runs "modes and times" 0 "4755 1777 2755 0 1000000000 1000000000" --user 0 "$i/attributes" -- $sh -c \
    'cd /; echo $(busybox stat -c %a s t sg closed) $(busybox stat -c %Y t s)'
if [ "$(id -u)" = 0 ]; then
    runs "owners" 0 "1000:1001 0:7 0:0" "$i/attributes" -- $sh -c \
        'cd /; echo $(busybox stat -c %u:%g s sg sg/in)'
else
    runs "owners: the emulated root's" 0 "0:0 0:0" "$i/attributes" -- $sh -c \
        'cd /; echo $(busybox stat -c %u:%g s sg)'
fi
root=$(echo "$SENTRY_STORE"/images/*/rootfs/closed)
check "xattrs" "user.color" "$(getfattr --only-values -n user.color "${root%closed}u" >/dev/null 2>&1 &&
    echo user.color || python3 -c 'import os,sys; print(*os.listxattr(sys.argv[1]))' "${root%closed}u")"
runs "devices are none" 0 "regular empty file regular empty file fifo" "$i/devices" -- $sh -c \
    'echo $(busybox stat -c %F /null /sda /fifo); echo gone >/dev/null'
check "no device in the store" "" "$(find "$SENTRY_STORE/images" -type b -o -type c 2>/dev/null)"
runs "/dev and /proc are links" 0 "ok" "$i/devlink" -- $sh -c 'busybox echo x >/dev/null && echo ok'
says "/sys is a file" 125 "/sys" run "$i/sysfile" -- $sh -c true
runs "/dev leads nowhere" 0 "ok" "$i/devgone" -- $sh -c 'echo ok'
runs "empty layers" 0 "root" "$i/empty-layer" -- $sh -c 'read a </etc/passwd; echo ${a%%:*}'
runs "member twice" 0 "second" "$i/double" -- /bin/busybox cat /x
runs "platforms" 0 "ok" "$i/platforms" -- $sh -c 'echo ok'
runs "by name" 0 "ok" "$i/platforms:one" -- $sh -c 'echo ok'
says "no such name" 125 "no image 'three'" run "$i/platforms:three" -- $sh -c true
runs "several, one chosen" 0 "ok" "$i/several:two" -- $sh -c 'echo ok'
# in_image CASE: the path of its tree in the store.
in_image() {
    local id
    id=$(timeout 60 "$sentry" import "$i/$1" "case-$1" | cut -d' ' -f1)
    echo "$SENTRY_STORE/images/$id"*/rootfs
}
check "a link out, written through" "inside" "$(cat "$(in_image escape-write)$work/canary/file")"
check "a link out, deleted through" "" "$(ls "$(in_image escape-whiteout)$work/canary")"
runs "a link out, made opaque" 0 "ok" "$i/escape-opaque" -- $sh -c 'echo ok'
check "absolute name" "inside" "$(cat "$(in_image absolute)$work/canary/absolute")"
runs "a sparse file" 0 "200000000 data" "$i/sparse" -- $sh -c \
    'echo $(busybox stat -c %s /big) $(busybox dd if=/big bs=1000000 skip=100 count=1 2>/dev/null | busybox head -c 4)'
check "holes cost nothing" yes "$([ "$(du -k "$(in_image sparse)/big" | cut -f1)" -lt 1000 ] && echo yes)"
says "import --max-size" 125 "member big: .*larger than 134217728 bytes" import --max-size 128M "$i/sparse-fresh"
says "import --max-size of nonsense" 125 "^sentry: --max-size" import --max-size=much "$i/plain"
says "import of an unknown option" 125 "unknown option --nope" import --nope "$i/plain"
runs "pax path" 0 "x" "$i/pax-path" -- /bin/busybox cat /in/side
unchanged "good images"

# --- archives --------------------------------------------------------------------------------------
tar -C "$i/plain" -cf "$work/oci.tar" .
gzip -k "$work/oci.tar"
runs "layout as a tar" 0 "from cmd" "$work/oci.tar"
runs "layout as a tar.gz" 0 "from cmd" "$work/oci.tar.gz"
python3 - "$i/plain" "$work" <<'PY'
import json, os, sys, tarfile
lay, out = sys.argv[1:]
read = lambda d: open(os.path.join(lay, "blobs/sha256", d[7:]), "rb").read()
m = json.loads(read(json.load(open(lay + "/index.json"))["manifests"][0]["digest"]))
blob = lambda d: os.path.join(lay, "blobs/sha256", d["digest"][7:])
def save(name, config, layer, extra):
    doc = [{"Config": config, "RepoTags": ["saved:1"], "Layers": [layer]}]
    open(out + "/manifest.json", "w").write(json.dumps(doc))
    with tarfile.open(out + "/" + name, "w") as t:
        t.add(blob(m["config"]), config)
        extra(t)
        t.add(out + "/manifest.json", "manifest.json")
def old(t):
    t.add(blob(m["layers"][0]), "abc/layer.tar")
    link = tarfile.TarInfo("def/layer.tar")
    link.type, link.linkname = tarfile.SYMTYPE, "../abc/layer.tar"
    t.addfile(link)
hex = m["config"]["digest"][7:]
layer = m["layers"][0]["digest"][7:]
save("docker-old.tar", hex + ".json", "def/layer.tar", old)
save("docker-new.tar", "blobs/sha256/" + hex, "blobs/sha256/" + layer,
     lambda t: t.add(blob(m["layers"][0]), "blobs/sha256/" + layer))
save("docker-name.tar", "0" * 64 + ".json", "abc/layer.tar", old)
save("docker-missing.tar", hex + ".json", "nope/layer.tar", old)
save("docker-out.tar", hex + ".json", "../../../../etc/passwd", old)
PY
runs "docker archive" 0 "from cmd" "$work/docker-old.tar"
runs "docker archive, new form" 0 "from cmd" "$work/docker-new.tar"
runs "docker archive, by name" 0 "from cmd" "$work/docker-new.tar:saved:1"
says "docker archive, wrong name" 125 "no image 'x:1'.*saved:1" run "$work/docker-new.tar:x:1" -- x
says "docker archive, config's name lies" 125 'manifest.json: \[0\].Config' run "$work/docker-name.tar"
says "docker archive, no such layer" 125 'Layers\[0\]: member nope/layer.tar is missing' run "$work/docker-missing.tar"
says "docker archive, layer outside" 125 'Layers\[0\]' run "$work/docker-out.tar"
head -c 3000 "$work/docker-old.tar" >"$work/cut.tar"
says "docker archive, cut" 125 "cut.tar: (not an image|config|manifest.json|member)" run "$work/cut.tar"
: >"$work/nothing.tar"
says "empty file" 125 "nothing.tar: not an image" run "$work/nothing.tar"
mkfifo "$work/fifo.tar"
says "a fifo" 125 "neither a directory nor a file" run "$work/fifo.tar" -- x
unchanged "archives"

# --- the store -------------------------------------------------------------------------------------
chmod 777 "$SENTRY_STORE"
says "a store that others can write" 125 "written by somebody else" run "$i/plain" -- x
chmod 755 "$SENTRY_STORE"
says "no such image" 125 "no image 'nosuch'" run nosuch -- true
check "import" "0" "$(timeout 60 "$sentry" import "$work/docker-old.tar" >"$work/out"; echo $?)"
check "import names it" "saved:1" "$(cut -d' ' -f2 "$work/out")"
id=$(cut -d' ' -f1 "$work/out")
runs "by name" 0 "from cmd" saved:1
runs "by id" 0 "from cmd" "$id"
check "import under a name" "0" "$(timeout 60 "$sentry" import "$i/gzip" mine/x:latest >/dev/null; echo $?)"
runs "by name, :latest" 0 "ok" mine/x -- $sh -c 'echo ok'
check "images" "1 1" "$("$sentry" images | grep -c 'saved:1$') $("$sentry" images | grep -c ' mine/x:latest$')"
check "images --json" "mine/x:latest" "$("$sentry" images --json | python3 -c '
import json, sys
print(*[n for i in json.load(sys.stdin) for n in i["names"] if n.startswith("mine")])')"
says "bad name" 125 "cannot be the name" import "$i/gzip" "two words"
says "import of nothing" 125 "/nonexistent" import /nonexistent
"$sentry" run --timeout 50s mine/x -- $sh -c 'echo up; read x' >"$work/up" < <(sleep 30) &
runner=$!
for _ in $(seq 300); do [ -s "$work/up" ] && break; sleep 0.1; done
says "rmi of an image in use" 125 "in use" rmi "$("$sentry" images | grep mine | cut -c1-12)"
kill "$runner"
wait "$runner" 2>/dev/null
check "rmi" "0" "$("$sentry" rmi saved:1; echo $?)"
says "gone" 125 "no image 'saved:1'" run saved:1 -- x
mkdir -p "$SENTRY_STORE/tmp/left/rootfs/a/b" && chmod 500 "$SENTRY_STORE/tmp/left/rootfs/a"
check "prune" "0" "$("$sentry" prune >"$work/out"; echo $?)"
check "prune leaves what has a name" "0" "$("$sentry" import "$i/gzip" mine/x:latest >/dev/null; "$sentry" prune >/dev/null; echo $?)"
store_has "after prune" 5
runs "still there" 0 "ok" mine/x -- $sh -c 'echo ok'

# Killed while unpacking: garbage that prune removes, and the next run works.
python3 - "$work" "$here" <<'PY'
import tarfile, sys, io, os
with tarfile.open(sys.argv[1] + "/many.tar", "w") as t:
    for n in range(20000):
        t.addfile(tarfile.TarInfo("f%d" % n))
PY
mkdir "$work/many" && cp -r "$i/plain/." "$work/many"
python3 - "$work/many" "$work/many.tar" <<'PY'
import hashlib, json, os, sys
lay, tar = sys.argv[1:]
put = lambda data: (open(f"{lay}/blobs/sha256/{hashlib.sha256(data).hexdigest()}", "wb").write(data),
                    {"digest": "sha256:" + hashlib.sha256(data).hexdigest(), "size": len(data)})[1]
index = json.load(open(lay + "/index.json"))
get = lambda d: json.loads(open(f"{lay}/blobs/sha256/{d['digest'][7:]}").read())
m = get(index["manifests"][0])
c = get(m["config"])
layer = put(open(tar, "rb").read())
m["layers"].append(dict(layer, mediaType="application/vnd.oci.image.layer.v1.tar"))
c["rootfs"]["diff_ids"].append(layer["digest"])
m["config"] = put(json.dumps(c).encode())
index["manifests"] = [dict(put(json.dumps(m).encode()), mediaType=index["manifests"][0]["mediaType"])]
json.dump(index, open(lay + "/index.json", "w"))
PY
"$sentry" run "$work/many" >/dev/null 2>&1 &
runner=$!
for _ in $(seq 1000); do [ -n "$(find "$SENTRY_STORE/tmp" -name 'f1*' -print -quit 2>/dev/null)" ] && break; sleep 0.01; done
kill -9 "$runner"
wait "$runner" 2>/dev/null
check "prune after a kill" "0" "$("$sentry" prune >/dev/null; echo $?)"
store_has "after prune" 5
runs "after a kill" 0 "from cmd" "$work/many"
# What a crash of the host may leave of the cache: nothing, or not the text that was written.
for damage in '' 'nonsense' "$(printf '0%.0s' $(seq 64))"; do
    for f in "$SENTRY_STORE"/cache/*; do printf '%s' "$damage" >"$f"; done
    runs "a damaged cache entry ('${damage:0:8}') is read anew" 0 "from cmd" "$i/plain"
done
# Two at once: one unpacks, both run.
"$sentry" prune >/dev/null
timeout 60 "$sentry" run "$work/many" >"$work/a" & a=$!
timeout 60 "$sentry" run "$work/many" >"$work/b" & b=$!
wait "$a" "$b"
check "two at once" "from cmd from cmd" "$(cat "$work/a" "$work/b" | tr '\n' ' ' | sed 's/ $//')"
unchanged "the store"
chmod -R u+rwX "$work" 2>/dev/null
finish
