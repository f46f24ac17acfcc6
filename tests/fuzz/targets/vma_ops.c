/*
 * Sequences of mmap, munmap, mprotect, mremap, madvise and fork on the fake platform: tree, page
 * tables and a page-array model agree after each step (tests/support/mm_model.h).
 */
#include "lib/compiler.h"

#include "tests/support/mm_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mm_model *m = mm_model_new();
    if (m == NULL)
        return 0;
    for (size_t i = 0; i + MM_MODEL_OP <= size && i < (size_t)512 * MM_MODEL_OP; i += MM_MODEL_OP)
        mm_model_step(m, data + i);
    mm_model_free(m);
    return 0;
}
