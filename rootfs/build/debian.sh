#!/bin/bash
# debian.sh DEST: a Debian root file system in the new directory DEST, with the interpreters,
# compiler and tools that the tests run. Uses the apt sources that this machine is configured with.
set -euo pipefail

dest=$1
command -v mmdebstrap >/dev/null || {
    echo "debian.sh: no mmdebstrap on this machine (Debian: apt-get install mmdebstrap)" >&2
    exit 1
}
# shellcheck source=/dev/null
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")

# Of the machine's sources only Debian's own are wanted: those whose components name `main` and
# whose suites start with this release's name.
sources=$(mktemp)
trap 'rm -f "$sources"' EXIT
collect_sources() {
    local file
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ -f "$file" ] || continue
        grep -E "^deb(-src)? .* ${suite}[^ ]* .*\<main\>" "$file" | grep -v '^deb-src' || true
    done
    for file in /etc/apt/sources.list.d/*.sources; do
        [ -f "$file" ] || continue
        # One line per stanza of a deb822 file, then back to the one-line form.
        awk -v RS= -v suite="$suite" '
            {
                uris = suites = components = signed = ""
                n = split($0, line, "\n")
                for (i = 1; i <= n; i++) {
                    key = line[i]; sub(/:.*/, "", key)
                    value = line[i]; sub(/^[^:]*:[ \t]*/, "", value)
                    if (key == "URIs") uris = value
                    if (key == "Suites") suites = value
                    if (key == "Components") components = value
                    if (key == "Signed-By" && value ~ /^\//) signed = "[signed-by=" value "] "
                }
                if (suites !~ "(^| )" suite || components !~ /(^| )main( |$)/) next
                n = split(uris, u, " "); m = split(suites, s, " ")
                for (i = 1; i <= n; i++)
                    for (j = 1; j <= m; j++)
                        print "deb " signed u[i] " " s[j] " main"
            }' "$file"
    done
}
collect_sources >"$sources"
[ -s "$sources" ] || {
    echo "debian.sh: found no apt source for $suite on this machine" >&2
    exit 1
}

packages=python3,perl,gcc,libc6-dev,make,procps,git,sqlite3,bash,coreutils,diffutils,findutils,file
# shellcheck disable=SC2016  # $1 is the hook's own
mmdebstrap --quiet --variant=minbase --mode=auto --include="$packages" \
    --aptopt='APT::Install-Recommends "false"' \
    --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    --customize-hook='rm -rf "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/* "$1"/var/log/*' \
    --customize-hook='rm -rf "$1"/etc/apt/sources.list "$1"/etc/apt/sources.list.d/*' \
    --customize-hook='rm -f "$1"/etc/resolv.conf' \
    --customize-hook='echo sandbox >"$1"/etc/hostname' \
    "$suite" "$dest" "$sources" >&2
