/* tries: the first thread of a process exits with the supervisor's reserved signal blocked by a
   forged frame, so that it runs on after its exit; a second thread then needs memory */
/* must fail because: a thread that the supervisor has kicked must come to its handler first; any
   other call of it, or a fault, ends the process */
/* an escape would: run guest code in a thread that no task owns; its calls crashed the supervisor
   or were answered without any check */
/* source: ATTACKS.md V12 V6 */
#include <pthread.h>
#include <time.h>

#include "stub.h"

static char stack[65536];
static struct host_frame frame;
static volatile int blocked;
static int how;

static void after(void)
{
    blocked = 1;
    __asm__ volatile("mov $60, %%eax; xor %%edi, %%edi; syscall" ::
                         : "rax", "rdi", "rcx", "r11", "memory");
    while (how == 1)
        ;
    if (how == 2)
        *(volatile int *)8 = 1;
    for (;;)
        syscall(SYS_getppid);
}

static void *second(void *arg)
{
    while (!blocked)
        ;
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    for (int i = 0; i < 8; i++)
        mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    syscall(SYS_exit_group, 3);
    return arg;
}

static void hostile(int arg)
{
    pthread_t t;
    how = arg;
    pthread_create(&t, NULL, second, NULL);
    frame_init(&frame, after, stack + sizeof(stack))->sigmask = ~0ul;
    stub_return(&frame);
}

static int attack(void)
{
    static const char *const names[] = {"calls on", "computes on", "faults"};
    for (int i = 0; i < 3; i++) {
        long start = now_ms();
        int status = in_child(hostile, i);
        if (status == -1)
            return cannot("fork: %s", err_name(errno));
        step("%s after its exit: %s after %ld ms", names[i], end_name(status), now_ms() - start);
        if (now_ms() - start > HANG_MS)
            return escaped("the supervisor waited %ld ms for a hostile thread", now_ms() - start);
    }
    return contained("the process ends, the supervisor goes on");
}

static void *late(void *arg)
{
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    for (int i = 0; i < 8; i++)
        if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
            syscall(SYS_exit_group, 4);
    syscall(SYS_exit_group, 5);
    return arg;
}

static void honest(int arg)
{
    pthread_t t;
    (void)arg;
    pthread_create(&t, NULL, late, NULL);
    pthread_exit(NULL);
}

static int twin(void)
{
    int status = in_child(honest, 0);
    if (status == -1 || !WIFEXITED(status) || WEXITSTATUS(status) != 5)
        return broken("a process whose first thread exited: %s", end_name(status));
    return works("the other threads go on after the first has exited");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
