# Sourced by the tests of limits: a run and what its report says.
# shellcheck shell=bash disable=SC2154

# field NAME: a top-level field of the last report.
field() {
    python3 -c 'import json,sys; v = json.load(open(sys.argv[1]))
for k in sys.argv[2].split("."): v = v[k]
print(v)' "$work/report" "$1"
}

# ends NAME VERDICT ARGS...: sentry run ARGS must end with that verdict, and with status 124 for a limit.
ends() {
    local name=$1 verdict=$2 rc got want
    shift 2
    rm -f "$work/report"
    timeout 400 "$sentry" run --report "$work/report" "$@" >"$work/out" 2>"$work/err" </dev/null
    rc=$?
    got=$(field verdict)
    case $verdict in
    ok) want=0 ;;
    *-limit) want=124 ;;
    *) want=$rc ;;
    esac
    check "$name" "$verdict $want" "$got $rc"
    [ "$got" = "$verdict" ] || sed 's/^/     stderr: /' "$work/err" | head -5
}

# guest_build: compiles limits_guest.c; $guest is the options that show it as /mnt/g in any image.
guest_build() {
    mkdir -p "$work/t"
    if ! ${CC:-cc} -O1 -static -pthread -D_GNU_SOURCE -o "$work/t/g" \
        "$top/tests/e2e/limits_guest.c"; then
        echo "skipped: no static C library"
        exit 77
    fi
    chmod 755 "$work" "$work/t"
    # shellcheck disable=SC2034  # used by the scripts that source this
    guest=(--volume "$work/t:/mnt:ro")
}
