#pragma once
/*
 * ELF headers of a program or interpreter, read and checked. Everything in them is hostile.
 */
#include "lib/compiler.h"

struct file;

enum {
    ELF_MAX_LOADS = 64,
    ELF_INTERP_MAX = 4096
};

struct elf_load {
    uint64_t vaddr, filesz, memsz, offset;
    uint32_t prot; /* LX_PROT_* */
};

struct elf_info {
    bool dyn;                   /* ET_DYN: to be placed anywhere */
    bool exec_stack;            /* PT_GNU_STACK asks for an executable stack */
    uint64_t entry, phdr_vaddr; /* 0: the program headers are not mapped */
    uint16_t phnum;
    uint64_t low, high; /* page-aligned span of the loads */
    uint64_t align;     /* largest p_align, at least a page */
    uint32_t nloads;
    struct elf_load loads[ELF_MAX_LOADS];
    char interp[ELF_INTERP_MAX]; /* "" without PT_INTERP */
};

/* -ENOEXEC for anything that is not a sane x86-64 program; -ENOMEM, -EIO. */
int elf_read(struct file *f, struct elf_info *ret_info) MUST_CHECK;
