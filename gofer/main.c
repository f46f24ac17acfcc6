/*
 * sentry-gofer: serves the image, read-only, to one sentry; or its volumes.
 *
 * Started by the monitor (`sentry run`, runsc-shim) with everything opened:
 *
 *      fd 2    the log
 *      fd 3    the image's directory, root 0
 *      fd 4    a connected AF_UNIX SOCK_SEQPACKET socket, the other end of which the sentry has
 *      fd 5..  directories of volumes, roots 1.., as many as --roots says minus one
 *
 * With --volumes SPEC it serves bind mounts instead (volume_server.c): SPEC has a letter for each
 * of the descriptors 5.., directories or files: r may be read, w also written; R and W with what
 * the host has mounted below. Descriptor 3 is not used then.
 *
 * It is the first process of a pid namespace. With --namespaces FD it shares the empty namespaces
 * of the process whose pidfd that is, if it may, once the pipe FD + 1 has closed; otherwise it
 * makes its own. With --namespaces own it has a user namespace already, and makes the rest.
 *
 * It confines itself (namespaces.c, confine.c, confine_volumes.c), then answers requests until the
 * sentry hangs up. No path is ever given to it. Exit status: 0 the sentry hung up, 1 it could not
 * start or serve, 2 bad arguments, 3 the sentry broke the protocol; 128 + N if signal N ended it.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/random.h>
#include <sys/resource.h>

#include "gofer/confine.h"
#include "gofer/server.h"
#include "gofer/volume_server.h"
#include "lib/error.h"
#include "lib/hash.h"
#include "lib/log.h"
#include "lib/parse.h"

enum {
    FD_IMAGE = 3,
    FD_SOCK = 4,
    FD_VOLUMES = 5,
    FILES_RESERVE = 96 /* descriptors of the volume server that are no nodes */
};

enum {
    EXIT_SETUP = 1,
    EXIT_USAGE = 2,
    EXIT_PROTOCOL = 3
};

struct options {
    uint32_t nroots;
    int fds[GOFER_ROOTS_MAX];
    bool volumes, own_user;
    int join; /* 0: not given */
    struct volume_source sources[GOFER_ROOTS_MAX];
};

static int volumes_read(const char *spec, struct options *o)
{
    uint32_t n = 0;
    for (; spec[n]; n++) {
        if (n >= GOFER_ROOTS_MAX || !strchr("rwRW", spec[n]))
            return -EINVAL;
        o->sources[n] = (struct volume_source){.fd = FD_VOLUMES + (int)n,
                                               .writable = strchr("wW", spec[n]) != NULL,
                                               .cross = strchr("RW", spec[n]) != NULL};
    }
    o->volumes = true;
    o->nroots = n;
    return n > 0 ? 0 : -EINVAL;
}

static int namespaces_read(const char *text, struct options *o, struct error *err)
{
    uint64_t fd = 0;
    o->own_user = strcmp(text, "own") == 0;
    int rc = o->own_user ? 0 : parse_u64(text, FD_VOLUMES, INT_MAX - 1, &fd, err);
    o->join = (int)fd;
    return rc;
}

static int options_read(int argc, char **argv, struct options *o, struct error *err)
{
    static const struct option known[] = {{"roots", required_argument, NULL, 'r'},
                                          {"log", required_argument, NULL, 'l'},
                                          {"volumes", required_argument, NULL, 'v'},
                                          {"namespaces", required_argument, NULL, 'n'},
                                          {0}};
    uint64_t n = 1;
    int opt;
    opterr = 0;
    while ((opt = getopt_long(argc, argv, "", known, NULL)) != -1) {
        int rc = -EINVAL;
        if (opt == 'n')
            rc = namespaces_read(optarg, o, err);
        else if (opt == 'r')
            rc = parse_u64(optarg, 1, GOFER_ROOTS_MAX, &n, err);
        else if (opt == 'l')
            rc = log_parse_spec(optarg, err);
        else if (opt == 'v')
            rc = volumes_read(optarg, o);
        if (rc < 0)
            return error_set(err, EINVAL,
                             "usage: sentry-gofer [--roots N | --volumes SPEC] "
                             "[--namespaces FD|own] [--log SPEC]");
    }
    if (o->volumes)
        return 0;
    o->nroots = (uint32_t)n;
    o->fds[0] = FD_IMAGE;
    for (uint32_t i = 1; i < o->nroots; i++)
        o->fds[i] = FD_VOLUMES + (int)i - 1;
    return 0;
}

