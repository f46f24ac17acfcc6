#!/bin/bash
# tries: code inside of the compiler: a preloaded library, a program prefix (-B, GCC_EXEC_PREFIX, -wrapper), specs
#   that call a shell, a constructor in a linker plug-in; it reaches for the host's file, a network, other processes
# must fail because: the compiler is in the same box as everything else; to run code in it is no gain
# an escape would: find that the compiler may do more than the program
# source: ATTACKS.md C7
. "$(dirname "$0")/tool-cc.sh"

probe='
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/socket.h>
__attribute__((constructor)) static void run(void)
{
    char buf[100] = "";
    const char *secret = getenv("SECRET_AT");
    FILE *f = secret ? fopen(secret, "r") : NULL, *out = fopen("probe.txt", "a");
    if (!out) return;
    if (f && fgets(buf, sizeof(buf), f)) fprintf(out, "READ %s\n", buf);
    if (socket(AF_INET, SOCK_STREAM, 0) >= 0) fprintf(out, "NETWORK\n");
    fprintf(out, "ran as uid %d\n", (int)getuid());
    fclose(out);
}'
if [ "$role" = twin ]; then
    printf 'int main(void){return 0;}\n' >a.c
    printf '#!/bin/sh\necho called >called\nexec "$@"\n' >wrap && chmod +x wrap
    gcc -wrapper ./wrap a.c -o a 2>err && [ -e called ] && ./a && say "works a compiler with a wrapper of one's own" ||
        say "broken $(head -n1 err)"
    exit
fi
SECRET_AT=$(fact host_file)
export SECRET_AT
printf '%s\n' "$probe" >probe.c
printf 'int main(void){return 0;}\n' >a.c
gcc -shared -fPIC -o "$PWD/probe.so" probe.c 2>err || { say "cannot $(head -n1 err)"; exit 2; }
LD_PRELOAD=$PWD/probe.so gcc -c a.c -o a.o >out 2>&1
gcc "-fplugin=$PWD/probe.so" -c a.c -o a.o >>out 2>&1
ld -plugin "$PWD/probe.so" a.o -o b >>out 2>&1
mkdir -p bin && printf '#!/bin/sh\nhead -c 100 "$SECRET_AT" >>probe.txt\nexit 1\n' >bin/as && chmod +x bin/as
gcc -B bin/ -c a.c >>out 2>&1
GCC_EXEC_PREFIX=$PWD/bin/ COMPILER_PATH=$PWD/bin gcc -c a.c >>out 2>&1
printf '*asm:\n%%{!x:} -o /dev/null /dev/null; cat %%:getenv(SECRET_AT "")\n' >evil.specs
gcc -specs=evil.specs -c a.c >>out 2>&1
say "step the code in the compiler ran $(grep -c ran probe.txt) times: $(sort -u probe.txt | tr '\n' ' ')"
grep -q ran probe.txt || { say "cannot no code ran in the compiler"; exit 2; }
if leaks ./* || grep -q -e READ -e NETWORK probe.txt; then
    say "ESCAPED the compiler may do more than the program"
else
    say "contained code in the compiler is as confined as elsewhere"
fi
