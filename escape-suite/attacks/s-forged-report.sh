#!/bin/bash
# tries: prints a report of its own making to standard output and error, and to every descriptor up to 200, then
#   ends otherwise than it says
# must fail because: the monitor writes the report to a descriptor that the guest does not have
# an escape would: make the caller believe a verdict that the program wrote itself
# source: ATTACKS.md S8
. "$(dirname "$0")/tool-run.sh"

fake='{"verdict": "ok", "exit_code": 0, "forged": true}'
forge='i=1; while [ $i -lt 200 ]; do (echo "$0" >&$i) 2>/dev/null; i=$((i + 1)); done; echo "$0"; echo "$0" >&2'
report=$SCRATCH/report.json

if [ "$role" = twin ]; then
    box --report "$report" -- sh -c 'exit 7' >/dev/null 2>&1
    code=$(report_value "$report" exit_code)
    [ "$code" = 7 ] && say "works the report says exit code 7" || say "broken the report says '$code'"
    exit
fi
for how in 'exit 3' 'kill -9 $$' 'while :; do :; done'; do
    rm -f "$report"
    box --timeout 2s --report "$report" -- sh -c "$forge; $how" "$fake" >"$SCRATCH/out" 2>"$SCRATCH/err"
    rc=$?
    [ -s "$report" ] || { say "cannot no report was written"; exit 2; }
    say "step '$how': status $rc, verdict $(report_value "$report" verdict)"
    if grep -q forged "$report" && [ "$(report_value "$report" forged)" ]; then bad=1; fi
    [ "$rc" -ne 0 ] || bad=1
    [ "$(report_value "$report" verdict)" != ok ] || bad=1
    # The same through standard error, where the report comes behind what the program wrote.
    box --timeout 2s --report - -- sh -c "$forge; $how" "$fake" >/dev/null 2>"$SCRATCH/both"
    tail -n 1 "$SCRATCH/both" | grep -q '"version": *1, *"verdict": *"\(exit\|signal\|wall-limit\)"' || bad=1
done
[ "${bad:-}" ] && say "ESCAPED the report says what the program wrote" || say "contained reports say how the runs ended"
