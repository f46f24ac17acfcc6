#pragma once
/*
 * A toy guest for the platform tests, the same on every platform. Its one program reads a call from
 * a mailbox (whose address is in r15), makes it, stores the result there, and starts over. The
 * tests play the kernel.
 *
 *      mailbox: nr, args[6], result        nr WORLD_SPIN: compute for ever
 */
#include "platform/platform.h"

#define WORLD_SPIN UINT64_MAX
#define CODE_ADDR  0x400000ull
#define BOX_ADDR   0x500000ull /* 16 pages of data; boxes are at its start, 64 bytes each */
#define FREE_ADDR  0x600000ull

struct world {
    struct plat *p;
    struct plat_as *as;
    struct plat_thread *th; /* AT_GATE with the first call (nr 500) */
    bool fake;
    struct plat_event ev; /* the last one */
};

/* False: this machine cannot run the platform (a reason was printed). */
bool world_start(struct world *w, bool fake);
void world_stop(struct world *w);

/* Waits for the next event, which must be of this kind and thread (NULL: any). */
void expect_event(struct world *w, enum plat_event_kind kind, const struct plat_thread *th);
void expect_call(struct world *w, const struct plat_thread *th, uint64_t nr);
/* The next call that the thread with box number box in address space as will make. */
void box_set(struct plat_as *as, unsigned box, uint64_t nr, uint64_t a0, uint64_t a1, uint64_t a2,
             uint64_t a3, uint64_t a4, uint64_t a5);
int64_t box_result(struct plat_as *as, unsigned box);
/* AT_GATE -> IN_CONTEXT. */
void enter_context(struct world *w, struct plat_thread *th, int64_t val);
/* An IN_CONTEXT thread gets box number box and goes on; its next call has come on return. */
void start_at(struct world *w, struct plat_thread *th, unsigned box, uint64_t nr);
int map_anon(struct plat_as *as, uint64_t addr, uint64_t len, uint32_t prot);
