#!/bin/sh
# tries: the shell's ways to print without end: yes, a loop of echo, cat of /dev/zero, dd, a pipeline, all in the background
#   while the parent ends at once
# must fail because: the limit counts what leaves the box, whoever writes it; and when the parent ends, the run ends
# an escape would: print after the answer was given
# source: ATTACKS.md B1 O2, piston 52
role=$1
if [ "$role" = twin ]; then
    yes | head -n 3 | tr -d '\n'
    echo
    [ "$(yes | head -n 1000 | wc -l)" = 1000 ] || { echo "broken yes | head"; exit 1; }
    echo "works yes | head ends by itself"
    exit 0
fi
[ "$SENTRY_SUITE" = 1 ] || { echo "cannot not run by escape-suite"; exit 2; }
yes &
(while :; do echo loop; done) &
cat /dev/zero &
dd if=/dev/zero bs=65536 2>/dev/null | cat &
yes | cat | tr y z >&2 &
wait
