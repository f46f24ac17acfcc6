#pragma once
/*
 * Memory of the kernel and of every other program here. Blocks are zeroed, counted in one balance,
 * and may be refused: NULL means -ENOMEM for whoever asked, never the end of the program. Called
 * from one thread only, like the objects that the blocks hold.
 */
#include "lib/compiler.h"

/* n zero bytes, aligned to 16; NULL when the limit or the host refuses. n may be 0. */
void *kalloc(size_t n) MUST_CHECK __attribute__((malloc));
/* count * size bytes; NULL also when the product overflows. */
void *kalloc_array(size_t count, size_t size) MUST_CHECK __attribute__((malloc));
/* Grows or shrinks; new bytes are zero. On NULL the old block is still there. p may be NULL. */
void *krealloc(void *p, size_t n) MUST_CHECK;
/* p may be NULL. */
void kfree(const void *p);

/* A NUL-terminated copy of the first n bytes (or up to the first NUL). */
char *kstrndup(const char *s, size_t n) MUST_CHECK __attribute__((malloc));
char *kstrdup(const char *s) MUST_CHECK __attribute__((malloc));
void *kmemdup(const void *p, size_t n) MUST_CHECK __attribute__((malloc));

/* Bytes asked for and not yet freed. */
uint64_t kalloc_balance(void);
/* Allocations that would lift the balance above this fail; 0: no limit. */
void kalloc_set_limit(uint64_t bytes);

/* For tests: the nth allocation from now fails, once (1: the next one; 0: none). */
void kalloc_fail_after(uint64_t n);
/* True when the failure that was asked for has happened since. */
bool kalloc_failed(void);
