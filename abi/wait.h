#pragma once
/* wait4(2), waitid(2) and the wait status. */
#include "lib/compiler.h"

#define LX_WNOHANG     0x1
#define LX_WUNTRACED   0x2
#define LX_WSTOPPED    0x2
#define LX_WEXITED     0x4
#define LX_WCONTINUED  0x8
#define LX_WNOWAIT     0x1000000
#define LX___WNOTHREAD 0x20000000
#define LX___WALL      0x40000000
#define LX___WCLONE    0x80000000u
#define LX_P_ALL       0
#define LX_P_PID       1
#define LX_P_PGID      2
#define LX_P_PIDFD     3

/* Building and reading a status. */
#define LX_W_EXITCODE(code)  (((code)&0xff) << 8)
#define LX_W_SIGNALED(signo) ((signo)&0x7f)
#define LX_W_COREFLAG        0x80
#define LX_W_STOPCODE(signo) ((((signo)&0xff) << 8) | 0x7f)
#define LX_W_CONTINUED       0xffff
