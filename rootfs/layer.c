/*
 * layer.c: one layer's tar onto the tree.
 *
 * libarchive reads the members; everything that touches the tree is here and goes through tree.h.
 * The order of attributes matters: giving a file away clears its setuid bits and capabilities, so
 * owner, mode, extended attributes, time.
 */
#include "rootfs/layer.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/stat.h>

#include "lib/buf.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/fdio.h"
#include "lib/log.h"
#include "rootfs/attributes.h"
#include "rootfs/stream.h"
#include "rootfs/whiteout.h"

enum {
    PROGRESS_BYTES = 16 << 20,
    DIR_TIMES_MAX = 512 << 20
};

/* One layer while it is applied. */
struct apply {
    struct layers *l;
    struct stream stream;
    struct archive *tar;
    struct seen seen;
    struct buf dir_times; /* records: struct timespec, name, NUL */
    bool first;
    uint64_t reported;
    struct error *err;
};

/* A member while it is made. */
struct member {
    struct archive_entry *entry;
    char name[PATH_MAX];
    struct attributes attr;
    mode_t type; /* S_IFMT of what it is, unless it is a hard link */
    int dir;     /* borrowed */
    const char *last;
};

void layers_init(struct layers *l, int root, const struct image_limits *limits)
{
    *l = (struct layers){.limits = limits};
    tree_init(&l->tree, root, limits->depth);
}

void layers_done(struct layers *l)
{
    tree_done(&l->tree);
}

static int archive_failed(struct apply *a)
{
    if (a->err->code != 0)
        return -a->err->code;
    const char *why = archive_error_string(a->tar);
    return error_set(a->err, EINVAL, "damaged tar: %.200s", why != NULL ? why : "unknown");
}

static int host_failed(struct apply *a, int code, const char *what)
{
    return error_errno(a->err, code, "%s", what);
}

/* --- kinds of members ----------------------------------------------------------------------------
 */

static int copy_data(struct apply *a, int fd, uint64_t size)
{
    const void *data;
    size_t n;
    la_int64_t offset;
    uint64_t end = 0;
    for (;;) {
        int r = archive_read_data_block(a->tar, &data, &n, &offset);
        if (r == ARCHIVE_EOF)
            break;
        if (r != ARCHIVE_OK)
            return archive_failed(a);
        /* Only the map of a sparse file can say such a thing. */
        if (offset < 0 || (uint64_t)offset > size || n > size - (uint64_t)offset)
            return error_set(a->err, EINVAL, "damaged tar: data behind the file's end");
        const char *p = data;
        while (n > 0) {
            ssize_t w = pwrite(fd, p, n, offset);
            if (w < 0 && errno != EINTR)
                return host_failed(a, errno, "writing");
            if (w < 0)
                continue;
            p += w;
            offset += w;
            n -= (size_t)w;
            a->l->data += (uint64_t)w;
        }
        end = MAX(end, (uint64_t)offset);
        if (a->l->progress != NULL && a->l->data - a->reported >= PROGRESS_BYTES) {
            a->reported = a->l->data;
            a->l->progress(a->l->progress_arg, a->l);
        }
    }
    if (end < size && ftruncate(fd, (off_t)size) < 0)
        return host_failed(a, errno, "a sparse file");
    return 0;
}

/* What is in a file, holes counted: a sparse one costs its host nothing, until somebody copies it.
 */
static int count_size(struct apply *a, uint64_t size)
{
    uint64_t max = a->l->limits->bytes;
    if (size > max || a->l->sizes > max - size)
        return error_set(a->err, EFBIG,
                         "a file of %llu bytes: the image is larger than %llu bytes "
                         "(--max-size of sentry import and pull allows more)",
                         (unsigned long long)size, (unsigned long long)max);
    a->l->sizes += size;
    return 0;
}

static int fill_file(struct apply *a, struct member *m, int fd)
{
    int64_t size = archive_entry_size_is_set(m->entry) ? archive_entry_size(m->entry) : 0;
    if (size < 0)
        return error_set(a->err, EINVAL, "a file of negative size");
    int r = count_size(a, (uint64_t)size);
    if (r == 0)
        r = copy_data(a, fd, (uint64_t)size);
    return r < 0 ? r : attributes_set_fd(&m->attr, fd, false, a->err);
}

