#!/bin/bash
# timeout: 120
# Programs that fork, execute, make threads and pipes are killed at random moments; then nothing of
# them is left in the sentry. SECONDS_OF_STRESS and SEED change the run (the soak run takes longer).
source "$(dirname "$0")/lib.sh"
mkdir "$work/t"
if ! ${CC:-cc} -O1 -static -pthread -D_GNU_SOURCE -o "$work/t/stress_kill" "$(dirname "$0")/stress_kill.c"; then
    echo "skipped: no static C library"
    exit 77
fi
chmod 755 "$work" "$work/t"
python3 "$(dirname "$0")/stress_kill.py" "$sentry" "$bb" "$work/t/stress_kill" \
    "${SECONDS_OF_STRESS:-5}" "${SEED:-1}"
