#!/bin/bash
# tries: has the compiler read files of the host: #include, -include, .incbin, -imacros, __has_include, response
#   files, specs, linker scripts, -x of any file, by absolute name, through .. and through links
# must fail because: the compiler runs in the same box as the program; its root is the image
# an escape would: put the bytes of a host file into an object, or into a diagnostic
# source: ATTACKS.md C1; natsukagami/kjudge #82
. "$(dirname "$0")/tool-cc.sh"

if [ "$role" = twin ]; then
    printf '#define N 42\n' >own.h
    printf '#include <stdio.h>\n#include "own.h"\nint main(void){printf("%%d\\n",N);}\n' >a.c
    { gcc -o a a.c && [ "$(./a)" = 42 ]; } 2>err && say "works a program with a header of its own" ||
        say "broken $(head -n1 err)"
    exit
fi
secret=$(fact host_file)
up=../../../../../../../../../..
ln -s "$secret" link
ln -s / root
n=0
for name in "$secret" "$up$secret" link "root$secret" "/proc/1/root$secret" "/proc/self/root$secret" \
    /etc/shadow /proc/1/environ /proc/self/environ "/proc/self/fd/3$secret"; do
    [ "$name" ] || continue
    printf '#include "%s"\n' "$name" >a.c
    gcc -E a.c >out$n 2>&1
    gcc -include "$name" -x c -c /dev/null -o o$n >>out$n 2>&1
    gcc -imacros "$name" -E -dM -x c /dev/null >>out$n 2>&1
    printf '__asm__(".incbin \\"%s\\"");\n' "$name" >b.c
    gcc -c b.c -o incbin$n >>out$n 2>&1
    printf '#if __has_include("%s")\n#error present\n#endif\n' "$name" >c.c
    gcc -E c.c 2>&1 | grep -q present && [ "$name" = "$secret" ] && bad="the host's file is seen"
    gcc "@$name" >>out$n 2>&1
    gcc -specs="$name" a.c >>out$n 2>&1
    ld -T "$name" -o ld$n >>out$n 2>&1
    gcc -x c -c "$name" -o x$n >>out$n 2>&1
    as "$name" -o as$n >>out$n 2>&1
    cpp -I"$(dirname "$name")" -include "$(basename "$name")" /dev/null >>out$n 2>&1
    n=$((n + 1))
done
leaks ./* && bad="a canary's bytes are in what was compiled"
say "step $n names by eleven ways; the first answer: $(head -n1 out0)"
[ "${bad:-}" ] && say "ESCAPED $bad" || say "contained nothing of the host was read"
