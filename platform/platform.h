#pragma once
/*
 * platform.h: the only door between the kernel (sentry/) and the machinery that runs guest code.
 *
 * A `plat` is one sandbox. A `plat_as` is a host address space; one or (after vfork) more host
 * processes (`plat_proc`) live in it, each with host threads (`plat_thread`). Everything here is
 * called from the one worker thread of the sentry. Nothing here blocks on a guest for longer than a
 * bounded time: a host thread that does not do what its stub was told in time is killed with its
 * process, and the operation fails with -EIO.
 *
 * Life of a thread as the kernel sees it:
 *
 *      RUNNING --syscall--> AT_GATE --plat_answer*--> RUNNING
 *      AT_GATE --plat_answer_kick--> (EV_CONTEXT) IN_CONTEXT --plat_resume--> RUNNING
 *      RUNNING --plat_interrupt--> (EV_CONTEXT) IN_CONTEXT
 *      RUNNING --host fault--> (EV_FAULT) IN_CONTEXT
 *
 * Errors are negative errno values with the numbers of the guest ABI. Ownership: the platform
 * owns every plat_* object; a pointer is valid until the call that says it ends it.
 */
#include "lib/compiler.h"

#include "abi/types.h"

struct error;
struct plat;
struct plat_as;
struct plat_thread;

/* General registers, in the order of the kernel's struct sigcontext_64 (arch/x86 UAPI). */
struct plat_regs {
    uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
    uint64_t rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, eflags;
    uint16_t cs, gs, fs, ss;
    uint64_t err, trapno, oldmask, cr2;
};

enum plat_event_kind {
    PLAT_EV_NONE,        /* the timeout passed, or host_fd became readable */
    PLAT_EV_SYSCALL,     /* thread is AT_GATE with nr, args and ip */
    PLAT_EV_CONTEXT,     /* thread is IN_CONTEXT, answering a kick or an interrupt */
    PLAT_EV_FAULT,       /* thread is IN_CONTEXT after a host fault: signo, code, fault_addr */
    PLAT_EV_THREAD_DEAD, /* the host ended this thread's process behind our back, or the platform
                            did because it broke the stub protocol; thread is still a valid pointer,
                            and plat_process_kill must be called on it once */
    PLAT_EV_FATAL,       /* the host failed: the sandbox must end; text says why (static string) */
};

struct plat_event {
    enum plat_event_kind kind;
    struct plat_thread *thread;
    uint64_t nr;      /* EV_SYSCALL */
    uint64_t args[6]; /* EV_SYSCALL */
    uint64_t ip;      /* EV_SYSCALL: address after the syscall instruction */
    int signo, code;  /* EV_FAULT: SIGSEGV SIGBUS SIGFPE SIGILL SIGTRAP and si_code */
    uint64_t fault_addr;
    const char *text; /* EV_FATAL */
};

/* What a sandbox needs from its platform at start. */
struct plat_config {
    uint32_t max_threads;     /* upper bound of live guest threads */
    int64_t monotonic_offset; /* ns to add to the host's CLOCK_MONOTONIC / BOOTTIME in the guest
                                 (the time namespace), usually minus the time at start */
    int proc_fd;              /* >= 0: the caller's mount, network, ipc, uts and cgroup namespaces
                                 belong to this sandbox alone and hold nothing, its root is an empty
                                 read-only directory: guests live in them, without any right over
                                 them, and they are made once. This is the host's /proc, O_PATH,
                                 borrowed for the start. -1: guests get all their own */
};

/* Fixed ranges of every guest address space that belong to the platform or the host. */
struct plat_layout {
    uint64_t stub_start, stub_end; /* code and slots; the kernel never maps, unmaps or shows it */
    uint64_t vvar_start, vvar_end; /* [vvar] incl. time namespace page; 0,0 when absent */
    uint64_t vdso_start, vdso_end; /* [vdso]; 0,0 when absent */
    uint64_t xsave_size;           /* bytes of extended state in a signal frame, 0: FXSAVE only */
};

