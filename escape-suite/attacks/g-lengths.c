/* tries: messages whose lengths lie: sizes in the header of 0 to 2^32 - 1, shorter and longer than
   the packet, empty packets, half a header, 64 KiB and more, counts of names and nodes beyond what
   follows */
/* must fail because: every length is compared with what is left before it is used; a lie ends the
 * server */
/* an escape would: make the image server read or write beyond its buffers */
/* source: ATTACKS.md G2 */
#include "gofer.h"

static const uint32_t claims[] = {0, 1, 15, 16, 17, 24, 65535, 65536, 0x7fffffff, 0x80000000, ~0u};

static int attack(void)
{
    uint8_t body[70000] = {0};
    int crashed = 0, hung_up = 0, runs = 0;
    if (gofer_tree())
        return cannot("no tree, or no BIN");
    for (int type = 0; type < 14; type++) {
        for (int i = type % 2; i < 11; i += 2) {
            static const size_t bodies[] = {0, 1, 7, 8, 12, 65520, 65521, 70000};
            if (gofer_start())
                return cannot("the server does not start: %s", err_name(errno));
            if (type % 3)
                gofer_hello();
            /* counts of names, nodes and bytes that are not there */
            for (size_t k = 0; k < sizeof(body); k++)
                body[k] = (uint8_t)(i % 2 ? 0xff : k);
            gofer_send((uint16_t)type, body, bodies[i % 8], claims[i]);
            gofer_receive();
            gofer_send((uint16_t)type, body, bodies[i % 8], (uint32_t)(16 + bodies[i % 8]));
            gofer_receive();
            int end = gofer_stop();
            runs++;
            hung_up += end == 3 || end == 0;
            if (end >= 1000 || end < 0 || end == 99) {
                step("type %d, claim %#x: ended with %d", type, claims[i], end);
                crashed++;
            }
        }
    }
    if (crashed)
        return escaped("the server crashed or hung %d times", crashed);
    return contained("%d servers, %d hung up in order", runs, hung_up);
}

static int twin(void)
{
    uint32_t node;
    if (gofer_tree() || gofer_start())
        return broken("the server does not start: %s", err_name(errno));
    int hello = gofer_hello(), walk = gofer_walk(0, "hello", 5, &node);
    int ok = hello == 0 && walk == 0 && reply_fd >= 0;
    int end = gofer_stop();
    return ok && end == 0 ? works("hello and a walk are answered")
                          : broken("hello %d, walk %d, end %d", hello, walk, end);
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
