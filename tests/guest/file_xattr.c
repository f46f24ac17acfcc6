/* Extended attributes on a tmpfs. */
#include <sys/xattr.h>

#include "facts.h"

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int main(void)
{
    char buf[256], longname[300] = "user.";
    char *names[8];
    facts_start();
    int fd = make_file("f", "");
    NEED(mkdir("d", 0755));
    NEED(symlink("f", "l"));
    if (setxattr("f", "user.test", "v", 1, 0) < 0 && errno == EOPNOTSUPP) {
        say("no user attributes on this tmpfs");
        remove_work_dir();
        return 0;
    }
    FACT("set", setxattr("f", "user.a", "value", 5, 0));
    VALUE("get", getxattr("f", "user.a", buf, sizeof(buf)));
    VALUE("size only", getxattr("f", "user.a", NULL, 0));
    FACT("too small", getxattr("f", "user.a", buf, 2));
    FACT("get missing", getxattr("f", "user.none", buf, sizeof(buf)));
    FACT("create existing", setxattr("f", "user.a", "x", 1, XATTR_CREATE));
    FACT("replace missing", setxattr("f", "user.b", "x", 1, XATTR_REPLACE));
    FACT("replace", setxattr("f", "user.a", "longer value", 12, XATTR_REPLACE));
    VALUE("get", fgetxattr(fd, "user.a", buf, sizeof(buf)));
    FACT("bad flag", setxattr("f", "user.a", "x", 1, 8));
    FACT("empty value", fsetxattr(fd, "user.empty", "", 0, 0));
    VALUE("get it", getxattr("f", "user.empty", buf, sizeof(buf)));
    FACT("no namespace", setxattr("f", "plain", "x", 1, 0));
    FACT("unknown namespace", setxattr("f", "other.x", "x", 1, 0));
    FACT("trusted", setxattr("f", "trusted.x", "x", 1, 0));
    FACT("empty name", setxattr("f", "", "x", 1, 0));
    memset(longname + 5, 'n', 260);
    FACT("name too long", setxattr("f", longname, "x", 1, 0));
    FACT("directory", setxattr("d", "user.d", "x", 1, 0));
    FACT("link itself", lsetxattr("l", "user.l", "x", 1, 0));
    VALUE("through the link", getxattr("l", "user.a", buf, sizeof(buf)));
    ssize_t n = NEED(listxattr("f", buf, sizeof(buf)));
    size_t count = 0;
    for (char *p = buf; p < buf + n && count < 8; p += strlen(p) + 1)
        names[count++] = p;
    qsort(names, count, sizeof(names[0]), by_text);
    for (size_t i = 0; i < count; i++)
        say("  %s", names[i]);
    VALUE("list size", listxattr("f", NULL, 0) == n);
    FACT("list too small", listxattr("f", buf, 3));
    FACT("remove", removexattr("f", "user.a"));
    FACT("remove again", removexattr("f", "user.a"));
    FACT("missing file", setxattr("missing", "user.a", "x", 1, 0));
    FACT("get without permission", ({
             chmod("f", 0);
             getxattr("f", "user.test", buf, 8);
         }));
    remove_work_dir();
    return 0;
}
