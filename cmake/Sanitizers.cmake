# SENTRY_SANITIZE: list of sanitizers ("address;undefined", "thread", "fuzzer-no-link;..."). Applied
# through the library `flags`; a single file opts out with
#     set_source_files_properties(FILE PROPERTIES COMPILE_OPTIONS "-fno-sanitize=all")
set(SENTRY_SANITIZE "" CACHE STRING "sanitizers, a list")
option(SENTRY_FUZZ "build the fuzz targets with libFuzzer" OFF)

if(SENTRY_SANITIZE)
  list(JOIN SENTRY_SANITIZE "," sanitize_list)
  target_compile_options(flags INTERFACE -fsanitize=${sanitize_list} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_link_options(flags INTERFACE -fsanitize=${sanitize_list})
  target_compile_definitions(flags INTERFACE SENTRY_SANITIZED=1)
else()
  target_compile_definitions(flags INTERFACE SENTRY_SANITIZED=0)
endif()
