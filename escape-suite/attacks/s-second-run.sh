#!/bin/bash
# tries: writes a secret wherever a run can write (every directory of a writable root, /tmp, /dev/shm, System V
#   objects, locks, the environment, core files), ends, and looks for it in a second run in the same place
# must fail because: what a run writes is in the memory of its own supervisor, and goes with it
# an escape would: pass data, or a poisoned file, to the next run
# source: ATTACKS.md S1 O5 F8
. "$(dirname "$0")/tool-run.sh"

leave='
for d in / /tmp /var/tmp /dev/shm /etc /bin /root /home /usr /lib /run /dev /proc /sys; do
    echo left-by-the-first >$d/left 2>/dev/null && echo "step wrote $d/left"
done
echo "evil:x:0:0::/:/bin/sh" >>/etc/passwd 2>/dev/null
mkdir -p /tmp/deep/er; ln -s /etc /tmp/deep/link; mkfifo /tmp/fifo 2>/dev/null
cp /bin/busybox /bin/poisoned 2>/dev/null; exit 0'
look='
for d in / /tmp /var/tmp /dev/shm /etc /bin /root /home /usr /lib /run /dev; do
    [ -e $d/left ] && echo "ESCAPED $d/left is still there"
done
grep -q evil /etc/passwd && echo "ESCAPED /etc/passwd is changed"
[ -e /tmp/deep -o -e /bin/poisoned -o -e /tmp/fifo ] && echo "ESCAPED a file is still there"
exit 0'

if [ "$role" = twin ]; then
    out=$(box --writable --user 0 -- sh -c 'echo kept >/tmp/a && echo kept >/etc/b && cat /tmp/a /etc/b' 2>&1)
    [ "$out" = "$(printf 'kept\nkept')" ] && say "works a run reads what it wrote" || say "broken $out"
    exit
fi
before=$(cd "$IMAGE" && find . -printf '%p %s %T@\n' | sort | sha256sum)
for options in "--writable --user 0" "--writable" ""; do
    # shellcheck disable=SC2086
    box $options -- sh -c "$leave" 2>&1 | grep '^step'
    # shellcheck disable=SC2086
    out=$(box $options -- sh -c "$look" 2>&1)
    [ -z "$out" ] || { say "step $options: $(head -n1 <<<"$out")"; bad=1; }
done
after=$(cd "$IMAGE" && find . -printf '%p %s %T@\n' | sort | sha256sum)
if [ "$before" != "$after" ]; then
    say "ESCAPED the image itself has changed"
elif [ "${bad:-}" ]; then
    say "ESCAPED the second run found what the first left"
else
    say "contained nothing is left, the image is unchanged"
fi
