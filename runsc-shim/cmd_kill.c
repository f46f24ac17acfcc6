/*
 * cmd_kill.c: `kill`, `pause` and `resume`.
 */
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/error.h"
#include "lib/parse.h"
#include "runsc-shim/container.h"
#include "runsc-shim/shim.h"

enum {
    LAST_SIGNAL = 64,
    RT_MIN = 34, /* as the C libraries number them */
    RT_MAX = 64
};

/* "RTMIN", "RTMIN+3", "RTMAX-3". */
static bool real_time_signal(const char *name, int *ret)
{
    uint64_t v = 0;
    bool max = strncasecmp(name, "RTMAX", 5) == 0;

    if (!max && strncasecmp(name, "RTMIN", 5) != 0)
        return false;
    if (name[5] != '\0' &&
        (name[5] != (max ? '-' : '+') || parse_u64(name + 6, 0, RT_MAX - RT_MIN, &v, NULL) < 0))
        return false;
    *ret = max ? RT_MAX - (int)v : RT_MIN + (int)v;
    return true;
}

/* "15", "TERM", "SIGTERM", "SIGRTMIN+3". */
static int parse_signal(const char *text, int *ret, struct error *err)
{
    uint64_t v;
    const char *name = strncasecmp(text, "SIG", 3) == 0 ? text + 3 : text;

    if (isdigit((unsigned char)text[0])) {
        if (parse_u64(text, 0, LAST_SIGNAL, &v, NULL) < 0)
            return error_set(err, EINVAL, "unknown signal '%s'", text);
        *ret = (int)v;
        return 0;
    }
    for (int i = 1; i < LAST_SIGNAL; i++) {
        const char *abbrev = sigabbrev_np(i);
        if (abbrev != NULL && strcasecmp(abbrev, name) == 0) {
            *ret = i;
            return 0;
        }
    }
    if (real_time_signal(name, ret))
        return 0;
    return error_set(err, EINVAL, "unknown signal '%s'", text);
}

int cmd_kill(int argc, char **argv, struct error *err)
{
    bool all = false;
    const struct shim_option options[] = {{"all", "a", OPT_FLAG, &all}};
    struct container c;
    const char *id;
    int signo = SIGTERM;

    int r = shim_options(&argc, argv, options, ARRAY_LEN(options), false, err);
    if (r == 0)
        r = shim_id(argc, argv, 1, 2, &id, err);
    if (r == 0 && argc == 2)
        r = parse_signal(argv[1], &signo, err);
    if (r == 0)
        r = container_open(&c, id, true, err);
    if (r != 0)
        return r;
    /* Engines sweep a container that has ended with kill --all. */
    if (c.status == STATE_STOPPED && all)
        oci_cgroup_kill(&c.cg, 1000);
    else
        r = container_signal(&c, signo, all, err);
    container_close(&c);
    return r;
}

static int set_paused(int argc, char **argv, bool on, struct error *err)
{
    struct container c;
    const char *id;
    int r = shim_options(&argc, argv, NULL, 0, false, err);

    if (r == 0)
        r = shim_id(argc, argv, 1, 1, &id, err);
    if (r == 0)
        r = container_open(&c, id, true, err);
    if (r != 0)
        return r;
    if (on && c.status != STATE_RUNNING)
        r = error_set(err, EINVAL, "container not running: %s", state_status_name(c.status));
    else if (!on && c.status != STATE_PAUSED)
        r = error_set(err, EINVAL, "container not paused");
    else
        r = container_pause(&c, on, err);
    container_close(&c);
    return r;
}

int cmd_pause(int argc, char **argv, struct error *err)
{
    return set_paused(argc, argv, true, err);
}

int cmd_resume(int argc, char **argv, struct error *err)
{
    return set_paused(argc, argv, false, err);
}
