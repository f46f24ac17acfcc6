#pragma once
/*
 * The user-notify platform, inside. One struct plat per sandbox; it owns every object here. All of
 * it is used by the one worker thread of the sentry.
 *
 * Two views of a thread: `vis` is what the kernel was told (platform.h), `host` is where the host
 * thread really is. They differ when the platform borrows a thread that waits at the gate for a
 * memory operation: vis AT_GATE, host PARKED ("the answer is owed").
 */
#include "lib/compiler.h"

#include <linux/seccomp.h>
#include <sys/types.h>

#include "platform/gate_policy.h"
#include "platform/platform.h"
#include "platform/stub/page.h"

#include "lib/bitmap.h"
#include "lib/hash.h"
#include "lib/list.h"

enum host_state {
    HOST_RUNNING, /* in user mode, or on its way to the gate */
    HOST_GATE,    /* its own call is pending at the gate (notif_id) */
    HOST_PARKED,  /* in the stub's loop, waiting for a command (notif_id) */
    HOST_COMMAND, /* working through th->run */
};

enum vis_state {
    VIS_RUNNING,
    VIS_GATE,
    VIS_CONTEXT
};

/* A compare-and-exchange of a guest word. */
struct stub_cas {
    uint64_t addr;
    uint32_t expected, desired;
};

/* What is in progress in a parked thread: a chain of host calls, or one such exchange. */
struct stub_run {
    const struct stub_cas *cas; /* instead of calls (n is 0), or NULL */
    const struct host_call *calls;
    const int *fds; /* per call: descriptor to install before it, or -1; NULL: none */
    size_t n, next;
    uint64_t token;
    int64_t result; /* of the last call made */
    bool done;
};

/* A host process of guests. */
struct host_proc {
    struct plat *p;
    struct plat_as *as;
    struct list_head link;    /* plat_as.procs */
    struct list_head threads; /* plat_thread.link, helper included */
    pid_t tgid;
    int pidfd;
    uint64_t cputime; /* last known */
    bool dead;        /* the pidfd said so, or a kill by ourselves after a protocol time-out */
    bool death_told;
};

struct plat_as {
    struct plat *p;
    struct list_head link; /* plat.spaces */
    struct list_head procs;
    struct plat_thread *helper; /* runs only stub code; NULL: none (yet) */
    struct bitmap slots;        /* set: in use, or not known to be free */
    struct list_head retired;   /* slots of ended threads (struct retired_slot) */
    struct plat_thread *first;  /* made in advance for thread_first; counts as a helper till then */
    uint32_t guest_threads;
    uint32_t borrowed_ops; /* memory operations done without a helper */
};

struct retired_slot {
    struct list_head link;
    uint32_t slot;
    pid_t tgid, tid;
};

struct plat_thread {
    struct hash_node node; /* plat.threads, by tid */
    struct list_head link; /* host_proc.threads */
    struct host_proc *proc;
    struct plat_as *as;
    void *owner;
    pid_t tid;
    uint32_t slot;
    enum host_state host;
    enum vis_state vis;
    bool helper;       /* invisible to the kernel */
    bool queued;       /* an event of this thread waits in plat.events */
    bool kick_sent;    /* the kick signal is on its way or pending */
    bool kick_first;   /* answered behind a kick: the handler must be what comes next */
    bool want_context; /* the kernel wants an EV_CONTEXT */
    bool borrowed;     /* the platform wants it parked, invisibly */
    uint64_t notif_id;
    uint64_t nr, args[6];  /* HOST_GATE: the pending call */
    uint64_t frame;        /* HOST_PARKED through a signal: address of the frame */
    struct stub_run *run;  /* HOST_COMMAND */
    uint64_t kick_age;     /* ns that a kick has gone unanswered */
    uint64_t cputime;      /* last known */
    struct plat_regs regs; /* cache of the frame's registers */
    uint64_t fpstate;      /* the frame's pointer to the extended state, as cached */
    bool regs_valid, regs_dirty;
};

struct queued_event {
    struct list_head link;
    struct plat_event ev;
};

/* The child that a clone in progress will produce. */
struct pending_child {
    struct list_head link; /* plat.children */
    uint64_t token;
    struct plat_thread *parent; /* NULL: the zygote itself is expected */
    pid_t tid;                  /* 0: not seen yet */
    uint64_t notif_id;
};

enum spare_state {
    SPARE_NONE,
    SPARE_FORKING,
    SPARE_CLONING,
    SPARE_READY
};

/* An address space with its first thread, made in advance while the sentry waits anyway. */
struct spare {
    enum spare_state state;
    bool asked; /* an address space was taken before */
    bool wanted;
    struct plat_as *as;
    struct host_call call;
    struct stub_run run;
    struct pending_child child;
    uint32_t slot;
    uint64_t frame;
};

