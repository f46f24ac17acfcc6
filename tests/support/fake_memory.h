#pragma once
/*
 * Address spaces of the fake platform: a sorted list of ranges and a table of pages that were
 * touched. Shared file pages are real MAP_SHARED pages of the descriptor, so that read, write and
 * mapping agree as on a host.
 */
#include "platform/platform.h"

struct fake_mem;

struct fake_mem *fake_mem_new(void);
void fake_mem_free(struct fake_mem *m);
/* Copy-on-write, done at once. */
struct fake_mem *fake_mem_fork(struct fake_mem *m);

int fake_mem_map(struct fake_mem *m, const struct plat_map_req *req);
int fake_mem_unmap(struct fake_mem *m, uint64_t addr, uint64_t len);
int fake_mem_protect(struct fake_mem *m, uint64_t addr, uint64_t len, uint32_t prot);
int fake_mem_remap(struct fake_mem *m, uint64_t old_addr, uint64_t old_len, uint64_t new_addr,
                   uint64_t new_len, bool dontunmap);
int fake_mem_advise(struct fake_mem *m, uint64_t addr, uint64_t len, int advice);
int64_t fake_mem_copy(struct fake_mem *m, const struct plat_seg *segs, size_t n, void *buf,
                      size_t len, bool write);
int fake_mem_prot(struct fake_mem *m, uint64_t addr);
