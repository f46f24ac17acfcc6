/*
 * The stub's page as it lies in the embedded ELF file: three syscall instructions, each right
 * before the address that the sentry and the filter compare with, and no writable segment anywhere.
 */
#include <elf.h>
#include <string.h>

#include "platform/stub/page.h"

#include "tests/support/test.h"

extern const uint8_t zygote_image[], zygote_image_end[];

static const uint8_t *segment(uint64_t addr, uint64_t *ret_size)
{
    Elf64_Ehdr eh;

    memcpy(&eh, zygote_image, sizeof(eh));
    for (unsigned i = 0; i < eh.e_phnum; i++) {
        Elf64_Phdr ph;

        memcpy(&ph, zygote_image + eh.e_phoff + i * sizeof(ph), sizeof(ph));
        if (ph.p_type != PT_LOAD)
            continue;
        ck_assert_uint_eq(ph.p_flags, PF_R | PF_X);
        if (ph.p_vaddr == addr) {
            ck_assert(zygote_image + ph.p_offset + ph.p_filesz <= zygote_image_end);
            *ret_size = ph.p_filesz;
            return zygote_image + ph.p_offset;
        }
    }
    return NULL;
}

TEST(syscall_instructions_are_where_the_header_says)
{
    static const unsigned ends[] = {STUB_IP_PARK, STUB_IP_COMMAND, STUB_IP_RETURN};
    unsigned found = 0;
    uint64_t size = 0;
    const uint8_t *page = segment(STUB_CODE, &size);

    ck_assert_ptr_nonnull(page);
    ck_assert_uint_eq(size, 4096);
    for (unsigned i = 0; i < ARRAY_LEN(ends); i++)
        ck_assert_mem_eq(page + ends[i] - 2, "\x0f\x05", 2);
    for (unsigned i = 0; i + 1 < size; i++)
        found += page[i] == 0x0f && page[i + 1] == 0x05;
    ck_assert_uint_eq(found, ARRAY_LEN(ends));
}

TEST_SUITE(stub)
{
    TEST_ADD(syscall_instructions_are_where_the_header_says);
}
