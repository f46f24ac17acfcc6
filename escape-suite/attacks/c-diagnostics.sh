#!/bin/bash
# tries: a hundred thousand errors with long lines and terminal escape sequences, template-like expansions in
#   every message, all to standard output and error
# must fail because: what a run prints is counted; beyond the limit it ends, and what was printed is kept
# an escape would: fill the caller's memory or disk with diagnostics, or block for ever on its pipe
# source: ATTACKS.md C5; piston EL
. "$(dirname "$0")/tool-cc.sh"

if [ "$role" = twin ]; then
    printf 'int main(void){return x;}\n' >a.c
    gcc a.c 2>err
    grep -q "undeclared" err && say "works one error is told" || say "broken $(head -n1 err)"
    exit
fi
{
    printf '#define M(x) int y = undeclared_##x + "\033]0;title\007\033[31m" ;\n'
    for i in $(seq 1 100000); do echo "M(x$i)"; done
} >a.c
say "step $(wc -c <a.c) bytes of source"
gcc -fmax-errors=0 -fdiagnostics-color=always a.c 2>&1
gcc -fmax-errors=0 a.c >&2
say "ESCAPED everything was printed"
