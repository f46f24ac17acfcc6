/* A kernel with one process on the fake platform; see box.h. */
#include "tests/support/box.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/errno.h"
#include "abi/file.h"
#include "abi/mman.h"
#include "abi/sched.h"
#include "abi/syscalls.h"

#include "lib/assert.h"
#include "sentry/fs/file.h"
#include "sentry/fs/vfs.h"
#include "sentry/kernel/cred.h"
#include "sentry/kernel/dispatch.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/limits.h"
#include "sentry/mm/mm.h"

struct box box;

/* One round of kernel_run that never waits. */
static void pump(void *arg)
{
    struct plat_event ev;

    (void)arg;
    plat_ops->next_event(kernel.plat, -1, 0, &ev);
    if (ev.kind != PLAT_EV_NONE)
        dispatch_event(&ev);
    timer_run_expired();
    dispatch_run_queue();
}

static int make_root(void)
{
    struct tmpfs_options opt = {.mode = 0755};
    struct super *sb;
    int r = tmpfs_mount_new(&opt, &sb);

    return r < 0 ? r : mount_add(NULL, sb, 0, "root", NULL);
}

static int make_files(struct task *t)
{
    struct path root = {kernel.root_mount, kernel.root_mount->root};
    int r = files_new(&t->files);

    return r < 0 ? r : fs_info_new(&root, &root, &t->fs);
}

static int make_memory(struct task *t)
{
    struct mmap_args mem = {.addr = BOX_MEM,
                            .len = BOX_SIZE,
                            .prot = LX_PROT_READ | LX_PROT_WRITE,
                            .flags = LX_MAP_FIXED | LX_MAP_PRIVATE | LX_MAP_ANONYMOUS};
    struct mmap_args stack = mem;
    int r = mm_new(&t->mm);

    if (r < 0)
        return r;
    stack.addr = BOX_STACK_TOP - BOX_STACK;
    stack.len = BOX_STACK;
    r = plat_ops->thread_first(t->mm->as, t, &t->pth);
    if (r < 0) {
        plat_ops->as_drop(t->mm->as);
        mm_put(t->mm);
        t->mm = NULL;
        return r;
    }
    int64_t at = mm_mmap(t, t->mm, &mem);
    if (at > 0)
        at = mm_mmap(t, t->mm, &stack);
    return at > 0 ? 0 : (int)at;
}

static int make_ids(struct task *t)
{
    t->cred = cred_new();
    t->sighand = sighand_new();
    if (!t->cred || !t->sighand)
        return -ENOMEM;
    t->cred->cap_effective = t->cred->cap_permitted = LX_CAP_FULL_SET;
    t->cred->cap_bounding = LX_CAP_FULL_SET;
    return pid_alloc(t);
}

/* From here on kernel_done takes the process away. */
static void publish(struct task *t, struct thread_group *tg)
{
    tg->pid = t->pid;
    task_link(t, tg);
    list_add_tail(&kernel.groups, &tg->all_link);
    kernel.init = thread_group_get(tg);
    for (int i = 0; i < 16; i++)
        tg->rlimit[i] = (struct lx_rlimit){~0ull, ~0ull};
    tg->rlimit[7] = (struct lx_rlimit){1024, 4096};
}

static int make_process(struct task **ret_t)
{
    struct thread_group *tg;
    struct task *t;
    int r = thread_group_new(&tg);

    if (r < 0)
        return r;
    r = task_new(tg, &t);
    if (r < 0) {
        thread_group_put(tg);
        return r;
    }
    KASSERT(limit_charge(LIMIT_TASKS, 1) == 0);
    r = make_ids(t);
    if (r < 0) {
        task_release_resources(t);
        task_put(t);
        thread_group_put(tg);
        return r;
    }
    publish(t, tg);
    *ret_t = t;
    r = session_new(tg);
    if (r == 0)
        r = make_files(t);
    return r == 0 ? make_memory(t) : r;
}

bool box_try(void)
{
    struct task *t = NULL;

    box = (struct box){.p = fake_platform_new()};
    fake_set_pump(box.p, pump, NULL);
    KASSERT(kernel_init(box.p, NULL) == 0);
    int r = make_root();
    if (r == 0)
        r = make_process(&t);
    if (r != 0) {
        if (t && !t->pth)
            task_release_resources(t);
        box_end();
        return false;
    }
    box.task = t;
    box.th = t->pth;
    KASSERT(plat_ops->get_regs(t->pth, &t->regs) == 0);
    t->in_context = true;
    t->regs.rsp = BOX_STACK_TOP - 4096;
    t->regs.rip = 0x400000;
    dispatch_start(t);
    return true;
}

void box_begin(void)
{
    KASSERT(box_try());
}

static void check_released(enum limit_kind kind)
{
    if (limit_used(kind) == 0)
        return;
    (void)fprintf(stderr, "limit %d: %llu still charged\n", (int)kind,
                  (unsigned long long)limit_used(kind));
    abort();
}

void box_end(void)
{
    kernel_done();
    for (int i = 0; i < LIMIT_COUNT; i++)
        check_released((enum limit_kind)i);
    KASSERT(timer_next_timeout() == -1);
    KASSERT(fake_thread_count(box.p) == 0);
    plat_ops->shutdown(box.p);
    box = (struct box){0};
}

int64_t box_call6(struct plat_thread *th, uint64_t nr, const uint64_t args[6])
{
    return fake_syscall(th, nr, args[0], args[1], args[2], args[3], args[4], args[5]);
}

void box_run(void)
{
    for (int i = 0; i < 64; i++)
        pump(NULL);
}

void box_advance(uint64_t ns)
{
    kernel.boot_monotonic -= ns;
    box_run();
}

