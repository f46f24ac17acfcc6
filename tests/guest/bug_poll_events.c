/* poll must write back revents only: libraries compare the whole array. */
#include <poll.h>

#include "facts.h"

int main(void)
{
    int p[2];
    facts_start();
    NEED(pipe(p));
    close(p[1]);
    for (int round = 0; round < 4; round++) {
        struct pollfd f[3] = {
            {p[0], (short)(POLLIN | 0x1000), 0}, {p[1], POLLIN, 0}, {-5, 0x7fff, 3}};
        struct pollfd before[3];
        memcpy(before, f, sizeof(f));
        int n = poll(f, 3, 0);
        bool same = true;
        for (int i = 0; i < 3; i++)
            same = same && f[i].fd == before[i].fd && f[i].events == before[i].events;
        say("round %d: %d ready, fd and events untouched: %s, revents %x %x %x", round, n,
            same ? "yes" : "no", f[0].revents, f[1].revents, f[2].revents);
    }
    remove_work_dir();
    return 0;
}
