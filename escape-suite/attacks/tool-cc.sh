#!/bin/bash
# tool-cc.sh: sourced by the attacks on the compiler, which run in the box with gcc.
export LC_ALL=C

say() { printf '%s\n' "$*"; }

# fact KEY: its value among the arguments of the script.
facts=("$@")
fact() {
    local f
    for f in "${facts[@]}"; do
        [ "${f%%=*}" = "$1" ] && printf '%s' "${f#*=}"
    done
}

role=${1:-}
if [ "$role" = attack ] && [ "${SENTRY_SUITE:-}" != 1 ]; then
    say "cannot not run by escape-suite"
    exit 2
fi
command -v gcc >/dev/null || { say "cannot no gcc in the box"; exit 2; }
cd "$(mktemp -d)" || exit 2
canary='escape-canary:[0-9a-f]\{32\}'

# leaks FILE...: does one of them hold what a canary holds?
leaks() { grep -aq "$canary" "$@" 2>/dev/null; }
