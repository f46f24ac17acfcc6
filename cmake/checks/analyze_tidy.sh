#!/bin/bash
# clang-tidy in the `analyze` preset, where the compiler is gcc: without the options that only gcc has.
args=()
for arg in "$@"; do
    case $arg in
    -fanalyzer | -Wno-analyzer-* | -Wduplicated-cond | -Wlogical-op | -Wstack-usage=* | -Wno-format-truncation | -ftrivial-* | -fzero-*) ;;
    *) args+=("$arg") ;;
    esac
done
exec clang-tidy-14 "${args[@]}"
