/* tries: the host's keyrings: add_key into the user's, the user session's and persistent keyrings,
 * request_key with call-out, search, link and read of every serial that /proc/keys or luck gives */
/* must fail because: key calls are EPERM and never made on the host; no keyring outlives or leaves
 * a run */
/* an escape would: read a key of the operator's, or leave one for the next run */
/* source: ATTACKS.md P8, O5 */
#include "tricks.h"

static int attack(void)
{
    static const int rings[] = {-1, -2, -3, -4, -5, -7, -8};
    static const char *const types[] = {"user",       "logon",     "keyring",     "big_key",
                                        "asymmetric", "encrypted", "dns_resolver"};
    char buf[512];
    int made = 0, read_ = 0, errs[256] = {0};
    for (int t = 0; t < COUNT(types); t++) {
        for (int r = 0; r < COUNT(rings); r++) {
            long k = sys(SYS_add_key, types[t], "escape-suite", "left behind", 11, rings[r]);
            /* the user's keyrings, which outlive the run; a session's own may be as it likes */
            if (k > 0 && (rings[r] == -4 || rings[r] == -5))
                made++, syscall(SYS_keyctl, 3 /* REVOKE */, k);
            else if (k < 0)
                errs[-k & 255]++;
            sys(SYS_request_key, types[t], "escape-suite", "call-out", rings[r]);
        }
    }
    for (int op = 0; op < 33; op++) {
        for (int r = 0; r < COUNT(rings); r++) {
            long k = sys(SYS_keyctl, op, rings[r], op == 1 ? (long)"x" : (long)buf, sizeof(buf), 0);
            if (k > 0 && op != 0)
                read_++, step("keyctl %d on ring %d gives %ld", op, rings[r], k);
        }
    }
    for (unsigned serial = 1; serial < 0x40000000; serial = serial * 3 + 17)
        read_ += sys(SYS_keyctl, 6, serial, buf, sizeof(buf)) > 0 ||
                 sys(SYS_keyctl, 11, serial, buf, sizeof(buf)) > 0;
    for (int e = 0; e < 256; e++)
        if (errs[e])
            step("add_key: %s %d times", err_name(e), errs[e]);
    if (made || read_)
        return escaped("%d keys made or asked for, %d calls gave something", made, read_);
    return contained("no keyring can be reached");
}

static int twin(void)
{
    int fd = open("/tmp/secret", O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd < 0 || write(fd, "key", 3) != 3 || fchmod(fd, 0400) < 0)
        return broken("a private file: %s", err_name(errno));
    struct stat st;
    if (fstat(fd, &st) < 0 || (st.st_mode & 0777) != 0400 || unlink("/tmp/secret") < 0)
        return broken("its mode: %s", err_name(errno));
    return works("a program can keep a secret in a private file");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
