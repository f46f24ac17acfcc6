/* tries: names that are paths: .., ., empty, with slashes and NUL, absolute, 256 bytes and more,
   /proc/self/root, invalid UTF-8, sixteen .. in one walk; in WALK, GETXATTR and with forged nodes
 */
/* must fail because: a name is one component; the protocol refuses the rest, and openat2 would once
 * more */
/* an escape would: open a file outside of the image */
/* source: ATTACKS.md G1 */
#include "gofer.h"

static const struct {
    const char *bytes;
    size_t len;
} names[] = {
    {"..", 2},
    {".", 1},
    {"", 0},
    {"../outside/secret", 17},
    {"dir/../../outside/secret", 24},
    {"/etc/passwd", 11},
    {"/proc/self/root", 15},
    {"out", 3},
    {"out/secret", 10},
    {"absolute/secret", 15},
    {"self", 4},
    {"hello\0/../../outside/secret", 27},
    {"\xff\xfe\xfd", 3},
    {"fifo", 4},
    {"dir/", 4},
    {"hello/", 6},
};

static int attack(void)
{
    static char longest[60000];
    int refused = 0, leaks = 0, crashed = 0;
    if (gofer_tree())
        return cannot("no tree, or no BIN");
    memset(longest, 'x', sizeof(longest));
    for (int i = 0; i < 16 + 5; i++) {
        static const size_t lens[] = {255, 256, 4096, 65000, 60000};
        uint32_t node = 0;
        if (gofer_start() || gofer_hello() != 0)
            return cannot("the server does not start");
        int r = i < 16 ? gofer_walk(0, names[i].bytes, names[i].len, &node)
                       : gofer_walk(0, longest, lens[i - 16] > 60000 ? 60000 : lens[i - 16], &node);
        refused += r != 0;
        leaks += gofer_leaks();
        if (r == 0) { /* what was found is followed no further */
            uint8_t body[64] = {0};
            memcpy(body, &node, 4);
            gofer_ask(OPEN, body, 8);
            leaks += gofer_leaks();
            gofer_walk(node, "secret", 6, NULL);
            leaks += gofer_leaks();
            memcpy(body + 8, (uint16_t[]){24}, 2);
            memcpy(body + 10, "user.x\0../outside/secret", 24);
            gofer_ask(GETXATTR, body, 34);
            leaks += gofer_leaks();
        }
        int end = gofer_stop();
        crashed += end >= 1000 || end < 0 || end == 99;
    }
    /* sixteen times .. in one walk */
    uint8_t body[8 + 16 * 4] = {0, 0, 0, 0, 16, 0, 1, 0};
    for (int i = 0; i < 16; i++)
        memcpy(body + 8 + 4 * i, "\2\0..", 4);
    if (gofer_start() == 0 && gofer_hello() == 0) {
        gofer_ask(WALK, body, sizeof(body));
        leaks += gofer_leaks();
        crashed += gofer_stop() >= 1000;
    }
    step("%d names refused", refused);
    if (leaks || crashed)
        return escaped("%d replies held what lies outside, %d crashes", leaks, crashed);
    return contained("no name leads out of the tree");
}

static int twin(void)
{
    uint32_t dir, file;
    char buf[8] = "";
    if (gofer_tree() || gofer_start() || gofer_hello() != 0)
        return broken("the server does not start");
    int a = gofer_walk(0, "dir", 3, &dir), b = gofer_walk(dir, "file", 4, &file);
    int ok = a == 0 && b == 0 && reply_fd >= 0 && pread(reply_fd, buf, 5, 0) == 5;
    gofer_stop();
    return ok && strcmp(buf, "file\n") == 0 ? works("dir/file is found and read")
                                            : broken("walks %d %d", a, b);
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
