/* tries: says nothing, greets twice, greets with other versions and numbers of roots, asks before
   greeting, half a message and then silence, hangs up in the middle; and in a run kills the image
   server from outside */
/* must fail because: the server waits without harm, ends at the first wrong word, and ends with its
   socket; a run whose server is gone ends as an internal error, not as the program's */
/* an escape would: leave a server behind, or a run that goes on without one and blames the program
 */
/* source: ATTACKS.md G2 G6 */
#include "gofer.h"

static int ended(const char *what, int end, int want)
{
    step("%s: the server ended with %d", what, end);
    return end == want || (want == 3 && end == 0);
}

static int attack(void)
{
    int bad = 0;
    if (gofer_tree())
        return cannot("no tree, or no BIN");
    if (gofer_start())
        return cannot("the server does not start");
    nanosleep(&(struct timespec){0, 200000000}, NULL);
    bad += !ended("silence", gofer_stop(), 0);
    gofer_start();
    gofer_hello();
    int second = gofer_hello();
    bad += second >= 0;
    bad += !ended("greeted twice", gofer_stop(), 3);
    for (uint32_t v = 0; v < 6; v++) {
        gofer_start();
        int r = gofer_ask(HELLO, (uint32_t[]){v == 1 ? 1 : v * 1000003, v == 1 ? 99 : 1}, 8);
        bad += r == 0;
        int end = gofer_stop();
        bad += end >= 1000 || end < 0;
    }
    gofer_start();
    int r = gofer_walk(0, "hello", 5, NULL);
    bad += r >= 0;
    bad += !ended("asked before greeting", gofer_stop(), 3);
    gofer_start();
    gofer_hello();
    send(gofer, "\30\0\0\0\2", 5, 0);
    bad += gofer_receive() >= 0;
    bad += !ended("half a message", gofer_stop(), 3);
    for (int i = 0; i < 20; i++) {
        gofer_start();
        gofer_hello();
        gofer_send(READDIR, (uint32_t[]){0, 0, 0, 0}, 16, 32);
        int end = gofer_stop();
        bad += end >= 1000 || end < 0;
    }
    if (bad)
        return escaped("%d wrong words were answered, or ended otherwise than they should", bad);
    return contained("the server ends in order whatever is said");
}

static int twin(void)
{
    if (gofer_tree() || gofer_start() || gofer_hello() != 0)
        return broken("the server does not greet");
    int end = gofer_stop();
    return end == 0 ? works("greeted, hung up, ended with 0") : broken("ended with %d", end);
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
