/* tries: bpf: maps and programs of every type, BTF, links, listing of ids, BPF_OBJ_GET of pinned
 * objects, tokens */
/* must fail because: EPERM; the call is never made on the host */
/* an escape would: have a program of the attacker's verified and run in the host's kernel */
/* source: ATTACKS.md P8 */
#include "tricks.h"

static int attack(void)
{
    union {
        struct {
            uint32_t map_type, key_size, value_size, max_entries, flags;
        } map;
        struct {
            uint32_t prog_type, insn_cnt;
            uint64_t insns, license;
            uint32_t log_level, log_size;
            uint64_t log_buf;
        } prog;
        struct {
            uint64_t pathname;
            uint32_t fd;
        } obj;
        struct {
            uint32_t start, next;
        } id;
        char raw[160];
    } a;
    uint64_t insns[] = {0xb7, 0x95};
    int worked = 0, errs[256] = {0};
    for (int cmd = 0; cmd < 40; cmd++) {
        for (uint32_t type = 0; type < 34; type++) {
            memset(&a, 0, sizeof(a));
            if (cmd == 5) {
                a.prog.prog_type = type;
                a.prog.insn_cnt = 2;
                a.prog.insns = (uintptr_t)insns;
                a.prog.license = (uintptr_t) "GPL";
            } else if (cmd == 6 || cmd == 7) {
                a.obj.pathname = (uintptr_t) "/sys/fs/bpf/x";
            } else if (cmd == 0) {
                a.map.map_type = type;
                a.map.key_size = a.map.value_size = 4;
                a.map.max_entries = 1;
            } else {
                a.id.start = type;
            }
            long r = sys(SYS_bpf, cmd, &a, sizeof(a));
            if (r >= 0)
                worked++;
            else
                errs[-r & 255]++;
        }
    }
    for (int e = 0; e < 256; e++)
        if (errs[e])
            step("%s %d times", err_name(e), errs[e]);
    if (worked)
        return escaped("%d bpf commands worked", worked);
    return contained("no bpf command works");
}

static int twin(void)
{
    struct {
        uint16_t code;
        uint8_t jt, jf;
        uint32_t k;
    } allow = {6, 0, 0, 0x7fff0000};
    struct {
        unsigned short len;
        void *filter;
    } prog = {1, &allow};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return broken("no_new_privs: %s", err_name(errno));
    if (prctl(PR_SET_SECCOMP, 2, &prog, 0, 0) < 0 && errno != EINVAL && errno != ENOSYS)
        return broken("a filter of our own: %s", err_name(errno));
    if (getppid() < 0 || write(1, "", 0) < 0)
        return broken("calls after it: %s", err_name(errno));
    return works("a program that filters its own calls, or is told that it cannot, goes on");
}

int main(int argc, char **argv)
{
    return attack_main(argc, argv, attack, twin);
}
