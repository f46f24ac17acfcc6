#!/bin/bash
# leaky.sh: looks like `sentry run [OPTIONS] IMAGE -- PROG ARGS...` and contains nothing: it runs PROG,
# a harmless script of the test, on the host. LEAKY (a file of words) says what else it does wrong.
report='' image=''
while [ $# -gt 0 ]; do
    case $1 in
    --report) report=$2 && shift 2 ;;
    --timeout | --env | --volume | --user | --cpu-time) shift 2 ;;
    --) shift && break ;;
    -*) shift ;;
    *) image=$1 && shift ;;
    esac
done
bad=$(cat "$LEAKY" 2>/dev/null)
case $1 in
/attack/*) program=$image$1 ;;
*) program=$1 ;;
esac
shift
case " $bad " in
*" next-fails "*) [ "$program" != /bin/busybox ] || exit 3 ;;
esac
case $program in
*/tool-neighbour) NEIGHBOUR_DIR=$TMPDIR exec "$program" ;;
esac
export SENTRY_SUITE=1
case " $bad " in
*" exec "*) exec "$program" "$@" ;;
esac
"$program" "$@"
status=$?
case " $bad " in
*" bad-report "*) printf '{"verdict":"\377"' >"$report" ;;
*" no-report "*) ;;
*" internal-error "*) echo '{"verdict":"internal-error","message":"ouch","exit_code":'$status'}' >"$report" ;;
esac
exit $status
