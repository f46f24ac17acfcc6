#pragma once
/*
 * The auxiliary vector of a new program. (The ELF structures themselves come from libelf's
 * <elf.h>.)
 */
#include "lib/compiler.h"

#define LX_AT_NULL              0
#define LX_AT_IGNORE            1
#define LX_AT_EXECFD            2
#define LX_AT_PHDR              3
#define LX_AT_PHENT             4
#define LX_AT_PHNUM             5
#define LX_AT_PAGESZ            6
#define LX_AT_BASE              7
#define LX_AT_FLAGS             8
#define LX_AT_ENTRY             9
#define LX_AT_NOTELF            10
#define LX_AT_UID               11
#define LX_AT_EUID              12
#define LX_AT_GID               13
#define LX_AT_EGID              14
#define LX_AT_PLATFORM          15
#define LX_AT_HWCAP             16
#define LX_AT_CLKTCK            17
#define LX_AT_SECURE            23
#define LX_AT_BASE_PLATFORM     24
#define LX_AT_RANDOM            25
#define LX_AT_HWCAP2            26
#define LX_AT_RSEQ_FEATURE_SIZE 27
#define LX_AT_RSEQ_ALIGN        28
#define LX_AT_EXECFN            31
#define LX_AT_SYSINFO_EHDR      33
#define LX_AT_MINSIGSTKSZ       51

struct lx_auxv {
    uint64_t a_type;
    uint64_t a_val;
};
