#!/bin/bash
# timeout: 300
# Java and Go at the limits, where the toolchains image has been made (./dev image toolchains).
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/lib_limits.sh"
tc=$images/toolchains
if [ ! -d "$tc" ]; then
    echo "skipped: no toolchains image (./dev image toolchains)"
    exit 77
fi
mkdir "$work/src"
cat >"$work/src/Hog.java" <<'END'
import java.util.*;
public class Hog {
    public static void main(String[] a) throws Exception {
        switch (a[0]) {
        case "hello": System.out.println("hello"); break;
        case "heap": List<byte[]> l = new ArrayList<>(); for (;;) { byte[] b = new byte[1 << 20]; Arrays.fill(b, (byte) 1); l.add(b); }
        case "spin": for (;;) ;
        case "threads": for (;;) new Thread(() -> { try { Thread.sleep(1000000); } catch (Exception e) { } }).start();
        case "sleep": Thread.sleep(1000000);
        case "output": for (;;) System.out.println("y");
        }
    }
}
END
cat >"$work/src/hog.go" <<'END'
package main

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
)

func main() {
	switch os.Args[1] {
	case "hello":
		fmt.Println("hello")
	case "heap":
		var l [][]byte
		for {
			b := make([]byte, 1<<20)
			for i := range b {
				b[i] = 1
			}
			l = append(l, b)
		}
	case "spin":
		for i := 0; i < 8; i++ {
			go func() {
				for {
				}
			}()
		}
		for {
		}
	case "threads":
		for {
			go func() { runtime.LockOSThread(); var t syscall.Timespec = syscall.NsecToTimespec(1e15); syscall.Nanosleep(&t, nil) }()
			time.Sleep(time.Millisecond)
		}
	case "sleep":
		time.Sleep(1e15)
	case "output":
		for {
			fmt.Println("y")
		}
	}
}
END
chmod -R a+rX "$work"
# Compiled inside, with room: the class files and the program come out through standard output.
timeout 200 "$sentry" run --timeout 180s --cpu-time 180s --memory 2G --disk 512M --file-size 256M --output 64M --pids 512 \
    --volume "$work/src:/mnt:ro" "$tc" -- sh -c 'cd /tmp && javac -d . /mnt/Hog.java && tar c *.class' \
    2>"$work/err" </dev/null | tar x -C "$work/src"
check "javac inside" "" "$([ -f "$work/src/Hog.class" ] || head -3 "$work/err")"
timeout 200 "$sentry" run --timeout 180s --cpu-time 180s --memory 2G --disk 1G --file-size 512M --output 64M --pids 512 \
    --volume "$work/src:/mnt:ro" "$tc" -- sh -c \
    'cd /tmp && GOCACHE=/tmp/c GO111MODULE=off go build -o hog /mnt/hog.go >&2 && cat hog' >"$work/src/hog" 2>"$work/err" </dev/null
chmod 755 "$work/src/hog"
check "go build inside" "" "$([ -s "$work/src/hog" ] || head -3 "$work/err")"

hog() {
    local lang=$1 name=$2 verdict=$3 word=$4
    shift 4
    case $lang in
    java) ends "java: $name" "$verdict" --volume "$work/src:/mnt:ro" "$@" "$tc" -- java -cp /mnt -Xmx1g Hog "$word" ;;
    go) ends "go: $name" "$verdict" --volume "$work/src:/mnt:ro" "$@" "$tc" -- /mnt/hog "$word" ;;
    esac
}
for lang in java go; do
    hog $lang "hello" ok hello
    check "$lang: its output" hello "$(cat "$work/out")"
    hog $lang "memory" memory-limit heap --memory 256M
    hog $lang "memory, without a cgroup" memory-limit heap --memory 256M --cgroup none
    hog $lang "CPU time" cpu-limit spin --cpu-time 1s
    hog $lang "tasks" pids-limit threads --pids 64
    hog $lang "wall time" wall-limit sleep --timeout 2s
    hog $lang "output" output-limit output --output 64K
done
hog go "hello in 64 MiB" ok hello --memory 64M
finish
