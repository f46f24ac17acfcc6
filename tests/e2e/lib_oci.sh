# Sourced by the OCI scripts, after lib.sh: bundles, the runtime by hand, what must not be left.
# shellcheck shell=bash disable=SC2034,SC2154,SC2045
shim=${SENTRY_BIN:-$top/build/bin}/runsc-shim
[ -x "$shim" ] || { echo "skipped: no runsc-shim"; exit 77; }
state=$work/state
cgroup_parent=sentry-test-$$

# bundle NAME [PYTHON]: a bundle at $work/NAME; PYTHON changes the dict `c` of its config.json.
bundle() {
    mkdir -p "$work/$1"
    python3 - "$work/$1/config.json" "$bb" "$cgroup_parent/$1" "${2:-pass}" <<'PY'
import json, sys
path, root, group, code = sys.argv[1:]
c = {
    "ociVersion": "1.0.2",
    "process": {"args": ["true"], "cwd": "/", "user": {"uid": 0, "gid": 0},
                "env": ["PATH=/usr/bin:/bin"],
                "rlimits": [{"type": "RLIMIT_NOFILE", "soft": 256, "hard": 512}]},
    "root": {"path": root, "readonly": True},
    "hostname": "box",
    "mounts": [
        {"destination": "/proc", "type": "proc", "source": "proc"},
        {"destination": "/dev", "type": "tmpfs", "source": "tmpfs",
         "options": ["nosuid", "strictatime", "mode=755", "size=65536k"]},
        {"destination": "/dev/pts", "type": "devpts", "source": "devpts",
         "options": ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"]},
        {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["mode=1777"]},
    ],
    "linux": {"namespaces": [{"type": "pid"}, {"type": "network"}, {"type": "mount"}],
              "cgroupsPath": "/" + group, "resources": {}},
}
def sh(text):
    c["process"]["args"] = ["sh", "-c", text]
exec(code)
json.dump(c, open(path, "w"))
PY
}

# rt ARGS...: the runtime with the test's own root and log.
rt() {
    timeout 60 "$shim" --root "$state" --log "$work/log" --log-format json "$@"
}

# create ID BUNDLE [ARGS...]: in the background of its own streams: $work/ID.out.
create() {
    local id=$1 b=$2
    shift 2
    rt create --bundle "$work/$b" --pid-file "$work/$id.pid" "$@" "$id" \
        >"$work/$id.out" 2>&1 </dev/null
}

status() {
    rt state "$1" 2>/dev/null | sed -n 's/.*"status": "\(.*\)".*/\1/p'
}

# until_true COMMAND...: waits for the command to succeed; half a minute at most.
until_true() {
    local end=$((SECONDS + 30))
    while [ $SECONDS -lt $end ]; do
        "$@" && return 0
        sleep 0.02
    done
    echo "     never true: $*"
    return 1
}

status_is() {
    [ "$(status "$1")" = "$2" ]
}

# nothing_left NAME: no state, no cgroup, no process of a container of this test.
nothing_left() {
    local left
    left=$(
        ls "$state" 2>/dev/null
        find /sys/fs/cgroup -type d -path "*$cgroup_parent/*" 2>/dev/null
        grep -las "$work" /proc/[0-9]*/cmdline 2>/dev/null |
            while read -r f; do
                { tr '\0' ' ' <"$f"; } 2>/dev/null | grep -E 'sentry-gofer|runsc-shim' | grep -v until_true
            done
    )
    check "$1: nothing is left" "" "$left"
}

# Directories of cgroups that the scripts' containers were in.
remove_cgroups() {
    find /sys/fs/cgroup -depth -type d -path "*/$cgroup_parent*" -exec rmdir {} + 2>/dev/null
}

oci_cleanup() {
    local id
    for id in $(ls "$state" 2>/dev/null); do
        rt delete --force "$id" 2>/dev/null
    done
    remove_cgroups
}
trap 'oci_cleanup; rm -rf "$work"' EXIT