struct plat {
    int listener;
    int deaths;     /* epoll of the pidfds */
    pid_t init_pid; /* the zygote, pid 1 of the guests */
    int init_pidfd;
    uint32_t max_slots;
    bool sync_wake_up;
    const char *fatal; /* set once: the sandbox must end */
    struct hash_table threads;
    struct list_head spaces, events;
    struct plat_as *zygote_as;
    struct plat_thread *zygote;
    struct list_head children; /* pending_child.link */
    struct spare spare;
    uint32_t kicks; /* threads with kick_sent, for the watchdog */
    uint64_t watchdog_last;
    uint64_t kick_patience; /* ns that a thread may take to answer a kick */
    struct plat_layout layout;
    size_t fp_size;    /* bytes of extended state in a frame, magic2 included */
    uint8_t *fp_fresh; /* such an area in its initial state */
    uint64_t random_state[2];
};

/* -- listener.c ----------------------------------------------------------------------------------
 */

uint64_t now_ns(void);
/* Receives and handles what is there, waiting at most timeout_ns (< 0: for ever). 1: something was
 * handled, 0: the time is over or host_fd is readable. */
int listener_poll(struct plat *p, int host_fd, int64_t timeout_ns);
/* Lets the pending notification return val. A caller that is gone is no error. */
void listener_answer(struct plat *p, uint64_t id, int64_t val);
void listener_continue(struct plat *p, uint64_t id);
/* Installs a copy of fd in the notifying thread's table at STUB_MAP_FD. */
int listener_add_fd(struct plat *p, uint64_t id, int fd) MUST_CHECK;
bool listener_alive(struct plat *p, uint64_t id);

void event_push(struct plat_thread *th, const struct plat_event *ev);
void event_push_kind(struct plat_thread *th, enum plat_event_kind kind);
void events_forget(struct plat_thread *th);
bool event_pop(struct plat *p, struct plat_event *ret_ev);
void plat_fatal(struct plat *p, const char *text);
/* Kills the process of a thread that broke the protocol; the zygote's ends the sandbox. */
void condemn(struct plat_thread *th, const char *text);
struct plat_thread *thread_find(struct plat *p, pid_t tid);
/* Watches a process for death behind our back. */
int deaths_watch(struct host_proc *proc) MUST_CHECK;

/* -- command.c --------------------------------------------------------------------------------- */

/* Runs calls in a PARKED thread and waits for the end: the last result, which is the first error.
 */
int64_t stub_run(struct plat_thread *th, const struct host_call *calls, const int *fds, size_t n)
    MUST_CHECK;
int64_t stub_run_one(struct plat_thread *th, const struct host_call *call) MUST_CHECK;
/* What the word held before (0..UINT32_MAX), or -errno. A fault ends the process. */
int64_t stub_cas(struct plat_thread *th, const struct stub_cas *cas) MUST_CHECK;
/* Starts a clone and returns at once; run and child stay in place until clone_finished. */
int stub_clone_start(struct plat_thread *th, const struct host_call *call, struct stub_run *run,
                     struct pending_child *child) MUST_CHECK;
bool stub_clone_finished(const struct stub_run *run, const struct pending_child *child);
/* Runs a clone and waits for the child, which is then in p->child (PARKED). */
int stub_clone(struct plat_thread *th, const struct host_call *call,
               struct pending_child *ret_child) MUST_CHECK;
/* Brings a thread in any state into HOST_PARKED without telling the kernel. */
int thread_borrow(struct plat_thread *th) MUST_CHECK;
/* Lets a borrowed thread go on, if it was borrowed while RUNNING. */
void thread_return(struct plat_thread *th);
uint64_t token_new(struct plat *p);

/* -- context.c --------------------------------------------------------------------------------- */

void kick(struct plat_thread *th);
void kick_arrived(struct plat_thread *th);
/* Writes the cached registers back to the frame. */
int regs_flush(struct plat_thread *th) MUST_CHECK;
void thread_release(struct plat_thread *th);
/* Writes a signal frame to a slot's stack; returns the frame's address, or 0 on failure. fp: the
 * extended state (p->fp_size bytes), or NULL for a fresh one. */
uint64_t frame_write(struct plat_thread *via, uint32_t slot, const struct plat_regs *regs,
                     const void *fp) MUST_CHECK;
int64_t frame_read_fp(struct plat_thread *th, void *buf, size_t cap) MUST_CHECK;
uint64_t frame_address(const struct plat *p, uint32_t slot);
bool frame_in_slot(const struct plat_thread *th, uint64_t frame);