static int dir_attributes(struct apply *a, const struct member *m, int fd)
{
    int r = attributes_set_fd(&m->attr, fd, true, a->err);
    if (r < 0)
        return r;
    (void)buf_append(&a->dir_times, &m->attr.mtime, sizeof(m->attr.mtime));
    (void)buf_append(&a->dir_times, m->name, strlen(m->name) + 1);
    return buf_error(&a->dir_times) < 0 ? error_set(a->err, ENOMEM, "no memory") : 0;
}

static int open_directory(const struct member *m, int *ret_fd)
{
    *ret_fd = tree_open_at(m->dir, m->last, O_RDONLY | O_DIRECTORY, 0);
    return MIN(*ret_fd, 0);
}

/* The member without its content, where nothing has its name; -errno. Links and fifos are not
 * opened. */
static int create(const struct member *m, int *ret_fd)
{
    switch (m->type) {
    case S_IFDIR:
        return mkdirat(m->dir, m->last, m->attr.mode) < 0 ? -errno : open_directory(m, ret_fd);
    case S_IFLNK:
        return symlinkat(archive_entry_symlink(m->entry), m->dir, m->last) < 0 ? -errno : 0;
    case S_IFIFO:
        return mknodat(m->dir, m->last, S_IFIFO | (m->attr.mode & 0777), 0) < 0 ? -errno : 0;
    default:
        *ret_fd =
            tree_open_at(m->dir, m->last, O_WRONLY | O_CREAT | O_EXCL | O_NOCTTY, m->attr.mode);
        return MIN(*ret_fd, 0);
    }
}

/* What a hard link names, opened; never a directory. */
static int open_hardlink(struct apply *a, const char *text, int *ret_fd)
{
    char name[PATH_MAX];
    const char *last;
    struct stat st;
    int dir = -1;
    int r = tree_name(&a->l->tree, text, name, a->err);
    if (r < 0)
        return error_prefix(a->err, "hard link to %s", log_guest(text, strlen(text)));
    if (name[0] == '\0')
        return error_set(a->err, EPERM, "a hard link to the root directory");
    r = tree_parent(&a->l->tree, name, false, &dir, &last);
    auto_fd int fd = r < 0 ? r : tree_open_at(dir, last, O_PATH, 0);
    if (fd < 0)
        return error_errno(a->err, -fd, "hard link to %s", log_guest(text, strlen(text)));
    if (fstat(fd, &st) < 0 || S_ISDIR(st.st_mode))
        return error_set(a->err, EPERM, "a hard link to a directory");
    *ret_fd = take_fd(fd);
    return 0;
}

/* The link is made by name: linking an open descriptor needs a capability that we do not keep. */
static int make_hardlink(struct apply *a, struct member *m)
{
    char name[PATH_MAX];
    const char *last;
    int dir = -1;
    int r = tree_name(&a->l->tree, archive_entry_hardlink(m->entry), name, a->err);
    if (r == 0)
        r = tree_parent(&a->l->tree, name, false, &dir, &last);
    if (r != 0)
        return host_failed(a, -r, "hard link");
    auto_fd int from = tree_open_at(dir, ".", O_PATH | O_DIRECTORY, 0);
    r = tree_parent(&a->l->tree, m->name, true, &m->dir, &m->last);
    if (from < 0 || r < 0)
        return host_failed(a, from < 0 ? -from : -r, "hard link");
    if (linkat(from, last, m->dir, m->last, 0) < 0)
        return host_failed(a, errno, "making a hard link");
    return 0;
}

/* --- a member ------------------------------------------------------------------------------------
 */

