/*
 * help.c: `sentry help` and `sentry version`.
 */
#include "lib/compiler.h"

#include <stdio.h>
#include <string.h>

#include "sentry/cli/cli.h"
#include "sentry/kernel/uts.h"

static const char general[] =
    "usage: sentry COMMAND\n"
    "\n"
    "  run [OPTIONS] IMAGE [--] [PROG [ARGS...]] run a program in a sandbox\n"
    "  exec [OPTIONS] ID [--] PROG [ARGS...]     one more process in a running sandbox\n"
    "  ps [--json] ID                            its processes\n"
    "  kill [-s SIGNAL] [--all] ID [PID]         a signal to its first process, or another\n"
    "  pause ID, resume ID                       holds all of its processes, lets them go on\n"
    "  stats [--json] ID                         what it uses\n"
    "  list [--json]                             running sandboxes\n"
    "  import [--max-size SIZE] FILE|DIR [NAME]  an OCI layout or docker archive into the store\n"
    "  pull [--max-size SIZE] [--tls-verify=false] REF\n"
    "                                            an image of a registry into the store\n"
    "  images [--json]                           what is in the store\n"
    "  rmi IMAGE...                              take images out of the store\n"
    "  prune                                     remove what no name leads to\n"
    "  doctor                                    what this host offers, and what is missing\n"
    "  syscalls [--json]                         the system calls that are implemented\n"
    "  version                                   the version\n"
    "  help [run|exec]                           this text, or the options\n";

static const char run_text[] =
    "usage: sentry run [OPTIONS] IMAGE [--] [PROG [ARGS...]]\n"
    "\n"
    "IMAGE is a directory that holds a root file system, an OCI image layout (directory or tar), a\n"
    "docker save archive, or the name of an image in the store. It is never written. PATH:NAME\n"
    "chooses one of several images in a file. What the image says (Env, WorkingDir, User) holds\n"
    "where no option says otherwise; PROG and ARGS replace its Entrypoint and Cmd, both.\n"
    "\n"
    "  --env K=V            set a variable (the caller's environment is not passed on)\n"
    "  --name ID            how exec, ps and kill call it (default: an id of its own)\n"
    "  --workdir DIR        working directory (default /tmp)\n"
    "  --hostname NAME      host name (default sentry)\n"
    "  --user UID[:GID]|NAME  default 65534; 0 is the emulated root\n"
    "  --writable           an overlay in memory: writes vanish with the run\n"
    "  --tmpfs PATH[:SIZE]  an empty file system in memory\n"
    "  --volume HOST:GUEST:ro  a directory or file of the host, read-only\n"
    "  --timeout DUR        wall time limit (default 60s; 0: none)\n"
    "  --cpu-time DUR       CPU time limit (default 60s; 0: none)\n"
    "  --memory SIZE        memory limit (default 512M)\n"
    "  --cpus N             CPU share (1.5: one and a half processors)\n"
    "  --cgroup auto|v2|v1|none  what holds memory and CPU share (none: the monitor itself)\n"
    "  --pids N             tasks at once (default 256)\n"
    "  --files N            descriptors of a process (default 1024)\n"
    "  --file-size SIZE     size of one file (default 64M)\n"
    "  --disk SIZE          all files in memory together (default 64M)\n"
    "  --output SIZE        bytes on each of stdout and stderr (default 8M)\n"
    "  --policy FILE        limits and more as JSON; options override it\n"
    "  --report FILE|-      how the run ended and what it used, as JSON (-: last line of stderr)\n"
    "  --capture            the report holds what was written to stdout and stderr\n"
    "  --strace[=FILE]      print every system call\n"
    "  --log SPEC           for example fs:D,mm:I\n"
    "  --tty                the program gets a terminal\n"
    "  --platform auto|unotify\n"
    "\n"
    "Exit status: the program's own, 128+N for signal N, 124 for a limit, 125 when the sandbox could\n"
    "not start, 126/127 when PROG cannot be executed / is not found.\n";

static const char exec_text[] =
    "usage: sentry exec [OPTIONS] ID [--] PROG [ARGS...]\n"
    "\n"
    "Runs PROG in the running sandbox ID (see 'sentry list'), as its first program's user, in its\n"
    "working directory and with its environment.\n"
    "\n"
    "  --env K=V            set a variable\n"
    "  --workdir DIR        working directory\n"
    "  --user UID[:GID]|NAME\n"
    "  --tty                the program gets a terminal\n"
    "\n"
    "Exit status: the program's own, 128+N for signal N (137 when the sandbox ends first), 125 when\n"
    "there is no such sandbox, 126/127 when PROG cannot be executed / is not found.\n";

int cmd_help(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "run") == 0)
        (void)fputs(run_text, stdout);
    else if (argc > 1 && strcmp(argv[1], "exec") == 0)
        (void)fputs(exec_text, stdout);
    else
        (void)fputs(general, stdout);
    return 0;
}

int cmd_version(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    (void)printf("sentry %s\n", SENTRY_VERSION);
    return 0;
}
