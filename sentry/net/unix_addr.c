/*
 * Names of sockets: path names, which are inodes of type S_IFSOCK that point at the socket, and
 * abstract ones (a first byte of NUL), which live in a table. The name belongs to the socket that
 * bound it; sockets accepted from it show it too, but only the owner's end frees the name.
 */
#include <stdio.h>
#include <string.h>

#include "lib/alloc.h"
#include "lib/assert.h"
#include "sentry/fs/file.h"
#include "sentry/kernel/task.h"
#include "sentry/net/socket.h"

#define FAMILY_LEN 2u /* of the family: an address of this length has no name */

static struct hash_table abstract_names;
static uint32_t next_auto;

static uint64_t name_hash(const struct lx_sockaddr_un *sun, uint32_t len)
{
    return hash_bytes(hash_seed(), sun->sun_path, len - FAMILY_LEN);
}

struct unix_addr *unix_addr_get(struct unix_addr *a)
{
    KASSERT(a->ref > 0 && a->ref < UINT32_MAX);
    a->ref++;
    return a;
}

void unix_addr_put(struct unix_addr *a)
{
    if (!a)
        return;
    KASSERT(a->ref > 0);
    if (--a->ref > 0)
        return;
    KASSERT(!a->inode);
    kfree(a);
}

void unix_unbind(struct unix_sock *sk)
{
    struct unix_addr *a = sk->addr;

    if (!a || a->owner != sk)
        return;
    a->owner = NULL;
    if (a->hashed) {
        hash_remove(&abstract_names, &a->node);
        a->hashed = false;
        if (abstract_names.count == 0)
            hash_done(&abstract_names);
    } else {
        a->inode->socket = NULL;
        inode_put(a->inode);
        a->inode = NULL;
    }
}

int unix_addr_check(struct lx_sockaddr_un *sun, int len, uint32_t *ret_len)
{
    if (len <= (int)FAMILY_LEN || len > (int)sizeof(*sun) || sun->sun_family != LX_AF_UNIX)
        return -EINVAL;
    *ret_len = (uint32_t)len;
    if (sun->sun_path[0])
        *ret_len = FAMILY_LEN + (uint32_t)strnlen(sun->sun_path, (size_t)len - FAMILY_LEN) + 1;
    return 0;
}

static int addr_new(const struct lx_sockaddr_un *sun, uint32_t len, struct unix_sock *sk,
                    struct unix_addr **ret_a)
{
    struct unix_addr *a = kalloc(sizeof(*a));

    if (!a)
        return -ENOMEM;
    a->ref = 1;
    a->len = len;
    a->owner = sk;
    a->sun.sun_family = LX_AF_UNIX;
    memcpy(a->sun.sun_path, sun->sun_path, MIN(len - FAMILY_LEN, (uint32_t)LX_UNIX_PATH_MAX));
    *ret_a = a;
    return 0;
}

static struct unix_addr *abstract_find(const struct lx_sockaddr_un *sun, uint32_t len)
{
    uint64_t h = name_hash(sun, len);
    struct hash_node *n;

    hash_for_each_match (n, &abstract_names, h) {
        struct unix_addr *a = hash_entry(n, struct unix_addr, node);

        if (a->len == len && memcmp(a->sun.sun_path, sun->sun_path, len - FAMILY_LEN) == 0)
            return a;
    }
    return NULL;
}

static int bind_abstract(struct unix_sock *sk, const struct lx_sockaddr_un *sun, uint32_t len)
{
    struct unix_addr *a;
    int r;

    if (abstract_find(sun, len))
        return -EADDRINUSE;
    r = addr_new(sun, len, sk, &a);
    if (r < 0)
        return r;
    if (abstract_names.count == 0)
        hash_init(&abstract_names);
    hash_insert(&abstract_names, &a->node, name_hash(sun, len));
    a->hashed = true;
    sk->addr = a;
    return 0;
}

