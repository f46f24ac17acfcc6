/*
 * The stub: the only code of ours in a guest address space, one page, no data, no stack use. Every
 * host thread is born into `park` or comes back to it through the signal handler; the sentry
 * answers the parked thread with 0 ("return through the signal frame at rsp") or with the address
 * of a command block, whose calls are made in turn until one fails. See platform/stub/page.h.
 *
 * A guest that jumps in here can do no more than it can do with a syscall instruction of its own:
 * everything raises a notification, and only rt_sigreturn from STUB_IP_RETURN is let through.
 */
#include "platform/stub/page.h"

    .section .stub, "ax", @progbits
    .globl stub_page
stub_page:
    /* rdi kind, rsi result, r8 fault address, r12 token */
    .org STUB_OFF_PARK, 0x90
park:
    mov %rsp, %rdx
    mov %r12, %r10
    mov $STUB_PARK_NR, %eax
    .org STUB_IP_PARK - 2, 0x90
    syscall
    test %rax, %rax
    jz resume
    mov %rax, %rbx
    mov STUB_BLOCK_TOKEN(%rbx), %r12
next_command:
    mov 48(%rbx), %r9
    mov 40(%rbx), %r8
    mov 32(%rbx), %r10
    mov 24(%rbx), %rdx
    mov 16(%rbx), %rsi
    mov 8(%rbx), %rdi
    mov (%rbx), %rax
    cmp $STUB_CAS_NR, %rax
    je compare_exchange
    .org STUB_IP_COMMAND - 2, 0x90
    syscall
    cmp $-4095, %rax
    jae done
    mov STUB_BLOCK_NEXT(%rbx), %rbx
    test %rbx, %rbx
    jnz next_command
done:
    mov %rax, %rsi
    mov $STUB_KIND_DONE, %edi
    xor %r8d, %r8d
    jmp park

    /* The host's signal handler: rdi signal, rsi siginfo, rsp the frame. */
    .org STUB_OFF_SIGNAL, 0x90
    mov 8(%rsi), %eax
    mov 16(%rsi), %r8
    shl $32, %rax
    shl $8, %rdi
    or $STUB_KIND_SIGNAL, %rdi
    or %rax, %rdi
    xor %esi, %esi
    xor %r12d, %r12d
    jmp park

    /* rt_sigreturn expects rsp behind the frame's return address. */
    .org STUB_OFF_RESUME, 0x90
resume:
    lea 8(%rsp), %rsp
    mov $15, %eax
    .org STUB_IP_RETURN - 2, 0x90
    syscall
    ud2

    /* The one command that is no call: rdi word, esi expected, edx new; the result is what was
     * there. It says so, lest a block that was overwritten with it give a call another result. */
    .org STUB_OFF_CAS, 0xcc
compare_exchange:
    mov %esi, %eax
    lock cmpxchg %edx, (%rdi)
    mov %rax, %rsi
    mov $STUB_KIND_CAS, %edi
    xor %r8d, %r8d
    jmp park
    .org 4096, 0xcc

    .section .note.GNU-stack, "", @progbits
