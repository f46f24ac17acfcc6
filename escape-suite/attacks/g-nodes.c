/* tries: nodes that were never given out, were forgotten, or are forgotten while in use; roots
   forgotten; two million FORGETs; one node as file and as directory; every request on every kind of
   node */
/* must fail because: an id is looked up in a table of bounded size; an unknown one is ESTALE */
/* an escape would: use a freed node, or reach another root's files */
/* source: ATTACKS.md G2 */
#include "gofer.h"

static uint32_t pick(unsigned i)
{
    static const uint32_t odd[] = {0, 1, 2, 63, 64, 1u << 20, 0x7fffffff, 0x80000000, ~0u, ~0u - 1};
    return i % 3 ? i % 50 : odd[i / 3 % 10];
}

static int attack(void)
{
    static uint32_t many[16000];
    static const char *const names[] = {"hello", "dir",  "out",    "absolute",
                                        "self",  "fifo", "nothing"};
    int leaks = 0, answered = 0;
    if (gofer_tree() || gofer_start() || gofer_hello() != 0)
        return cannot("the server does not start");
    for (unsigned i = 0; i < 40000; i++) {
        uint8_t body[64] = {0};
        uint32_t node = pick(i);
        const char *name = names[i % 7];
        int r;
        memcpy(body, &node, 4);
        switch (i % 8) {
        case 0:
        case 1:
            r = gofer_walk(node, name, strlen(name), NULL);
            break;
        case 2:
            r = gofer_ask(READDIR, body, 16);
            break;
        case 3:
            memcpy(body, (uint32_t[]){2, 0, node, pick(i + 7)}, 16);
            r = gofer_ask(FORGET, body, 16);
            break;
        case 4:
            memcpy(body + 8, "\6\0user.x", 8);
            r = gofer_ask(GETXATTR, body, 16);
            break;
        default:
            r = gofer_ask((uint16_t[]){GETATTR, OPEN, READLINK, STATFS, LISTXATTR}[i % 5], body, 8);
        }
        leaks += gofer_leaks();
        if (r < 0)
            return escaped("the server has gone after %u requests", i);
        answered++;
    }
    for (unsigned k = 0; k < 150; k++) {
        many[0] = 15990;
        many[1] = 0;
        for (unsigned i = 2; i < 15992; i++)
            many[i] = k % 2 ? pick(i) : i + k;
        if (gofer_ask(FORGET, many, 15992 * 4) < 0)
            return escaped("the server has gone in a FORGET");
    }
    int alive = gofer_walk(0, "hello", 5, NULL);
    int end = gofer_stop();
    if (leaks || end >= 1000 || end < 0)
        return escaped("%d leaks, end %d", leaks, end);
    return contained("%d requests on odd nodes; afterwards a walk says %s", answered,
                     err_name(alive));
}

static int twin(void)
{
    uint32_t node, again;
    if (gofer_tree() || gofer_start() || gofer_hello() != 0)
        return broken("the server does not start");
    int a = gofer_walk(0, "hello", 5, &node);
    int f = gofer_ask(FORGET, (uint32_t[]){1, 0, node}, 12);
    int b = gofer_walk(0, "hello", 5, &again);
    gofer_stop();
    return a == 0 && f == 0 && b == 0 ? works("a node is found, forgotten and found again")
                                      : broken("%d %d %d", a, f, b);
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
