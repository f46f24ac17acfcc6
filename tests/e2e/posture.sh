#!/bin/bash
# Namespaces, privileges and descriptors of every process of a live sandbox: see posture.py.
source "$(dirname "$0")/lib.sh"
timeout 100 python3 "$(dirname "$0")/posture.py" "$sentry" "$bb"
