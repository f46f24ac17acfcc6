#!/usr/bin/env python3
"""tree.py layers|headers|size|markers|readmes [compiler]: rules of the source tree, one a run.

Prints each place that breaks the rule and exits 1; silent and 0 otherwise.
"""
import fnmatch
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
ROOTS = ["abi", "lib", "platform", "sentry", "gofer", "runsc-shim", "rootfs", "escape-suite",
         "bench", "tests"]
MAX_FILE, MAX_FUNCTION, MAX_README = 900, 80, 40


def sources(*endings):
    for root in ROOTS:
        for folder, dirs, files in os.walk(os.path.join(TOP, root)):
            dirs.sort()
            for name in sorted(files):
                if name.endswith(endings):
                    yield os.path.relpath(os.path.join(folder, name), TOP)


def text(path):
    with open(os.path.join(TOP, path), encoding="utf-8", errors="replace") as f:
        return f.read()


def longest(table, path):
    best = None
    for prefix in table:
        if path == prefix or path.startswith(prefix + "/"):
            if best is None or len(prefix) > len(best):
                best = prefix
    return best


def check_layers():
    allowed, headers, extra = {}, set(), set()
    for line in text("cmake/checks/layers.txt").splitlines():
        line = line.split("#")[0].strip()
        if not line:
            continue
        name, _, rest = line.partition(":")
        if name == "kernel-system-headers":
            headers = set(rest.split())
        elif name == "kernel-system-extra":
            extra = {tuple(e.split("=")) for e in rest.split()}
        else:
            allowed[name] = rest.split()
    for path in sources(".c", ".h", ".S"):
        layer = longest(allowed, path)
        if layer is None:
            yield path, "belongs to no layer of layers.txt"
            continue
        kernel = path.startswith("sentry/") and not path.startswith(("sentry/host/", "sentry/cli/"))
        for number, line in enumerate(text(path).splitlines(), 1):
            m = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            if not m:
                continue
            kind, name = m.groups()
            if kind == '"' and "/" in name and longest(allowed[layer], name) is None:
                yield f"{path}:{number}", f"{layer} may not include {name}"
            if kind == "<" and kernel and name not in headers:
                if not any(longest([p], path) and h == name for p, h in extra):
                    yield f"{path}:{number}", f"kernel code may not include <{name}>"


def check_headers(compiler="gcc"):
    def one(path):
        run = subprocess.run(
            [compiler, "-std=gnu17", "-D_GNU_SOURCE", "-DSENTRY_DEBUG=1", "-DSENTRY_SANITIZED=0",
             '-DSENTRY_VERSION="0"', "-Wall", "-Wextra", "-Werror", "-Wno-unused-function",
             "-Wno-unused-variable", "-Wno-unused-const-variable",
             "-fsyntax-only", "-I", TOP, "-x", "c", "-"],
            input=f'#include "{path}"\n#include "{path}"\n', text=True, capture_output=True,
            check=False)
        return path, run.stderr.strip()
    headers = [p for p in sources(".h") if "#pragma once" in text(p)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, err in pool.map(one, headers):
            if err:
                yield path, "does not compile alone:\n" + err


def check_size():
    for path in sources(".c", ".h", ".S", ".py", ".sh"):
        lines = text(path).splitlines()
        if len(lines) > MAX_FILE:
            yield path, f"{len(lines)} lines, at most {MAX_FILE}"
        # A test may list its cases at length.
        if not path.endswith(".c") or path.startswith("tests/"):
            continue
        start = None
        for number, line in enumerate(lines, 1):
            if line == "{":
                start = number
            elif line == "}" and start:
                if number - start - 1 > MAX_FUNCTION:
                    yield (f"{path}:{start}",
                           f"function of {number - start - 1} lines, at most {MAX_FUNCTION}")
                start = None


def check_markers():
    words = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
    conflict = re.compile(r"^(<{7}|>{7})( |$)")
    for path in sources(".c", ".h", ".S", ".sh", ".py", ".txt", ".cmake", ".def", ".md"):
        for number, line in enumerate(text(path).splitlines(), 1):
            if conflict.match(line):
                yield f"{path}:{number}", "an unresolved merge"
            if words.search(line):
                yield f"{path}:{number}", "a marker instead of work done"
            if path.endswith((".c", ".h")) and re.match(r"\s*//", line):
                yield f"{path}:{number}", "comments are /* */"


def words_of(path):
    return set(re.findall(r"[\w*\[\].-]+", text(path)))


def unnamed_files(folder, readme):
    """C files that the README of their folder does not name, singly, by a pattern or by their header."""
    words = {re.sub(r"\.h$", "", w) for w in words_of(readme)}
    for name in sorted(os.listdir(os.path.join(TOP, folder))):
        if name.endswith((".c", ".S")) and not any(
                fnmatch.fnmatchcase(name, w) or fnmatch.fnmatchcase(name[:-2], w) for w in words):
            yield name


def stale_names(document, names):
    """Names of C files in a document that no file has; capitals stand for any name."""
    for word in sorted(words_of(document)):
        if re.fullmatch(r"[a-z0-9_*-]+\.(c|h|S|\[ch\])", word) and not fnmatch.filter(names, word):
            yield word


def check_readmes():
    names = {os.path.basename(p) for p in sources(".c", ".h", ".S", ".in")}
    documents = [os.path.join("docs", n) for n in os.listdir(os.path.join(TOP, "docs"))]
    documents += ["README.md", "CONTRIBUTING.md", *sources("README.md")]
    for document in documents:
        if document.endswith(".md"):
            for word in stale_names(document, names):
                yield document, f"names {word}, which is not there"
    folders = {os.path.dirname(p) for p in sources(".c", ".h", ".S", ".sh")}
    for folder in sorted(folders):
        # A folder of tests is described by the nearest README above it.
        if folder.startswith("tests/"):
            folder = "tests"
        readme = os.path.join(folder, "README.md")
        if not os.path.exists(os.path.join(TOP, readme)):
            yield folder, "has no README.md"
        elif len(text(readme).splitlines()) > MAX_README:
            yield readme, f"more than {MAX_README} lines"
        # Programs that are listed elsewhere (attacks.def, the test list) are told there.
        elif folder not in ("tests", "escape-suite/attacks"):
            for name in unnamed_files(folder, readme):
                yield readme, f"does not name {name}"


def main():
    checks = {"layers": check_layers, "headers": check_headers, "size": check_size,
              "markers": check_markers, "readmes": check_readmes}
    found = sorted(set(checks[sys.argv[1]](*sys.argv[2:])))
    for place, what in found:
        print(f"{place}: {what}")
    sys.exit(1 if found else 0)


main()
