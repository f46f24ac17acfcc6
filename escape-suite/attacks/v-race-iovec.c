/* tries: another process rewrites the iovec and msghdr in shared memory while writev, readv,
   sendmsg and recvmsg on them are pending: bases in the stub and the kernel, lengths up to 2^63 */
/* must fail because: the array is copied once and checked as a whole; nothing is looked up again in
   shared memory, and never a range of the supervisor's */
/* an escape would: read or write memory that was never checked, or transfer more than was counted
 */
/* source: ATTACKS.md V2; sandlock, memory shared with another process */
#include <fcntl.h>

#include <sys/socket.h>
#include <sys/uio.h>

#include "child.h"

/* Whatever count or length a call takes of these, what it may rightly reach holds 'A' or 0: a count
   beyond the eight finds empty entries, a length beyond the bytes finds zeros. */
struct area {
    struct iovec iov[2048];
    char bytes[4096];
    char zeros[512 * 1024];
    struct msghdr msg;
    volatile int stop;
};
static struct area *a;

static void rewrite(void)
{
    static const uint64_t bases[] = {
        0,   0x6fff00000000, 0x6fff00010000, 0xffff800000000000, 0xffffffffff600000, 0x7ffffffff000,
        ~0ul};
    while (!a->stop) {
        for (int i = 0; i < 8; i++) {
            a->iov[i].iov_base = a->bytes + 64 * i;
            a->iov[i].iov_len = 16;
        }
        a->msg.msg_iov = a->iov;
        a->msg.msg_iovlen = 8;
        for (int i = 0; i < 8; i++) {
            a->iov[i].iov_base = (void *)bases[rnd() % 7];
            a->iov[i].iov_len = rnd() % 2 ? ~0ul >> 1 : rnd() % 8192;
        }
        a->msg.msg_iovlen = rnd() % 2000;
        a->msg.msg_iov = rnd() % 2 ? (void *)bases[rnd() % 7] : a->iov;
    }
}

static int wrong(ssize_t n, const char *buf)
{
    if (n <= 0)
        return 0;
    for (ssize_t i = 0; i < n; i++)
        if (buf[i] != 'A' && buf[i] != 0)
            return 1;
    return n > 128 * 1024;
}

static int attack(void)
{
    static char buf[262144];
    int pair[2], pipes[2], sent = 0, n = 0;
    a = shared_pages((sizeof(*a) + 4095) / 4096);
    if (!a || pipe(pipes) < 0 || socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0)
        return cannot("set-up: %s", err_name(errno));
    memset(a->bytes, 'A', sizeof(a->bytes));
    fcntl(pipes[0], F_SETFL, O_NONBLOCK);
    fcntl(pipes[1], F_SETFL, O_NONBLOCK);
    pid_t pid = fork();
    if (pid == 0) {
        rewrite();
        _exit(0);
    }
    for (long end = now_ms() + 1500; now_ms() < end; n++) {
        ssize_t w = writev(pipes[1], a->iov, 8);
        ssize_t r = read(pipes[0], buf, sizeof(buf));
        if (w > 0 && r != w)
            return escaped("writev said %zd, %zd came out", w, r);
        if (wrong(r, buf))
            return escaped("bytes of another place were written");
        sent += w > 0;
        sendmsg(pair[0], &a->msg, MSG_DONTWAIT);
        r = recv(pair[1], buf, sizeof(buf), MSG_DONTWAIT);
        if (wrong(r, buf))
            return escaped("bytes of another place were sent");
        send(pair[1], "AAAA", 4, MSG_DONTWAIT);
        recvmsg(pair[0], &a->msg, MSG_DONTWAIT);
    }
    a->stop = 1;
    waitpid(pid, NULL, 0);
    return contained("%d rounds, %d of them transferred their own bytes", n, sent);
}

static int twin(void)
{
    char x[16] = "0123456789abcdef", y[32] = "";
    struct iovec iov[2] = {{x, 8}, {x + 8, 8}};
    int pipes[2];
    if (pipe(pipes) < 0 || writev(pipes[1], iov, 2) != 16 || read(pipes[0], y, 32) != 16 ||
        memcmp(x, y, 16))
        return broken("writev of two pieces: %s", err_name(errno));
    return works("writev of two pieces arrives whole");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
