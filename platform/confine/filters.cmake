# The seccomp filters of sentry and gofer: rules of libseccomp, compiled to programs by a program of the
# build, whose output is part of the platform library.
set(filter_source "${PROJECT_BINARY_DIR}/confine/filter_programs.c")
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/confine")
add_executable(filter-compiler platform/confine/filters/compile.c platform/confine/filters/sentry.c
  platform/confine/filters/gofer.c)
target_link_libraries(filter-compiler PRIVATE ext::seccomp lib flags program_flags)
set_target_properties(filter-compiler PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/confine")
add_custom_command(OUTPUT "${filter_source}"
  COMMAND filter-compiler > "${filter_source}.new"
  COMMAND "${CMAKE_COMMAND}" -E rename "${filter_source}.new" "${filter_source}"
  DEPENDS filter-compiler
  COMMENT "Compiling the seccomp filters" VERBATIM)
target_sources(platform PRIVATE "${filter_source}")
