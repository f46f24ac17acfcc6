#!/bin/bash
# tries: one run replaces what the next compilation uses: headers, libraries, the compiler's own files, caches of
#   ccache and Python, .gitconfig, ld.so.preload, startup objects; a second run compiles
# must fail because: a writable root is an overlay in the memory of its own run
# an escape would: put code of the first run's into a program of the second's
# source: ATTACKS.md C6
. "$(dirname "$0")/tool-run.sh"

BOX_IMAGE=$IMAGES/debian
[ -d "$BOX_IMAGE" ] || { say "cannot no debian image"; exit 2; }
compile='cd /tmp && printf "#include <stdio.h>\nint main(void){puts(\"clean\");}\n" >a.c && gcc -o a a.c && ./a'
poison='
echo "#define puts(x) printf(\"poisoned\")" >>/usr/include/stdio.h && echo "step /usr/include/stdio.h"
for f in $(gcc -print-file-name=crtbegin.o) $(gcc -print-file-name=libgcc.a) $(gcc -print-prog-name=cc1); do
    echo junk >"$f" && echo "step $f"
done
echo /tmp/evil.so >/etc/ld.so.preload && echo "step /etc/ld.so.preload"
mkdir -p /root/.cache/ccache /root/.cache/pip && echo x >/root/.cache/ccache/x
find /usr/lib/python3* -name "*.pyc" -exec sh -c "echo junk >{}" \; 2>/dev/null
echo "[core] pager = touch /tmp/owned" >/root/.gitconfig; printf "#!/bin/sh\necho poisoned\n" >/usr/bin/as; exit 0'

if [ "$role" = twin ]; then
    out=$(box -- sh -c "$compile" 2>&1)
    [ "$out" = clean ] && say "works a compilation in a box" || say "broken $out"
    exit
fi
box --writable --user 0 -- bash -c "$poison" 2>&1 | grep '^step'
for options in "--writable --user 0" ""; do
    # shellcheck disable=SC2086
    out=$(box $options -- sh -c "$compile" 2>&1)
    say "step the next run prints: $(tr '\n' ' ' <<<"$out" | cut -c1-80)"
    [ "$out" = clean ] || bad=1
done
[ "${bad:-}" ] && say "ESCAPED the second compilation is not its own" || say "contained the second run's toolchain is the image's"
