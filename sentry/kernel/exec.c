/*
 * exec.c: loads a program into a new address space (execve(2), elf(5)).
 *
 *   1. "#!" scripts are replaced by their interpreter, at most four times
 *   2. headers of the program and of its ELF interpreter are read and checked (elf.c)
 *   3. addresses are chosen, and all mappings of both, the stack included, go to the host in one
 * batch
 *   4. the tree, the partial bss pages, the initial stack (exec_stack.c)
 *
 * Nothing of the calling task is changed here; on failure the new address space is dropped.
 */
#include "sentry/kernel/exec.h"

#include "lib/compiler.h"

#include <string.h>

#include "abi/errno.h"
#include "abi/misc.h"
#include "abi/mman.h"
#include "abi/rlimit.h"

#include "lib/alloc.h"
#include "lib/checked.h"
#include "sentry/fs/file.h"
#include "sentry/host/host.h"
#include "sentry/kernel/exec_load.h"
#include "sentry/kernel/kernel.h"
#include "sentry/kernel/ptrace.h"
#include "sentry/kernel/task.h"
#include "sentry/mm/memobj.h"
#include "sentry/mm/vma_tree.h"

enum {
    SCRIPT_DEPTH = 5,
    MAX_REQS = 4 * ELF_MAX_LOADS + 2,
    STACK_MAX = 64 << 20,
    STACK_MIN = 1 << 17,
    STACK_RANDOM_BITS = 22 /* pages, as Linux */
};
#define PIE_BASE 0x555555554000ull

/* One program being placed. */
struct image_part {
    struct file *file;
    struct elf_info elf;
    struct map_backing backing;
    uint64_t bias; /* added to every address of the file */
};

struct loader {
    struct task *task;
    struct mm *mm;
    struct image_part *program, *interp; /* interp NULL: static */
    struct plat_map_req *reqs;
    struct vma_attr *attrs; /* beside reqs */
    size_t nreqs;
};

static uint64_t random_pages(const struct loader *l, unsigned bits)
{
    uint64_t v;
    if (l->task->personality & LX_ADDR_NO_RANDOMIZE)
        return 0;
    host_random(&v, sizeof(v));
    return (v & ((1ull << bits) - 1)) * PAGE_SIZE;
}

/* -- mappings ---------------------------------------------------------------------------------- */

static void add_req(struct loader *l, uint64_t start, uint64_t end, uint32_t prot,
                    const struct image_part *part, uint64_t offset)
{
    bool anon = part == NULL;
    if (start >= end)
        return;
    int fd = anon ? -1 : part->backing.host_fd;
    l->reqs[l->nreqs] = (struct plat_map_req){
        start, end - start, prot, (anon ? PLAT_MAP_ANON : 0) | PLAT_MAP_NORESERVE, fd, offset};
    l->attrs[l->nreqs] = (struct vma_attr){
        .prot = prot, .file = anon ? NULL : part->file, .offset = anon ? 0 : offset};
    l->nreqs++;
}

static int part_backing(struct image_part *p)
{
    if (p->file->ops->map == NULL)
        return -EACCES;
    int r = p->file->ops->map(p->file, false, LX_PROT_READ, &p->backing);
    if (r == 0 && p->backing.obj != NULL)
        r = memobj_host_fd(p->backing.obj, &p->backing.host_fd);
    return r;
}

static int place_part(struct loader *l, struct image_part *p)
{
    const struct elf_info *e = &p->elf;
    for (uint32_t i = 0; i < e->nloads; i++) {
        const struct elf_load *s = &e->loads[i];
        uint64_t va = s->vaddr + p->bias;
        uint64_t file_end = page_up(va + s->filesz);
        uint64_t start = page_down(va);
        if (s->filesz == 0)
            file_end = start;
        add_req(l, start, file_end, s->prot, p, page_down(s->offset));
        add_req(l, file_end, page_up(va + s->memsz), s->prot, NULL, 0);
    }
    if (e->low + p->bias < MM_MMAP_MIN || e->high + p->bias > LX_TASK_SIZE - PAGE_SIZE ||
        vma_overlaps_special(l->mm, e->low + p->bias, e->high + p->bias))
        return -ENOMEM;
    return 0;
}

/* The rest of the last file page of a writable segment is zero, not file. */
static int clear_tails(struct loader *l, const struct image_part *p)
{
    static const uint8_t zeros[PAGE_SIZE];
    for (uint32_t i = 0; i < p->elf.nloads; i++) {
        const struct elf_load *s = &p->elf.loads[i];
        uint64_t end = s->vaddr + p->bias + s->filesz;
        if (s->memsz == s->filesz || s->filesz == 0 || !(s->prot & LX_PROT_WRITE) ||
            page_aligned(end))
            continue;
        int r = plat_write(l->mm->as, GADDR(end), zeros, (size_t)(page_up(end) - end));
        if (r < 0)
            return r;
    }
    return 0;
}

