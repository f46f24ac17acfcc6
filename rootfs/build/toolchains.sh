#!/bin/bash
# toolchains.sh DEST: the debian image (debian.sh) with Java and Go beside gcc and Python.
set -euo pipefail
# shellcheck disable=SC2016  # $1 is the hook's own

# The JDK's scripts want a directory that the debian image leaves out.
sed -e 's/^packages=/packages=openjdk-17-jdk-headless,golang-go,/' \
    -e 's|^    --customize-hook=.rm -f "$1"/etc/resolv.conf. .$|    --essential-hook='"'"'mkdir -p "$1"/usr/share/man/man1'"'"' \\\n&|' \
    "$(dirname "${BASH_SOURCE[0]}")/debian.sh" | bash -s -- "$1"
