#pragma once
/*
 * The commands of `sentry`: argv[0] is the command's own name; the result is the exit status.
 */
int cmd_run(int argc, char **argv);
int cmd_exec(int argc, char **argv);
int cmd_ps(int argc, char **argv);
int cmd_kill(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_pause(int argc, char **argv); /* and resume */
int cmd_stats(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_version(int argc, char **argv);
int cmd_syscalls(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_pull(int argc, char **argv);
int cmd_images(int argc, char **argv);
int cmd_rmi(int argc, char **argv);
int cmd_prune(int argc, char **argv);
int cmd_help(int argc, char **argv);
