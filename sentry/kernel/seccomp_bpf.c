/*
 * seccomp_bpf.c: checks and runs the programs of seccomp(2). The instructions and the rules are
 * those of the kernel's documentation (networking/filter, userspace-api/seccomp_filter).
 */
#include "sentry/kernel/seccomp_bpf.h"

#include <string.h>

#include "abi/errno.h"

#include "lib/alloc.h"

/* An instruction's code: class, then what the class needs. */
enum {
    CLASS_MASK = 0x07,
    LD = 0x00,
    LDX = 0x01,
    ST = 0x02,
    STX = 0x03,
    ALU = 0x04,
    JMP = 0x05,
    RET = 0x06,
    MISC = 0x07,
    /* LD, LDX: size word, and the mode */
    IMM = 0x00,
    ABS = 0x20,
    MEM = 0x60,
    LEN = 0x80,
    /* ALU, JMP: operation, and the operand: k or X */
    OP_MASK = 0xf0,
    ADD = 0x00,
    SUB = 0x10,
    MUL = 0x20,
    DIV = 0x30,
    OR = 0x40,
    AND = 0x50,
    LSH = 0x60,
    RSH = 0x70,
    NEG = 0x80,
    XOR = 0xa0,
    JA = 0x00,
    JEQ = 0x10,
    JGT = 0x20,
    JGE = 0x30,
    JSET = 0x40,
    SRC_X = 0x08,
    RET_A = 0x10,
    TAX = 0x00,
    TXA = 0x80,
    MEM_WORDS = 16
};

/* -- check ---------------------------------------------------------------------------------------
 */

static bool load_allowed(const struct lx_sock_filter *f)
{
    unsigned mode = f->code & ~(unsigned)CLASS_MASK;
    bool x = (f->code & CLASS_MASK) == LDX;
    if (mode == IMM || mode == LEN)
        return true;
    if (mode == MEM)
        return f->k < MEM_WORDS;
    return mode == ABS && !x && f->k % 4 == 0 && f->k < sizeof(struct lx_seccomp_data);
}

static bool alu_allowed(const struct lx_sock_filter *f)
{
    bool x = f->code & SRC_X;
    switch (f->code & OP_MASK) {
    case ADD:
    case SUB:
    case MUL:
    case OR:
    case AND:
    case XOR:
        return true;
    case DIV:
        return x || f->k != 0;
    case LSH:
    case RSH:
        return x || f->k < 32;
    case NEG:
        return !x;
    default:
        return false;
    }
}

/* Targets are counted from the next instruction. */
static bool jump_allowed(const struct lx_sock_filter *f, size_t at, size_t n)
{
    size_t left = n - at - 1;
    switch (f->code & OP_MASK) {
    case JA:
        return !(f->code & SRC_X) && f->k < left;
    case JEQ:
    case JGT:
    case JGE:
    case JSET:
        return f->jt < left && f->jf < left;
    default:
        return false;
    }
}

static bool insn_allowed(const struct lx_sock_filter *f, size_t at, size_t n)
{
    if (f->code > 0xff)
        return false;
    switch (f->code & CLASS_MASK) {
    case LD:
    case LDX:
        return load_allowed(f);
    case ST:
    case STX:
        return (f->code & ~(unsigned)CLASS_MASK) == 0 && f->k < MEM_WORDS;
    case ALU:
        return alu_allowed(f);
    case JMP:
        return jump_allowed(f, at, n);
    case RET:
        return f->code == RET || f->code == (RET | RET_A);
    case MISC:
    default:
        return f->code == (MISC | TAX) || f->code == (MISC | TXA);
    }
}

/* Jumps go forward only, so one pass knows which words are written on every way to a place. */
static int check_memory(const struct lx_sock_filter *code, size_t n)
{
    uint16_t *known = kalloc_array(n, sizeof(*known)), now = 0;
    int r = 0;
    if (known == NULL)
        return -ENOMEM;
    memset(known, 0xff, n * sizeof(*known));
    for (size_t i = 0; i < n && r == 0; i++) {
        const struct lx_sock_filter *f = &code[i];
        unsigned class = f->code & CLASS_MASK;
        now &= known[i];
        if (class == ST || class == STX) {
            now = (uint16_t)(now | 1u << f->k);
        } else if ((class == LD || class == LDX) && (f->code & ~(unsigned)CLASS_MASK) == MEM) {
            r = now & 1u << f->k ? 0 : -EINVAL;
        } else if (class == JMP && (f->code & OP_MASK) == JA) {
            known[i + 1 + f->k] &= now;
            now = UINT16_MAX;
        } else if (class == JMP) {
            known[i + 1 + f->jt] &= now;
            known[i + 1 + f->jf] &= now;
            now = UINT16_MAX;
        }
    }
    kfree(known);
    return r;
}

