#pragma once
/*
 * mm: a guest address space. The vma tree is the truth for checks, /proc/PID/maps, limits and
 * mremap, and the kernel chooses every address; the host's page tables follow it through plat_ops.
 *
 * An mm is counted by its tasks (vfork and CLONE_VM share it). Ranges freed by a thread's own call
 * (SYS_HOST munmap), or made writable by one, stay in quarantine until that thread has been seen at
 * the gate again: nothing else is mapped there.
 */
#include "lib/compiler.h"

#include "abi/types.h"

#include "platform/platform.h"

#include "lib/list.h"
#include "lib/rbtree.h"
#include "sentry/kernel/waitqueue.h"

struct task;
struct file;
struct memobj;
struct inode;

enum vma_flags {
    VMA_SHARED = 1u << 0,
    VMA_STACK = 1u << 1,
    VMA_HEAP = 1u << 2,
    VMA_SPECIAL = 1u << 3, /* vdso, vvar, stub: never changed by the guest */
    VMA_NORESERVE = 1u << 4,
    VMA_LOCKED = 1u << 5,
    VMA_DONTFORK = 1u << 6,
    VMA_WIPEONFORK = 1u << 7,
    VMA_GROWSDOWN = 1u << 8,  /* MAP_GROWSDOWN: grows by faults below it */
    VMA_NOWRITE = 1u << 9,    /* attached for reading only: no mprotect makes it writable */
    VMA_TOUCHABLE = 1u << 10, /* was accessible once, so it may have pages: for usage.h only */
};

struct vma {
    struct rb_node node; /* mm.vmas, by start; augmented */
    uint64_t start, end; /* page aligned, end exclusive */
    uint64_t prot;       /* LX_PROT_* */
    uint32_t flags;
    /* augmentation: extent of the subtree, and the largest gap inside of it */
    uint64_t sub_start, sub_end, max_gap;
    struct file *file;  /* counted; NULL for anonymous */
    struct memobj *obj; /* counted; shared anonymous memory, else NULL */
    uint64_t offset;    /* bytes into file or obj of start */
    const char *name;   /* static: "[vdso]" ..., or NULL */
};

struct mm {
    uint32_t ref;
    uint64_t id;        /* of no other one, 0 of none */
    struct plat_as *as; /* NULL after the last process of it is gone */
    struct rb_root vmas;
    uint32_t nvmas;
    uint64_t total; /* bytes of all vmas except special ones */
    uint64_t start_code, end_code, start_data, end_data;
    uint64_t brk_start, brk;
    uint64_t start_stack, stack_limit;
    uint64_t arg_start, arg_end, env_start, env_end;
    uint64_t mmap_top; /* searches go down from here */
    uint64_t locked;   /* bytes mlocked (accounting only) */
    struct file *exe;  /* counted */
    uint8_t auxv[512]; /* as put on the stack: /proc/PID/auxv */
    size_t auxv_len;
    struct list_head quarantine;
    struct wait_queue quarantine_wait; /* something was released */
    bool def_locked;                   /* mlockall(MCL_FUTURE) */
    uint64_t fault_addr;  /* the last fault that the tree could not explain, and how often it */
    uint32_t fault_count; /* came in a row */
};

/* A fresh mm around a new plat_as with only the special vmas. */
int mm_new(struct mm **ret_mm) MUST_CHECK;
struct mm *mm_get(struct mm *mm);
/* The last put drops the vmas; the plat_as ends with its host processes (or as_drop if none was
 * started). */
void mm_put(struct mm *mm);
/* The vma list of parent for a forked address space child_as (which the platform has copied
 * already). */
int mm_dup(struct mm *parent, struct plat_as *child_as, struct mm **ret_mm) MUST_CHECK;

struct vma *mm_find(struct mm *mm, uint64_t addr);      /* the vma that contains addr, or NULL */
struct vma *mm_find_from(struct mm *mm, uint64_t addr); /* the first vma with end > addr, or NULL */
struct vma *vma_next(struct vma *v);
struct vma *vma_prev(struct vma *v);
struct vma *mm_first(struct mm *mm);

/* What mmap of a file yields; filled by file_ops->map. Exactly one of obj / host_fd is used. */
struct map_backing {
    struct memobj *obj; /* counted reference handed over, or NULL */
    int host_fd;        /* borrowed, valid during the call (image file) */
};

struct mmap_args {
    uint64_t addr, len, prot, flags; /* LX_PROT_*, LX_MAP_* */
    struct file *file;               /* borrowed; NULL: anonymous */
    uint64_t offset;
    bool never_write; /* VMA_NOWRITE */
};

/* Bytes that are likely to be resident: what was made accessible, without mere reservations and
 * without most of the stack. The host does not tell. */
struct mm_resident {
    uint64_t anon, file, shmem;
};
void mm_resident(struct mm *mm, struct mm_resident *ret_rss);

/* Kernel entry points; the caller is the worker. Return the address or -errno as mmap(2). */
int64_t mm_mmap(struct task *t, struct mm *mm, const struct mmap_args *args) MUST_CHECK;
int mm_munmap(struct task *t, struct mm *mm, uint64_t addr, uint64_t len) MUST_CHECK;
/* The checks and splits of munmap; afterwards vma_carve(addr, *ret_end) cannot fail (sys_munmap:
 * the host unmaps). */
int mm_unmap_prepare(struct mm *mm, uint64_t addr, uint64_t len, uint64_t *ret_end) MUST_CHECK;
/* Shared memory from a given object (SysV shm), as args have it but for type, file and never_write:
 * without PROT_WRITE now it never gets it. */
int64_t mm_map_obj(struct task *t, struct mm *mm, const struct mmap_args *args, struct memobj *obj)
    MUST_CHECK;

/* A host fault at addr (EV_FAULT). 0: resolved, go on; else the signal to raise with *ret_code
 * (SEGV_MAPERR, ...). */
int mm_fault(struct task *t, int host_signo, int host_code, uint64_t addr, int *ret_code);

/* Key of a futex word: private (mm, addr) or shared (object, offset). */
struct futex_key {
    const void *obj;
    uint64_t off;
};
int mm_futex_key(struct task *t, gaddr_t addr, bool shared, struct futex_key *ret_key) MUST_CHECK;

/* The thread of t has been seen at the gate: releases what it had in quarantine. */
void mm_quarantine_release(struct mm *mm, struct task *t);

/* execve (exec.c): loads file into a new mm. On success *ret_mm, entry registers and comm are set.
 */
struct exec_image {
    struct mm *mm;
    uint64_t entry, stack;
    char comm[16];
    struct file *file; /* counted: the program finally executed (mm->exe holds its own reference) */
    bool setuid_euid, setgid_egid;
    uint32_t new_euid, new_egid;
};
struct exec_strings { /* one heap block of NUL-terminated strings */
    char *data;
    size_t len;
    uint32_t argc, envc;
};
/* file: counted reference borrowed. path: as given to execve (AT_EXECFN). #! scripts and the
 * interpreter are resolved inside. -ENOEXEC, -EACCES, -ENOENT, -E2BIG, -ELOOP, -ENOMEM, -ELIBBAD.
 */
int exec_load(struct task *t, struct file *file, const char *path, struct exec_strings *argv_envp,
              struct exec_image *ret_image) MUST_CHECK;

/* Every invariant of the tree and the sums, by KASSERT: for tests and fuzz targets. */
void mm_check(const struct mm *mm);
