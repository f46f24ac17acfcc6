/* tries: the stack: RLIMIT_STACK raised, recursion without end in the main thread and in threads
 * with stacks of a GiB, MAP_GROWSDOWN mappings */
/* must fail because: stack pages are memory of the run like others; the stack's limit is the
 * sentry's */
/* an escape would: take more of the host's memory than the run was given, or crash the sentry's
 * fault path */
/* source: ATTACKS.md R10 */
#include <pthread.h>

#include <sys/mman.h>
#include <sys/resource.h>

#include "tricks.h"

static int recurse(long n)
{
    volatile char frame[16384];
    frame[0] = (char)n;
    frame[16383] = 1;
    if (n % 4096 == 0)
        step("%ld MiB of stack", n / 64);
    return recurse(n + 1) + frame[0];
}

static void *thread(void *arg)
{
    recurse(1);
    return arg;
}

static int attack(void)
{
    struct rlimit rl = {RLIM_INFINITY, RLIM_INFINITY};
    int r = setrlimit(RLIMIT_STACK, &rl) < 0 ? errno : 0;
    step("RLIMIT_STACK infinite: %s", err_name(r));
    char *down = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0);
    if (down != MAP_FAILED && fork() == 0)
        for (long i = 0;; i += 4096)
            down[-i] = 1;
    pthread_attr_t a;
    pthread_t t;
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, 1ul << 30);
    if (pthread_create(&t, &a, thread, NULL) != 0)
        step("no thread with a stack of a GiB");
    else
        pthread_join(t, NULL);
    if (r == 0)
        execl("/proc/self/exe", "again", "recurse", NULL);
    recurse(1);
    return 0;
}

static int depth(int n)
{
    volatile char frame[4096];
    frame[0] = 1;
    return n ? depth(n - 1) + frame[0] : 0;
}

static int twin(void)
{
    if (depth(1000) != 1000)
        return broken("4 MiB of stack");
    return works("4 MiB of stack can be used");
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "recurse") == 0)
        return recurse(1);
    return attack_main(argc, argv, attack, twin);
}
