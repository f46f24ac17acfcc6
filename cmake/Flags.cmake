# Compiler flags of our own code, carried by the interface library `flags`. Nothing is set globally,
# so targets that must stay free of them (the stub, guest test programs) simply do not link it.
option(SENTRY_WERROR "warnings are errors" ON)
option(SENTRY_LTO "link-time optimisation, static-pie programs, hardening" OFF)
option(SENTRY_THREAD_SAFETY "clang's thread-safety analysis as errors" OFF)
option(SENTRY_ANALYZE "gcc -fanalyzer and clang-tidy during the build" OFF)
option(SENTRY_COVERAGE "count what runs (clang), into BUILD/profile" OFF)

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_C_FLAGS_DEBUG "-Og -g")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")

add_library(flags INTERFACE)
target_include_directories(flags INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_definitions(flags INTERFACE _GNU_SOURCE SENTRY_VERSION="${PROJECT_VERSION}")
if(CMAKE_BUILD_TYPE STREQUAL "Debug" OR SENTRY_FUZZ)
  target_compile_definitions(flags INTERFACE SENTRY_DEBUG=1)
else()
  target_compile_definitions(flags INTERFACE SENTRY_DEBUG=0)
endif()
target_compile_options(flags INTERFACE
  -fno-strict-aliasing -fno-delete-null-pointer-checks -fno-common -fvisibility=hidden
  -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition
  -Wpointer-arith -Wwrite-strings -Wcast-qual -Wundef -Wvla -Wformat=2 -Wimplicit-fallthrough
  -Wswitch-enum -Wconversion -Wsign-conversion)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  # Text for people is cut to its buffer on purpose.
  target_compile_options(flags INTERFACE -Wduplicated-cond -Wlogical-op -Werror=override-init
    -Wno-format-truncation)
  # Both look through the code that the sanitizers add, and misjudge it.
  if(NOT SENTRY_SANITIZE)
    target_compile_options(flags INTERFACE -Wnull-dereference -Wstack-usage=16384)
  else()
    target_compile_options(flags INTERFACE -Wno-maybe-uninitialized -Wno-stringop-overflow)
  endif()
else()
  target_compile_options(flags INTERFACE -Wthread-safety -Werror=initializer-overrides
    -Wno-gnu-zero-variadic-macro-arguments)
endif()
if(SENTRY_WERROR)
  target_compile_options(flags INTERFACE -Werror)
endif()
if(SENTRY_THREAD_SAFETY)
  target_compile_options(flags INTERFACE -Werror=thread-safety)
endif()
if(SENTRY_ANALYZE)
  target_compile_options(flags INTERFACE -fanalyzer -Wno-analyzer-malloc-leak)
endif()
# The counters are a shared mapping of a file that a program makes before main() (continuous mode): a
# process that was confined, ended by _exit or killed has counted all the same, and needs no code for it.
if(SENTRY_COVERAGE)
  if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "SENTRY_COVERAGE needs clang")
  endif()
  set(coverage_profile "-fprofile-instr-generate=${PROJECT_BINARY_DIR}/profile/%m%c.profraw")
  target_compile_options(flags INTERFACE ${coverage_profile} -fcoverage-mapping
    "SHELL:-mllvm -runtime-counter-relocation")
  target_link_options(flags INTERFACE ${coverage_profile})
endif()

# Position independent everywhere; static-pie programs in release.
target_compile_options(flags INTERFACE -fPIE)
target_link_options(flags INTERFACE
  -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,-z,separate-code)
add_library(program_flags INTERFACE)
if(SENTRY_LTO)
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
  target_compile_definitions(flags INTERFACE _FORTIFY_SOURCE=3)
  target_compile_options(flags INTERFACE
    -fstack-protector-strong -fstack-clash-protection -fcf-protection=full
    -ftrivial-auto-var-init=zero -fzero-call-used-regs=used-gpr)
  target_link_options(program_flags INTERFACE -static-pie)
else()
  target_link_options(program_flags INTERFACE -pie)
endif()
