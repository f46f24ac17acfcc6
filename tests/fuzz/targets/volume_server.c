/* links: gofer_server gofer_proto */
/*
 * Requests to the volume server, as in gofer_server.c. Two roots inside of a temporary directory,
 * the first one writable; whatever is asked, nothing outside of the first is ever changed, nothing
 * but regular files is opened, none of the second for writing, and the tables hold what
 * volumes_check says. The host's own directory is emptied after each input.
 */
#include "gofer/volume_server.h"

#include <dirent.h>

#include "tests/fuzz/targets/gofer_fuzz.h"

enum {
    TAG = 7,
    NODES = 24
};

static int top, rw, ro;

static void empty(int dir, int depth)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fdopendir(fd);
    KASSERT(d && depth < 64);
    for (const struct dirent *e = readdir(d); e; e = readdir(d)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (unlinkat(fd, e->d_name, 0) == 0)
            continue;
        int sub = openat(fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        KASSERT(sub >= 0 && fchmod(sub, 0700) == 0);
        empty(sub, depth + 1);
        fd_close(sub);
        KASSERT(unlinkat(fd, e->d_name, AT_REMOVEDIR) == 0);
    }
    (void)closedir(d);
}

/* Both hold a directory "d", files "f" and "d/g", a symlink "l" to the other's file, a fifo "p". */
static void fill(int dir, const char *other)
{
    KASSERT(mkdirat(dir, "d", 0755) == 0 && mkfifoat(dir, "p", 0644) == 0);
    fd_close(openat(dir, "f", O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    fd_close(openat(dir, "d/g", O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    KASSERT(symlinkat(other, dir, "l") == 0);
}

static void make_trees(void)
{
    top = mkdtemp(fuzz_dir) ? open(fuzz_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    KASSERT(top >= 0 && mkdirat(top, "rw", 0755) == 0 && mkdirat(top, "ro", 0755) == 0);
    rw = openat(top, "rw", O_PATH | O_CLOEXEC);
    ro = openat(top, "ro", O_PATH | O_CLOEXEC);
    fill(ro, "../rw/f");
}

static void trees_remove(void)
{
    (void)unlinkat(top, "rw/x", 0);
    empty(top, 0);
    (void)rmdir(fuzz_dir);
}

/* What must not change, as one number. */
static uint64_t outside(void)
{
    static const char *const names[] = {".", "ro", "ro/d", "ro/f", "ro/d/g", "ro/l", "ro/p"};
    uint64_t sum = 0;
    struct stat st;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        KASSERT(fstatat(top, names[i], &st, AT_SYMLINK_NOFOLLOW) == 0);
        sum = sum * 31 + st.st_ino + st.st_mode * 7u + st.st_uid * 3u + (uint64_t)st.st_size +
              (uint64_t)st.st_nlink * 11 + (uint64_t)st.st_ctim.tv_nsec +
              (uint64_t)st.st_ctim.tv_sec;
    }
    return sum;
}

static void check_reply(const struct volume_server *s, const struct server_reply *r)
{
    struct gofer_header h;
    struct stat st;
    memcpy(&h, s->reply, sizeof(h));
    KASSERT(h.size == r->size && h.size <= GOFER_MSG_MAX && h.tag == TAG && h.zero == 0);
    KASSERT(h.status == 0 || (h.size == sizeof(h) && r->fd < 0));
    if (r->fd >= 0) {
        KASSERT(fstat(r->fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0);
        bool writes = (fcntl(r->fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
        struct stat fixed;
        KASSERT(fstatat(top, "ro/f", &fixed, 0) == 0 && !(writes && fixed.st_ino == st.st_ino));
    }
    fd_close(r->fd);
}

/* As fuzz_message, but with the types of volume_proto.h. */
static size_t message(uint8_t *buf, uint8_t type, const uint8_t *body, size_t n)
{
    size_t size = fuzz_message(buf, type & 0x80, TAG, body, n);
    uint16_t wire = (uint16_t)(VOLUME_MSG_FIRST + (type & 31));
    if (!(type & 0x80))
        memcpy(buf + offsetof(struct gofer_header, type), &wire, sizeof(wire));
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int home = -1;
    struct volume_server *s;
    struct server_reply r;
    if (home < 0) {
        home = open(".", O_PATH | O_CLOEXEC);
        make_trees();
        KASSERT(atexit(trees_remove) == 0);
    }
    fill(rw, "../ro/f");
    uint64_t before = outside();
    struct volume_source roots[2] = {{.fd = rw, .writable = true}, {.fd = ro}};
    KASSERT(volume_server_new(roots, 2, -1, NODES, &s) == 0);
    s->greeted = size > 0 && (data[0] & 31) != 0;
    while (size >= 2 && size - 2 >= data[1]) {
        if (volume_server_handle(s, message(s->request, data[0], data + 2, data[1]), &r) == 0)
            check_reply(s, &r);
        KASSERT(volumes_check(&s->volumes));
        size -= 2u + data[1];
        data += 2 + data[1];
    }
    volume_server_free(s);
    KASSERT(fchdir(home) == 0);
    KASSERT(outside() == before);
    empty(rw, 0);
    return 0;
}
