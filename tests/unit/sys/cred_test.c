/* What an emulated root may do to its own credentials, and to the names of the sandbox. */
#include <string.h>

#include "abi/errno.h"
#include "abi/prctl.h"

#include "sentry/kernel/kernel.h"
#include "sentry/kernel/task.h"
#include "tests/support/box.h"
#include "tests/support/test.h"

#define NOROOT      (1ull << LX_SECURE_NOROOT)
#define NOROOT_LOCK (2ull << LX_SECURE_NOROOT)
#define NO_RAISE    (1ull << LX_SECURE_NO_CAP_AMBIENT_RAISE)

static int64_t securebits(uint64_t bits)
{
    return box_call(box.th, NR_prctl, LX_PR_SET_SECUREBITS, bits);
}

TEST(securebits_that_are_locked_stay)
{
    box_begin();
    ck_assert_int_eq(securebits(0x1000), -EPERM);
    ck_assert_int_eq(securebits(NOROOT), 0);
    ck_assert_int_eq(securebits(0), 0);
    ck_assert_int_eq(securebits(NOROOT_LOCK), 0);
    ck_assert_int_eq(securebits(0), -EPERM);                    /* the lock itself */
    ck_assert_int_eq(securebits(NOROOT_LOCK | NOROOT), -EPERM); /* what it locks */
    ck_assert_int_eq(securebits(NOROOT_LOCK | NO_RAISE), 0);    /* another bit */
    ck_assert_int_eq(securebits(NOROOT_LOCK | (2ull << LX_SECURE_KEEP_CAPS)), 0);
    ck_assert_int_eq(box_call(box.th, NR_prctl, LX_PR_SET_KEEPCAPS, 1), -EPERM);
    box_end();
}

TEST(no_ambient_raise)
{
    box_begin();
    struct cred *c = cred_dup(box.task->cred);
    c->cap_inheritable = c->cap_permitted;
    cred_put(box.task->cred);
    box.task->cred = c;
    ck_assert_int_eq(securebits(NO_RAISE), 0);
    ck_assert_int_eq(box_call(box.th, NR_prctl, LX_PR_CAP_AMBIENT, LX_PR_CAP_AMBIENT_RAISE, 0),
                     -EPERM);
    ck_assert_int_eq(securebits(0), 0);
    ck_assert_int_eq(box_call(box.th, NR_prctl, LX_PR_CAP_AMBIENT, LX_PR_CAP_AMBIENT_RAISE, 0), 0);
    box_end();
}

TEST(fsuid_takes_the_capabilities_of_files_along)
{
    const uint64_t files = (1ull << LX_CAP_DAC_OVERRIDE) | (1ull << LX_CAP_FOWNER);

    box_begin();
    uint64_t all = box.task->cred->cap_effective;
    ck_assert_uint_eq(all & files, files);
    ck_assert_int_eq(box_call(box.th, NR_setfsuid, 7), 0);
    ck_assert_uint_eq(box.task->cred->cap_effective & files, 0);
    ck_assert(cred_capable(box.task->cred, LX_CAP_SYS_ADMIN));
    ck_assert_int_eq(box_call(box.th, NR_setfsuid, 0), 7);
    ck_assert_uint_eq(box.task->cred->cap_effective, all);
    box_end();
}

TEST(names)
{
    const char name[] = "here";

    box_begin();
    box_write(box.th, BOX_MEM, name, sizeof(name));
    ck_assert_int_eq(box_call(box.th, NR_sethostname, BOX_MEM, 4), 0);
    ck_assert_str_eq(kernel.hostname, "here");
    ck_assert_int_eq(box_call(box.th, NR_sethostname, BOX_MEM, 2), 0);
    ck_assert_str_eq(kernel.hostname, "he");
    ck_assert_int_eq(box_call(box.th, NR_setdomainname, BOX_MEM, 3), 0);
    ck_assert_str_eq(kernel.domainname, "her");
    ck_assert_int_eq(box_call(box.th, NR_sethostname, BOX_MEM, 65), -EINVAL);
    ck_assert_int_eq(box_call(box.th, NR_sethostname, BOX_MEM, (uint64_t)-1), -EINVAL);
    ck_assert_int_eq(box_call(box.th, NR_sethostname, 1, 4), -EFAULT);
    ck_assert_int_eq(box_call(box.th, NR_setresuid, 7, 7, 7), 0);
    ck_assert_int_eq(box_call(box.th, NR_sethostname, 1, 4), -EPERM);
    ck_assert_str_eq(kernel.hostname, "he");
    box_end();
}

TEST_SUITE(cred)
{
    TEST_ADD(securebits_that_are_locked_stay);
    TEST_ADD(no_ambient_raise);
    TEST_ADD(fsuid_takes_the_capabilities_of_files_along);
    TEST_ADD(names);
}
