#!/bin/bash
# timeout: 300
# Monitor, sentry or image server are killed at random moments, while a run starts too, by root and by
# an ordinary user: nothing is left. See death_moments.py. SEED and ROUNDS change the run.
source "$(dirname "$0")/lib.sh"
chmod 755 "$work"
mkdir -m 1777 "$work/tmp" "$work/runtime"
TMPDIR=$work/tmp timeout 280 python3 "$(dirname "$0")/death_moments.py" "$sentry" "$bb" "$work" \
    "${SEED:-1}" "${ROUNDS:-24}"
