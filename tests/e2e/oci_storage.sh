#!/bin/bash
# What a container writes to its root, with the real podman: kept with --root-storage bundle, and what is
# promised of the default, an overlay in memory.
# timeout: 500
# shellcheck disable=SC2046,SC2086,SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_oci.sh"
. "$(dirname "$0")/lib_podman.sh"
kept() { p --runtime runsc-bundle "$@"; }
up() { p logs "$1" 2>/dev/null | grep -q up; }
# fails_with PATTERN COMMAND...: it fails and says why.
fails_with() {
    local pattern=$1
    shift
    "$@" >/dev/null 2>"$work/err" </dev/null
    echo "$(($? != 0)) $(grep -q -- "$pattern" "$work/err"; echo $?)"
}

# -- stop and start, diff, export, commit -------------------------------------------------------------
kept run -d --name t $ulimits bb:1 sh -c 'echo up; echo started >>/log; while :; do sleep 0.1; done' >/dev/null
until_true up t
p exec t sh -c 'mkdir -p /var/x && echo mine >/var/x/y && ln -s y /var/x/l && ln /var/x/y /var/x/h &&
    chown 5:6 /var/x/y && chmod 4750 /var/x/y && rm /etc/profile && mv /etc/nsswitch.conf /etc/moved' </dev/null
check "written" 0 $?
check "diff" "A /etc/moved A /log A /var/x A /var/x/h A /var/x/l A /var/x/y C /etc C /var D /etc/nsswitch.conf D /etc/profile" \
    "$(p diff t | sort | tr '\n' ' ' | sed 's/ $//')"
check "export of a running one" started "$(p export t | tar -xO log)"
p stop -t 0 t >/dev/null 2>&1
check "export" "var/x/h var/x/l var/x/y" "$(p export t | tar -t | grep 'var/x/.' | sort | tr '\n' ' ' | sed 's/ $//')"
p start t >/dev/null
twice() { [ "$(p exec t cat /log </dev/null | wc -l)" = 2 ]; }
until_true twice
check "start again: its files are there" "mine 4750 5 6 2" "$(p exec t sh -c 'echo $(cat /var/x/l; stat -c "%a %u %g %h" /var/x/y)' </dev/null)"
p restart -t 0 t >/dev/null 2>&1
until_true running t
check "restart: its files are there" mine "$(p exec t cat /var/x/y </dev/null)"
p commit -q t made:1 >/dev/null 2>"$work/err"
check "commit" 0 $?
check "the image that was committed" "mine 4750 5 6 gone" \
    "$(run made:1 sh -c 'echo $(cat /var/x/y; stat -c "%a %u %g" /var/x/y; [ -e /etc/profile ] || echo gone)')"

# -- cp ------------------------------------------------------------------------------------------------
echo copied >"$work/c"
p cp "$work/c" t:/var/in
check "cp into a running container" "0 copied" "$? $(p exec t cat /var/in </dev/null)"
p cp t:/var/x/y "$work/out"
check "cp out of a running container" "0 mine" "$? $(cat "$work/out")"
p exec t sh -c "ln -s $dir /out; ln -s ../../../../../../../../..$dir /var/up" </dev/null
p cp "$work/c" t:/out/canary 2>/dev/null
p cp "$work/c" t:/var/up/canary 2>/dev/null
check "cp through a guest's link stays out of the host" "no file" "$([ -e "$dir/canary" ] || echo no file)"
check "cp into what is in the sandbox's memory" "1 0" "$(fails_with 'read-only file system' p cp "$work/c" t:/dev/c)"
p stop -t 0 t >/dev/null 2>&1
p cp "$work/c" t:/var/again
check "cp into a stopped container" 0 $?
p cp t:/var/x/y "$work/out2"
check "cp out of a stopped container" "0 mine" "$? $(cat "$work/out2")"
p start t >/dev/null
check "what was copied" copied "$(p exec t cat /var/again </dev/null)"
p rm -f -t 0 t >/dev/null
mkdir "$work/vol"
kept run -d --name v $ulimits -v "$work/vol:/vol" -v "$work/c:/single:ro" --tmpfs /scratch bb:1 \
    sh -c 'echo up; sleep 1000' >/dev/null
