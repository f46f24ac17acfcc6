/* tries: outlast the deadline asleep: all signals blocked and ignored, in sleeps, pause, futex,
 * read of an empty pipe, in eight processes */
/* must fail because: the monitor outside holds the deadline and ends the sandbox as a whole,
 * whatever state its tasks are in */
/* an escape would: live on beyond the deadline */
/* source: ATTACKS.md R5 */
#include <linux/futex.h>

#include "tricks.h"

static int attack(void)
{
    sigset_t all;
    int p[2], word = 0;
    char c;
    for (int s = 1; s < 65; s++)
        signal(s, SIG_IGN);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    pipe(p);
    step("asleep in eight ways");
    int me = 0;
    for (int i = 1; i < 8; i++)
        if (me == 0 && fork() == 0)
            me = i;
    for (;;) {
        switch (me) {
        case 0:
            sleep(1000);
            break;
        case 1:
            pause();
            break;
        case 2:
            syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
            break;
        case 3:
            read(p[0], &c, 1);
            break;
        case 4:
            wait(NULL);
            usleep(100);
            break;
        case 5:
            sigsuspend(&all);
            break;
        case 6:
            mkfifo("/tmp/fifo", 0600);
            open("/tmp/fifo", O_RDONLY);
            break;
        default:
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &(struct timespec){1l << 40, 0}, NULL);
            break;
        }
    }
    return 0;
}

static int twin(void)
{
    long t = now_ms();
    usleep(30000);
    t = now_ms() - t;
    return t >= 30 ? works("a sleep of 30 ms takes %ld", t)
                   : broken("a sleep of 30 ms took %ld", t);
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
