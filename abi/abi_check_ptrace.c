/*
 * Compile-time comparison of abi/ptrace.h with the kernel's UAPI headers and the C library's
 * struct user. No code.
 */
#include <linux/elf.h>
#include <linux/ptrace.h>
#include <sys/user.h>

#include "abi/abi_check.h"
#include "abi/ptrace.h"

/* clang-format off */
CONST(PTRACE_TRACEME) CONST(PTRACE_PEEKTEXT) CONST(PTRACE_PEEKDATA) CONST(PTRACE_PEEKUSR)
CONST(PTRACE_POKETEXT) CONST(PTRACE_POKEDATA) CONST(PTRACE_POKEUSR) CONST(PTRACE_CONT)
CONST(PTRACE_KILL) CONST(PTRACE_SINGLESTEP) CONST(PTRACE_GETREGS) CONST(PTRACE_SETREGS)
CONST(PTRACE_GETFPREGS) CONST(PTRACE_SETFPREGS) CONST(PTRACE_ATTACH) CONST(PTRACE_DETACH)
CONST(PTRACE_SYSCALL) CONST(PTRACE_ARCH_PRCTL) CONST(PTRACE_SYSEMU)
CONST(PTRACE_SYSEMU_SINGLESTEP) CONST(PTRACE_SINGLEBLOCK) CONST(PTRACE_SETOPTIONS)
CONST(PTRACE_GETEVENTMSG) CONST(PTRACE_GETSIGINFO) CONST(PTRACE_SETSIGINFO)
CONST(PTRACE_GETREGSET) CONST(PTRACE_SETREGSET) CONST(PTRACE_SEIZE) CONST(PTRACE_INTERRUPT)
CONST(PTRACE_LISTEN) CONST(PTRACE_PEEKSIGINFO) CONST(PTRACE_GETSIGMASK) CONST(PTRACE_SETSIGMASK)
CONST(PTRACE_SECCOMP_GET_FILTER) CONST(PTRACE_SECCOMP_GET_METADATA)
CONST(PTRACE_GET_SYSCALL_INFO)
CONST(PTRACE_O_TRACESYSGOOD) CONST(PTRACE_O_TRACEFORK) CONST(PTRACE_O_TRACEVFORK)
CONST(PTRACE_O_TRACECLONE) CONST(PTRACE_O_TRACEEXEC) CONST(PTRACE_O_TRACEVFORKDONE)
CONST(PTRACE_O_TRACEEXIT) CONST(PTRACE_O_TRACESECCOMP) CONST(PTRACE_O_EXITKILL)
CONST(PTRACE_O_SUSPEND_SECCOMP) CONST(PTRACE_O_MASK)
CONST(PTRACE_EVENT_FORK) CONST(PTRACE_EVENT_VFORK) CONST(PTRACE_EVENT_CLONE)
CONST(PTRACE_EVENT_EXEC) CONST(PTRACE_EVENT_VFORK_DONE) CONST(PTRACE_EVENT_EXIT)
CONST(PTRACE_EVENT_SECCOMP) CONST(PTRACE_EVENT_STOP)
CONST(PTRACE_EVENTMSG_SYSCALL_ENTRY) CONST(PTRACE_EVENTMSG_SYSCALL_EXIT)
CONST(PTRACE_PEEKSIGINFO_SHARED)
CONST(NT_PRSTATUS) CONST(NT_PRFPREG) CONST(NT_X86_XSTATE)
CONST(PTRACE_SYSCALL_INFO_NONE) CONST(PTRACE_SYSCALL_INFO_ENTRY) CONST(PTRACE_SYSCALL_INFO_EXIT)
CONST(PTRACE_SYSCALL_INFO_SECCOMP)
    /* clang-format on */

    SIZE(struct lx_ptrace_peeksiginfo_args, struct ptrace_peeksiginfo_args);
OFFSET(struct lx_ptrace_peeksiginfo_args, nr, struct ptrace_peeksiginfo_args, nr);
SIZE(struct lx_ptrace_syscall_info, struct ptrace_syscall_info);
OFFSET(struct lx_ptrace_syscall_info, arch, struct ptrace_syscall_info, arch);
OFFSET(struct lx_ptrace_syscall_info, stack_pointer, struct ptrace_syscall_info, stack_pointer);
OFFSET(struct lx_ptrace_syscall_info, entry.args, struct ptrace_syscall_info, entry.args);
OFFSET(struct lx_ptrace_syscall_info, exit.is_error, struct ptrace_syscall_info, exit.is_error);
OFFSET(struct lx_ptrace_syscall_info, seccomp.ret_data, struct ptrace_syscall_info,
       seccomp.ret_data);
SIZE(struct lx_user_regs, struct user_regs_struct);
OFFSET(struct lx_user_regs, orig_rax, struct user_regs_struct, orig_rax);
OFFSET(struct lx_user_regs, fs_base, struct user_regs_struct, fs_base);
OFFSET(struct lx_user_regs, gs, struct user_regs_struct, gs);
_Static_assert(LX_USER_SIZE == sizeof(struct user) &&
                   LX_USER_DEBUGREGS == offsetof(struct user, u_debugreg),
               "struct user");
