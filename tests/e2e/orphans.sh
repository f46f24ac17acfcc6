#!/bin/bash
# A caller that looks after no process but its own (a container's first process, often) is left with none: whatever
# `sentry run` and `sentry doctor` started has been waited for when they return.
source "$(dirname "$0")/lib.sh"
cat >"$work/reaper.py" <<'END'
import ctypes, os, subprocess, sys
sentry, image = sys.argv[1:]
PR_SET_CHILD_SUBREAPER = 36
if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
    sys.exit("no subreaper")
runs = [[sentry, "run", image, "--", "true"],
        [sentry, "run", "--cgroup", "none", image, "--", "true"],
        [sentry, "run", "--name", f"orphans-{os.getpid()}", image, "--", "true"],
        [sentry, "run", image, "--", "sleep", "0.3"],
        [sentry, "run", "--timeout", "300ms", image, "--", "sleep", "5"],
        [sentry, "run", image, "--", "/nonexistent"],
        [sentry, "run", "--volume", image + ":/mnt:ro", image, "--", "true"],
        [sentry, "doctor"]]
bad = 0
for argv in runs:
    for _ in range(3):
        subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env={**os.environ, "XDG_RUNTIME_DIR": sys.argv[0] + ".run"}, check=False)
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as f:
            left = f.read().split()
        if left:
            print("left behind by", *argv[1:], ":", *(open(f"/proc/{p}/stat", encoding="ascii").read().split()[:3] for p in left))
            bad = 1
            while True:
                try:
                    os.waitpid(-1, 0)
                except ChildProcessError:
                    break
sys.exit(bad)
END
check "no process is left to the caller" "" "$(python3 "$work/reaper.py" "$sentry" "$bb")"
finish
