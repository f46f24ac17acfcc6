/* tries: epoll sets inside epoll sets: chains of hundreds, trees where every set watches all
 * others, rings, then one event at the bottom, over and over */
/* must fail because: the depth of nested sets and the number of paths are bounded as in Linux
 * (ELOOP, EINVAL); a wake-up is bounded work */
/* an escape would: hang the sentry in a wake-up, so that the whole run stands still beyond its
 * deadline */
/* source: ATTACKS.md V17, R2 */
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "tricks.h"

static int add(int ep, int fd)
{
    struct epoll_event ev = {.events = EPOLLIN};
    return epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev) < 0 ? -errno : 0;
}

static int attack(void)
{
    int sets[200], n = 0, bottom = eventfd(0, EFD_NONBLOCK), r = 0, edges = 0;
    uint64_t one = 1;
    long start = now_ms(), worst = 0;
    for (; n < 200 && (sets[n] = epoll_create1(0)) >= 0; n++)
        if ((r = add(sets[n], n ? sets[n - 1] : bottom)) < 0)
            break;
    step("a chain of %d, then %s", n, err_name(r));
    for (int i = 0; i <= n && i < 200; i++)
        for (int k = 0; k < i; k++)
            edges += add(sets[i], sets[k]) == 0;
    step("%d edges between them", edges);
    step("a ring: %s, itself: %s", err_name(add(sets[0], sets[n > 3 ? 3 : 0])),
         err_name(add(sets[1], sets[1])));
    /* layers: 12 sets a layer, each watching all of the layer below */
    int layer[6][12];
    for (int l = 0; l < 6; l++)
        for (int i = 0; i < 12; i++) {
            layer[l][i] = epoll_create1(0);
            for (int k = 0; k < (l ? 12 : 1); k++)
                edges += add(layer[l][i], l ? layer[l - 1][k] : bottom) == 0;
        }
    /* a thousand sets that watch one descriptor */
    int wide = 0;
    while (wide < 600) {
        int ep = epoll_create1(0);
        if (ep < 0 || add(ep, bottom) < 0)
            break;
        wide++;
    }
    step("layers and %d wide: %d edges, %ld ms", wide, edges, now_ms() - start);
    for (int i = 0; i < 50 && now_ms() - start < 1500; i++) {
        struct epoll_event ev;
        long t = now_ms();
        write(bottom, &one, 8);
        epoll_wait(layer[5][0], &ev, 1, 0);
        epoll_wait(sets[n > 0 ? n - 1 : 0], &ev, 1, 0);
        read(bottom, &one, 8);
        one = 1;
        worst = now_ms() - t > worst ? now_ms() - t : worst;
    }
    if (worst > HANG_MS)
        return escaped("one event took %ld ms of the sentry", worst);
    return contained("the slowest event took %ld ms", worst);
}

static int twin(void)
{
    int outer = epoll_create1(0), inner = epoll_create1(0), e = eventfd(1, 0);
    struct epoll_event ev;
    if (add(inner, e) < 0 || add(outer, inner) < 0 || epoll_wait(outer, &ev, 1, 1000) != 1)
        return broken("a set within a set: %s", err_name(errno));
    return works("a set within a set reports an event");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