enum plat_map_flags {
    PLAT_MAP_ANON = 1u << 0,   /* zero pages; else host_fd and offset */
    PLAT_MAP_SHARED = 1u << 1, /* MAP_SHARED of host_fd; else private */
    PLAT_MAP_NORESERVE = 1u << 2,
    PLAT_MAP_POPULATE = 1u << 3,
};

/* One fixed mapping; replaces whatever was in the range. prot is PROT_* of the guest ABI. */
struct plat_map_req {
    uint64_t addr, len;
    uint32_t prot, flags;
    int host_fd; /* borrowed, read-only image descriptor or the sentry's own memfd; -1 for anon */
    uint64_t offset;
};

/* One remote segment of a vectored copy. */
struct plat_seg {
    uint64_t addr;
    size_t len;
};

struct host_call; /* platform/gate_policy.h: a call that the host may execute in a guest thread */

struct plat_ops {
    const char *name;

    /* -- events and answers ------------------------------------------------------------------ */

    /* Waits for the next event at most timeout_ns (< 0: for ever), or until host_fd (an epoll
     * descriptor of the caller, or -1) is readable. Always fills *ev. */
    void (*next_event)(struct plat *p, int host_fd, int64_t timeout_ns, struct plat_event *ev);
    /* AT_GATE -> RUNNING: the guest's call returns val. A thread that died meanwhile is no error.
     */
    void (*answer)(struct plat_thread *th, int64_t val);
    /* AT_GATE -> RUNNING: the host executes the thread's own pending call, which must equal call in
     * number and every argument (checked; a difference ends the sandbox).
     * IN_CONTEXT: the thread makes that call by its stub and stays IN_CONTEXT, rax being the
     * result. */
    void (*answer_host)(struct plat_thread *th, const struct host_call *call);
    /* AT_GATE: the call's result register will be val, and an EV_CONTEXT follows before the thread
     * executes any instruction of its own. */
    void (*answer_kick)(struct plat_thread *th, int64_t val);
    /* RUNNING: an EV_CONTEXT follows soon (or an EV_SYSCALL first, after which the EV_CONTEXT still
     * comes once that call is answered). Idempotent while one is pending. No effect on AT_GATE or
     * IN_CONTEXT threads. */
    void (*interrupt)(struct plat_thread *th);

    /* -- context (thread IN_CONTEXT only) ---------------------------------------------------- */
    int (*get_regs)(struct plat_thread *th, struct plat_regs *ret_regs);
    int (*set_regs)(struct plat_thread *th, const struct plat_regs *regs);
    /* Extended state in the layout of a signal frame's fpstate (FXSAVE area + XSAVE); returns
     * bytes. set_fp(NULL, 0) resets to the state of a fresh process. Hostile bytes are allowed: if
     * the host refuses them on resume the thread reports EV_FAULT SIGSEGV. */
    int64_t (*get_fp)(struct plat_thread *th, void *buf, size_t cap);
    int (*set_fp)(struct plat_thread *th, const void *buf, size_t len);
    /* IN_CONTEXT -> RUNNING with the registers as set. */
    void (*resume)(struct plat_thread *th);

    /* -- threads, processes, address spaces --------------------------------------------------- */

    /* A new, empty address space (from the zygote) with its helper thread. */
    int (*as_new)(struct plat *p, struct plat_as **ret_as);
    /* Goes on with what makes the next as_new fast. Waits for no more than one step of it, and not
     * when host_fd is readable. */
    void (*prepare)(struct plat *p, int host_fd);
    /* First thread of an empty address space: IN_CONTEXT with zero registers. */
    int (*thread_first)(struct plat_as *as, void *owner, struct plat_thread **ret_th);
    /* parent is IN_CONTEXT. New thread of the same host process, IN_CONTEXT with a copy of parent's
     * registers and extended state. set_tls: fs base becomes tls, else it is the parent's. */
    int (*thread_clone)(struct plat_thread *parent, bool set_tls, uint64_t tls, void *owner,
                        struct plat_thread **ret_th);
    /* parent is IN_CONTEXT. New host process whose one thread is IN_CONTEXT with a copy of parent's
     * registers; share_vm: same address space (vfork, CLONE_VM), else a copy-on-write copy. */
    int (*fork)(struct plat_thread *parent, bool share_vm, bool set_tls, uint64_t tls, void *owner,
                struct plat_as **ret_as, struct plat_thread **ret_th);
    /* Thread AT_GATE or IN_CONTEXT ends; th is invalid afterwards. The last thread of a process
     * ends the process, and the last process of an address space frees the plat_as. */
    void (*thread_exit)(struct plat_thread *th);
    /* Ends th's whole host process at once, all threads in whatever state; every plat_thread of it
     * is invalid afterwards, the plat_as too if it was the last process. No event follows. */
    void (*process_kill)(struct plat_thread *th);
    /* Drops an address space on which thread_first was never called (failed exec). */
    void (*as_drop)(struct plat_as *as);
    struct plat_as *(*thread_as)(struct plat_thread *th);
    void *(*thread_owner)(struct plat_thread *th);

