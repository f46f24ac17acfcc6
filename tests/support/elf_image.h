#pragma once
/*
 * ELF files for tests of the loader, installed in the tmpfs root of a box (box.h), and the checks
 * that every loaded image must pass.
 */
#include "lib/compiler.h"

#include <elf.h>

#include "sentry/mm/mm.h"

enum {
    ELF_IMAGE_SIZE = 0x4000,
    ELF_IMAGE_PHDRS = 8
};

struct elf_image {
    Elf64_Ehdr h;
    Elf64_Phdr ph[ELF_IMAGE_PHDRS];
    uint8_t rest[ELF_IMAGE_SIZE - sizeof(Elf64_Ehdr) - ELF_IMAGE_PHDRS * sizeof(Elf64_Phdr)];
};
_Static_assert(sizeof(struct elf_image) == ELF_IMAGE_SIZE, "packed without gaps");

/* A sane program: text at 0x400000 (file page 0), data with bss at 0x402800 (file 0x2800); dyn:
 * addresses from 0. */
void elf_image_init(struct elf_image *e, bool dyn);
void elf_image_set_interp(struct elf_image *e, const char *path);
/* Creates or replaces an executable file in the box. */
void elf_image_install(const char *path, const void *bytes, size_t len);
/* exec_load of the file with argv {"prog", "arg"} and envp {"A=b"}; on success the image was
 * checked. */
int elf_image_load(const char *path, struct exec_image *ret_image);
/* Drops a loaded image. */
void elf_image_drop(struct exec_image *image);