static int apply(struct loader *l)
{
    int r = plat_ops->map(l->mm->as, l->reqs, l->nreqs);
    for (size_t i = 0; i < l->nreqs && r == 0; i++) {
        uint64_t start = l->reqs[i].addr, end = start + l->reqs[i].len;
        r = vma_split_at(l->mm, start);
        if (r == 0)
            r = vma_split_at(l->mm, end);
        if (r == 0) {
            vma_carve(l->mm, start, end);
            r = vma_insert(l->mm, start, end, &l->attrs[i]);
        }
    }
    if (r == 0)
        r = clear_tails(l, l->program);
    if (r == 0 && l->interp != NULL)
        r = clear_tails(l, l->interp);
    return r;
}

/* -- addresses --------------------------------------------------------------------------------- */

static void place_program(struct loader *l)
{
    struct elf_info *e = &l->program->elf;
    if (!e->dyn)
        return;
    uint64_t base = PIE_BASE + random_pages(l, 28);
    base = base & ~(e->align - 1);
    l->program->bias = base - (e->low & ~(e->align - 1));
}

static int place_interp(struct loader *l)
{
    struct elf_info *e = &l->interp->elf;
    if (!e->dyn)
        return 0;
    uint64_t span = e->high - e->low + e->align;
    uint64_t base = vma_find_free(l->mm, span, l->mm->mmap_top);
    if (base == 0)
        return -ENOMEM;
    l->interp->bias = align_up(base, e->align) - (e->low & ~(e->align - 1));
    return 0;
}

static int place_stack(struct loader *l, uint64_t *ret_top)
{
    uint64_t size = task_rlimit(l->task, LX_RLIMIT_STACK)->rlim_cur;
    size = page_up(MAX(MIN(size, (uint64_t)STACK_MAX), (uint64_t)STACK_MIN));
    uint64_t top = LX_TASK_SIZE - PAGE_SIZE - random_pages(l, STACK_RANDOM_BITS);
    uint64_t start = vma_find_free(l->mm, size + 256ull * PAGE_SIZE, top);
    if (start == 0)
        return -ENOMEM;
    top = start + 256ull * PAGE_SIZE + size;
    uint32_t prot = LX_PROT_READ | LX_PROT_WRITE;
    if (l->program->elf.exec_stack)
        prot |= LX_PROT_EXEC;
    l->mm->stack_limit = top - size;
    add_req(l, top - size, top, prot, NULL, 0);
    l->attrs[l->nreqs - 1].flags = VMA_STACK;
    l->attrs[l->nreqs - 1].name = "[stack]";
    *ret_top = top;
    return 0;
}

static void set_code_ranges(struct loader *l)
{
    const struct image_part *p = l->program;
    struct mm *mm = l->mm;
    for (uint32_t i = 0; i < p->elf.nloads; i++) {
        const struct elf_load *s = &p->elf.loads[i];
        uint64_t start = s->vaddr + p->bias, end = start + s->filesz;
        if (s->prot & LX_PROT_EXEC) {
            mm->start_code = start;
            mm->end_code = end;
        } else if (s->prot & LX_PROT_WRITE) {
            mm->start_data = start;
            mm->end_data = end;
        }
    }
    mm->brk_start = mm->brk = p->elf.high + p->bias + random_pages(l, 13);
}

/* -- the whole --------------------------------------------------------------------------------- */

static int load_parts(struct loader *l, const char *path, const struct exec_strings *s,
                      struct exec_image *img)
{
    uint64_t top, sp;
    place_program(l);
    int r = place_part(l, l->program);
    if (r == 0 && l->interp != NULL)
        r = place_interp(l);
    if (r == 0 && l->interp != NULL)
        r = place_part(l, l->interp);
    if (r == 0)
        r = place_stack(l, &top);
    if (r == 0)
        r = apply(l);
    if (r < 0)
        return r;
    set_code_ranges(l);
    const struct cred *c = l->task->cred;
    const struct elf_info *e = &l->program->elf;
    struct exec_aux aux = {
        .phdr = e->phdr_vaddr != 0 ? e->phdr_vaddr + l->program->bias : 0,
        .phnum = e->phnum,
        .base = l->interp != NULL ? (l->interp->elf.low + l->interp->bias) : 0,
        .entry = e->entry + l->program->bias,
        .secure = img->setuid_euid || img->setgid_egid,
        .uid = c->uid,
        .euid = img->setuid_euid ? img->new_euid : c->euid,
        .gid = c->gid,
        .egid = img->setgid_egid ? img->new_egid : c->egid,
    };
    r = exec_stack_fill(l->mm, top, path, s, &aux, &sp);
    if (r < 0)
        return r;
    img->entry = l->interp != NULL ? l->interp->elf.entry + l->interp->bias : aux.entry;
    img->stack = sp;
    return 0;
}

