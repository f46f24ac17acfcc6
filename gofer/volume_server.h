#pragma once
/*
 * The volume server: as server.h, over bind mounts (volume.h, volume_proto.h). Requests are hostile
 * input. A request that changes something is refused with EROFS where the root is not writable, and
 * as malformed when no root is.
 */
#include "lib/compiler.h"

#include "gofer/serve.h"
#include "gofer/volume.h"

struct volume_server {
    struct volumes volumes;
    bool greeted;  /* HELLO was answered */
    bool writable; /* some root is */
    _Alignas(8) uint8_t request[GOFER_MSG_MAX];
    _Alignas(8) uint8_t reply[GOFER_MSG_MAX];
};

/* Borrows descriptors; top and max_nodes as in volumes_init. */
MUST_CHECK int volume_server_new(const struct volume_source *roots, uint32_t nroots, int top,
                                 uint32_t max_nodes, struct volume_server **ret);
void volume_server_free(struct volume_server *s);
/* Handles size bytes in s->request. -EPROTO: malformed, hang up. */
MUST_CHECK int volume_server_handle(struct volume_server *s, size_t size, struct server_reply *ret);
MUST_CHECK int volume_server_run(struct volume_server *s, const struct gofer_port *port);