until_true up v
p cp "$work/c" v:/vol/in
check "cp into a volume" "0 copied" "$? $(cat "$work/vol/in")"
check "cp into a tmpfs" "1 0" "$(fails_with 'read-only file system' p cp "$work/c" v:/scratch/c)"
p cp v:/single "$work/single"
check "cp out of a single file" "0 copied" "$? $(cat "$work/single")"
p rm -f -t 0 v >/dev/null

# -- build -----------------------------------------------------------------------------------------------
mkdir "$work/build"
echo copied >"$work/build/file"
cat >"$work/build/Containerfile" <<'X'
FROM localhost/bb:1
COPY file /copied
RUN test "$(cat /copied)" = copied && mkdir -p /data/sub && echo built >/data/sub/made && chmod 2755 /data/sub
WORKDIR /work/dir
RUN cat /data/sub/made >here && ln -s here link && rm /copied
USER 5:6
RUN cat link && ! echo no >/data/sub/no 2>/dev/null
CMD ["sh", "-c", "id -u; pwd; cat link; stat -c %a /data/sub; ls /copied 2>/dev/null || echo gone"]
X
p build -q --isolation oci --runtime "$dir/runsc-bundle" --network none --ulimit nofile=1024:4096 \
    -t built:1 "$work/build" >"$work/o" 2>&1
check "build --isolation oci" 0 $? || cat "$work/o"
grep -i error "$work/o"
check "the image that was built" "5 /work/dir built 2755 gone" "$(echo $(run built:1 2>&1))"
p build -q --isolation oci --runtime-flag root-storage=bundle --network none --ulimit nofile=1024:4096 \
    --no-cache -t built:2 "$work/build" >"$work/o" 2>&1
check "build with --runtime-flag" "0 5 /work/dir built 2755 gone" "$? $(echo $(run built:2 2>&1))"

# -- who chooses ---------------------------------------------------------------------------------------------
root_of() { p "$@" sed -n '1s/ .*//p' /proc/mounts 2>"$work/err" </dev/null; }
check "memory by default" overlay "$(root_of run --rm $ulimits bb:1)"
check "--runtime-flag" root "$(root_of --runtime-flag root-storage=bundle run --rm $ulimits bb:1)"
check "an annotation alone" overlay \
    "$(root_of run --rm $ulimits --annotation org.sentry.root-storage=bundle bb:1)"
check "an annotation that may be followed" root \
    "$(root_of --runtime-flag root-storage=annotation run --rm $ulimits --annotation org.sentry.root-storage=bundle bb:1)"
check "no annotation" overlay "$(root_of --runtime-flag root-storage=annotation run --rm $ulimits bb:1)"
check "--read-only" image "$(root_of --runtime-flag root-storage=bundle run --rm --read-only $ulimits bb:1)"
check "another word" "1 0" \
    "$(fails_with 'must be memory or bundle' p --runtime-flag root-storage=annotation run --rm $ulimits --annotation org.sentry.root-storage=disk bb:1 true)"
check "another word of the option" "1 0" \
    "$(fails_with 'is not memory, bundle or annotation' p --runtime-flag root-storage=disk run --rm $ulimits bb:1 true)"

# -- in memory ----------------------------------------------------------------------------------------------
p run -d --name m $ulimits bb:1 sh -c 'echo up; echo x >/file; while :; do sleep 0.1; done' >/dev/null
until_true up m
check "cp into a running one is an error" "1 0" "$(fails_with 'read-only file system' p cp "$work/c" m:/c)"
check "cp out of a running one is an error" "1 0" "$(fails_with 'no such file or directory' p cp m:/etc/passwd "$work/out3")"
check "diff sees the image" 0 "$(p diff m | grep -c file)"
p exec m sh -c 'echo y >/file' </dev/null
p restart -t 0 m >/dev/null 2>&1
check "restart" "0 running" "$? $(p inspect -f '{{.State.Status}}' m)"
has_file() { p exec m test -e /file </dev/null; }
until_true has_file
check "restart: what was written is gone" x "$(p exec m cat /file </dev/null)"

# -- top ------------------------------------------------------------------------------------------------------
check "top with options of ps" "PID sh 1" "$(p top m -o pid,comm | awk 'NR == 1 {print $1} $1 == 1 {print $2, $1}' | tr '\n' ' ' | sed 's/ $//')"
check "top of podman's own kind is an error" "1 0" "$(fails_with /proc p top m pid,comm)"
p rm -f -t 0 m >/dev/null
nothing_of_podman_left
finish
