#!/usr/bin/env python3
"""clang-tidy over C files, remembering which were clean: tidy.py BUILD [FILE...] (none: the whole tree).

A file is looked at again when its text, a header that it includes, its command line or a .clang-tidy that
counts for it has changed. What passed is remembered in BUILD/tidy, a file for each state that is clean.
Exit status 1: something was found.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys

TIDY = "clang-tidy-14"
CLANG = "clang-14"
TOP = pathlib.Path(__file__).resolve().parents[2]


def commands(build):
    """The command line of each file; guest programs and attacks have none, and clang-tidy guesses."""
    entries = json.loads((build / "compile_commands.json").read_text())
    return {e["file"]: (e["directory"], shlex.split(e["command"])) for e in entries}


def configs(file):
    """The settings that count for a file: those of its folder and of all above it."""
    return [p for d in file.parents if d == TOP or TOP in d.parents for p in [d / ".clang-tidy"] if p.exists()]


def expanded(file, command):
    """The file with everything that it includes. Comments stay: NOLINT is one."""
    if command is None:
        headers = sorted(TOP.glob("abi/*.h")) + sorted(file.parent.glob("*.h"))
        return b"".join(p.read_bytes() for p in [file, *headers])
    directory, words = command
    words = [w for w in words if w not in ("-c", str(file))]
    if "-o" in words:
        at = words.index("-o")
        del words[at:at + 2]
    words = [CLANG, *words[next(i for i, w in enumerate(words) if w.startswith("-")):]]
    run = subprocess.run([*words, "-w", "-E", "-CC", str(file)], cwd=directory, capture_output=True, check=False)
    return run.stdout if run.returncode == 0 else None


def key(file, command):
    text = expanded(file, command)
    if text is None:
        return None
    h = hashlib.sha256(repr(command).encode() + text)
    for config in configs(file):
        h.update(config.read_bytes())
    return h.hexdigest()


def look(build, file, command):
    """What clang-tidy has to say; nothing is good."""
    state = key(file, command)
    if state and (build / "tidy" / state).exists():
        return ""
    run = subprocess.run([TIDY, "--quiet", "-p", str(build), str(file)], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        return run.stdout or run.stderr
    if state:
        (build / "tidy" / state).touch()
    return ""


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    names = sys.argv[2:] or subprocess.run(
        ["git", "ls-files", "*.c"], cwd=TOP, capture_output=True, text=True, check=True).stdout.split()
    files = [pathlib.Path(os.path.abspath(n if sys.argv[2:] else TOP / n)) for n in names]
    known = commands(build)
    (build / "tidy").mkdir(exist_ok=True)
    found = 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for text in pool.map(lambda f: look(build, f, known.get(str(f))), files):
            if text:
                found += 1
                print(text, flush=True)
    print(f"clang-tidy: {len(files)} files, {found} with findings", file=sys.stderr)
    return 1 if found else 0


sys.exit(main())
