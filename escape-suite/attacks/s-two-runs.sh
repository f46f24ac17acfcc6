#!/bin/bash
# tries: two runs of one image at once, one of which makes every object that another could notice: sockets, System V
#   objects, files, locks on the image's files, forty processes; the other looks for each
# must fail because: nothing is shared between runs but the image, which nobody can write or lock
# an escape would: give two runs of different owners a channel
# source: ATTACKS.md S2
. "$(dirname "$0")/tool-run.sh"

cp -a "$IMAGE" "$SCRATCH/image" && mkdir -p "$SCRATCH/image/attack" &&
    cp "$ATTACKS/tool-channel" "$SCRATCH/image/attack/" || { say "cannot no image"; exit 2; }
BOX_IMAGE=$SCRATCH/image

if [ "$role" = twin ]; then
    # In one run the two halves do find each other.
    out=$(box -- sh -c 'mkfifo /tmp/hold; /attack/tool-channel leave </tmp/hold >/tmp/said & exec 3>/tmp/hold
        until grep -q ready /tmp/said; do sleep 0.1; done; /attack/tool-channel look; exit 0' 2>&1)
    n=$(grep -c -e socket -e object -e file -e lock -e ids <<<"$out")
    [ "$n" -ge 5 ] && say "works inside of one run $n channels are seen" || say "broken $(tr '\n' ' ' <<<"$out")"
    exit
fi
coproc FIRST { box -- /attack/tool-channel leave; }
read -r -t 200 line <&"${FIRST[0]}"
[ "$line" = ready ] || { say "cannot the first run did not start"; exit 2; }
out=$(box -- /attack/tool-channel look 2>&1)
eval "exec ${FIRST[1]}>&-"
wait "$FIRST_PID" 2>/dev/null
grep -q looked <<<"$out" || { say "cannot the second run did not look: $(tr '\n' ' ' <<<"$out")"; exit 2; }
seen=$(grep -v looked <<<"$out" | tr '\n' ',')
[ "$seen" ] && say "ESCAPED the second run saw: $seen" || say "contained the second run saw nothing of the first"
