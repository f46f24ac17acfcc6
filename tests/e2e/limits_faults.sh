#!/bin/bash
# timeout: 200
# The sentry, the gofer or the monitor is killed at random moments; descriptors and memory are scarce:
# see limits_faults.py. ROUNDS and SEED change the run (the soak run does 500).
source "$(dirname "$0")/lib.sh"
python3 -B "$(dirname "$0")/limits_faults.py" "$sentry" "$bb" "$work" "${ROUNDS:-24}" "${SEED:-1}"
