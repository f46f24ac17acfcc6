#!/usr/bin/env python3
"""What the tests ran: coverage.py BUILD [FILE...]

BUILD is build/coverage, after tests. Prints the lines run, of each folder and file of the product; for files
that are named, the lines that no test ran.
"""
import collections
import json
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[1]
FOLDERS = ("abi", "lib", "platform", "sentry", "gofer", "runsc-shim", "rootfs")


def merged(build):
    """The counters of all programs; a program that was built anew since has another file."""
    out = build / "coverage.profdata"
    subprocess.run(["llvm-profdata-14", "merge", "-failure-mode=all", "-o", out, *build.glob("profile/*.profraw")],
                   check=True)
    return out


def exported(build, files):
    programs = [p for p in sorted((build / "bin").iterdir()) if p.is_file() and not p.name.startswith(("fuzz_", "bench"))]
    words = ["llvm-cov-14", "export", f"-instr-profile={merged(build)}", programs[0]]
    for p in programs[1:]:
        words += ["-object", p]
    if not files:
        words += ["-summary-only"]
    run = subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(run.stdout)["data"][0]["files"]


def path_of(build, entry):
    """A compiler cache makes names relative to where the compiler ran."""
    return (build / entry["filename"]).resolve()


def summary(build, entries):
    folders = collections.defaultdict(lambda: [0, 0])
    rows = []
    for e in entries:
        name = path_of(build, e)
        if TOP not in name.parents or name.suffix != ".c":
            continue
        name = name.relative_to(TOP)
        if name.parts[0] not in FOLDERS:
            continue
        lines = e["summary"]["lines"]
        rows.append((lines["percent"], lines["count"], str(name)))
        for folder in (str(name.parent), name.parts[0]) if len(name.parts) > 2 else (name.parts[0],):
            folders[folder][0] += lines["covered"]
            folders[folder][1] += lines["count"]
    for percent, count, name in sorted(rows):
        print(f"{percent:5.1f}% of {count:5} {name}")
    print()
    for name, (covered, count) in sorted(folders.items()):
        print(f"{100 * covered / count:5.1f}% of {count:5} {name}")


def never_run(path, segments):
    """Lines with a piece, from one segment to the next, that counts and counted nothing."""
    text = path.read_text().splitlines()
    name = path.relative_to(TOP)
    lines = set()
    for at, (line, column, count, counted, *_rest) in enumerate(segments):
        if not counted or count != 0:
            continue
        end_line, end_column = segments[at + 1][:2] if at + 1 < len(segments) else (line, column)
        for n in range(line, end_line + 1):
            part = text[n - 1][:end_column - 1] if n == end_line else text[n - 1]
            part = part[column - 1:] if n == line else part
            if part.strip(" {}();"):
                lines.add(n)
    for n in sorted(lines):
        print(f"{name}:{n}: {text[n - 1].strip()}")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    files = [TOP / f for f in sys.argv[2:]]
    entries = exported(build, files)
    if not files:
        summary(build, entries)
    for e in entries:
        if path_of(build, e) in files:
            never_run(path_of(build, e), e["segments"])


main()
