#pragma once
/*
 * shim.h: what the commands of runsc-shim share: the global options, how a command line is read,
 * how an error reaches the engine.
 *
 * A command is a function of its own file, cmd_NAME.c. It fails with a struct error; main.c then
 * writes one line to standard error and one to --log.
 */
#include "lib/compiler.h"

struct error;

/* Where what a container writes to its root goes. */
enum shim_root_storage {
    ROOT_MEMORY,
    ROOT_BUNDLE,    /* into the directory that config.json names */
    ROOT_ANNOTATION /* as config.json's annotation says, memory without one */
};

struct shim_globals {
    const char *root;     /* where the state directories are */
    const char *log_path; /* NULL: standard error */
    bool log_json, debug, systemd_cgroup;
    bool no_cgroup; /* --cgroup-manager disabled */
    enum shim_root_storage root_storage;
    int fail_status; /* what to exit with on an error, 0: 1 */
};

extern struct shim_globals shim;

/* -- command lines -- */

enum shim_option_kind {
    OPT_FLAG,   /* bool */
    OPT_STRING, /* const char * */
    OPT_LIST,   /* struct shim_list */
    OPT_IGNORED /* takes a value, which has no meaning here */
};

enum {
    SHIM_LIST_MAX = 256
};

struct shim_list {
    const char *v[SHIM_LIST_MAX];
    size_t n;
};

struct shim_option {
    const char *name, *alias; /* without dashes; alias may be NULL */
    enum shim_option_kind kind;
    void *to;
};

/* Takes the options out of argv (argv[0] is the command's name); what is left, *argc words with a
 * NULL behind, are its arguments. Options may stand between arguments unless the first argument
 * ends them (first_ends, as for exec). As runc's: -name and --name are the same, a value follows or
 * comes after '='. */
int shim_options(int *argc, char **argv, const struct shim_option *options, size_t n,
                 bool first_ends, struct error *err) MUST_CHECK;
/* The container id, the first of between min and max arguments; checked as runc does. */
int shim_id(int argc, char **argv, int min, int max, const char **ret_id, struct error *err)
    MUST_CHECK;
/* --preserve-fds: how many descriptors from 3 on are the guest's too; they are open. NULL: none. */
int shim_preserve_fds(const char *text, int *ret_count, struct error *err) MUST_CHECK;
int shim_id_check(const char *id, struct error *err) MUST_CHECK;

/* -- messages -- */

enum shim_level {
    SHIM_DEBUG,
    SHIM_INFO,
    SHIM_WARNING,
    SHIM_ERROR
};

/* A line that is written when the command succeeds: after a failure the log has only the error, as
 * engines read one JSON value there. Debug lines only with --debug. */
void shim_note(enum shim_level level, const char *fmt, ...) PRINTF(2, 3);
/* Each line of text. */
void shim_note_lines(enum shim_level level, const char *text);
/* Writes the notes. */
void shim_notes_flush(void);
/* The error, to standard error and the log. */
void shim_fail(const char *text);

/* The program; argv is changed. */
int shim_main(int argc, char **argv);

/* -- commands: argv[0] is the name; the result is the exit status, or -errno with err set -- */

int cmd_create(int argc, char **argv, struct error *err) MUST_CHECK;
int cmd_start(int argc, char **argv, struct error *err) MUST_CHECK;
int cmd_run(int argc, char **argv, struct error *err) MUST_CHECK;
int cmd_state(int argc, char **argv, struct error *err) MUST_CHECK;
int cmd_kill(int argc, char **argv, struct error *err) MUST_CHECK;
int cmd_delete(int argc, char **argv, struct error *err) MUST_CHECK;
int cmd_exec(int argc, char **argv, struct error *err) MUST_CHECK;
int cmd_list(int argc, char **argv, struct error *err) MUST_CHECK;
int cmd_ps(int argc, char **argv, struct error *err) MUST_CHECK;
int cmd_pause(int argc, char **argv, struct error *err) MUST_CHECK;
int cmd_resume(int argc, char **argv, struct error *err) MUST_CHECK;
int cmd_events(int argc, char **argv, struct error *err) MUST_CHECK;
int cmd_update(int argc, char **argv, struct error *err) MUST_CHECK;
int cmd_spec(int argc, char **argv, struct error *err) MUST_CHECK;
int cmd_features(int argc, char **argv, struct error *err) MUST_CHECK;
