/* tries: the edges of the output limit: one byte more than the limit in one piece, in two, on
   standard error alone, on both streams in turn; the limit itself is the twin's */
/* must fail because: each stream has a count of its own, and the byte that crosses it ends the run
 */
/* an escape would: get one byte more out than was allowed, or lose one that was */
/* source: ATTACKS.md B2, piston 301 ("88 char over run") */
#include "attack.h"

enum {
    CAP = 65536
};

static void all(int fd, size_t n)
{
    static char text[CAP + 1];
    memset(text, 'e', sizeof(text));
    for (size_t off = 0; off < n;) {
        ssize_t w = write(fd, text, n - off);
        if (w <= 0)
            return;
        off += (size_t)w;
    }
}

static int attack(void)
{
    const char *way = fact("way") ? fact("way") : "one";
    if (strcmp(way, "one") == 0)
        all(1, CAP + 1);
    if (strcmp(way, "two") == 0) {
        all(1, CAP - 1);
        all(1, 2);
    }
    if (strcmp(way, "after") == 0) {
        all(1, CAP);
        all(1, 1);
    }
    if (strcmp(way, "stderr") == 0)
        all(2, CAP + 1);
    if (strcmp(way, "turns") == 0)
        for (int i = 0; i < CAP; i++) {
            all(1, 2);
            all(2, 1);
        }
    /* Still here: the limit did not end it. */
    return step("went on after the limit") + 3;
}

/* Exactly the limit, on both streams; the last line is part of it. */
static int twin(void)
{
    static const char last[] = "works exactly the limit on both streams\n";
    char text[64];
    memset(text, '\n', sizeof(text));
    size_t left = CAP - (sizeof(last) - 1);
    while (left > 0) {
        ssize_t w = write(1, text, left < sizeof(text) ? left : sizeof(text));
        if (w <= 0)
            return 1;
        left -= (size_t)w;
    }
    all(2, CAP);
    return write(1, last, sizeof(last) - 1) == sizeof(last) - 1 ? 0 : 1;
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