/* Takes away what is in the place of the new member; *ret_exists: a directory that stays. */
static int clear_place(struct apply *a, struct member *m, bool is_dir, bool *ret_exists)
{
    struct stat st;
    *ret_exists = false;
    if (fstatat(m->dir, m->last, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : host_failed(a, errno, "looking");
    if (is_dir && S_ISDIR(st.st_mode)) {
        *ret_exists = true;
        return 0;
    }
    int r = tree_remove(m->dir, m->last);
    if (r < 0)
        return host_failed(a, -r, "replacing");
    tree_forget(&a->l->tree);
    r = tree_parent(&a->l->tree, m->name, true, &m->dir, &m->last);
    return r < 0 ? host_failed(a, -r, "replacing") : 0;
}

/* A hard link: true in *ret_same when it already is what it should become. */
static int check_hardlink(struct apply *a, const struct member *m, bool *ret_same)
{
    struct stat old, want;
    int fd;
    int r = open_hardlink(a, archive_entry_hardlink(m->entry), &fd);
    if (r < 0)
        return r;
    *ret_same = fstat(fd, &want) == 0 && fstatat(m->dir, m->last, &old, AT_SYMLINK_NOFOLLOW) == 0 &&
                old.st_dev == want.st_dev && old.st_ino == want.st_ino;
    fd_close(fd);
    return 0;
}

static int make_hard(struct apply *a, struct member *m)
{
    bool same = false, stays;
    int r = check_hardlink(a, m, &same);
    if (r < 0 || same)
        return r;
    r = tree_parent(&a->l->tree, m->name, true, &m->dir, &m->last);
    if (r < 0)
        return host_failed(a, -r, "its directory");
    r = clear_place(a, m, false, &stays);
    return r < 0 ? r : make_hardlink(a, m);
}

static int known_kind(struct apply *a, const struct member *m)
{
    const char *target = archive_entry_symlink(m->entry);
    switch (m->type) {
    case S_IFREG:
    case S_IFDIR:
    case S_IFIFO:
    case S_IFCHR:
    case S_IFBLK:
    case S_IFSOCK:
        return 0;
    case S_IFLNK:
        return target != NULL && target[0] != '\0'
                   ? 0
                   : error_set(a->err, EINVAL, "a symbolic link to nothing");
    default:
        return error_set(a->err, EINVAL, "of an unknown kind");
    }
}

/* Most members are the first of their name: what else has it is only looked for when there is
 * something. */
static int make_place(struct apply *a, struct member *m, int *ret_fd)
{
    bool stays;
    int r = create(m, ret_fd);
    if (r == -EEXIST) {
        r = clear_place(a, m, m->type == S_IFDIR, &stays);
        if (r < 0)
            return r;
        r = stays ? open_directory(m, ret_fd) : create(m, ret_fd);
    }
    return r < 0 ? host_failed(a, -r, "making it") : 0;
}

static int make_member(struct apply *a, struct member *m)
{
    auto_fd int fd = -1;
    if (archive_entry_hardlink(m->entry) != NULL)
        return make_hard(a, m);
    m->type = archive_entry_filetype(m->entry);
    int r = known_kind(a, m);
    if (r == 0)
        r = make_place(a, m, &fd);
    if (r < 0)
        return r;
    switch (m->type) {
    case S_IFREG:
        return fill_file(a, m, fd);
    case S_IFDIR:
        return dir_attributes(a, m, fd);
    case S_IFLNK:
    case S_IFIFO:
        return attributes_set_name(&m->attr, m->dir, m->last, a->err);
    default:
        /* Never made: the sandbox has its own /dev. Something of that name stays there. */
        a->l->notes.devices++;
        return attributes_set_fd(&m->attr, fd, false, a->err);
    }
}

static int root_member(struct apply *a, struct member *m)
{
    if (archive_entry_hardlink(m->entry) != NULL || archive_entry_filetype(m->entry) != S_IFDIR)
        return error_set(a->err, EINVAL, "the root is not a directory");
    auto_fd int fd = tree_open_at(a->l->tree.root, ".", O_RDONLY | O_DIRECTORY, 0);
    return fd < 0 ? host_failed(a, -fd, "the root") : dir_attributes(a, m, fd);
}

/* ret_done: it was a whiteout. */
static int whiteout(struct apply *a, struct member *m, const char *last, bool *ret_done)
{
    const char *victim = NULL;
    size_t n = (size_t)(last - m->name);
    int r = 0;
    enum whiteout_kind kind = whiteout_parse(last, &victim);
    *ret_done = kind != WHITEOUT_NONE;
    if (kind == WHITEOUT_NAME &&
        (victim[0] == '\0' || strcmp(victim, ".") == 0 || strcmp(victim, "..") == 0))
        return error_set(a->err, EPERM, "a whiteout of nothing that has a name");
    if (a->first || kind == WHITEOUT_NONE || kind == WHITEOUT_IGNORED)
        return 0;
    if (kind == WHITEOUT_OPAQUE) {
        m->name[n > 0 ? n - 1 : 0] = '\0';
        r = whiteout_opaque(&a->l->tree, &a->seen, m->name);
    } else {
        memmove(m->name + n, victim, strlen(victim) + 1);
        r = whiteout_name(&a->l->tree, &a->seen, m->name);
    }
    return r < 0 ? host_failed(a, -r, "removing") : 0;
}

static int apply_member(struct apply *a, struct member *m)
{
    bool done;
    int r = attributes_read(&m->attr, m->entry, a->l, a->err);
    if (r < 0)
        return r;
    if (m->name[0] == '\0')
        return root_member(a, m);
    const char *slash = strrchr(m->name, '/');
    r = whiteout(a, m, slash != NULL ? slash + 1 : m->name, &done);
    if (r < 0 || done)
        return r;
    r = tree_parent(&a->l->tree, m->name, true, &m->dir, &m->last);
    if (r == -ELOOP)
        return error_set(a->err, ELOOP, "its directory is a link that leads nowhere");
    if (r < 0)
        return host_failed(a, -r, "its directory");
    r = make_member(a, m);
    if (r == 0 && !a->first && seen_add(&a->seen, m->name) < 0)
        r = error_set(a->err, ENOMEM, "no memory");
    return r;
}

static int next_member(struct apply *a, struct member *m, bool *ret_end)
{
    int r = archive_read_next_header(a->tar, &m->entry);
    *ret_end = r == ARCHIVE_EOF;
    if (r == ARCHIVE_EOF)
        return 0;
    if (r != ARCHIVE_OK && r != ARCHIVE_WARN)
        return archive_failed(a);
    if (++a->l->entries > a->l->limits->entries)
        return error_set(a->err, E2BIG, "the image has more than %llu members",
                         (unsigned long long)a->l->limits->entries);
    const char *name = archive_entry_pathname(m->entry);
    if (name == NULL)
        return error_set(a->err, EINVAL, "a member without a name");
    r = tree_name(&a->l->tree, name, m->name, a->err);
    if (r == 0)
        r = apply_member(a, m);
    if (r < 0)
        return error_prefix(a->err, "member %s", log_guest(name, strlen(name)));
    return 0;
}

/* Directories get their times last: making what is in them changed those. */
static void set_dir_times(struct apply *a)
{
    const char *p = a->dir_times.data, *end = p + a->dir_times.len, *last;
    while (p < end) {
        struct timespec t[2];
        int dir;
        memcpy(&t[0], p, sizeof(t[0]));
        t[1] = t[0];
        p += sizeof(t[0]);
        if (*p == '\0')
            (void)utimensat(a->l->tree.root, ".", t, AT_SYMLINK_NOFOLLOW);
        else if (tree_parent(&a->l->tree, p, false, &dir, &last) == 0)
            (void)utimensat(dir, last, t, AT_SYMLINK_NOFOLLOW);
        p += strlen(p) + 1;
    }
}

static int apply_all(struct apply *a)
{
    struct member m;
    bool end = false;
    int r = 0;
    while (r == 0 && !end)
        r = next_member(a, &m, &end);
    if (r == 0)
        set_dir_times(a);
    return r;
}

int layer_apply(struct layers *l, const struct blob *b, bool first, const struct digest *diff_id,
                const struct digest *packed, struct error *err)
{
    struct apply a = {.l = l, .first = first, .err = err};
    struct digest got;

    int r = stream_open(&a.stream, b, l->limits, &l->bytes, err);
    if (r < 0)
        return r;
    bool check = diff_id != NULL && stream_compressed(&a.stream);
    if (diff_id != NULL && packed != NULL && !check && !digest_equal(diff_id, packed)) {
        stream_done(&a.stream);
        return error_set(err, EBADMSG, "its diff_id is not the digest of the uncompressed layer");
    }
    if (check)
        stream_hash(&a.stream);
    seen_init(&a.seen);
    buf_init(&a.dir_times, DIR_TIMES_MAX);
    r = stream_tar(&a.stream, &a.tar);
    if (r == 0) {
        r = apply_all(&a);
        (void)archive_read_free(a.tar);
    }
    if (r == 0 && check) {
        r = stream_finish(&a.stream, &got);
        if (r == 0 && !digest_equal(&got, diff_id))
            r = error_set(err, EBADMSG, "its uncompressed content does not match its diff_id");
    }
    buf_done(&a.dir_times);
    seen_done(&a.seen);
    stream_done(&a.stream);
    tree_forget(&l->tree);
    return r;
}