void unotify_answer(struct plat_thread *th, int64_t val);
void unotify_answer_host(struct plat_thread *th, const struct host_call *call);
void unotify_answer_kick(struct plat_thread *th, int64_t val);
void unotify_interrupt(struct plat_thread *th);
int unotify_get_regs(struct plat_thread *th, struct plat_regs *ret_regs);
int unotify_set_regs(struct plat_thread *th, const struct plat_regs *regs);
int64_t unotify_get_fp(struct plat_thread *th, void *buf, size_t cap);
int unotify_set_fp(struct plat_thread *th, const void *buf, size_t len);
void unotify_resume(struct plat_thread *th);

/* -- objects.c --------------------------------------------------------------------------------- */

struct plat_as *as_make(struct plat *p) MUST_CHECK;
void as_free(struct plat_as *as);
/* notif_id: a notification of the process that waits, which rules out a pid that was used again. */
struct host_proc *proc_make(struct plat_as *as, pid_t tgid, uint64_t notif_id) MUST_CHECK;
/* HOST_PARKED, in context. */
struct plat_thread *thread_make(struct host_proc *proc, pid_t tid, uint32_t slot) MUST_CHECK;
void thread_free(struct plat_thread *th);
/* Ends the host process and frees its objects. */
void proc_kill(struct host_proc *proc);
/* That very slot / a free one: -ENOMEM, -EAGAIN. */
int slot_take(struct plat_as *as, uint32_t slot) MUST_CHECK;
int slot_alloc(struct plat_as *as, uint32_t *ret_slot) MUST_CHECK;

/* -- process.c --------------------------------------------------------------------------------- */

int unotify_as_new(struct plat *p, struct plat_as **ret_as);
int unotify_thread_first(struct plat_as *as, void *owner, struct plat_thread **ret_th);
int unotify_thread_clone(struct plat_thread *parent, bool set_tls, uint64_t tls, void *owner,
                         struct plat_thread **ret_th);
int unotify_fork(struct plat_thread *parent, bool share_vm, bool set_tls, uint64_t tls, void *owner,
                 struct plat_as **ret_as, struct plat_thread **ret_th);
void unotify_thread_exit(struct plat_thread *th);
void unotify_process_kill(struct plat_thread *th);
void unotify_as_drop(struct plat_as *as);
struct plat_as *unotify_thread_as(struct plat_thread *th);
void *unotify_thread_owner(struct plat_thread *th);
uint64_t unotify_thread_cputime(struct plat_thread *th);
uint64_t unotify_process_cputime(struct plat_thread *th);
/* A helper thread for an address space, cloned by the PARKED thread via. */
int helper_make(struct plat_as *as, struct plat_thread *via) MUST_CHECK;
/* A process for the child of a clone, with its one thread; NULL: the child was killed. */
struct plat_thread *child_adopt(struct plat_as *as, const struct pending_child *c, uint32_t slot,
                                uint64_t frame) MUST_CHECK;

/* -- spare.c ----------------------------------------------------------------------------------- */

/* Goes on with the spare address space as far as that needs no waiting. */
void spare_step(struct plat *p);
void unotify_prepare(struct plat *p, int host_fd);
/* The spare address space, finished if need be; NULL: there is none. */
struct plat_as *spare_take(struct plat *p);

/* -- addrspace.c ------------------------------------------------------------------------------- */

int unotify_map(struct plat_as *as, const struct plat_map_req *reqs, size_t n);
int unotify_unmap(struct plat_as *as, uint64_t addr, uint64_t len);
int unotify_protect(struct plat_as *as, uint64_t addr, uint64_t len, uint32_t prot);
int unotify_remap(struct plat_as *as, uint64_t old_addr, uint64_t old_len, uint64_t new_addr,
                  uint64_t new_len, bool dontunmap);
int unotify_advise(struct plat_as *as, uint64_t addr, uint64_t len, int advice);
int unotify_compare_exchange(struct plat_as *as, uint64_t addr, uint32_t expected, uint32_t desired,
                             uint32_t *ret_found);
int64_t unotify_read(struct plat_as *as, const struct plat_seg *segs, size_t n, void *buf,
                     size_t len);
int64_t unotify_write(struct plat_as *as, const struct plat_seg *segs, size_t n, const void *buf,
                      size_t len);
/* Raw copies to and from a thread's address space: 0 or -EFAULT. */
int raw_read(struct plat_thread *th, uint64_t addr, void *buf, size_t len) MUST_CHECK;
int raw_write(struct plat_thread *th, uint64_t addr, const void *buf, size_t len) MUST_CHECK;

/* -- spawn.c ----------------------------------------------------------------------------------- */

struct zygote_boot {
    int listener;
    int init_pidfd;
    pid_t init_pid;
    char maps[8192]; /* text of the zygote's /proc/self/maps */
};

/* The zygote, up to the filter. On failure nothing is left. */
int zygote_spawn(const struct plat_config *cfg, uint32_t slots, struct zygote_boot *ret_boot,
                 struct error *err) MUST_CHECK;