/* A copy of the path that ends in NUL even if all 108 bytes are used. */
static void path_of(const struct lx_sockaddr_un *sun, uint32_t len, char name[LX_UNIX_PATH_MAX + 1])
{
    size_t n = len - FAMILY_LEN - 1;

    memcpy(name, sun->sun_path, n);
    name[n] = '\0';
}

static int bind_path(struct task *t, struct unix_sock *sk, const struct lx_sockaddr_un *sun,
                     uint32_t len)
{
    char name[LX_UNIX_PATH_MAX + 1];
    struct parent_lookup pl;
    struct unix_addr *a;
    int r = addr_new(sun, len, sk, &a);

    if (r < 0)
        return r;
    path_of(sun, len, name);
    r = path_lookup_parent(t, LX_AT_FDCWD, name, 0, &pl);
    if (r == 0) {
        r = vfs_mknod(&pl, LX_S_IFSOCK | (0777 & ~t->fs->umask), 0, t->cred);
        if (r == 0) {
            a->inode = inode_get(pl.d->inode);
            a->inode->socket = sk;
        }
        parent_lookup_done(&pl);
    }
    if (r < 0) {
        unix_addr_put(a);
        return r == -EEXIST ? -EADDRINUSE : r;
    }
    sk->addr = a;
    return 0;
}

/* A free abstract name of five hexadecimal digits. */
int unix_autobind(struct unix_sock *sk)
{
    struct lx_sockaddr_un sun = {.sun_family = LX_AF_UNIX};
    int r = -EADDRINUSE;

    if (sk->addr)
        return 0;
    for (uint32_t i = 0; i < 0x100000u && r == -EADDRINUSE; i++) {
        (void)snprintf(sun.sun_path + 1, 6, "%05x", next_auto++ & 0xfffffu);
        r = bind_abstract(sk, &sun, FAMILY_LEN + 6);
    }
    return r == -EADDRINUSE ? -ENOSPC : r;
}

int unix_bind(struct task *t, struct unix_sock *sk, struct lx_sockaddr_un *sun, int len)
{
    uint32_t n;
    int r;

    if (len == (int)FAMILY_LEN && sun->sun_family == LX_AF_UNIX)
        return unix_autobind(sk);
    r = unix_addr_check(sun, len, &n);
    if (r < 0)
        return r;
    if (sk->addr)
        return -EINVAL;
    return sun->sun_path[0] ? bind_path(t, sk, sun, n) : bind_abstract(sk, sun, n);
}

static int find_path(struct task *t, const struct lx_sockaddr_un *sun, uint32_t len,
                     struct unix_sock **ret_sk)
{
    char name[LX_UNIX_PATH_MAX + 1];
    struct path p;
    int r;

    path_of(sun, len, name);
    r = path_lookup(t, LX_AT_FDCWD, name, LOOKUP_FOLLOW, &p);
    if (r < 0)
        return r;
    r = path_permission(&p, t->cred, LX_W_OK);
    if (r == 0 && (!LX_S_ISSOCK(p.dentry->inode->mode) || !p.dentry->inode->socket))
        r = -ECONNREFUSED;
    if (r == 0)
        *ret_sk = unix_sock_get(p.dentry->inode->socket);
    path_put(&p);
    return r;
}

int unix_find(struct task *t, struct lx_sockaddr_un *sun, int len, int type,
              struct unix_sock **ret_sk)
{
    struct unix_sock *sk = NULL;
    uint32_t n;
    int r = unix_addr_check(sun, len, &n);

    if (r < 0)
        return r;
    if (sun->sun_path[0]) {
        r = find_path(t, sun, n, &sk);
        if (r != 0)
            return r;
    } else {
        struct unix_addr *a = abstract_find(sun, n);

        if (!a || !a->owner)
            return -ECONNREFUSED;
        sk = unix_sock_get(a->owner);
    }
    if (sk->type != type) {
        unix_sock_put(sk);
        return -EPROTOTYPE;
    }
    *ret_sk = sk;
    return 0;
}
