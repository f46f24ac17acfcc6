#!/bin/bash
# stub_shape.sh ELF: the program that is embedded as the guest's zygote and stub has no relocation, no
# undefined symbol and no writable or thread data, and its section .stub is exactly one page whose code
# never jumps or calls out of it.
set -eu
elf=$1
bad=0

complain() {
    echo "stub: $*"
    bad=1
}

readelf -rW "$elf" | grep -q 'There are no relocations' || complain "has relocations"
[ -z "$(nm -u "$elf")" ] || complain "undefined symbols: $(nm -u "$elf" | tr '\n' ' ')"

# name type address offset size ... flags, with the [number] column taken off
sections=$(readelf -SW "$elf" | sed -n 's/^ *\[ *[0-9]*\] *\(\..*\)/\1/p')
while read -r name type _ _ size _ flags _; do
    case $type:$flags in
    PROGBITS:*W* | NOBITS:*W* | *:*T*) [ $((16#$size)) = 0 ] || complain "$name is data" ;;
    esac
done <<<"$sections"

read -r start size < <(awk '$1 == ".stub" { print $3, $5 }' <<<"$sections")
[ -n "${start:-}" ] || {
    complain "no section .stub"
    exit 1
}
[ $((16#$size)) = 4096 ] || complain ".stub is $((16#$size)) bytes, not a page"
first=$((16#$start)) last=$((16#$start + 16#$size))
while read -r target; do
    { [ $((16#$target)) -ge "$first" ] && [ $((16#$target)) -lt "$last" ]; } ||
        complain "leaves its page for $target"
done < <(objdump -d -j .stub --no-show-raw-insn "$elf" |
    sed -nE 's/.*[[:space:]](j[a-z]+|call) +(0x)?([0-9a-f]+) .*/\3/p')
exit "$bad"
