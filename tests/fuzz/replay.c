/*
 * Main program of a fuzz target outside the fuzz preset: runs the target once over each file of the
 * folders (or files) given, and over the empty input. Anything that the fuzzer once found stays
 * found in every build.
 */
#include "lib/compiler.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/alloc.h"
#include "lib/fdio.h"

enum {
    REPLAY_MAX = 16 * 1024 * 1024
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

static size_t inputs;

static void replay_bytes(const char *data, size_t len)
{
    /* A copy of exactly this size, so that reading beyond the input is seen. */
    uint8_t *exact = malloc(len ? len : 1);

    if (!exact)
        abort();
    memcpy(exact, data, len);
    (void)LLVMFuzzerTestOneInput(exact, len);
    free(exact);
    inputs++;
}

static bool replay_file(int dir, const char *name)
{
    char *data = NULL;
    size_t len = 0;
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fd_read_all(fd, REPLAY_MAX, &data, &len) < 0) {
        (void)fprintf(stderr, "replay: cannot read %s\n", name);
        fd_close(fd);
        return false;
    }
    fd_close(fd);
    replay_bytes(data, len);
    kfree(data);
    return true;
}

static bool replay_path(const char *path)
{
    DIR *dir = opendir(path);
    bool good = true;

    if (!dir && errno == ENOENT)
        return true;
    if (!dir)
        return replay_file(AT_FDCWD, path);
    for (const struct dirent *e; (e = readdir(dir));) {
        if (e->d_name[0] != '.')
            good &= replay_file(dirfd(dir), e->d_name);
    }
    (void)closedir(dir);
    return good;
}

int main(int argc, char **argv)
{
    bool good = true;

    if (LLVMFuzzerInitialize)
        (void)LLVMFuzzerInitialize(&argc, &argv);
    replay_bytes("", 0);
    for (int i = 1; i < argc; i++)
        good &= replay_path(argv[i]);
    (void)printf("%zu inputs replayed\n", inputs);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
