/* runsc-shim: mount options, command lines, cgroup paths, the seccomp program, the description. */
#include "lib/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/alloc.h"
#include "lib/buf.h"
#include "lib/error.h"
#include "runsc-shim/cgroup_oci.h"
#include "runsc-shim/cgroup_systemd.h"
#include "runsc-shim/mount_options.h"
#include "runsc-shim/shim.h"
#include "runsc-shim/to_boot.h"
#include "sentry/cli/boot.h"
#include "tests/support/test.h"

static int options(const char *a, const char *b, struct mount_options *o, struct error *err)
{
    const char *words[] = {a, b, NULL};
    const struct oci_strings s = {words, b != NULL ? 2 : 1};

    error_init(err);
    return mount_options_parse(&s, o, err);
}

TEST(mount_words)
{
    struct mount_options o;
    struct error err;

    ck_assert_int_eq(options("ro", "nosuid", &o, &err), 0);
    ck_assert_uint_eq(o.flags, BOOT_MS_RDONLY | BOOT_MS_NOSUID);
    ck_assert_int_eq(options("ro", "rw", &o, &err), 0);
    ck_assert_uint_eq(o.flags, 0);
    ck_assert_int_eq(options("rbind", "rprivate", &o, &err), 0);
    ck_assert(o.bind && o.recursive);
    ck_assert_int_eq(options("bind", NULL, &o, &err), 0);
    ck_assert(o.bind && !o.recursive);
    ck_assert_int_eq(options("size=64k", "mode=1777", &o, &err), 0);
    ck_assert(o.size == 65536 && o.mode_given && o.mode == 01777);
    ck_assert_int_eq(options("size=50%", "tmpcopyup", &o, &err), 0);
    ck_assert(o.size == 0 && o.copy_up);
    ck_assert_int_eq(options("uid=5", "gid=6", &o, &err), 0);
    ck_assert(o.uid == 5 && o.gid == 6);
}

TEST(mount_words_refused)
{
    static const char *const words[] = {"frob",  "size=",       "size=x",      "mode=9",
                                        "mode=", "uid=-1",      "gid=x",       "=",
                                        "",      "mode=777777", "nr_inodes=x", "key=value"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        struct mount_options o;
        struct error err;
        ck_assert_msg(options(words[i], NULL, &o, &err) == -EINVAL, "'%s'", words[i]);
        ck_assert_int_ne(err.text[0], 0);
    }
}

/* What /proc/mounts says of a source is never a path of the host. */
TEST(mount_sources)
{
    ck_assert_str_eq(mount_source_word("proc"), "proc");
    ck_assert_ptr_null(mount_source_word("/home/user"));
    ck_assert_ptr_null(mount_source_word("a b"));
    ck_assert_ptr_null(mount_source_word("a-word-of-more-than-thirty-two-bytes"));
}

TEST(command_lines)
{
    char words[][16] = {"kill", "--all", "id", "-pid-file", "x", "-f=y", "9", "--", "--all"};
    char *argv[10] = {0};
    int argc = 9;
    bool all = false;
    const char *pid_file = NULL;
    struct shim_list list = {.n = 0};
    const struct shim_option table[] = {
        {"all", "a", OPT_FLAG, &all},
        {"pid-file", NULL, OPT_STRING, &pid_file},
        {"file", "f", OPT_LIST, &list},
    };
    struct error err;

    error_init(&err);
    for (int i = 0; i < argc; i++)
        argv[i] = words[i];
    ck_assert_int_eq(shim_options(&argc, argv, table, ARRAY_LEN(table), false, &err), 0);
    ck_assert(all && list.n == 1);
    ck_assert_str_eq(pid_file, "x");
    ck_assert_str_eq(list.v[0], "y");
    ck_assert_int_eq(argc, 3);
    ck_assert_str_eq(argv[0], "id");
    ck_assert_str_eq(argv[2], "--all");
}

