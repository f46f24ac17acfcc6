#!/bin/bash
# tool-run.sh: sourced by host-side scripts of the suite. box OPTIONS -- COMMAND...: runs busybox's COMMAND in the
# runtime under test (`sentry run`), with SCRATCH as the place for what it needs.
export LC_ALL=C

say() { printf '%s\n' "$*"; }

# The role, or the reason not to make the attack.
role=${1:-}
if [ "$role" = attack ] && [ "${SENTRY_SUITE:-}" != 1 ]; then
    say "cannot not run by escape-suite"
    exit 2
fi

# box [OPTIONS] -- COMMAND...: the image is IMAGE (or what BOX_IMAGE says).
box() {
    local options=()
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    # shellcheck disable=SC2086
    timeout -k 5 200 $RUNTIME "${options[@]}" "${BOX_IMAGE:-$IMAGE}" "$@"
}

# The value of a top-level key of a JSON report, without a parser: one key a line or all in one.
report_value() {
    tr -d '\n' <"$1" | sed -n "s/.*\"$2\": *\"\{0,1\}\([^\",}]*\).*/\1/p"
}
