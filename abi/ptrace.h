#pragma once
/*
 * ptrace(2): requests, options, events, and the structures that registers travel in.
 */
#include "lib/compiler.h"

#define LX_PTRACE_TRACEME              0
#define LX_PTRACE_PEEKTEXT             1
#define LX_PTRACE_PEEKDATA             2
#define LX_PTRACE_PEEKUSR              3
#define LX_PTRACE_POKETEXT             4
#define LX_PTRACE_POKEDATA             5
#define LX_PTRACE_POKEUSR              6
#define LX_PTRACE_CONT                 7
#define LX_PTRACE_KILL                 8
#define LX_PTRACE_SINGLESTEP           9
#define LX_PTRACE_GETREGS              12
#define LX_PTRACE_SETREGS              13
#define LX_PTRACE_GETFPREGS            14
#define LX_PTRACE_SETFPREGS            15
#define LX_PTRACE_ATTACH               16
#define LX_PTRACE_DETACH               17
#define LX_PTRACE_SYSCALL              24
#define LX_PTRACE_ARCH_PRCTL           30
#define LX_PTRACE_SYSEMU               31
#define LX_PTRACE_SYSEMU_SINGLESTEP    32
#define LX_PTRACE_SINGLEBLOCK          33
#define LX_PTRACE_SETOPTIONS           0x4200
#define LX_PTRACE_GETEVENTMSG          0x4201
#define LX_PTRACE_GETSIGINFO           0x4202
#define LX_PTRACE_SETSIGINFO           0x4203
#define LX_PTRACE_GETREGSET            0x4204
#define LX_PTRACE_SETREGSET            0x4205
#define LX_PTRACE_SEIZE                0x4206
#define LX_PTRACE_INTERRUPT            0x4207
#define LX_PTRACE_LISTEN               0x4208
#define LX_PTRACE_PEEKSIGINFO          0x4209
#define LX_PTRACE_GETSIGMASK           0x420a
#define LX_PTRACE_SETSIGMASK           0x420b
#define LX_PTRACE_SECCOMP_GET_FILTER   0x420c
#define LX_PTRACE_SECCOMP_GET_METADATA 0x420d
#define LX_PTRACE_GET_SYSCALL_INFO     0x420e

#define LX_PTRACE_O_TRACESYSGOOD    0x1u
#define LX_PTRACE_O_TRACEFORK       0x2u
#define LX_PTRACE_O_TRACEVFORK      0x4u
#define LX_PTRACE_O_TRACECLONE      0x8u
#define LX_PTRACE_O_TRACEEXEC       0x10u
#define LX_PTRACE_O_TRACEVFORKDONE  0x20u
#define LX_PTRACE_O_TRACEEXIT       0x40u
#define LX_PTRACE_O_TRACESECCOMP    0x80u
#define LX_PTRACE_O_EXITKILL        0x100000u
#define LX_PTRACE_O_SUSPEND_SECCOMP 0x200000u
#define LX_PTRACE_O_MASK            0x3000ffu

#define LX_PTRACE_EVENT_FORK       1
#define LX_PTRACE_EVENT_VFORK      2
#define LX_PTRACE_EVENT_CLONE      3
#define LX_PTRACE_EVENT_EXEC       4
#define LX_PTRACE_EVENT_VFORK_DONE 5
#define LX_PTRACE_EVENT_EXIT       6
#define LX_PTRACE_EVENT_SECCOMP    7
#define LX_PTRACE_EVENT_STOP       128

#define LX_PTRACE_EVENTMSG_SYSCALL_ENTRY 1
#define LX_PTRACE_EVENTMSG_SYSCALL_EXIT  2

#define LX_PTRACE_PEEKSIGINFO_SHARED 0x1u

/* Register sets of GETREGSET. */
#define LX_NT_PRSTATUS   1
#define LX_NT_PRFPREG    2
#define LX_NT_X86_XSTATE 0x202

struct lx_ptrace_peeksiginfo_args {
    uint64_t off;
    uint32_t flags;
    int32_t nr;
};

#define LX_PTRACE_SYSCALL_INFO_NONE    0
#define LX_PTRACE_SYSCALL_INFO_ENTRY   1
#define LX_PTRACE_SYSCALL_INFO_EXIT    2
#define LX_PTRACE_SYSCALL_INFO_SECCOMP 3

struct lx_ptrace_syscall_info {
    uint8_t op;
    uint8_t pad[3];
    uint32_t arch;
    uint64_t instruction_pointer;
    uint64_t stack_pointer;
    union {
        struct {
            uint64_t nr;
            uint64_t args[6];
        } entry;
        struct {
            int64_t rval;
            uint8_t is_error;
        } exit;
        struct {
            uint64_t nr;
            uint64_t args[6];
            uint32_t ret_data;
        } seccomp;
    };
};

/* GETREGS, NT_PRSTATUS, and the start of the area of PEEKUSR. */
struct lx_user_regs {
    uint64_t r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8;
    uint64_t rax, rcx, rdx, rsi, rdi, orig_rax, rip, cs, eflags, rsp, ss;
    uint64_t fs_base, gs_base, ds, es, fs, gs;
};

/* The area of PEEKUSR: struct user. */
#define LX_USER_SIZE      912u
#define LX_USER_DEBUGREGS 848u
