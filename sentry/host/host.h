#pragma once
/*
 * Every host call that the kernel itself makes. All return a value >= 0 or the host's -errno, which
 * becomes a guest errno only through host_to_guest().
 */
#include "lib/compiler.h"

#include "lib/list.h"

/* -- errno ----------------------------------------------------------------------------------- */
/* Maps a host error of file I/O to one that a guest may see; everything unlisted is -EIO (logged
 * once). */
int host_to_guest(int64_t host_errno);

/* -- files (host_io.c) ------------------------------------------------------------------------- */
int64_t host_pread(int fd, void *buf, size_t len, uint64_t off);
int64_t host_pwrite(int fd, const void *buf, size_t len, uint64_t off);
enum {
    HOST_WRITE_APPEND = 1,
    HOST_WRITE_SYNC = 2,
    HOST_WRITE_DSYNC = 4
};
/* At *pos, or (APPEND) at the end, in one step with finding it; *pos is behind it afterwards. */
int64_t host_pwrite_at(int fd, const void *buf, size_t len, uint64_t *pos, uint32_t flags);
int host_fsync(int fd, bool datasync);
/* mode as in fallocate(2). */
int host_fallocate_mode(int fd, int mode, uint64_t off, uint64_t len);
/* Stream descriptors that may block: -EAGAIN instead of waiting. */
int64_t host_read_nowait(int fd, void *buf, size_t len);
int64_t host_write_nowait(int fd, const void *buf, size_t len);
int64_t host_lseek(int fd, int64_t off, int whence);
void host_close(int fd);
/* Type and size of a host descriptor: LX_S_IF* mode bits, size. */
int host_fstat(int fd, uint32_t *ret_mode, uint64_t *ret_size);
bool host_isatty(int fd);
int host_dup(int fd);

/* Readiness of host descriptors: fn runs on the worker when events (LX_POLL*) occur,
 * level-triggered while armed; it is disarmed before each call. The worker's epoll descriptor is
 * host_poll_fd(). A ready function may end any watch, its own too. */
struct host_watch {
    int fd;
    bool registered, armed;
    uint32_t events;
    void (*ready)(struct host_watch *w, uint32_t revents);
};
int host_watch_init(struct host_watch *w, int fd, void (*ready)(struct host_watch *, uint32_t));
int host_watch_arm(struct host_watch *w, uint32_t events);
void host_watch_done(struct host_watch *w);
uint32_t host_poll_now(int fd, uint32_t events); /* poll with timeout 0 */
int host_poll_fd(void);
/* fired runs in host_poll_dispatch once the host's CLOCK_MONOTONIC has reached ns (0: never).
 * Setting the same instant again costs nothing. */
int host_timer_init(void (*fired)(void));
void host_timer_set(uint64_t ns);
void host_poll_dispatch(void);
/* The same, but waits until there is something. */
void host_poll_wait(void);

/* -- memory (host_mem.c) ------------------------------------------------------------------------
 */
int host_memfd_new(const char *name, uint64_t size); /* sealed against exec; CLOEXEC */
int host_ftruncate(int fd, uint64_t size);
int host_punch_hole(int fd, uint64_t off, uint64_t len);
int host_fallocate(int fd, uint64_t off, uint64_t len);
int64_t host_seek_data(int fd, uint64_t off);
int64_t host_seek_hole(int fd, uint64_t off);
uint64_t host_fd_blocks(int fd); /* 512-byte blocks */
uint64_t host_fd_mtime(int fd);  /* ns of the real-time clock */

/* -- the monitor (host_monitor.c) ----------------------------------------------------------------
 */
void host_monitor_set(int fd);
void host_monitor_wake(void);
/* Asks for a look and waits until *looks, a word shared with the monitor, has changed. */
void host_monitor_look(uint32_t *looks, uint64_t timeout_ns);

/* -- time, randomness, strace --------------------------------------------------------------------
 */
uint64_t host_clock_monotonic(void); /* ns, host's own */
uint64_t host_clock_realtime(void);
uint64_t host_cputime(void); /* ns of CPU time of this process */
void host_random(void *buf, size_t len);
uint32_t host_ncpus(void);
uint64_t host_auxval(uint64_t type); /* of this process's auxiliary vector; 0: absent */
void host_strace_write(const char *text, size_t len);
void host_strace_set_fd(int fd);
