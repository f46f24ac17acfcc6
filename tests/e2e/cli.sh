#!/bin/bash
# The command line: exit statuses, one clear line for bad input, standard streams.
source "$(dirname "$0")/lib.sh"

runs "true" 0 "" "$bb" -- true
runs "status" 7 "" "$bb" -- sh -c 'exit 7'
runs "no separator" 0 "hi" "$bb" echo hi
runs "signal" 139 "" "$bb" -- sh -c 'kill -SEGV $$'
runs "kill" 137 "" "$bb" -- sh -c 'kill -9 $$'
check "stdin" "6" "$(echo hello | timeout 60 "$sentry" run "$bb" -- wc -c)"
runs "environment" 0 "HOME=/tmp LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
    "$bb" -- sh -c 'env | grep -v -e PWD -e SHLVL -e OLDPWD -e ^_ | sort | tr "\n" " " | sed "s/ $//"'
runs "env option" 0 "v" --env K=v "$bb" -- sh -c 'echo $K'
runs "workdir" 0 "/etc" --workdir /etc "$bb" -- pwd
runs "default workdir" 0 "/tmp" "$bb" -- pwd
runs "hostname" 0 "box" --hostname box "$bb" -- hostname
runs "user" 0 "65534 65534" "$bb" -- sh -c 'echo $(id -u) $(id -g)'
runs "root" 0 "0 0" --user 0 "$bb" -- sh -c 'echo $(id -u) $(id -g)'
runs "user and group" 0 "5 6" --user 5:6 "$bb" -- sh -c 'echo $(id -u) $(id -g)'
runs "named user" 0 "65534" --user nobody "$bb" -- id -u
runs "image is read-only" 1 "" "$bb" -- sh -c 'echo x >/etc/x'
runs "writable" 0 "x" --user 0 --writable "$bb" -- sh -c 'echo x >/etc/x; cat /etc/x'
check "image untouched" "no" "$([ -e "$bb/etc/x" ] && echo yes || echo no)"
runs "tmp" 0 "x" "$bb" -- sh -c 'echo x >/tmp/x; cat /tmp/x'
runs "tmpfs" 0 "x" --tmpfs /mnt:1M "$bb" -- sh -c 'echo x >/mnt/x; cat /mnt/x'
mkdir "$work/vol" && echo data >"$work/vol/f"
runs "volume" 0 "data" --volume "$work/vol:/mnt:ro" "$bb" -- cat /mnt/f
runs "volume, one file" 0 "data" --volume "$work/vol/f:/etc/passwd:ro" "$bb" -- cat /etc/passwd
runs "volume is read-only" 1 "" --user 0 --volume "$work/vol:/mnt:ro" "$bb" -- sh -c 'echo x >/mnt/f'
runs "kernel is ours" 0 "Linux" "$bb" -- uname -s
check "release" "1" "$(timeout 60 "$sentry" run "$bb" -- uname -r | grep -c sentry)"
runs "pid" 0 "1" "$bb" -- sh -c 'echo $$'

says "wall limit" 124 "wall limit" run --timeout 300ms "$bb" -- sleep 100
says "wall limit, busy" 124 "wall limit" run --timeout 300ms "$bb" -- sh -c 'while :; do :; done'
says "no image" 125 "image" run
says "missing image" 125 "/nonexistent" run /nonexistent -- true
mkdir "$work/empty"
says "empty image" 125 "empty" run "$work/empty" -- true
export SENTRY_STORE=$work/store
says "image is a file" 125 "/etc/passwd: not an image" run /etc/passwd -- true
says "no program" 125 "no program" run "$bb"
says "not found" 127 "nosuch" run "$bb" -- nosuch
says "not executable" 126 "/etc/passwd" run "$bb" -- /etc/passwd
says "directory" 126 "/etc" run "$bb" -- /etc
says "unknown option" 125 "--frob" run --frob "$bb" -- true
says "bad duration" 125 "--timeout" run --timeout 3q "$bb" -- true
says "bad size" 125 "--memory" run --memory 12Q "$bb" -- true
says "missing value" 125 "--env" run --env
says "bad env" 125 "KEY=VALUE" run --env foo "$bb" -- true
says "writable volume" 125 "read-only.*OCI" run --volume "$work/vol:/mnt:rw" "$bb" -- true
says "volume of a device" 125 "neither a directory nor" run --volume "/dev/null:/mnt:ro" "$bb" -- true
says "bad volume" 125 "--volume" run --volume /tmp "$bb" -- true
says "volume on the root" 125 "root itself" run --volume "$work/vol:/:ro" "$bb" -- true
says "tmpfs on the root" 125 "root itself" run --tmpfs "/../.:1M" "$bb" -- true
says "no such workdir" 125 "/nope" run --workdir /nope "$bb" -- true
says "no such user" 125 "nosuchuser" run --user nosuchuser "$bb" -- true
says "unknown command" 125 "frobnicate" frobnicate
says "help on what there is not" 125 "frobnicate" help frobnicate
says "a word too many" 125 "frobnicate" version frobnicate
says "an option of doctor" 125 "frobnicate" doctor --frobnicate
cp -r "$bb" "$work/img"
head -c 100 "$bb/bin/busybox" >"$work/img/bin/cut"
printf '\177ELF\1\1\1' >"$work/img/bin/elf32"
chmod 755 "$work/img/bin/cut" "$work/img/bin/elf32"
says "truncated ELF" 126 "cut" run "$work/img" -- /bin/cut
says "foreign ELF" 126 "elf32" run "$work/img" -- /bin/elf32
streams='cat && echo out && echo err >&2 && sleep 0.2 && exit 7' # long enough for an entry, whose socket is one more
for closed in '<&-' '>&-' '2>&-' '<&- >&-' '<&- >&- 2>&-'; do
    eval 'timeout 60 "$sentry" run "$bb" -- sh -c "$streams" </dev/null >"$work/out" 2>"$work/err"' "$closed"
    check "a caller without a stream: $closed" 7 $?
done
ignoring='import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])'
check "a caller that ignores the end of its children" ran \
    "$(timeout 60 python3 -c "$ignoring" "$sentry" run "$bb" -- echo ran 2>&1 </dev/null)"
finish
