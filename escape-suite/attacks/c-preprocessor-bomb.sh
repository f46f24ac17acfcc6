#!/bin/bash
# tries: macros that double thirty times, a file that includes itself, includes of /dev/zero and endless devices,
#   a million nested brackets, a switch of a hundred thousand cases, a long line without an end
# must fail because: the compiler's CPU time, memory and output are the run's
# an escape would: keep the machine busy after the limit, or end the supervisor with the compiler
# source: ATTACKS.md C3
. "$(dirname "$0")/tool-cc.sh"

if [ "$role" = twin ]; then
    printf '#define A(x) x x\n#define B(x) A(A(x))\nchar s[]=B("ab");int main(void){return sizeof s-9;}\n' >a.c
    gcc -o a a.c && ./a && say "works macros that double twice" || say "broken an ordinary macro"
    exit
fi
{
    echo '#define X0(x) x x x x'
    for i in $(seq 1 20); do echo "#define X$i(x) X$((i - 1))(X$((i - 1))(x))"; done
    echo 'char s[] = X6("0123456789");'
} >macro.c
printf '#include "self.c"\n#include "self.c"\n' >self.c
printf '#include "/dev/zero"\n' >zero.c
printf '#include "/dev/urandom"\n' >random.c
{
    printf 'int main(void){return '
    head -c 1000000 /dev/zero | tr '\0' '('
} >brackets.c
{
    echo 'int f(int x){switch(x){'
    for i in $(seq 1 20000); do echo "case $i: return $((i * 7));"; done
    echo '}return 0;}'
} >cases.c
for f in macro self zero random brackets cases; do
    (ulimit -t 3; timeout 4 gcc -O2 -c $f.c -o $f.o >out 2>&1)
    say "step $f.c: status $?, $(head -c 90 out | tr -c '[:print:]' ' ')"
done
say "contained all of them ended, and this script is still there"
