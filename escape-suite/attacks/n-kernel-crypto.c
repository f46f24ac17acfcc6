/* tries: AF_ALG: binds hashes, ciphers, AEADs and random generators of the kernel, hands data in by
   accept, send and splice */
/* must fail because: the family does not exist in the box */
/* an escape would: reach the kernel's crypto code, which had holes and which no ordinary program
 * needs */
/* source: ATTACKS.md N1, syd README (KCAPI sockets) */
#include <fcntl.h>

#include <sys/random.h>
#include <sys/socket.h>

#include "attack.h"

struct alg_address {
    unsigned short family;
    char type[14];
    unsigned feat, mask;
    char name[64];
};

static int attack(void)
{
    static const char *const algs[][2] = {
        {"hash", "sha256"}, {"skcipher", "cbc(aes)"}, {"aead", "gcm(aes)"},
        {"rng", "stdrng"},  {"hash", "crc32c"},       {"aead", "authenc(hmac(sha256),cbc(aes))"}};
    int sockets = 0, bound = 0;
    for (size_t i = 0; i < 6; i++) {
        struct alg_address to = {.family = 38};
        strcpy(to.type, algs[i][0]);
        strcpy(to.name, algs[i][1]);
        int fd = socket(38, SOCK_SEQPACKET, 0);
        if (fd < 0) {
            step("socket for %s: %s", algs[i][1], err_name(errno));
            continue;
        }
        sockets++;
        if (bind(fd, (void *)&to, sizeof(to)) == 0) {
            bound++;
            int op = accept(fd, NULL, NULL);
            step("%s is bound, accept %s", algs[i][1], op >= 0 ? "works" : err_name(errno));
            if (op >= 0)
                send(op, "abc", 3, 0);
        }
        close(fd);
    }
    if (sockets)
        return escaped("%d AF_ALG sockets, %d bound to an algorithm", sockets, bound);
    return contained("no AF_ALG");
}

static int twin(void)
{
    unsigned char a[32] = {0}, b[32] = {0};
    int fd = open("/dev/urandom", O_RDONLY);
    if (fd < 0 || read(fd, a, sizeof(a)) != sizeof(a) || getrandom(b, sizeof(b), 0) != sizeof(b))
        return broken("random bytes: %s", err_name(errno));
    if (memcmp(a, b, sizeof(a)) == 0)
        return broken("the same random bytes twice");
    return works("random bytes by device and by call");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
