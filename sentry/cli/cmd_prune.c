/*
 * cmd_prune.c: `sentry prune`: what nothing leads to any more.
 */
#include "lib/compiler.h"

#include <errno.h>
#include <stdio.h>

#include "lib/error.h"
#include "rootfs/store.h"
#include "sentry/cli/cli.h"

enum {
    EXIT_FAILED = 125
};

int cmd_prune(int argc, char **argv)
{
    struct store s;
    struct store_pruned n = {0};
    struct error err;

    (void)argv;
    error_init(&err);
    if (argc != 1) {
        (void)fprintf(stderr, "sentry: usage: sentry prune\n");
        return EXIT_FAILED;
    }
    int r = store_open(&s, false, &err);
    if (r == 0) {
        r = store_lock(&s, &err);
        if (r == 0)
            r = store_prune(&s, &n, &err);
        store_close(&s);
    }
    if (r < 0 && r != -ENOENT) {
        (void)fprintf(stderr, "sentry: %s\n", err.text);
        return EXIT_FAILED;
    }
    (void)printf("removed: %llu images, %llu unfinished, %llu cache entries, %llu layers\n",
                 (unsigned long long)n.images, (unsigned long long)n.unfinished,
                 (unsigned long long)n.entries, (unsigned long long)n.blobs);
    if (n.busy > 0)
        (void)printf("in use and kept: %llu images\n", (unsigned long long)n.busy);
    return 0;
}
