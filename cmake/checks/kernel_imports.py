#!/usr/bin/env python3
"""kernel_imports.py NM KERNEL_LIB LOWER_LIB...: kernel code makes no host call.

Every symbol that the kernel library uses must come from itself, from a library below it, be one of
the kernel's two doors (host_*, plat_*) or stand in the short list of C library functions that only
touch memory.
"""
import re
import subprocess
import sys

MEMORY_ONLY = re.compile(
    r"^(mem(cpy|move|set|cmp|chr|rchr|mem)|__mem\w+_chk"
    r"|str(n?len|n?cmp|chr|rchr|chrnul|str|spn|cspn|pbrk|n?cpy|n?cat)|stp?n?cpy|__st[rp]\w+_chk"
    r"|v?snprintf|__v?snprintf_chk"
    r"|(elf|gelf)\d*_\w+|XXH\w+)$")
DOORS = re.compile(r"^(host|plat|gofer|volume_client)_\w+$")
COMPILER = re.compile(
    r"^(__asan_|__ubsan_|__tsan_|__sanitizer_|__msan_|__llvm_|__gcov_|llvm_gcov|__stack_chk_fail$"
    r"|_GLOBAL_OFFSET_TABLE_$|__start_|__stop_|__popcountdi2$|__sancov_|__cyg_)")
# Of the libraries below: what deals with descriptors and files is not for kernel code.
FORBIDDEN = re.compile(r"^(fd_|cleanup_fd$)")


def symbols(nm, path, undefined):
    flag = "-u" if undefined else "--defined-only"
    out = subprocess.run([nm, "-A", "-g", flag, path], text=True, capture_output=True, check=True)
    for line in out.stdout.splitlines():
        place, _, rest = line.rpartition(" ")
        yield rest, place.split(":")[-2] if ":" in place else place


def main():
    nm, kernel, lower = sys.argv[1], sys.argv[2], sys.argv[3:]
    own = {s for s, _ in symbols(nm, kernel, False)}
    below = {s for lib in lower for s, _ in symbols(nm, lib, False)}
    bad = set()
    for symbol, place in symbols(nm, kernel, True):
        if symbol in own or MEMORY_ONLY.match(symbol) or DOORS.match(symbol) \
                or COMPILER.match(symbol):
            continue
        if symbol not in below or FORBIDDEN.match(symbol):
            bad.add((place.strip(), symbol))
    for place, symbol in sorted(bad):
        print(f"{place}: kernel code must not use {symbol}")
    if not own:
        print("the kernel library defines nothing: wrong file?")
    sys.exit(1 if bad or not own else 0)


main()
