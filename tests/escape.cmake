# The escape suite (label `escape`): all attacks against this build's `sentry run`, the harness against
# runtimes that are leaky on purpose, and the bookkeeping of the list.
set(escape_bin "${PROJECT_BINARY_DIR}/bin/escape-suite")
set(escape_dir "${PROJECT_SOURCE_DIR}/escape-suite")
add_test(NAME escape/suite COMMAND "${escape_bin}" --jobs 2 --quick
  --image-dir "${PROJECT_SOURCE_DIR}/build/images")
set_tests_properties(escape/suite PROPERTIES LABELS escape TIMEOUT 400 PROCESSORS 2)
add_test(NAME escape/harness COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/escape/harness.sh")
set_tests_properties(escape/harness PROPERTIES LABELS escape TIMEOUT 120
  ENVIRONMENT "SENTRY_BIN=${PROJECT_BINARY_DIR}/bin;IMAGES=${PROJECT_SOURCE_DIR}/build/images")
add_test(NAME escape/list COMMAND "${Python3_EXECUTABLE}" "${escape_dir}/harness/notes.py" --check
  "${escape_dir}/attacks" "${escape_dir}/attacks.def")
set_tests_properties(escape/list PROPERTIES LABELS "escape;unit" TIMEOUT 20)
