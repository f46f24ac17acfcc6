/*
 * cmd_rmi.c: `sentry rmi IMAGE...`: a name goes; with its last name, or when it was named by its
 * ID, the image goes too.
 */
#include "lib/compiler.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/error.h"
#include "rootfs/store.h"
#include "sentry/cli/cli.h"

enum {
    EXIT_FAILED = 125
};

struct names {
    const struct store *s;
    const struct digest *id;
    bool drop;
    size_t n;
};

static int each_name(void *arg, const char *name, const struct digest *id)
{
    struct names *n = arg;
    if (!digest_equal(id, n->id))
        return 0;
    n->n++;
    return n->drop ? store_ref_drop(n->s, name) : 0;
}

static int remove_image(struct store *s, const char *text, struct error *err)
{
    struct digest id;
    char name[STORE_FOUND_MAX];
    int r = store_resolve(s, text, &id, name, err);
    if (r < 0)
        return r;
    bool named = name[0] != '\0';
    struct names n = {.s = s, .id = &id, .drop = !named};
    r = named ? store_ref_drop(s, name) : 0;
    if (r == 0)
        r = store_each_ref(s, each_name, &n);
    if (r < 0)
        return error_errno(err, -r, "image store %.300s", s->path);
    return named && n.n > 0 ? 0 : store_remove(s, &id, err);
}

int cmd_rmi(int argc, char **argv)
{
    struct store s;
    struct error err;
    int status = 0;

    error_init(&err);
    if (argc < 2 || argv[1][0] == '-') {
        (void)fprintf(stderr, "sentry: usage: sentry rmi IMAGE...\n");
        return EXIT_FAILED;
    }
    int r = store_open(&s, false, &err);
    if (r == 0) {
        r = store_lock(&s, &err);
        for (int i = 1; i < argc && r == 0; i++) {
            if (remove_image(&s, argv[i], &err) < 0) {
                (void)fprintf(stderr, "sentry: %s\n", err.text);
                status = EXIT_FAILED;
            }
        }
        store_close(&s);
    }
    if (r < 0) {
        (void)fprintf(stderr, "sentry: %s\n", err.text);
        status = EXIT_FAILED;
    }
    return status;
}
