# End-to-end scripts: tests/e2e/NAME.sh (label `e2e`) and tests/golden/NAME.sh (label `golden`). A
# script exits 0, 1, or 77 after saying why it was skipped; lib*.sh files are sourced by others. A
# line `# timeout: SECONDS` among the first ten raises the limit of two minutes, which is for a machine
# that has little else to do: others get four times as long. Some start sandboxes with boot-tool
# instead of `sentry run`.
add_executable(boot-tool e2e/boot_tool.c)
target_link_libraries(boot-tool PRIVATE shim cli flags)

foreach(kind e2e golden)
  file(GLOB scripts CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${kind}/*.sh")
  foreach(script ${scripts})
    get_filename_component(name "${script}" NAME_WE)
    if(name MATCHES "^lib")
      continue()
    endif()
    set(timeout 120)
    file(STRINGS "${script}" limit REGEX "^# timeout: [0-9]+" LIMIT_COUNT 1)
    if(limit MATCHES "([0-9]+)")
      set(timeout ${CMAKE_MATCH_1})
    endif()
    math(EXPR timeout "4 * ${timeout}")
    add_test(NAME ${kind}/${name} COMMAND bash "${script}")
    set_tests_properties(${kind}/${name} PROPERTIES LABELS ${kind} TIMEOUT ${timeout}
      SKIP_RETURN_CODE 77
      ENVIRONMENT "SENTRY=${PROJECT_BINARY_DIR}/bin/sentry;SENTRY_BIN=${PROJECT_BINARY_DIR}/bin;IMAGES=${PROJECT_SOURCE_DIR}/build/images")
  endforeach()
endforeach()

# Longer runs of two of them, on demand (label `soak`).
function(e2e_soak name timeout)
  add_test(NAME soak/${name} COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/e2e/${name}.sh")
  set_tests_properties(soak/${name} PROPERTIES LABELS soak TIMEOUT ${timeout} SKIP_RETURN_CODE 77
    ENVIRONMENT "SENTRY=${PROJECT_BINARY_DIR}/bin/sentry;SENTRY_BIN=${PROJECT_BINARY_DIR}/bin;IMAGES=${PROJECT_SOURCE_DIR}/build/images;${ARGN}")
endfunction()
e2e_soak(stress_kill 400 SECONDS_OF_STRESS=300)
e2e_soak(random_syscalls 120 ROUNDS=8)
e2e_soak(limits_faults 3000 ROUNDS=500)
