"""Carries out lines of Python from standard input, one answer line each: volume_coherence.py drives it."""
import os
import sys

scope = {"os": os}
scope["scope"] = scope
for line in sys.stdin:
    try:
        answer = repr(eval(line, scope)) if not line.startswith("!") else repr(exec(line[1:], scope))
    except OSError as e:
        answer = f"errno {e.errno}"
    print(answer.replace("\n", " "), flush=True)
