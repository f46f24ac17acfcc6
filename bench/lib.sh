#!/bin/bash
# lib.sh: what the scripts of bench/ share; to be sourced.

# us COMMAND...: how long it takes, in microseconds.
us() {
    local t0 t1
    t0=$(date +%s%N)
    "$@" >/dev/null
    t1=$(date +%s%N)
    echo $(((t1 - t0) / 1000))
}

# median FILE [FIELD]: of the first or another field of its lines.
median() {
    awk -v f="${2:-1}" '{ print $f }' "$1" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}
