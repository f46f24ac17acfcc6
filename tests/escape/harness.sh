#!/bin/bash
# The harness must see what goes wrong: a fake runtime that contains nothing runs harmless scripts in
# place of attacks, and each misdeed has to end in the right outcome and exit status.
source "$(dirname "$0")/../e2e/lib.sh"
suite=$SENTRY_BIN/escape-suite
[ -d "$images/busybox" ] || { echo "no image busybox"; exit 77; }
attacks=$work/attacks
export LEAKY=$work/leaky TMPDIR=$work
mkdir "$attacks"
cp "$SENTRY_BIN/../escape/attacks/tool-neighbour" "$attacks/"
chmod 755 "$work" "$attacks"
leaky=$work/leaky.sh
cp "$top/tests/escape/leaky.sh" "$leaky"

# outcome NAME STATUS OUTCOME PATTERN ATTACK TWIN [WORDS FOR LEAKY]: bash code of the two roles. Facts
# are shell variables ($host_file ...).
outcome() {
    local name=$1 status=$2 want=$3 pattern=$4 rc got
    cat >"$attacks/n-socket-families" <<SCRIPT
#!/bin/bash
role=\$1
shift
for fact; do [[ \$fact != *=* ]] || declare "\$fact"; done
if [ "\$role" = attack ]; then
$5
else
$6
fi
SCRIPT
    chmod 755 "$attacks/n-socket-families"
    echo "${7:-}" >"$LEAKY"
    timeout 400 "$suite" --runtime "$leaky" --only n01 --attack-dir "$attacks" --image-dir "$images" \
        --deadline "${deadline:-100}" --format json --output "$work/out.json" 2>"$work/err"
    rc=$?
    got=$(python3 -c '
import json, sys
a = json.load(open(sys.argv[1]))["attacks"][0]
print(a["outcome"], a["reason"])' "$work/out.json" 2>&1)
    rm -f "$work/out.json"
    if [ "$rc" = "$status" ] && [[ $got == "$want "* ]] && grep -Eq -- "$pattern" <<<"$got"; then
        echo "ok   $name ($got)"
    else
        echo "FAIL $name: status $rc, wanted $status $want /$pattern/, got: $got"
        cat "$work/err"
        failures=$((failures + 1))
    fi
}

fine='echo works fine'
outcome "all well" 0 contained 'nothing came' 'echo contained nothing came' "$fine"
outcome "says ESCAPED" 1 escaped 'got out' 'echo ESCAPED got out' "$fine"
outcome "ESCAPED, then contained" 1 escaped 'got out' 'echo ESCAPED got out; echo contained no' "$fine"
outcome "prints the secret" 1 escaped 'secret of the host' 'cat $host_file; echo contained x' "$fine"
outcome "prints it in base64" 1 escaped 'in base64' 'base64 $host_file; echo contained x' "$fine"
outcome "prints it in base64, shifted" 1 escaped 'in base64' \
    '(printf a; cat $host_file) | base64 -w0 >&2; echo contained x' "$fine"
outcome "prints it in hexadecimal" 1 escaped 'in hexadecimal' \
    'od -An -v -tx1 $host_file | tr -d " \n"; echo; echo contained x' "$fine"
outcome "prints it in two pieces" 1 escaped 'as it is' \
    'head -c 30 $host_file; sleep 0.1; tail -c +31 $host_file; echo contained x' "$fine"
outcome "connects to loopback" 1 escaped 'TCP listener' \
    'exec 5<>/dev/tcp/127.0.0.1/$tcp_port; echo contained x' "$fine"
outcome "sends a datagram" 1 escaped 'UDP' 'echo hi >/dev/udp/127.0.0.1/$udp_port; echo contained x' "$fine"
outcome "changes a file" 1 escaped 'have changed' 'echo >>$host_dir/writable; echo contained x' "$fine"
outcome "touches a file" 1 escaped 'have changed' 'touch $host_dir/tool; echo contained x' "$fine"
outcome "makes a file" 1 escaped 'have changed' 'echo >$host_dir/open/new; echo contained x' "$fine"
outcome "kills the victim" 1 escaped 'victim' 'kill -9 $victim_pid; echo contained x' "$fine"
outcome "kills the neighbour" 1 escaped 'neighbour' 'kill -9 $neighbour_pid; echo contained x' "$fine"
outcome "changes the runtime" 1 escaped 'changed: file' "touch '$leaky'; echo contained x" "$fine"
outcome "somebody else changes a file meanwhile" 0 contained 'x' \
    "[ -e '$work/once' ] || touch '$work/once' '$leaky'; echo contained x" "$fine"
outcome "leaves a process" 1 escaped 'outlived' \
    'setsid sleep 600 </dev/null >/dev/null 2>&1 & echo contained x' "$fine"
outcome "leaves one that holds the pipe" 1 escaped 'outlived' 'sleep 600 & echo contained x' "$fine"
outcome "twin is broken" 1 twin-broken 'no pipe' 'echo contained x' 'echo broken no pipe'
outcome "twin says nothing" 1 twin-broken 'nothing of use' 'echo contained x' 'exit 0'
outcome "twin could not run" 2 not-judged 'no python' 'echo contained x' 'echo cannot no python'
outcome "could not be made" 2 not-judged 'no such file' 'echo cannot no such file' "$fine"
outcome "an escape wins over not judged" 1 escaped 'outlived' 'sleep 600 & echo cannot x' "$fine"
outcome "says nothing" 2 not-judged 'did not say' 'true' "$fine"
outcome "dies" 2 not-judged 'did not say' 'kill -9 $$' "$fine"
deadline=5
outcome "never ends" 2 not-judged 'did not end in time' 'exec sleep 600' "$fine" exec
outcome "never ends and outlives its runtime" 1 escaped 'outlived' 'exec sleep 600' "$fine"
unset deadline
outcome "the next run is broken" 1 escaped 'next run' 'echo contained x' "$fine" next-fails
outcome "a report that is no JSON" 1 escaped 'no valid JSON' 'echo contained x' "$fine" bad-report
outcome "the runtime itself fails" 2 not-judged 'ouch' 'echo contained x' "$fine" internal-error
outcome "bytes of any kind" 1 escaped 'xff' 'printf "ESCAPED \377\033[2J<&>\n"' "$fine"

for format in text tap junit json html; do
    timeout 400 "$suite" --runtime "$leaky" --only n01 --attack-dir "$attacks" --image-dir "$images" \
        --deadline 100 --format $format --output "$work/out.$format"
    check "$format: no control characters" 0 "$(LC_ALL=C grep -c $'[\001-\010\013-\037\177]' "$work/out.$format")"
done
check "junit is XML" ok "$(python3 -c '
import sys, xml.dom.minidom
d = xml.dom.minidom.parse(sys.argv[1]).documentElement
print("ok" if d.getAttribute("failures") == "1" else d.toxml())' "$work/out.junit")"
check "the last line of JSON is the summary" 1 "$(tail -1 "$work/out.json" | grep -c '"escaped":1')"
"$suite" --merge "$work/out.json" "$work/out.json" --format html >"$work/merged.html"
check "merged page has two columns" 2 "$(grep -o 'class="cell escaped"' "$work/merged.html" | wc -l)"
timeout 20 "$suite" --runtime /does/not/exist 2>/dev/null
check "no such runtime" 2 $?
timeout 20 "$suite" --only nothing-like-it 2>/dev/null
check "no such attack" 2 $?
check "nothing is left" "" "$(find "$work" -maxdepth 1 -name 'escape-suite.*')"
finish
