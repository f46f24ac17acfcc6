#!/bin/bash
# A host that lacks a mechanism: a run says which, in one line. See old_host.py.
source "$(dirname "$0")/lib.sh"
timeout 100 python3 "$(dirname "$0")/old_host.py" "$sentry" "$bb"
