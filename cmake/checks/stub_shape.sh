#!/bin/bash
# stub_shape.sh STUB_ELF: the code page in the guest has no relocation, no writable or thread data,
# no undefined symbol, and fits one page.
set -eu
stub=$1
bad=0

complain() {
    echo "stub: $*"
    bad=1
}

readelf -rW "$stub" | grep -q 'There are no relocations' || complain "has relocations"
[ -z "$(nm -u "$stub")" ] || complain "undefined symbols: $(nm -u "$stub" | tr '\n' ' ')"
while read -r name size flags; do
    [ $((16#$size)) = 0 ] || complain "section $name ($flags) is data"
done < <(readelf -SW "$stub" | sed 's/^ *\[ *[0-9]*\] *//' |
    awk '$2 ~ /^(PROGBITS|NOBITS)$/ && $7 ~ /W/ { print $1, $5, $7 }')
text=$(size -A "$stub" | awk '$1 ~ /^\.(text|rodata|stub)/ { sum += $2 } END { print sum + 0 }')
[ "$text" -gt 0 ] || complain "has no code"
[ "$text" -le 4096 ] || complain "$text bytes, more than a page"
exit "$bad"
