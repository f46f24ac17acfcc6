/*
 * abi/syscalls.def against the kernel's own list: every number that <asm/unistd_64.h> defines is
 * there under its name, nothing is there twice, and every description makes sense by itself.
 */
#include <string.h>

#include <asm/unistd_64.h>

#include "abi/errno.h"
#include "abi/syscalls.h"

#include "tests/support/test.h"

struct known {
    uint32_t nr;
    const char *name;
};

static const struct known kernel_list[] = {
#define KNOWN(nr, name)       {nr, #name},
#define KNOWN_NEWER(nr, name) {nr, #name},
#include "tests/unit/abi/unistd_64.inc"
#undef KNOWN
#undef KNOWN_NEWER
};

/* The list itself against the header. */
#define KNOWN(nr, name) _Static_assert(__NR_##name == (nr), #name);
#define KNOWN_NEWER(nr, name)
#include "tests/unit/abi/unistd_64.inc"
#undef KNOWN
#undef KNOWN_NEWER

TEST(every_number_is_listed)
{
    for (size_t i = 0; i < ARRAY_LEN(kernel_list); i++) {
        const struct syscall_desc *d = syscall_find(kernel_list[i].nr);
        ck_assert_msg(d != NULL, "%u %s is missing", kernel_list[i].nr, kernel_list[i].name);
        ck_assert_str_eq(d->name, kernel_list[i].name);
        ck_assert_uint_eq(d->nr, kernel_list[i].nr);
    }
}

TEST(nothing_else_is_listed)
{
    size_t count = 0;
    for (uint32_t nr = 0; nr < syscall_count; nr++)
        count += syscall_find(nr) != NULL;
    ck_assert_uint_eq(count, ARRAY_LEN(kernel_list));
    ck_assert_ptr_null(syscall_find(syscall_count));
    ck_assert_ptr_null(syscall_find(400));
    ck_assert_ptr_null(syscall_find(~0ull));
}

TEST(names_are_unique)
{
    for (uint32_t a = 0; a < syscall_count; a++) {
        const struct syscall_desc *da = syscall_find(a);
        for (uint32_t b = a + 1; da && b < syscall_count; b++) {
            const struct syscall_desc *db = syscall_find(b);
            ck_assert_msg(!db || strcmp(da->name, db->name) != 0, "%s twice", da->name);
        }
    }
}

TEST(descriptions_are_consistent)
{
    for (uint32_t nr = 0; nr < syscall_count; nr++) {
        const struct syscall_desc *d = syscall_find(nr);
        if (!d)
            continue;
        ck_assert_uint_le(d->nargs, 6);
        ck_assert_int_eq(d->status == SYSCALL_REFUSED, d->refuse != 0);
        for (size_t i = 0; i < 6; i++) {
            ck_assert_uint_lt(d->kinds[i], A_COUNT);
            if (i >= d->nargs)
                ck_assert_uint_eq(d->kinds[i], A_NONE);
        }
        if (d->nargs > 0)
            ck_assert_uint_ne(d->kinds[d->nargs - 1], A_NONE);
    }
}

TEST(fallback_contracts)
{
    /* glibc and musl fall back to older calls only on ENOSYS. */
    ck_assert_uint_eq(syscall_find(334)->refuse, ENOSYS);       /* rseq */
    ck_assert_uint_eq(syscall_find(165)->refuse, EPERM);        /* mount */
    ck_assert_uint_eq(syscall_find(439)->status, SYSCALL_FULL); /* faccessat2 */
    ck_assert_ptr_nonnull(syscall_note(syscall_find(435)));
    ck_assert_ptr_null(syscall_note(syscall_find(39)));
}

TEST_SUITE(syscalls)
{
    TEST_ADD(every_number_is_listed);
    TEST_ADD(nothing_else_is_listed);
    TEST_ADD(names_are_unique);
    TEST_ADD(descriptions_are_consistent);
    TEST_ADD(fallback_contracts);
}