static int open_interp(struct loader *l, struct image_part *part)
{
    if (l->program->elf.interp[0] == '\0')
        return 0;
    int r = vfs_open_exec(l->task, LX_AT_FDCWD, l->program->elf.interp, LOOKUP_FOLLOW, &part->file);
    if (r < 0)
        return r;
    r = elf_read(part->file, &part->elf);
    if (r < 0)
        return r == -ENOEXEC ? -ELIBBAD : r;
    l->interp = part;
    return part_backing(part);
}

static void part_done(struct image_part *p, bool put_file)
{
    if (p == NULL)
        return;
    memobj_put(p->backing.obj);
    if (put_file)
        file_put(p->file);
    kfree(p);
}

static void set_ids(const struct task *t, const struct file *f, struct exec_image *img)
{
    const struct inode *ino = f->inode;
    if (t->no_new_privs || ptrace_forbids_setid(t) ||
        (f->path.mnt != NULL && (f->path.mnt->flags & MOUNT_NOSUID)))
        return;
    if (ino->mode & LX_S_ISUID) {
        img->setuid_euid = ino->uid != t->cred->euid;
        img->new_euid = ino->uid;
    }
    if ((ino->mode & LX_S_ISGID) && (ino->mode & 0010)) {
        img->setgid_egid = ino->gid != t->cred->egid;
        img->new_egid = ino->gid;
    }
}

static void set_comm(struct exec_image *img, const char *path)
{
    const char *base = strrchr(path, '/');
    base = base != NULL ? base + 1 : path;
    memcpy(img->comm, base, strnlen(base, sizeof(img->comm) - 1));
}

static int load_elf(struct task *t, struct file *file, const char *path, struct exec_strings *s,
                    struct exec_image *img)
{
    struct loader l = {.task = t};
    struct image_part *program = kalloc(sizeof(*program)), *interp = kalloc(sizeof(*interp));
    int r = -ENOMEM;

    l.reqs = kalloc_array(MAX_REQS, sizeof(*l.reqs));
    l.attrs = kalloc_array(MAX_REQS, sizeof(*l.attrs));
    if (program != NULL && interp != NULL && l.reqs != NULL && l.attrs != NULL) {
        program->file = file;
        l.program = program;
        r = elf_read(file, &program->elf);
        if (r == 0)
            r = part_backing(program);
        if (r == 0)
            r = open_interp(&l, interp);
        if (r == 0)
            r = mm_new(&img->mm);
        l.mm = img->mm;
        if (r == 0)
            r = load_parts(&l, path, s, img);
    }
    part_done(program, false);
    part_done(interp, interp != NULL && interp->file != NULL);
    kfree(l.reqs);
    kfree(l.attrs);
    return r;
}

/* Follows "#!" lines; *ret_file is counted: the program to load. */
static int resolve_scripts(struct task *t, struct file *file, const char *path,
                           struct exec_strings *s, struct file **ret_file)
{
    char head[SCRIPT_HEAD];
    char name[4096];
    struct script_line *sl = kalloc(sizeof(*sl));
    int r = sl == NULL ? -ENOMEM : 0;

    size_t len = strlen(path);
    memcpy(name, path, MIN(len + 1, sizeof(name)));
    name[sizeof(name) - 1] = '\0';
    (void)file_get(file);
    for (int depth = 0; r == 0; depth++) {
        int64_t n = kernel_read(file, head, sizeof(head), 0);
        r = n < 0 ? (int)n : script_parse(head, (size_t)n, sl);
        if (r <= 0)
            break;
        r = depth >= SCRIPT_DEPTH ? -ELOOP : script_strings(sl, name, s);
        struct file *next = NULL;
        if (r == 0)
            r = vfs_open_exec(t, LX_AT_FDCWD, sl->interp, LOOKUP_FOLLOW, &next);
        if (r == 0) {
            file_put(file);
            file = next;
            memcpy(name, sl->interp, strlen(sl->interp) + 1);
        }
    }
    kfree(sl);
    if (r < 0) {
        file_put(file);
        return r;
    }
    *ret_file = file;
    return 0;
}

int exec_load(struct task *t, struct file *file, const char *path, struct exec_strings *argv_envp,
              struct exec_image *ret_image)
{
    struct exec_image img = {0};

    int r = resolve_scripts(t, file, path, argv_envp, &img.file);
    if (r < 0)
        return r;
    set_ids(t, img.file, &img);
    set_comm(&img, path);
    r = load_elf(t, img.file, path, argv_envp, &img);
    if (r == 0)
        r = inode_deny_write(img.file->inode);
    if (r != 0) {
        exec_image_done(&img);
        return r;
    }
    img.mm->exe = file_get(img.file);
    *ret_image = img;
    return 0;
}

void exec_image_done(struct exec_image *image)
{
    if (image->mm != NULL) {
        if (image->mm->as != NULL)
            plat_ops->as_drop(image->mm->as);
        image->mm->as = NULL;
        mm_put(image->mm);
    }
    file_put(image->file);
    *image = (struct exec_image){0};
}
