/* tries: a hundred thousand requests without reading a reply, descriptors sent along with every one
   of them, a million names looked up, open files that are never closed; memory and descriptors of
   the server meanwhile */
/* must fail because: one request is answered before the next is read; nodes and open directories
   are bounded; descriptors that nobody asked for end the server */
/* an escape would: fill the server's memory or descriptor table, and so the machine's */
/* source: ATTACKS.md G2 G6 */
#include "gofer.h"

/* Resident kilobytes and descriptors of the server and what it has made. */
static long resident(void)
{
    char path[64], line[256];
    long most = 0;
    for (pid_t pid = gofer_pid; pid < gofer_pid + 30; pid++) {
        snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
        FILE *f = fopen(path, "r");
        int ours = 0;
        while (f && fgets(line, sizeof(line), f)) {
            ours |= strncmp(line, "Name:\tsentry-gofer", 18) == 0;
            if (ours && strncmp(line, "VmRSS:", 6) == 0 && atol(line + 6) > most)
                most = atol(line + 6);
        }
        if (f)
            fclose(f);
    }
    return most;
}

static int attack(void)
{
    uint8_t body[32] = {0};
    char name[32];
    int sent = 0, walks = 0;
    if (gofer_tree() || gofer_start() || gofer_hello() != 0)
        return cannot("the server does not start");
    long before = resident();
    for (unsigned i = 0; i < 60000; i++) {
        int n = snprintf(name, sizeof(name), "no-such-name-%u", i);
        if (gofer_walk(0, name, (size_t)n, NULL) < 0)
            return escaped("the server has gone after %u names", i);
        walks++;
    }
    for (unsigned i = 0; i < 3000; i++) {
        if (gofer_walk(0, "hello", 5, NULL) != 0 || reply_fd < 0)
            return escaped("open file %u: the server gives no more", i);
    }
    long names = resident();
    fcntl(gofer, F_SETFL, O_NONBLOCK);
    for (int i = 0; i < 100000; i++)
        sent += gofer_send(STATFS, body, 8, 24) == 0;
    nanosleep(&(struct timespec){0, 300000000}, NULL);
    long unread = resident();
    int end = gofer_stop();
    step("resident: %ld, after %d names and 3000 files %ld, after %d unread requests %ld KiB",
         before, walks, names, sent, unread);
    /* Descriptors along with requests. */
    if (gofer_start() || gofer_hello() != 0)
        return cannot("the server does not start again");
    int fds_taken = 0;
    for (int i = 0; i < 100; i++) {
        union {
            char buf[CMSG_SPACE(sizeof(int))];
            struct cmsghdr align;
        } u;
        struct header h = {24, STATFS, 0, 1, 0};
        struct iovec iov[2] = {{&h, 16}, {body, 8}};
        struct msghdr m = {
            .msg_iov = iov, .msg_iovlen = 2, .msg_control = u.buf, .msg_controllen = sizeof(u.buf)};
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &gofer, sizeof(int));
        if (sendmsg(gofer, &m, 0) < 0 || gofer_receive() < 0)
            break;
        fds_taken++;
    }
    int end2 = gofer_stop();
    step("%d requests with a descriptor were answered, then the server ended with %d", fds_taken,
         end2);
    if (end >= 1000 || end2 >= 1000 || end2 < 0 || unread > before + 64 * 1024)
        return escaped("ended with %d and %d, resident %ld KiB", end, end2, unread);
    return contained("memory stays bounded, descriptors that nobody asked for are no way in");
}

static int twin(void)
{
    if (gofer_tree() || gofer_start() || gofer_hello() != 0)
        return broken("the server does not start");
    for (int i = 0; i < 1000; i++)
        if (gofer_walk(0, "hello", 5, NULL) != 0 || reply_fd < 0)
            return broken("file %d is not opened", i);
    return gofer_stop() == 0 ? works("a thousand files are opened and closed") : broken("the end");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