struct task *box_task(struct plat_thread *th)
{
    return plat_ops->thread_owner(th);
}

struct plat_thread *box_pick(uint8_t byte)
{
    struct plat_thread *ready[BOX_PICK_MAX];
    size_t n = 0;

    for (uint64_t id = 1; id <= fake_newest(box.p) && n < BOX_PICK_MAX; id++) {
        struct plat_thread *th = fake_thread(box.p, id);
        if (th && fake_state(th) == FAKE_RUNNING)
            ready[n++] = th;
    }
    return n ? ready[byte % n] : NULL;
}

struct plat_thread *box_clone(struct plat_thread *th, uint64_t flags, uint64_t sp)
{
    uint64_t before = fake_newest(box.p);
    int64_t r = box_call(th, NR_clone, flags, sp);

    KASSERT(r > 0 || r == FAKE_BLOCKED);
    KASSERT(fake_newest(box.p) == before + 1);
    struct plat_thread *child = fake_thread(box.p, before + 1);
    KASSERT(child != NULL);
    KASSERT(fake_result(child) == 0);
    return child;
}

struct plat_thread *box_fork(struct plat_thread *th)
{
    return box_clone(th, LX_SIGCHLD, 0);
}

struct plat_thread *box_thread(struct plat_thread *th, uint64_t sp)
{
    return box_clone(
        th, LX_CLONE_VM | LX_CLONE_FS | LX_CLONE_FILES | LX_CLONE_SIGHAND | LX_CLONE_THREAD, sp);
}

void box_write(struct plat_thread *th, uint64_t addr, const void *src, size_t len)
{
    KASSERT(plat_write(plat_ops->thread_as(th), GADDR(addr), src, len) == 0);
}

void box_read(struct plat_thread *th, uint64_t addr, void *dst, size_t len)
{
    KASSERT(plat_read(plat_ops->thread_as(th), GADDR(addr), dst, len) == 0);
}

void box_put32(struct plat_thread *th, uint64_t addr, uint32_t val)
{
    box_write(th, addr, &val, sizeof(val));
}

uint32_t box_get32(struct plat_thread *th, uint64_t addr)
{
    uint32_t val;

    box_read(th, addr, &val, sizeof(val));
    return val;
}

void box_put64(struct plat_thread *th, uint64_t addr, uint64_t val)
{
    box_write(th, addr, &val, sizeof(val));
}

uint64_t box_get64(struct plat_thread *th, uint64_t addr)
{
    uint64_t val;

    box_read(th, addr, &val, sizeof(val));
    return val;
}

/* Scratch of the helpers below: the last page of the memory. */
#define SCRATCH (BOX_MEM + BOX_SIZE - 4096)

void box_action(struct plat_thread *th, int signo, uint64_t handler, uint64_t flags, uint64_t mask)
{
    struct lx_sigaction act = {
        .sa_handler = handler,
        .sa_flags = flags | LX_SA_RESTORER,
        .sa_restorer = BOX_RESTORER,
        .sa_mask = mask,
    };

    box_write(th, SCRATCH, &act, sizeof(act));
    KASSERT(box_call(th, NR_rt_sigaction, (uint64_t)signo, SCRATCH, 0, 8) == 0);
}

void box_mask(struct plat_thread *th, uint64_t set)
{
    box_put64(th, SCRATCH, set);
    (void)box_call(th, NR_rt_sigprocmask, LX_SIG_SETMASK, SCRATCH, 0, 8);
}

int64_t box_sigreturn(struct plat_thread *th)
{
    fake_regs(th)->rsp += 8; /* the handler returned into the restorer */
    fake_regs(th)->rip = BOX_RESTORER;
    return box_call(th, NR_rt_sigreturn, 0);
}

int64_t box_program(struct plat_thread *th, const char *path)
{
    struct {
        Elf64_Ehdr eh;
        Elf64_Phdr ph;
        uint8_t code[8];
    } img = {
        .eh = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
               .e_type = ET_EXEC,
               .e_machine = EM_X86_64,
               .e_version = EV_CURRENT,
               .e_entry = BOX_ENTRY,
               .e_phoff = sizeof(Elf64_Ehdr),
               .e_ehsize = sizeof(Elf64_Ehdr),
               .e_phentsize = sizeof(Elf64_Phdr),
               .e_phnum = 1},
        .ph = {.p_type = PT_LOAD,
               .p_flags = PF_R | PF_X,
               .p_vaddr = 0x400000,
               .p_paddr = 0x400000,
               .p_filesz = sizeof(img),
               .p_memsz = sizeof(img),
               .p_align = 4096},
    };

    box_write(th, SCRATCH, path, strlen(path) + 1);
    int64_t fd = box_call(th, NR_open, SCRATCH, LX_O_CREAT | LX_O_WRONLY, 0755);
    if (fd < 0)
        return fd;
    box_write(th, SCRATCH, &img, sizeof(img));
    int64_t n = box_call(th, NR_write, (uint64_t)fd, SCRATCH, sizeof(img));
    (void)box_call(th, NR_close, (uint64_t)fd);
    return n < 0 ? n : 0;
}

struct plat_thread *box_exec(struct plat_thread *th, const char *path, int64_t *ret_err)
{
    const uint64_t argv[2] = {SCRATCH, 0};
    uint64_t newest = fake_newest(box.p);

    box_write(th, SCRATCH, path, strlen(path) + 1);
    box_write(th, SCRATCH + 256, argv, sizeof(argv));
    int64_t r = box_call(th, NR_execve, SCRATCH, SCRATCH + 256, SCRATCH + 264);
    *ret_err = r;
    return fake_newest(box.p) > newest ? fake_thread(box.p, fake_newest(box.p)) : NULL;
}