static void posture_log(const struct confinement *c)
{
    LOG_I(
        CH_GOFER,
        "namespaces: user %d, pid %d, others %d; read-only mounts %d, host's mounts gone %d, chroot %d, "
        "reads all %d, landlock %d",
        c->userns, c->pid, c->namespaces, c->read_only, c->root_gone, c->chrooted, c->reads_all,
        c->landlock);
    if (!c->read_only && !c->landlock)
        LOG_W(CH_GOFER, "no read-only mounts and no Landlock: only the filter and O_RDONLY protect "
                        "the image");
}

/* The one line of a start or run that fails here. */
static int fail(const struct options *o, const struct error *err)
{
    /* Without seccomp the sentry cannot start either, and the monitor says so in one line. Whoever
     * killed the process outside knows. */
    if (err->code == ENOSYS || err->code == ESRCH)
        return EXIT_SETUP;
    char line[sizeof(err->text) + 64];
    int n = snprintf(line, sizeof(line), "sentry: server of the %s: %s\n",
                     o->volumes ? "volumes" : "image", err->text);
    if (n < 0 || write(STDERR_FILENO, line, (size_t)n) < 0)
        return EXIT_SETUP;
    return GOFER_EXIT_SAID;
}

static int ended(const struct options *o, int rc, struct error *err)
{
    if (rc == -EPROTO) {
        LOG_E(CH_GOFER, "malformed request, hanging up");
        return EXIT_PROTOCOL;
    }
    if (rc == 0)
        return 0;
    (void)error_errno(err, -rc, "serving");
    return fail(o, err);
}

static int serve_image(struct options *o, struct confinement *c, const struct gofer_port *port,
                       struct error *err)
{
    struct server *server;
    int rc = confine_enter(c, o->fds, o->nroots, FD_SOCK, err);
    if (rc < 0)
        return fail(o, err);
    posture_log(c);
    rc = server_new(o->fds, o->nroots, &server);
    if (rc < 0) {
        (void)error_errno(err, -rc, "serve the image");
        return fail(o, err);
    }
    /* With one id of its own the host shows everybody else as "nobody", who the guest may be. */
    server->tree.squash = c->single_id;
    return ended(o, server_run(server, port), err);
}

/* Each node of the volumes is an open descriptor: as many as the caller may have. */
static uint32_t max_files(void)
{
    struct rlimit rl;
    if (getrlimit(RLIMIT_NOFILE, &rl) < 0)
        return 1024;
    return (uint32_t)MIN(rl.rlim_max, (rlim_t)VOLUME_NODES_MAX + FILES_RESERVE);
}

static int serve_volumes(struct options *o, struct confinement *c, const struct gofer_port *port,
                         struct error *err)
{
    struct volume_server *server;
    uint32_t files = MAX(max_files(), 2u * FILES_RESERVE);
    int top;
    int rc = confine_volumes(c, o->sources, o->nroots, FD_SOCK, files, &top, err);
    if (rc < 0)
        return fail(o, err);
    posture_log(c);
    rc = volume_server_new(o->sources, o->nroots, top, files - FILES_RESERVE, &server);
    if (rc < 0) {
        (void)error_errno(err, -rc, "serve the volumes");
        return fail(o, err);
    }
    server->volumes.squash = c->single_id;
    server->volumes.uid = c->id;
    return ended(o, volume_server_run(server, port), err);
}

int main(int argc, char **argv)
{
    struct error err;
    struct options o = {0};
    struct confinement c;
    uint64_t seed;
    error_init(&err);
    if (options_read(argc, argv, &o, &err) < 0) {
        (void)fail(&o, &err);
        return EXIT_USAGE;
    }
    if (getrandom(&seed, sizeof(seed), 0) == sizeof(seed))
        hash_set_seed(seed);
    struct gofer_port port = {.sock = FD_SOCK, .spins = gofer_spins()};
    struct confine_join join = {.pidfd = o.join, .settled = o.join + 1, .roots = o.fds};
    join.nroots = o.volumes ? 0 : o.nroots;
    if (confine_namespaces(&c, o.join > 0 ? &join : NULL, o.own_user, &err) < 0)
        _exit(fail(&o, &err));
    _exit(o.volumes ? serve_volumes(&o, &c, &port, &err) : serve_image(&o, &c, &port, &err));
}
