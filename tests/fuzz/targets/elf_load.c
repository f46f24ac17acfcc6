/*
 * A file for execve: the first byte chooses between the raw bytes as the file, and program headers
 * from the input behind a sane ELF header (so that the checks of segments are reached). Whatever is
 * loaded passes the checks of elf_image_load.
 */
#include "lib/compiler.h"

#include <string.h>

#include "tests/fuzz/targets/fuzz_check.h"
#include "tests/support/box.h"
#include "tests/support/elf_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct elf_image image;
    struct exec_image loaded;
    if (size < 2)
        return 0;
    box_begin();
    elf_image_init(&image, data[0] & 2);
    elf_image_install("/ld.so", &image, sizeof(image));
    if (data[0] & 1) {
        elf_image_install("/prog", data + 1, size - 1);
    } else {
        size_t n = MIN(size - 2, sizeof(image.ph));
        elf_image_set_interp(&image, "/ld.so");
        image.h.e_phnum = data[1] % (ELF_IMAGE_PHDRS + 1);
        memcpy(image.ph, data + 2, n);
        elf_image_install("/prog", &image, sizeof(image));
    }
    if (elf_image_load("/prog", &loaded) == 0)
        elf_image_drop(&loaded);
    box_end();
    return 0;
}
