/*
 * links: test_tar rootfs lib
 * An archive as a whole: table of contents, index or manifest, configuration. A plan that is
 * accepted names only blobs inside the archive, has a layer for each diff_id, and its records read
 * back.
 */
#include <string.h>

#include "lib/assert.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "rootfs/plan.h"
#include "tests/support/tar_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct image_plan *p, size_t size)
{
    struct image_config again;
    struct error err;
    struct buf b;
    error_init(&err);
    for (uint32_t i = 0; i < p->nlayers; i++) {
        const struct blob *blob = &p->layers[i].blob;
        KASSERT(blob->off <= size && blob->size <= size - blob->off);
    }
    KASSERT(p->config.nlayers == p->nlayers);
    image_config_init(&again);
    buf_init(&b, IMAGE_CONFIG_BYTES);
    image_config_write(&p->config, &b);
    KASSERT(buf_error(&b) == 0 && image_config_read(&again, b.data, b.len, &err) == 0);
    KASSERT(again.env.n == p->config.env.n && again.nlayers == p->nlayers);
    image_config_done(&again);
    buf_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct image_limits limits = IMAGE_LIMITS_DEFAULT;
    struct buf bytes = {.data = (char *)(uintptr_t)data, .len = size};
    struct image_plan p;
    struct source s;
    struct error err;
    int fd = tar_file(&bytes);
    error_init(&err);
    limits.outer_members = 200;
    if (source_init_tar(&s, fd, &limits, &err) == 0) {
        if (plan_read(&s, NULL, &limits, &p, &err) == 0) {
            check(&p, size);
            plan_done(&p);
        } else {
            KASSERT(err.text[0] != '\0');
        }
        source_done(&s);
    }
    fd_close(fd);
    return 0;
}
