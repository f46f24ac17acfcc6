/* The configuration of this kernel (config.txt), packed at build time: /proc/config.gz. */
    .section .rodata
    .globl proc_config_gz
    .globl proc_config_gz_end
    .hidden proc_config_gz
    .hidden proc_config_gz_end
proc_config_gz:
    .incbin "config.gz"
proc_config_gz_end:
    .section .note.GNU-stack, "", @progbits
