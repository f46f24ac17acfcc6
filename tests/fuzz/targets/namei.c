/* A tree and paths on a tmpfs, against a naive walker (tests/support/namei_model.h). */
#include "lib/compiler.h"

#include "tests/support/namei_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    namei_model_run(data, size);
    return 0;
}
