# Rules of the tree that a program can check (label `layer`).
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(checks "${PROJECT_SOURCE_DIR}/cmake/checks")

foreach(rule layers headers size markers readmes)
  add_test(NAME layer/${rule}
    COMMAND "${Python3_EXECUTABLE}" "${checks}/tree.py" ${rule})
  set_tests_properties(layer/${rule} PROPERTIES LABELS layer TIMEOUT 480)
endforeach()

# Instrumented or link-time optimised objects name other symbols; the rule is about the code.
if(NOT SENTRY_LTO AND NOT SENTRY_COVERAGE)
  add_test(NAME layer/kernel-imports
    COMMAND "${Python3_EXECUTABLE}" "${checks}/kernel_imports.py" "${CMAKE_NM}"
      $<TARGET_FILE:kernel> $<TARGET_FILE:lib> $<TARGET_FILE:abi> $<TARGET_FILE:gofer_proto>)
  set_tests_properties(layer/kernel-imports PROPERTIES LABELS layer TIMEOUT 240)
endif()

# The page of code in the guest (platform/stub/stub.cmake).
if(EXISTS "${PROJECT_SOURCE_DIR}/platform/stub/stub.cmake")
  add_test(NAME stub/shape
    COMMAND "${checks}/stub_shape.sh" "${PROJECT_BINARY_DIR}/stub/zygote.elf")
  set_tests_properties(stub/shape PROPERTIES LABELS layer TIMEOUT 120)
endif()
