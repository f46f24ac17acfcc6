/*
 * /proc/cpuinfo from the cpuid instruction, which the guest can execute itself: nothing more than
 * that is told. Feature names follow Linux, in the order of the feature words.
 */
#include <cpuid.h>
#include <string.h>

#include "sentry/fs/proc/proc.h"

enum {
    REG_A,
    REG_B,
    REG_C,
    REG_D
};

struct feature {
    uint32_t leaf, subleaf;
    uint8_t reg, bit;
    const char *name;
};

static const struct feature features[] = {
    {1, 0, REG_D, 0, "fpu"},
    {1, 0, REG_D, 1, "vme"},
    {1, 0, REG_D, 2, "de"},
    {1, 0, REG_D, 3, "pse"},
    {1, 0, REG_D, 4, "tsc"},
    {1, 0, REG_D, 5, "msr"},
    {1, 0, REG_D, 6, "pae"},
    {1, 0, REG_D, 7, "mce"},
    {1, 0, REG_D, 8, "cx8"},
    {1, 0, REG_D, 9, "apic"},
    {1, 0, REG_D, 11, "sep"},
    {1, 0, REG_D, 12, "mtrr"},
    {1, 0, REG_D, 13, "pge"},
    {1, 0, REG_D, 14, "mca"},
    {1, 0, REG_D, 15, "cmov"},
    {1, 0, REG_D, 16, "pat"},
    {1, 0, REG_D, 17, "pse36"},
    {1, 0, REG_D, 19, "clflush"},
    {1, 0, REG_D, 23, "mmx"},
    {1, 0, REG_D, 24, "fxsr"},
    {1, 0, REG_D, 25, "sse"},
    {1, 0, REG_D, 26, "sse2"},
    {1, 0, REG_D, 27, "ss"},
    {1, 0, REG_D, 28, "ht"},
    {0x80000001, 0, REG_D, 11, "syscall"},
    {0x80000001, 0, REG_D, 20, "nx"},
    {0x80000001, 0, REG_D, 22, "mmxext"},
    {0x80000001, 0, REG_D, 25, "fxsr_opt"},
    {0x80000001, 0, REG_D, 26, "pdpe1gb"},
    {0x80000001, 0, REG_D, 27, "rdtscp"},
    {0x80000001, 0, REG_D, 29, "lm"},
    {0x80000007, 0, REG_D, 8, "constant_tsc"},
    {0x80000007, 0, REG_D, 8, "nonstop_tsc"},
    {1, 0, REG_C, 0, "pni"},
    {1, 0, REG_C, 1, "pclmulqdq"},
    {1, 0, REG_C, 9, "ssse3"},
    {1, 0, REG_C, 12, "fma"},
    {1, 0, REG_C, 13, "cx16"},
    {1, 0, REG_C, 17, "pcid"},
    {1, 0, REG_C, 19, "sse4_1"},
    {1, 0, REG_C, 20, "sse4_2"},
    {1, 0, REG_C, 21, "x2apic"},
    {1, 0, REG_C, 22, "movbe"},
    {1, 0, REG_C, 23, "popcnt"},
    {1, 0, REG_C, 25, "aes"},
    {1, 0, REG_C, 26, "xsave"},
    {1, 0, REG_C, 28, "avx"},
    {1, 0, REG_C, 29, "f16c"},
    {1, 0, REG_C, 30, "rdrand"},
    {1, 0, REG_C, 31, "hypervisor"},
    {0x80000001, 0, REG_C, 0, "lahf_lm"},
    {0x80000001, 0, REG_C, 5, "abm"},
    {0x80000001, 0, REG_C, 6, "sse4a"},
    {0x80000001, 0, REG_C, 7, "misalignsse"},
    {0x80000001, 0, REG_C, 8, "3dnowprefetch"},
    {7, 0, REG_B, 0, "fsgsbase"},
    {7, 0, REG_B, 3, "bmi1"},
    {7, 0, REG_B, 5, "avx2"},
    {7, 0, REG_B, 7, "smep"},
    {7, 0, REG_B, 8, "bmi2"},
    {7, 0, REG_B, 9, "erms"},
    {7, 0, REG_B, 10, "invpcid"},
    {7, 0, REG_B, 16, "avx512f"},
    {7, 0, REG_B, 17, "avx512dq"},
    {7, 0, REG_B, 18, "rdseed"},
    {7, 0, REG_B, 19, "adx"},
    {7, 0, REG_B, 20, "smap"},
    {7, 0, REG_B, 21, "avx512ifma"},
    {7, 0, REG_B, 23, "clflushopt"},
    {7, 0, REG_B, 24, "clwb"},
    {7, 0, REG_B, 28, "avx512cd"},
    {7, 0, REG_B, 29, "sha_ni"},
    {7, 0, REG_B, 30, "avx512bw"},
    {7, 0, REG_B, 31, "avx512vl"},
    {0xd, 1, REG_A, 0, "xsaveopt"},
    {0xd, 1, REG_A, 1, "xsavec"},
    {0xd, 1, REG_A, 2, "xgetbv1"},
    {7, 0, REG_C, 1, "avx512vbmi"},
    {7, 0, REG_C, 2, "umip"},
    {7, 0, REG_C, 6, "avx512_vbmi2"},
    {7, 0, REG_C, 8, "gfni"},
    {7, 0, REG_C, 9, "vaes"},
    {7, 0, REG_C, 10, "vpclmulqdq"},
    {7, 0, REG_C, 11, "avx512_vnni"},
    {7, 0, REG_C, 12, "avx512_bitalg"},
    {7, 0, REG_C, 14, "avx512_vpopcntdq"},
    {7, 0, REG_C, 22, "rdpid"},
    {7, 0, REG_D, 4, "fsrm"},
};

