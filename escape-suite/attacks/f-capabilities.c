/* tries: gain capabilities: file capabilities on a copy of itself, capset of everything, ambient
   and inheritable sets, PR_SET_NO_NEW_PRIVS 0, securebits, then CAP_SYS_ADMIN, CAP_SYS_RAWIO,
   CAP_DAC_READ_SEARCH calls */
/* must fail because: capabilities are emulated words of the sentry; the host process holds none and
   cannot gain any */
/* an escape would: do with a capability what only the host's kernel can: I/O ports, handles,
 * mounts, modules */
/* source: ATTACKS.md F13 */
#include <linux/capability.h>
#include <sys/mount.h>
#include <sys/xattr.h>

#include "tricks.h"

static int powers(void)
{
    int n = 0;
    struct {
        unsigned bytes;
        int type;
        unsigned ino, gen;
    } h = {8, 1, 2, 0};
    n += syscall(SYS_iopl, 3) == 0;
    n += syscall(SYS_ioperm, 0x70, 2, 1) == 0;
    n += syscall(SYS_open_by_handle_at, 0, &h, O_RDONLY) >= 0;
    n += syscall(SYS_init_module, "", 0, "") == 0;
    n += syscall(SYS_delete_module, "no_such_module_here", 0) == 0;
    n += syscall(SYS_swapoff, "/none") == 0;
    n += mount("/dev/vda1", "/mnt", "ext4", MS_RDONLY, NULL) == 0;
    n += fact("host_file") && reach(AT_FDCWD, fact("host_file")) == 1;
    return n;
}

static int raise_all(void)
{
    struct __user_cap_header_struct hdr = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {{~0u, ~0u, ~0u}, {~0u, ~0u, ~0u}};
    long set = sys(SYS_capset, &hdr, data);
    long nnp = sys(SYS_prctl, PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0);
    long bits = sys(SYS_prctl, PR_SET_SECUREBITS, 0x2f, 0, 0, 0), amb = 0;
    for (int c = 0; c < 64; c++)
        amb += prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, c, 0, 0) == 0;
    for (pid_t p = 1; p < 64; p++) {
        hdr.pid = (int)p;
        syscall(SYS_capset, &hdr, data);
    }
    step("capset %s, no_new_privs 0 %s, securebits %s, %ld ambient raised", err_name(set),
         err_name(nnp), err_name(bits), amb);
    return powers();
}

static int by_file_capability(void)
{
    static const char *const at[] = {"/tmp/caps", "/dev/shm/caps"};
    /* VFS_CAP_REVISION_2, effective, all permitted; and revision 3 with root uid 0 */
    unsigned rev2[5] = {0x02000001, ~0u, 0, ~0u, 0}, rev3[6] = {0x03000001, ~0u, 0, ~0u, 0, 0};
    int n = 0;
    for (int i = 0; i < COUNT(at); i++) {
        char buf[65536];
        int in = open("/proc/self/exe", O_RDONLY),
            out = open(at[i], O_WRONLY | O_CREAT | O_TRUNC, 0755);
        for (ssize_t k; out >= 0 && (k = read(in, buf, sizeof(buf))) > 0;)
            write(out, buf, (size_t)k);
        int r2 = fsetxattr(out, "security.capability", rev2, sizeof(rev2), 0);
        int e = errno;
        int r3 = fsetxattr(out, "security.capability", rev3, sizeof(rev3), 0);
        close(in);
        close(out);
        step("%s: file capabilities %s", at[i], r2 == 0 || r3 == 0 ? "set" : err_name(e));
        pid_t pid = fork();
        if (pid == 0) {
            setuid(65534);
            execl(at[i], "f-capabilities", "inner", NULL);
            _exit(0);
        }
        int status = wait_for(pid);
        n += WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    }
    return n;
}

static int attack(void)
{
    int n = raise_all();
    n += by_file_capability();
    if (n)
        return escaped("%d things worked that need a capability of the host", n);
    return contained("whatever the sets say, the host gives nothing");
}

static int twin(void)
{
    struct __user_cap_header_struct hdr = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2];
    if (syscall(SYS_capget, &hdr, data) < 0)
        return broken("capget: %s", err_name(errno));
    data[0].effective = data[1].effective = 0;
    if (syscall(SYS_capset, &hdr, data) < 0)
        return broken("capset of less: %s", err_name(errno));
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
        return broken("no_new_privs: %s", err_name(errno));
    return works("capabilities can be given up");
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "inner") == 0)
        return raise_all();
    return attack_main(argc, argv, attack, twin);
}
