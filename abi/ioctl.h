#pragma once
/* ioctl(2) numbers that are not about terminals (those are in abi/tty.h). */
#include "lib/compiler.h"

#define LX_FIONREAD 0x541b
#define LX_FIOCLEX  0x5451
#define LX_FIONCLEX 0x5450
#define LX_FIONBIO  0x5421
#define LX_FIOASYNC 0x5452
#define LX_FIOQSIZE 0x5460

/* Encoding: direction (2 bits), size (14), type (8), number (8). */
#define LX_IOC_NONE  0u
#define LX_IOC_WRITE 1u
#define LX_IOC_READ  2u
#define LX_IOC(dir, type, nr, size) \
    (((uint32_t)(dir) << 30) | ((uint32_t)(size) << 16) | ((uint32_t)(type) << 8) | (uint32_t)(nr))
#define LX_IO(type, nr)         LX_IOC(LX_IOC_NONE, type, nr, 0)
#define LX_IOR(type, nr, size)  LX_IOC(LX_IOC_READ, type, nr, size)
#define LX_IOW(type, nr, size)  LX_IOC(LX_IOC_WRITE, type, nr, size)
#define LX_IOWR(type, nr, size) LX_IOC(LX_IOC_READ | LX_IOC_WRITE, type, nr, size)

/* Files: inode flags and versions, cloning. */
#define LX_FS_IOC_GETFLAGS   0x80086601u
#define LX_FS_IOC_SETFLAGS   0x40086602
#define LX_FS_IOC_GETVERSION 0x80087601u
#define LX_FS_IOC_FIEMAP     0xc020660bu
#define LX_FS_IOC_FSGETXATTR 0x801c581fu
#define LX_FICLONE           0x40049409
#define LX_FICLONERANGE      0x4020940d
#define LX_FIDEDUPERANGE     0xc0189436u
#define LX_FIGETBSZ          0x2
#define LX_FIBMAP            0x1
#define LX_FIFREEZE          0xc0045877u
#define LX_BLKGETSIZE64      0x80081272u

/* namespaces (nsfs) and sockets */
#define LX_NS_GET_USERNS    0xb701
#define LX_NS_GET_PARENT    0xb702
#define LX_NS_GET_NSTYPE    0xb703
#define LX_NS_GET_OWNER_UID 0xb704
#define LX_FIOSETOWN        0x8901
#define LX_SIOCSPGRP        0x8902
#define LX_FIOGETOWN        0x8903
#define LX_SIOCGPGRP        0x8904
#define LX_SIOCATMARK       0x8905
#define LX_SIOCGIFNAME      0x8910
#define LX_SIOCGIFCONF      0x8912
#define LX_SIOCGIFFLAGS     0x8913
#define LX_SIOCINQ          0x541b
#define LX_SIOCOUTQ         0x5411
