# The zygote and the stub's page: own flags, no C library, no sanitizer, one static ELF file that is
# embedded into the platform library as bytes.
set(stub_dir "${PROJECT_BINARY_DIR}/stub")
file(MAKE_DIRECTORY "${stub_dir}")
set(stub_flags -O2 -std=gnu17 -ffreestanding -fpie -fno-stack-protector -fcf-protection=none
  -fno-jump-tables -fno-builtin -mgeneral-regs-only -fno-asynchronous-unwind-tables
  -Wall -Wextra -Werror "-I${PROJECT_SOURCE_DIR}")
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  list(APPEND stub_flags -fno-tree-switch-conversion -fno-tree-loop-distribute-patterns)
endif()
set(stub_src "${PROJECT_SOURCE_DIR}/platform/stub")
add_custom_command(OUTPUT "${stub_dir}/zygote.elf"
  COMMAND "${CMAKE_C_COMPILER}" ${stub_flags} -static -nostdlib -Wno-unused-command-line-argument -no-pie -Wl,--build-id=none
    -Wl,-z,noexecstack -Wl,-z,max-page-size=4096 -Wl,-T,${stub_src}/guest/zygote.lds
    -o "${stub_dir}/zygote.elf" ${stub_src}/guest/zygote.c ${stub_src}/guest/stub.S
  DEPENDS ${stub_src}/guest/zygote.c ${stub_src}/guest/stub.S ${stub_src}/guest/zygote.lds
    ${stub_src}/page.h ${PROJECT_SOURCE_DIR}/lib/compiler.h
  COMMENT "Linking the zygote" VERBATIM)
set_source_files_properties("${stub_src}/embed.S" PROPERTIES
  OBJECT_DEPENDS "${stub_dir}/zygote.elf" COMPILE_OPTIONS "-Wa,-I${stub_dir}")
target_sources(platform PRIVATE "${stub_src}/embed.S")
