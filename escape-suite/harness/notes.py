#!/usr/bin/env python3
"""notes.py ATTACKS: the notes of every attack file as initialisers for catalogue.c.

notes.py --check ATTACKS DEF: prints what is missing (a note, a file, a line of the list), exits 1.
"""
import os
import re
import sys

KEYS = ["tries", "must fail because", "an escape would", "source"]


def attack_files(folder):
    return sorted(f for f in os.listdir(folder)
                  if f.endswith((".c", ".sh", ".py")) and not f.startswith(("tool-", "tool_")))


def notes(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        text = f.read()
    if not path.endswith(".c"):
        # Scripts: "# key: text", further lines as "#   text".
        text = re.sub(r"\n#\s{2,}(\S)", r" \1", text)
        found = re.findall(r"^# ?(%s): *(.*)$" % "|".join(KEYS), text, re.M)
    else:
        found = re.findall(r"/\*\s*(%s):(.*?)\*/" % "|".join(KEYS), text, re.S)
    table = dict(reversed(found))
    return [re.sub(r"[\s*]+", " ", table.get(k, "")).strip() for k in KEYS]


def literal(text):
    return '"' + text.encode("ascii", "replace").decode().replace("\\", "\\\\").replace('"', '\\"') + '"'


def generate(folder):
    for name in attack_files(folder):
        fields = ", ".join(literal(t) for t in [name] + notes(os.path.join(folder, name)))
        print("{" + fields + "},")
    print("{NULL, NULL, NULL, NULL, NULL},")


def check(folder, listing):
    with open(listing, encoding="utf-8") as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    listed = re.findall(r'ATTACK\(\s*"([^"]*)"\s*,\s*(\w+)\s*,\s*"([^"]*)"', text)
    files = attack_files(folder)
    letters = dict(NETWORK="n", FILES="f", PROCESSES="p", RESOURCES="r", OUTLIVE="o", SEE="s",
                   COMPILER="c", OUTPUT="b", SUPERVISOR="v", GOFER="g", IMAGES="i")
    for ident, group, name in listed:
        if name not in files:
            yield f"{ident}: no file attacks/{name}"
        if not re.fullmatch(letters[group] + r"\d\d-[a-z0-9-]+", ident):
            yield f"{ident}: an id is the group's letter, two digits, a name"
    for name in files:
        for key, value in zip(KEYS, notes(os.path.join(folder, name))):
            if not value:
                yield f"attacks/{name}: says nothing after '{key}:'"
        if name not in {n for _, _, n in listed}:
            yield f"attacks/{name}: no line in attacks.def"


if sys.argv[1] == "--check":
    problems = list(check(*sys.argv[2:]))
    print("\n".join(problems), end="\n" if problems else "")
    sys.exit(1 if problems else 0)
generate(sys.argv[1])
