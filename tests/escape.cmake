# The escape suite (label `escape`): all attacks against this build's `sentry run`, the harness against
# runtimes that are leaky on purpose, and the bookkeeping of the list.
set(escape_bin "${PROJECT_BINARY_DIR}/bin/escape-suite")
set(escape_dir "${PROJECT_SOURCE_DIR}/escape-suite")
# One test a group, so that a failure names it and no test is long.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${escape_dir}/attacks.def")
foreach(group n f p r o s c b v g i)
  file(STRINGS "${escape_dir}/attacks.def" lines REGEX "^ATTACK\\(\"${group}[0-9]" LIMIT_COUNT 1)
  if(lines)
    add_test(NAME escape/suite-${group} COMMAND "${escape_bin}" --only ${group} --jobs 1 --quick
      --image-dir "${PROJECT_SOURCE_DIR}/build/images")
    set_tests_properties(escape/suite-${group} PROPERTIES LABELS escape TIMEOUT 2400)
  endif()
endforeach()
add_test(NAME escape/harness COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/escape/harness.sh")
set_tests_properties(escape/harness PROPERTIES LABELS escape TIMEOUT 1200
  ENVIRONMENT "SENTRY_BIN=${PROJECT_BINARY_DIR}/bin;IMAGES=${PROJECT_SOURCE_DIR}/build/images")
add_test(NAME escape/list COMMAND "${Python3_EXECUTABLE}" "${escape_dir}/harness/notes.py" --check
  "${escape_dir}/attacks" "${escape_dir}/attacks.def")
set_tests_properties(escape/list PROPERTIES LABELS "escape;unit" TIMEOUT 120)