static bool has_feature(const struct feature *f)
{
    uint32_t r[4] = {0, 0, 0, 0};

    if (!__get_cpuid_count(f->leaf, f->subleaf, &r[0], &r[1], &r[2], &r[3]))
        return false;
    return r[f->reg] >> f->bit & 1;
}

struct cpu {
    char vendor[13], model_name[49];
    uint32_t family, model, stepping, level, clflush, phys_bits, virt_bits, mhz, cache_kb;
};

static void read_names(struct cpu *c)
{
    uint32_t r[4];

    if (__get_cpuid(0, &r[0], &r[1], &r[2], &r[3])) {
        c->level = r[0];
        memcpy(c->vendor, &r[1], 4);
        memcpy(c->vendor + 4, &r[3], 4);
        memcpy(c->vendor + 8, &r[2], 4);
    }
    for (uint32_t i = 0; i < 3; i++) {
        if (__get_cpuid(0x80000002 + i, &r[0], &r[1], &r[2], &r[3]))
            memcpy(c->model_name + (size_t)i * 16, r, 16);
    }
}

static void read_cpu(struct cpu *c)
{
    uint32_t a = 0, b = 0, cx = 0, d = 0;

    memset(c, 0, sizeof(*c));
    read_names(c);
    if (__get_cpuid(1, &a, &b, &cx, &d)) {
        c->family = a >> 8 & 15;
        c->model = (a >> 4 & 15) | (c->family == 6 || c->family == 15 ? (a >> 12 & 0xf0) : 0);
        if (c->family == 15)
            c->family += a >> 20 & 255;
        c->stepping = a & 15;
        c->clflush = (b >> 8 & 255) * 8;
    }
    c->phys_bits = 40;
    c->virt_bits = 48;
    if (__get_cpuid(0x80000008, &a, &b, &cx, &d)) {
        c->phys_bits = a & 255;
        c->virt_bits = a >> 8 & 255;
    }
    c->cache_kb = __get_cpuid(0x80000006, &a, &b, &cx, &d) ? cx >> 16 : 0;
    c->mhz = __get_cpuid(0x16, &a, &b, &cx, &d) && (a & 0xffff) ? a & 0xffff : 2000;
}

static void put_cpu(struct buf *out, const struct cpu *c, uint32_t i, uint32_t n)
{
    (void)buf_printf(out, "processor\t: %u\nvendor_id\t: %s\ncpu family\t: %u\nmodel\t\t: %u\n", i,
                     c->vendor, c->family, c->model);
    (void)buf_printf(out,
                     "model name\t: %s\nstepping\t: %u\ncpu MHz\t\t: %u.000\ncache size\t: %u KB\n",
                     c->model_name, c->stepping, c->mhz, c->cache_kb);
    (void)buf_printf(out, "physical id\t: 0\nsiblings\t: %u\ncore id\t\t: %u\ncpu cores\t: %u\n", n,
                     i, n);
    (void)buf_printf(
        out, "apicid\t\t: %u\ninitial apicid\t: %u\nfpu\t\t: yes\nfpu_exception\t: yes\n", i, i);
    (void)buf_printf(out, "cpuid level\t: %u\nwp\t\t: yes\nflags\t\t:", c->level);
    for (size_t f = 0; f < ARRAY_LEN(features); f++) {
        if (has_feature(&features[f]))
            (void)buf_printf(out, " %s", features[f].name);
    }
    (void)buf_printf(out,
                     "\nbugs\t\t:\nbogomips\t: %u.00\nclflush size\t: %u\ncache_alignment\t: %u\n",
                     c->mhz * 2, c->clflush, c->clflush);
    (void)buf_printf(out,
                     "address sizes\t: %u bits physical, %u bits virtual\npower management:\n\n",
                     c->phys_bits, c->virt_bits);
}

int proc_show_cpuinfo(struct gen_inode *gi, struct buf *out)
{
    struct cpu c;

    (void)gi;
    read_cpu(&c);
    for (uint32_t i = 0; i < proc_ncpus(); i++)
        put_cpu(out, &c, i, proc_ncpus());
    return 0;
}
