/* link, unlink, rename, symlink, readlink: what is allowed and what is left behind. */
#include <linux/fs.h>

#include "facts.h"

static int rename2(const char *a, const char *b, unsigned flags)
{
    return (int)syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, flags);
}

static long links(const char *name)
{
    struct stat st;
    return lstat(name, &st) < 0 ? -1 : (long)st.st_nlink;
}

int main(void)
{
    char buf[64];
    facts_start();
    close(make_file("a", "a"));
    close(make_file("b", "bb"));
    NEED(mkdir("d1", 0755));
    NEED(mkdir("d2", 0755));
    NEED(mkdir("d2/sub", 0755));

    FACT("link", link("a", "a2"));
    VALUE("links", links("a"));
    FACT("link onto existing", link("a", "b"));
    FACT("link a directory", link("d1", "d1b"));
    FACT("link missing", link("missing", "x"));
    FACT("rename onto its own other name", rename("a", "a2"));
    VALUE("both names stay, links", links("a"));
    FACT("unlink one", unlink("a2"));
    VALUE("links", links("a"));
    FACT("unlink a directory", unlink("d1"));
    FACT("rmdir a file", rmdir("a"));
    FACT("rmdir not empty", rmdir("d2"));
    FACT("rmdir .", rmdir("d1/."));
    FACT("rmdir ..", rmdir("d2/sub/.."));
    FACT("unlink missing", unlink("missing"));

    FACT("rename replaces", rename("a", "b"));
    VALUE("old name", links("a"));
    VALUE("new name has size", ({
              struct stat st;
              stat("b", &st);
              st.st_size;
          }));
    FACT("rename file onto directory", rename("b", "d1"));
    FACT("rename directory onto file", rename("d1", "b"));
    FACT("rename directory onto empty directory", rename("d2/sub", "d1"));
    NEED(mkdir("d1/x", 0755));
    FACT("rename directory onto full directory", rename("d2", "d1"));
    FACT("rename directory into itself", rename("d1", "d1/x/y"));
    FACT("rename ..", rename("d1/..", "z"));
    FACT("rename missing", rename("missing", "z"));
    FACT("rename with trailing slash on a file", rename("b", "c/"));
    FACT("rename directory with trailing slash", rename("d2/", "d3/"));
    close(make_file("a", "a"));
    FACT("RENAME_NOREPLACE existing", rename2("a", "b", RENAME_NOREPLACE));
    FACT("RENAME_NOREPLACE new", rename2("a", "n", RENAME_NOREPLACE));
    FACT("RENAME_EXCHANGE", rename2("n", "d1", RENAME_EXCHANGE));
    YES("names were exchanged", ({
            struct stat st;
            stat("n", &st);
            S_ISDIR(st.st_mode);
        }));
    FACT("RENAME_EXCHANGE missing", rename2("n", "missing", RENAME_EXCHANGE));
    FACT("both flags", rename2("n", "d1", RENAME_EXCHANGE | RENAME_NOREPLACE));
    FACT("unknown flag", rename2("n", "d1", 0x100));

    FACT("symlink", symlink("target/of/link", "s"));
    FACT("symlink existing", symlink("x", "s"));
    FACT("symlink to nothing", symlink("", "s2"));
    VALUE("readlink", readlink("s", buf, sizeof(buf)));
    VALUE("readlink cut", readlink("s", buf, 3));
    say("text: %.3s", buf);
    FACT("readlink size 0", readlink("s", buf, 0));
    FACT("readlink of a file", readlink("b", buf, sizeof(buf)));
    VALUE("lstat size of a link", ({
              struct stat st;
              lstat("s", &st);
              st.st_size;
          }));
    FACT("hard link to a link", link("s", "s3"));
    VALUE("readlink of it", readlink("s3", buf, sizeof(buf)));
    FACT("linkat with AT_SYMLINK_FOLLOW of a dangling link",
         linkat(AT_FDCWD, "s", AT_FDCWD, "s4", AT_SYMLINK_FOLLOW));

    int fd = make_file("gone", "still here");
    NEED(unlink("gone"));
    struct stat st;
    NEED(fstat(fd, &st));
    VALUE("links of an unlinked open file", (long)st.st_nlink);
    VALUE("reading it", pread(fd, buf, sizeof(buf), 0));
    NEED(mkdir("away", 0755));
    NEED(chdir("away"));
    NEED(rmdir("../away"));
    FACT("create in a removed directory", open("x", O_CREAT | O_RDWR, 0644));
    FACT("getcwd in a removed directory", getcwd(buf, sizeof(buf)) ? 0 : -1);
    FACT("chdir ..", chdir(".."));
    remove_work_dir();
    return 0;
}
