#!/bin/bash
# cmake --install into an empty place: programs run from there, pages and completions are sound.
source "$(dirname "$0")/lib.sh"
build=$(cd "$(dirname "$sentry")/.." && pwd)

DESTDIR=$work/d timeout 60 cmake --install "$build" --prefix /usr --component runtime >"$work/log" 2>&1
check "cmake --install" 0 $?
p=$work/d/usr
sentry=$p/bin/sentry
runs "runs from there" 0 "hi" "$bb" -- echo hi
check "version" 0 "$("$p/bin/sentry" version >/dev/null; echo $?)"
[ ! -e "$(dirname "$SENTRY")/runsc-shim" ] ||
    check "runsc-shim" 0 "$("$p/bin/runsc-shim" --version >/dev/null; echo $?)"
for f in share/man/man1/sentry.1 share/man/man8/runsc-shim.8 share/bash-completion/completions/sentry \
    share/zsh/vendor-completions/_sentry share/fish/vendor_completions.d/sentry.fish \
    share/doc/sentry/examples/containers.conf share/doc/sentry/examples/containerd-config.toml \
    share/doc/sentry/copyright; do
    check "$f" yes "$([ -s "$p/$f" ] && echo yes)"
done

# Manual pages: every option of `sentry help run` and every command is in them.
for word in $("$sentry" help run | grep -o -- '--[a-z-]*' | sort -u) ; do
    [ "$word" = -- ] && continue
    check "sentry(1): $word" yes "$(grep -Fq -- "Fl -${word#--}" "$top/man/sentry.1" && echo yes)"
done
for word in $("$sentry" help | sed -n 's/^  \([a-z]*\).*/\1/p' | sort -u); do
    check "sentry(1): $word" yes "$(grep -Eq "Cm .*\\b$word\\b" "$top/man/sentry.1" && echo yes)"
    check "completion: $word" yes "$(grep -qw -- "$word" "$top/completions/sentry.bash" && grep -qw -- "$word" "$top/completions/_sentry" &&
        grep -qw -- "$word" "$top/completions/sentry.fish" && echo yes)"
done
for word in $("$sentry" help run | grep -o -- '  --[a-z-]*' | sort -u); do
    check "completion: $word" yes "$(grep -qw -- "$word" "$top/completions/sentry.bash" && grep -q -- "$word" "$top/completions/_sentry" && echo yes)"
done
# What the other programs say of themselves is in their pages, and the other way round.
page_has() {
    check "$1: $2" yes "$(grep -Eq -- "(Fl -${2#--}|Cm ([a-z]+ , )*${2})( |\$)" "$top/man/$1" && echo yes)"
}
for program in runsc-shim escape-suite; do
    bin=$(dirname "$SENTRY")/$program
    [ -x "$bin" ] || continue
    page=$(cd "$top/man" && echo $program.[18])
    for word in $("$bin" --help 2>&1 | grep -o -- '--[a-z-]*[a-z]' | sort -u) \
        $("$bin" --help 2>&1 | sed -n 's/^  \([a-z]\+\) .*/\1/p'); do
        page_has "$page" "$word"
    done
    for word in $(grep -o -- 'Fl -[a-z-]*' "$top/man/$page" | sort -u | sed 's/Fl -/--/'); do
        check "$program: $word exists" yes "$(grep -rqF -- "\"${word#--}" "$top/$program" && echo yes)"
    done
done
for word in $(grep -o -- 'Fl -[a-z-]\+' "$top/man/sentry.1" | sort -u | sed 's/Fl -/--/'); do
    check "sentry: $word exists" yes "$({ "$sentry" help; "$sentry" help run; "$sentry" help exec; } | grep -Fqw -- "$word" && echo yes)"
done
check "run --help" "$("$sentry" help run)" "$("$sentry" run --help)"
if command -v groff >/dev/null; then
    for page in "$top"/man/*.[18]; do
        check "groff: ${page##*/}" "" "$(groff -mdoc -Tutf8 -ww -z "$page" 2>&1)"
    done
fi
check "bash completion" "--workdir --writable" "$(PATH=$p/bin:$PATH bash -c '
    source "$1"; COMP_WORDS=(sentry run --w); COMP_CWORD=2; _sentry; echo "${COMPREPLY[@]}"' - \
    "$p/share/bash-completion/completions/sentry")"
! command -v zsh >/dev/null || check "zsh" "" "$(zsh -n "$p/share/zsh/vendor-completions/_sentry" 2>&1)"
! command -v fish >/dev/null || check "fish" "" "$(fish -n "$p/share/fish/vendor_completions.d/sentry.fish" 2>&1)"
check "containerd-config.toml" "" "$(python3 -c 'import sys, tomllib; tomllib.load(open(sys.argv[1], "rb"))' \
    "$p/share/doc/sentry/examples/containerd-config.toml" 2>&1)"
check "containers.conf" "" "$(python3 -c 'import sys, tomllib; tomllib.load(open(sys.argv[1], "rb"))' \
    "$p/share/doc/sentry/examples/containers.conf" 2>&1)"
finish
