# Generated documentation: the target `docs` writes it, the tests say when it is stale.
add_executable(syscalls_md "${PROJECT_SOURCE_DIR}/docs/generate/syscalls_md.c")
target_link_libraries(syscalls_md PRIVATE abi flags)
add_custom_target(docs
  COMMAND sh -c "'$<TARGET_FILE:syscalls_md>' >'${PROJECT_SOURCE_DIR}/docs/syscalls.md'"
  COMMENT "docs/syscalls.md" VERBATIM)
add_test(NAME docs/syscalls COMMAND sh -c
  "'$<TARGET_FILE:syscalls_md>' | diff -u '${PROJECT_SOURCE_DIR}/docs/syscalls.md' - || { echo 'docs/syscalls.md is stale: run ninja docs'; exit 1; }")
set_tests_properties(docs/syscalls PROPERTIES LABELS unit TIMEOUT 120)
