/* The emit function behind listing.h. */
#include "tests/support/listing.h"

#include <string.h>

static bool list_one(struct dir_context *dc, const char *name, size_t len, uint64_t ino,
                     uint32_t type, uint64_t next_pos)
{
    struct listing *l = container_of(dc, struct listing, dc);

    (void)ino;
    (void)type;
    (void)next_pos;
    if (l->room == 0)
        return false;
    l->room--;
    if (name[0] == '.' && !l->hidden)
        return true;
    if (strlen(l->names) + len + 2 > sizeof(l->names))
        return false;
    strncat(l->names, name, len);
    strcat(l->names, " ");
    return true;
}

void listing_init(struct listing *l, bool hidden)
{
    *l = (struct listing){.dc = {.emit = list_one}, .room = SIZE_MAX, .hidden = hidden};
}
