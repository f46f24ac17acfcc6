#include "tests/support/script.h"

#include "lib/compiler.h"

#include "sentry/fs/vfs.h"
#include "sentry/kernel/kernel.h"

static bool as_wanted(const struct step *s, int64_t got)
{
    if (s->want == ALL)
        return true;
    return s->want == ANY ? got >= 0 : got == s->want;
}

int script_play(const struct step *steps, int64_t *ret_got)
{
    int first = -1;

    for (int i = 0; steps[i].nr != ~0ull; i++) {
        int64_t got = box_call6(box.th, steps[i].nr, steps[i].args);
        if (first < 0 && !as_wanted(&steps[i], got)) {
            first = i;
            *ret_got = got;
        }
        if (got == FAKE_BLOCKED || got == FAKE_GONE)
            break;
    }
    return first;
}

int script_mount(char name, int r, struct super *sb)
{
    const uint64_t at = BOX_MEM + BOX_SIZE - 8;
    const char path[] = {'/', name, '\0'};
    struct path where = {kernel.root_mount, NULL};
    struct dentry *d;

    if (r < 0)
        return r;
    box_write(box.th, at, path, sizeof(path));
    int64_t made = box_call(box.th, NR_mkdir, at, 0755);
    r = made < 0 ? (int)made : dentry_lookup(kernel.root_mount->root, path + 1, 1, &d);
    if (r < 0) {
        super_put(sb);
        return r;
    }
    where.dentry = d;
    r = mount_add(&where, sb, 0, path, NULL);
    dentry_put(d);
    return r;
}
