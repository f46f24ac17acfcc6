/* The zygote's ELF file as bytes of the platform library. */
    .section .rodata
    .globl zygote_image
    .globl zygote_image_end
    .hidden zygote_image
    .hidden zygote_image_end
    .balign 16
zygote_image:
    .incbin "zygote.elf"
zygote_image_end:
    .section .note.GNU-stack, "", @progbits
