# Sourced by the end-to-end scripts: paths, and one line per check. A script ends with `finish`.
# shellcheck shell=bash disable=SC2034
set -u
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
sentry=${SENTRY:-$top/build/bin/sentry}
images=${IMAGES:-$top/build/images}
bb=$images/busybox
deb=$images/debian
failures=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# check NAME EXPECTED ACTUAL
check() {
    if [ "$2" = "$3" ]; then
        echo "ok   $1"
    else
        echo "FAIL $1"
        printf '     expected: %s\n     got:      %s\n' "$2" "$3"
        failures=$((failures + 1))
    fi
}

# runs NAME STATUS OUTPUT ARGS...: sentry run ARGS must end with STATUS and print OUTPUT (stdout).
runs() {
    local name=$1 status=$2 output=$3 out rc
    shift 3
    out=$(timeout 300 "$sentry" run "$@" 2>"$work/err" </dev/null)
    rc=$?
    check "$name" "$status $output" "$rc $out"
    [ "$rc" = "$status" ] || sed 's/^/     stderr: /' "$work/err" | head -5
}

# says NAME STATUS PATTERN ARGS...: ends with STATUS and exactly one line on stderr that matches.
says() {
    local name=$1 status=$2 pattern=$3 rc lines
    shift 3
    timeout 300 "$sentry" "$@" >/dev/null 2>"$work/err" </dev/null
    rc=$?
    lines=$(wc -l <"$work/err")
    if [ "$rc" = "$status" ] && [ "$lines" = 1 ] && grep -Eq -- "$pattern" "$work/err"; then
        echo "ok   $name"
    else
        echo "FAIL $name (status $rc, wanted $status)"
        sed 's/^/     stderr: /' "$work/err" | head -5
        failures=$((failures + 1))
    fi
}

# has NAME PATTERN: a line of the trace in $work/trace matches.
has() {
    if grep -Eq -- "$2" "$work/trace"; then
        echo "ok   $1"
    else
        echo "FAIL $1: no line matches $2"
        failures=$((failures + 1))
    fi
}

finish() {
    if [ "$failures" -gt 0 ]; then
        echo "$failures checks failed"
        exit 1
    fi
    exit 0
}
