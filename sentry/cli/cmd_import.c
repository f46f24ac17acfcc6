/*
 * cmd_import.c: `sentry import FILE|DIR [NAME]`: an image into the local store, under a name.
 */
#include "lib/compiler.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/error.h"
#include "rootfs/store.h"
#include "sentry/cli/cli.h"
#include "sentry/cli/image.h"

enum {
    EXIT_FAILED = 125
};

/* The name given, else what the image calls itself. */
static int name_image(const struct store *s, const struct store_added *a, const char *given,
                      char shown[600], struct error *err)
{
    char hex[13];
    const char *name = given != NULL ? given : a->name;
    digest_short(&a->id, hex);
    if (name[0] == '\0') {
        (void)snprintf(shown, 600, "%s (no name: sentry import FILE NAME gives one)", hex);
        return 0;
    }
    (void)snprintf(shown, 600, "%s %s", hex, name);
    return store_ref_set(s, name, &a->id, err);
}

static int import(const char *path, const char *given, const struct image_limits *limits,
                  struct error *err)
{
    struct store s;
    struct store_added added;
    char shown[600];

    int r = given != NULL ? store_ref_check(given, err) : 0;
    if (r == 0)
        r = store_open(&s, true, err);
    if (r < 0)
        return r;
    r = store_lock(&s, err);
    if (r == 0)
        r = image_import(&s, path, limits, &added, err);
    if (r == 0)
        r = name_image(&s, &added, given, shown, err);
    if (r == 0)
        (void)printf("%s\n", shown);
    store_close(&s);
    return r;
}

int cmd_import(int argc, char **argv)
{
    struct image_options o;
    struct error err;
    error_init(&err);
    argc--;
    argv++;
    int r = image_options_read(&o, false, &argc, &argv, &err);
    if (r == 0 && (argc < 1 || argc > 2))
        r = error_set(&err, EINVAL, "usage: sentry import [--max-size SIZE] FILE|DIR [NAME]");
    if (r == 0)
        r = import(argv[0], argc == 2 ? argv[1] : NULL, &o.limits, &err);
    if (r == 0)
        return 0;
    (void)fprintf(stderr, "sentry: %s\n", err.text);
    return EXIT_FAILED;
}
