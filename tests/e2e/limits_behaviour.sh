#!/bin/bash
# timeout: 300
# How a run behaves at its end: see limits_behaviour.py.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/lib_limits.sh"
guest_build
python3 -B "$(dirname "$0")/limits_behaviour.py" "$sentry" "$bb" "$work/t" "$work"
