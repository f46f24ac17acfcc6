#!/bin/bash
# tries: sources of a few lines that make objects of gigabytes: an initialised array, .fill, .org, sections far
#   apart, a linker script with a hole, debug information of a hundred thousand types
# must fail because: files in memory count against the disk limit, the compiler's memory against the memory limit
# an escape would: fill the machine by one small source
# source: ATTACKS.md C3
. "$(dirname "$0")/tool-cc.sh"

if [ "$role" = twin ]; then
    printf 'int a[1<<16]={1};\nint main(void){return a[0]-1;}\n' >a.c
    gcc -o a a.c && ./a && say "works an array of 256 KiB" || say "broken an ordinary array"
    exit
fi
printf 'int a[1<<28]={1};\nint main(void){return 0;}\n' >a.c
printf '.fill 0x7fffffff,1,0\n.fill 0x7fffffff,1,1\n' >b.s
printf '.org 0x70000000\n.byte 1\n' >c.s
printf 'SECTIONS{.a 0:{*(.text)} .b 0x7f0000000:{BYTE(1)}}\n' >d.ld
printf 'int main(void){return 0;}\n' >d.c
gcc -c d.c -o keep.o
for try in 'gcc -c a.c -o a.o' 'as b.s -o b.o' 'as c.s -o c.o' 'gcc -nostdlib -Wl,-T,d.ld d.c -o d' \
    'ld --oformat binary -T d.ld keep.o -o d.bin'; do
    $try >out 2>&1
    rc=$?
    size=$(du -sb . | cut -f1)
    say "step $try: status $rc, $size bytes here, $(tail -n1 out | cut -c1-80)"
    [ "$size" -lt 300000000 ] || bad=1
    rm -f a.o b.o c.o d d.bin
done
[ "${bad:-}" ] && say "ESCAPED more was written than the limit allows" || say "contained every bomb met a limit"