int seccomp_bpf_check(const struct lx_sock_filter *code, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!insn_allowed(&code[i], i, n))
            return -EINVAL;
    }
    if (n == 0 || (code[n - 1].code & CLASS_MASK) != RET)
        return -EINVAL;
    return check_memory(code, n);
}

/* -- run -----------------------------------------------------------------------------------------
 */

/* Division by a register that is 0 ends the program with 0, which kills the thread. */
static bool compute(const struct lx_sock_filter *f, uint32_t *a, uint32_t x)
{
    uint32_t v = f->code & SRC_X ? x : f->k;
    switch (f->code & OP_MASK) {
    case ADD:
        *a += v;
        return true;
    case SUB:
        *a -= v;
        return true;
    case MUL:
        *a *= v;
        return true;
    case DIV:
        if (v == 0)
            return false;
        *a /= v;
        return true;
    case OR:
        *a |= v;
        return true;
    case AND:
        *a &= v;
        return true;
    case LSH:
        *a <<= v & 31;
        return true;
    case RSH:
        *a >>= v & 31;
        return true;
    case XOR:
        *a ^= v;
        return true;
    default:
        *a = 0u - *a;
        return true;
    }
}

static size_t jump(const struct lx_sock_filter *f, uint32_t a, uint32_t x)
{
    uint32_t v = f->code & SRC_X ? x : f->k;
    bool yes;
    switch (f->code & OP_MASK) {
    case JA:
        return f->k;
    case JEQ:
        yes = a == v;
        break;
    case JGT:
        yes = a > v;
        break;
    case JGE:
        yes = a >= v;
        break;
    default:
        yes = (a & v) != 0;
        break;
    }
    return yes ? f->jt : f->jf;
}

static uint32_t load(const struct lx_sock_filter *f, const struct lx_seccomp_data *d,
                     const uint32_t mem[MEM_WORDS])
{
    uint32_t v;
    switch (f->code & ~(unsigned)CLASS_MASK) {
    case IMM:
        return f->k;
    case MEM:
        return mem[f->k];
    case LEN:
        return sizeof(*d);
    default:
        memcpy(&v, (const uint8_t *)d + f->k, sizeof(v));
        return v;
    }
}

uint32_t seccomp_bpf_run(const struct lx_sock_filter *code, const struct lx_seccomp_data *d)
{
    uint32_t a = 0, x = 0, mem[MEM_WORDS] = {0};
    for (const struct lx_sock_filter *f = code;; f++) {
        switch (f->code & CLASS_MASK) {
        case LD:
            a = load(f, d, mem);
            break;
        case LDX:
            x = load(f, d, mem);
            break;
        case ST:
            mem[f->k] = a;
            break;
        case STX:
            mem[f->k] = x;
            break;
        case ALU:
            if (!compute(f, &a, x))
                return LX_SECCOMP_RET_KILL_THREAD;
            break;
        case JMP:
            f += jump(f, a, x);
            break;
        case RET:
            return f->code & RET_A ? a : f->k;
        case MISC:
        default:
            if (f->code & TXA)
                a = x;
            else
                x = a;
            break;
        }
    }
}

/* Follows the program as far as it looks at number and architecture only. */
bool seccomp_bpf_allows(const struct lx_sock_filter *code, uint32_t nr)
{
    const struct lx_seccomp_data d = {.nr = (int32_t)nr, .arch = LX_AUDIT_ARCH_X86_64};
    const size_t arguments = offsetof(struct lx_seccomp_data, instruction_pointer);
    uint32_t a = 0;
    for (const struct lx_sock_filter *f = code;; f++) {
        switch (f->code & CLASS_MASK) {
        case LD:
            if (f->code != (LD | ABS) || f->k >= arguments)
                return false;
            a = load(f, &d, NULL);
            break;
        case ALU:
            if (f->code & SRC_X || !compute(f, &a, 0))
                return false;
            break;
        case JMP:
            if (f->code & SRC_X)
                return false;
            f += jump(f, a, 0);
            break;
        case RET:
            return f->code == RET && (f->k & LX_SECCOMP_RET_ACTION_FULL) == LX_SECCOMP_RET_ALLOW;
        default:
            return false;
        }
    }
}