    /* -- memory -------------------------------------------------------------------------------- */

    /* Maps n fixed ranges in order; stops at the first failure. addr/len page aligned, outside the
     * platform's own ranges (-EINVAL). Synchronous. */
    int (*map)(struct plat_as *as, const struct plat_map_req *reqs, size_t n);
    int (*unmap)(struct plat_as *as, uint64_t addr, uint64_t len);
    int (*protect)(struct plat_as *as, uint64_t addr, uint64_t len, uint32_t prot);
    /* Moves/resizes a mapping to the fixed address new_addr (may equal old_addr when growing or
     * shrinking in place). dontunmap: MREMAP_DONTUNMAP. */
    int (*remap)(struct plat_as *as, uint64_t old_addr, uint64_t old_len, uint64_t new_addr,
                 uint64_t new_len, bool dontunmap);
    int (*advise)(struct plat_as *as, uint64_t addr, uint64_t len, int advice);
    /* Atomic towards guest threads: *addr = desired if it was expected; *ret_found is what it was.
     * The word is aligned, mapped and writable as far as the kernel knows; where a guest thread is
     * unmapping it at this moment, the process ends. */
    int (*compare_exchange)(struct plat_as *as, uint64_t addr, uint32_t expected, uint32_t desired,
                            uint32_t *ret_found);
    /* Copies between kernel memory and guest memory; returns bytes copied from the start on (a
     * fault stops the copy), or -EFAULT when nothing could be copied. Page protections hold. */
    int64_t (*read)(struct plat_as *as, const struct plat_seg *segs, size_t n, void *buf,
                    size_t len);
    int64_t (*write)(struct plat_as *as, const struct plat_seg *segs, size_t n, const void *buf,
                     size_t len);

    /* -- accounting and end -------------------------------------------------------------------- */
    /* ns of CPU time, user and system together. */
    uint64_t (*thread_cputime)(struct plat_thread *th);
    uint64_t (*process_cputime)(struct plat_thread *th);
    void (*layout)(struct plat *p, struct plat_layout *ret_layout);
    /* Every guest process begins to end; nothing is waited for, and nothing but shutdown may
     * follow.
     */
    void (*stop)(struct plat *p);
    /* Ends every guest process and frees p. */
    void (*shutdown)(struct plat *p);
};

/* The platform in use; set once at start (or by a unit test). */
extern const struct plat_ops *plat_ops;

/* Starts the user-notify platform. On failure nothing is left and err says which mechanism is
 * missing. Called before the sentry confines itself. */
int plat_unotify_start(const struct plat_config *cfg, struct plat **ret_p, struct error *err)
    MUST_CHECK;

/* Convenience over ops->read/write for one range: 0 or -EFAULT (nothing or a part was copied). */
int plat_read(struct plat_as *as, gaddr_t addr, void *buf, size_t len) MUST_CHECK;
int plat_write(struct plat_as *as, gaddr_t addr, const void *buf, size_t len) MUST_CHECK;
/* Reads a NUL-terminated string page by page: length without NUL, -EFAULT, or -ENAMETOOLONG when no
 * NUL is among the first cap bytes. */
int64_t plat_read_str(struct plat_as *as, gaddr_t addr, char *buf, size_t cap) MUST_CHECK;
