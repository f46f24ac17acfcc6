#!/bin/bash
# timeout: 120
# Every syscall number with random arguments; what the host executed for the guests is compared with
# the list of permitted calls. See random_syscalls.py. SEED and ROUNDS change the run.
source "$(dirname "$0")/lib.sh"
mkdir "$work/t"
if ! ${CC:-cc} -O1 -static -D_GNU_SOURCE -o "$work/t/random_syscalls" "$(dirname "$0")/random_syscalls.c"; then
    echo "skipped: no static C library"
    exit 77
fi
chmod 755 "$work" "$work/t"
timeout 110 python3 "$(dirname "$0")/random_syscalls.py" "$sentry" "$bb" "$work/t/random_syscalls" \
    "${SEED:-1}" "${ROUNDS:-1}"