TEST(the_first_argument_ends_options)
{
    char words[][16] = {"exec", "-t", "id", "sh", "-c", "x"};
    char *argv[7] = {0};
    int argc = 6;
    bool tty = false;
    const struct shim_option table[] = {{"tty", "t", OPT_FLAG, &tty}};
    struct error err;

    error_init(&err);
    for (int i = 0; i < argc; i++)
        argv[i] = words[i];
    ck_assert_int_eq(shim_options(&argc, argv, table, ARRAY_LEN(table), true, &err), 0);
    ck_assert(tty && argc == 4);
    ck_assert_str_eq(argv[2], "-c");
}

TEST(ids)
{
    static const char *const good[] = {"a", "A_1+b.c-d", "..."};
    static const char *const bad[] = {"", ".", "..", "a/b", "a b", "a\nb", "\xc3\xa4", "a;b", "$x"};

    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        ck_assert_int_eq(shim_id_check(good[i], NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ck_assert_int_eq(shim_id_check(bad[i], NULL), -EINVAL);
}

TEST(cgroup_paths)
{
    static const struct {
        const char *path, *end; /* NULL: refused */
    } cases[] = {
        {"/a/b", "/a/b"}, {"/a/../../b//c/.", "/b/c"}, {"/", NULL},     {"/..", NULL},
        {"/a/..", NULL},  {"../../x", "/x"},           {"", "/the-id"}, {NULL, "/the-id"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct oci_cgroup cg;
        struct error err;
        error_init(&err);
        int r = oci_cgroup_plan(&cg, cases[i].path, "the-id", &err);
        ck_assert_int_eq(r, cases[i].end != NULL ? 0 : -EINVAL);
        for (size_t c = 0; r == 0 && c < CG_CONTROLLERS; c++) {
            size_t n = strlen(cg.dir[c]), m = strlen(cases[i].end);
            ck_assert(n == 0 || (n > m && strcmp(cg.dir[c] + n - m, cases[i].end) == 0));
            ck_assert_ptr_null(strstr(cg.dir[c], ".."));
        }
    }
}

/* What plan_in makes of a path where the caller is in the group `own` of a v2 host. */
static const char *planned_v2(const char *own, const char *path)
{
    static struct oci_cgroup cg;
    char mount[64] = "/tmp/sentry-cgroup-XXXXXX", self[96], text[128];
    struct error err;

    error_init(&err);
    ck_assert_ptr_nonnull(mkdtemp(mount));
    (void)snprintf(self, sizeof(self), "%s/cgroup.controllers", mount);
    int fd = open(self, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int n = snprintf(text, sizeof(text), "0::%s\n", own);
    ck_assert_int_eq(write(fd, text, (size_t)n), n);
    (void)close(fd);
    int r = oci_cgroup_plan_in(&cg, mount, self, path, "the-id", &err);
    (void)unlink(self);
    (void)rmdir(mount);
    ck_assert_msg(r == 0 && cg.v2, "%s", err.text);
    for (size_t c = 1; c < CG_CONTROLLERS; c++)
        ck_assert_str_eq(cg.dir[c], cg.dir[CG_MEMORY]);
    return cg.dir[CG_MEMORY] + strlen(mount);
}

TEST(cgroup_paths_v2)
{
    ck_assert_str_eq(planned_v2("/user.slice/session-1.scope", "/a/b"), "/a/b");
    /* Where the caller is itself no limit could be set. */
    ck_assert_str_eq(planned_v2("/user.slice/session-1.scope", "a/b"), "/user.slice/a/b");
    ck_assert_str_eq(planned_v2("/user.slice/session-1.scope", NULL), "/user.slice/the-id");
    ck_assert_str_eq(planned_v2("/one", "a"), "/a");
    ck_assert_str_eq(planned_v2("/", "a"), "/a");
}

static int scope(const char *path, bool user, struct scope_names *n)
{
    struct error err;

    error_init(&err);
    int r = scope_parse(path, "the-id", user, n, &err);
    ck_assert(r == 0 || err.text[0] != '\0');
    return r;
}

TEST(scopes)
{
    static const char *const bad[] = {"/a/b",   "a",           "a.slice:b",     "a.slice:b:c:d",
                                      "a:b:c",  "a.slice:/:c", "a/b.slice:b:c", "a.slice:b:c d",
                                      "..:b:c", ".slice:b:c",  "a.slice:b:c\n"};
    struct scope_names n;

    ck_assert_int_eq(scope("machine.slice:libpod:0123", false, &n), 0);
    ck_assert_str_eq(n.slice, "machine.slice");
    ck_assert_str_eq(n.unit, "libpod-0123.scope");
    ck_assert_int_eq(scope("::x", false, &n), 0);
    ck_assert_str_eq(n.slice, "system.slice");
    ck_assert_str_eq(n.unit, "x.scope");
    ck_assert_int_eq(scope("::x.scope", true, &n), 0);
    ck_assert_str_eq(n.slice, "user.slice");
    ck_assert_str_eq(n.unit, "x.scope");
    ck_assert_int_eq(scope(NULL, false, &n), 0);
    ck_assert_str_eq(n.unit, "runsc-shim-the-id.scope");
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ck_assert_msg(scope(bad[i], false, &n) < 0, "'%s'", bad[i]);
    char long_path[900];
    memset(long_path, 'a', sizeof(long_path) - 1);
    long_path[sizeof(long_path) - 1] = '\0';
    ck_assert_int_lt(scope(long_path, false, &n), 0);
}

TEST(cgroups_in_the_state)
{
    struct oci_cgroup cg = {.v2 = true, .planned = true}, back;
    struct error err;
    struct buf out;

    error_init(&err);
    strcpy(cg.dir[CG_MEMORY], "/sys/fs/cgroup/with \"quotes\"\n");
    strcpy(cg.dir[CG_PIDS], "/sys/fs/cgroup/x");
    buf_init(&out, 65536);
    oci_cgroup_print(&cg, &out);
    ck_assert_int_eq(oci_cgroup_parse(&back, buf_cstr(&out), &err), 0);
    ck_assert(back.v2 && back.planned);
    for (size_t c = 0; c < CG_CONTROLLERS; c++)
        ck_assert_str_eq(back.dir[c], cg.dir[c]);
    buf_done(&out);
}

static int boot_of(const char *text, struct boot *b, struct error *err)
{
    struct oci_config cfg;
    char *copy = kstrdup(text);

    ck_assert_ptr_nonnull(copy);
    error_init(err);
    boot_init_oci(b);
    ck_assert_int_eq(oci_config_parse(&cfg, "config.json", copy, strlen(text), err), 0);
    int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int r = boot_from_config(b, &cfg, root, err);
    (void)close(root);
    oci_config_done(&cfg);
    return r;
}

#define CONFIG(more)                                                               \
    "{\"ociVersion\": \"1.0.2\", \"root\": {\"path\": \"/\", \"readonly\": true}," \
    " \"process\": {\"args\": [\"sh\"], \"cwd\": \"/\", \"env\": [\"A=b\"]}" more "}"

TEST(description)
{
    struct boot b;
    struct error err;

    ck_assert_int_eq(
        boot_of(
            CONFIG(
                ", \"mounts\": [{\"destination\": \"/dev\", \"type\": \"tmpfs\"},"
                " {\"destination\": \"/a/../../etc/x\", \"type\": \"bind\", \"source\": \"/etc\","
                " \"options\": [\"rbind\", \"ro\"]}],"
                " \"linux\": {\"resources\": {\"memory\": {\"limit\": 1048576},"
                " \"pids\": {\"limit\": 7}}, \"maskedPaths\": [\"/proc/../kcore\"],"
                " \"seccomp\": {\"defaultAction\": \"SCMP_ACT_ALLOW\", \"syscalls\":"
                " [{\"names\": [\"mkdir\", \"no_such_call\"], \"action\": \"SCMP_ACT_ERRNO\"}]}}"),
            &b, &err),
        0);
    ck_assert(!b.writable && b.nmounts == 2 && b.mounts[0].type == BOOT_MOUNT_DEV);
    ck_assert_str_eq(b.mounts[1].guest, "/etc/x");
    ck_assert(b.mounts[1].fd >= 0 && b.mounts[1].flags == BOOT_MS_RDONLY && b.mounts[1].recursive);
    ck_assert_str_eq(b.masked[0], "/kcore");
    ck_assert(b.limits.memory == 1048576 && b.limits.pids == 7);
    ck_assert(b.nseccomp > 3);
    ck_assert_str_eq(b.env[0], "A=b");
    boot_done(&b);
}

TEST(description_refused)
{
    static const char *const cases[] = {
        CONFIG(", \"mounts\": [{\"destination\": \"/\", \"type\": \"tmpfs\"}]"),
        CONFIG(", \"mounts\": [{\"destination\": \"/x/..\", \"type\": \"tmpfs\"}]"),
        CONFIG(", \"mounts\": [{\"destination\": \"/x\", \"type\": \"overlay\"}]"),
        CONFIG(", \"mounts\": [{\"destination\": \"/x\", \"type\": \"bind\"}]"),
        CONFIG(
            ", \"mounts\": [{\"destination\": \"/x\", \"type\": \"bind\", \"source\": \"/dev/null\"}]"),
        CONFIG(", \"linux\": {\"sysctl\": {\"kernel.core_pattern\": \"x\"}}"),
        CONFIG(", \"linux\": {\"sysctl\": {\"net../x\": \"x\"}}"),
        CONFIG(
            ", \"linux\": {\"devices\": [{\"path\": \"/dev/x\", \"type\": \"b\", \"major\": 1, \"minor\": 3}]}"),
        CONFIG(
            ", \"linux\": {\"devices\": [{\"path\": \"/dev/x\", \"type\": \"c\", \"major\": 1, \"minor\": 1}]}"),
        CONFIG(", \"linux\": {\"maskedPaths\": [\"/..\"]}"),
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct boot b;
        struct error err;
        ck_assert_msg(boot_of(cases[i], &b, &err) < 0, "%s", cases[i]);
        ck_assert_int_ne(err.text[0], 0);
        boot_done(&b);
    }
    shim_notes_flush();
}

/* The caller's word decides; config.json's only where the caller says so. */
TEST(root_storage)
{
    static const struct {
        enum shim_root_storage option;
        const char *said; /* the annotation, or NULL */
        int result;
        bool through;
    } cases[] = {
        {ROOT_MEMORY, NULL, 0, false},         {ROOT_MEMORY, "bundle", 0, false},
        {ROOT_MEMORY, "nonsense", 0, false},   {ROOT_BUNDLE, NULL, 0, true},
        {ROOT_BUNDLE, "memory", 0, true},      {ROOT_ANNOTATION, NULL, 0, false},
        {ROOT_ANNOTATION, "bundle", 0, true},  {ROOT_ANNOTATION, "memory", 0, false},
        {ROOT_ANNOTATION, "", -EINVAL, false}, {ROOT_ANNOTATION, "Bundle", -EINVAL, false},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[512];
        struct boot b;
        struct error err;
        const char *said = cases[i].said;
        (void)snprintf(text, sizeof(text),
                       "{\"ociVersion\": \"1.0.2\", \"root\": {\"path\": \"/\"}, \"process\": "
                       "{\"args\": [\"sh\"], \"cwd\": \"/\"}, \"annotations\": {\"%s\": \"%s\"}}",
                       said != NULL ? "org.sentry.root-storage" : "other",
                       said != NULL ? said : "");
        shim.root_storage = cases[i].option;
        ck_assert_int_eq(boot_of(text, &b, &err), cases[i].result);
        ck_assert_int_eq(b.root_through, cases[i].through);
        ck_assert_int_eq(boot_root_through(&b), cases[i].through);
        ck_assert_uint_eq(boot_volumes(&b), cases[i].through);
        /* A read-only root is the image's server's. */
        b.writable = false;
        ck_assert(!boot_root_through(&b) && boot_volumes(&b) == 0);
        boot_done(&b);
    }
    shim.root_storage = ROOT_MEMORY;
    shim_notes_flush();
}

TEST_SUITE(to_boot)
{
    TEST_ADD(mount_words);
    TEST_ADD(mount_words_refused);
    TEST_ADD(mount_sources);
    TEST_ADD(command_lines);
    TEST_ADD(the_first_argument_ends_options);
    TEST_ADD(ids);
    TEST_ADD(cgroup_paths);
    TEST_ADD(cgroup_paths_v2);
    TEST_ADD(scopes);
    TEST_ADD(cgroups_in_the_state);
    TEST_ADD(description);
    TEST_ADD(description_refused);
    TEST_ADD(root_storage);
}
