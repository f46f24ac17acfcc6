#pragma once
/* Memory: mmap(2) and its relatives. */
#include "lib/compiler.h"

#define LX_PAGE_SIZE  4096ull
#define LX_PAGE_SHIFT 12
#define LX_PAGE_MASK  (~(LX_PAGE_SIZE - 1))

#define LX_PROT_NONE      0x0
#define LX_PROT_READ      0x1
#define LX_PROT_WRITE     0x2
#define LX_PROT_EXEC      0x4
#define LX_PROT_SEM       0x8
#define LX_PROT_GROWSDOWN 0x1000000
#define LX_PROT_GROWSUP   0x2000000

#define LX_MAP_SHARED          0x1
#define LX_MAP_PRIVATE         0x2
#define LX_MAP_SHARED_VALIDATE 0x3
#define LX_MAP_TYPE            0xf
#define LX_MAP_FIXED           0x10
#define LX_MAP_ANONYMOUS       0x20
#define LX_MAP_32BIT           0x40
#define LX_MAP_ABOVE4G         0x80
#define LX_MAP_GROWSDOWN       0x100
#define LX_MAP_DENYWRITE       0x800
#define LX_MAP_EXECUTABLE      0x1000
#define LX_MAP_LOCKED          0x2000
#define LX_MAP_NORESERVE       0x4000
#define LX_MAP_POPULATE        0x8000
#define LX_MAP_NONBLOCK        0x10000
#define LX_MAP_STACK           0x20000
#define LX_MAP_HUGETLB         0x40000
#define LX_MAP_SYNC            0x80000
#define LX_MAP_FIXED_NOREPLACE 0x100000
#define LX_MAP_UNINITIALIZED   0x4000000
#define LX_MAP_DROPPABLE       0x8
#define LX_MAP_HUGE_SHIFT      26
#define LX_MAP_HUGE_MASK       0x3f

#define LX_MREMAP_MAYMOVE   0x1
#define LX_MREMAP_FIXED     0x2
#define LX_MREMAP_DONTUNMAP 0x4

#define LX_MS_ASYNC      0x1
#define LX_MS_INVALIDATE 0x2
#define LX_MS_SYNC       0x4

#define LX_MADV_NORMAL          0
#define LX_MADV_RANDOM          1
#define LX_MADV_SEQUENTIAL      2
#define LX_MADV_WILLNEED        3
#define LX_MADV_DONTNEED        4
#define LX_MADV_FREE            8
#define LX_MADV_REMOVE          9
#define LX_MADV_DONTFORK        10
#define LX_MADV_DOFORK          11
#define LX_MADV_HWPOISON        100
#define LX_MADV_SOFT_OFFLINE    101
#define LX_MADV_MERGEABLE       12
#define LX_MADV_UNMERGEABLE     13
#define LX_MADV_HUGEPAGE        14
#define LX_MADV_NOHUGEPAGE      15
#define LX_MADV_DONTDUMP        16
#define LX_MADV_DODUMP          17
#define LX_MADV_WIPEONFORK      18
#define LX_MADV_KEEPONFORK      19
#define LX_MADV_COLD            20
#define LX_MADV_PAGEOUT         21
#define LX_MADV_POPULATE_READ   22
#define LX_MADV_POPULATE_WRITE  23
#define LX_MADV_DONTNEED_LOCKED 24
#define LX_MADV_COLLAPSE        25
#define LX_MADV_GUARD_INSTALL   102
#define LX_MADV_GUARD_REMOVE    103

#define LX_MCL_CURRENT   0x1
#define LX_MCL_FUTURE    0x2
#define LX_MCL_ONFAULT   0x4
#define LX_MLOCK_ONFAULT 0x1

#define LX_MFD_CLOEXEC       0x1
#define LX_MFD_ALLOW_SEALING 0x2
#define LX_MFD_HUGETLB       0x4
#define LX_MFD_NOEXEC_SEAL   0x8
#define LX_MFD_EXEC          0x10
#define LX_MFD_HUGE_MASK     (0x3fu << 26)

#define LX_PKEY_DISABLE_ACCESS 0x1
#define LX_PKEY_DISABLE_WRITE  0x2
