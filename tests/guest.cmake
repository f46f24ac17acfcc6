# Guest test programs: tests/guest/NAME.c, each a plain Linux program in one file, built static,
# dynamic and (where musl-gcc is present) against musl, run natively and in the sandbox (label
# `guest`). A first line `/* guest: glibc-only */` leaves musl out. Never sanitized: they are the
# guest. Programs below tests/guest/stress are labelled `soak` and run on demand.
set(guest_dir "${PROJECT_BINARY_DIR}/guest")
set(guest_root "${PROJECT_BINARY_DIR}/guest-root")
find_program(MUSL_GCC musl-gcc)
file(GLOB guest_files CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/guest/*.c")
file(GLOB stress_files CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/guest/stress/*.c")
file(GLOB guest_headers CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/guest/*.h")
# Bad pointers and lengths are what many of them are about.
set(guest_flags -Wno-unknown-warning-option -std=gnu17 -O2 -g -Wall -Wextra -Wno-unused-parameter -Wno-nonnull
  -Wno-infinite-recursion -Wno-return-type -Wno-stringop-overflow
  -Wno-stringop-overread -Wno-array-bounds -Wno-unused-result -Wno-cpp -Wno-missing-field-initializers
  -Wno-sign-compare
  -D_GNU_SOURCE -pthread "-I${PROJECT_SOURCE_DIR}")
set(guest_programs "")

function(guest_build variant name file compiler)
  set(out "${guest_dir}/${variant}/${name}")
  add_custom_command(OUTPUT "${out}"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${guest_dir}/${variant}"
    COMMAND "${compiler}" ${guest_flags} ${ARGN} -o "${out}" "${file}"
    DEPENDS "${file}" ${guest_headers}
    COMMENT "guest ${variant}/${name}" VERBATIM)
  set(guest_programs ${guest_programs} "${out}" PARENT_SCOPE)
endfunction()

function(guest_test variant name label timeout)
  add_test(NAME guest/${name}/${variant}
    COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/guest/run.sh" ${name} ${variant})
  math(EXPR inner "${timeout} - 10")
  set_tests_properties(guest/${name}/${variant} PROPERTIES LABELS ${label} TIMEOUT ${timeout}
    FIXTURES_REQUIRED guest_root
    ENVIRONMENT "GUEST_BUILD=${guest_dir};GUEST_ROOT=${guest_root};GUEST_TIMEOUT=${inner};SENTRY=${PROJECT_BINARY_DIR}/bin/sentry")
endfunction()

# A static program once more in chaos mode (debug builds): blocked calls are woken at random.
function(guest_chaos_test name)
  add_test(NAME guest/${name}/chaos COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/guest/run.sh" ${name} static)
  set_tests_properties(guest/${name}/chaos PROPERTIES LABELS guest TIMEOUT 240
    FIXTURES_REQUIRED guest_root
    ENVIRONMENT "SENTRY_CHAOS=wake;GUEST_BUILD=${guest_dir};GUEST_ROOT=${guest_root};GUEST_TIMEOUT=230;SENTRY=${PROJECT_BINARY_DIR}/bin/sentry")
endfunction()

if(guest_files OR stress_files)
  foreach(file ${guest_files} ${stress_files})
    get_filename_component(name "${file}" NAME_WE)
    set(label guest)
    set(timeout 240) # for a hang: on a busy machine all takes long
    if(file IN_LIST stress_files)
      set(label soak)
      set(timeout 600)
    endif()
    file(STRINGS "${file}" first LIMIT_COUNT 1)
    guest_build(static ${name} "${file}" "${CMAKE_C_COMPILER}" -static)
    guest_test(static ${name} ${label} ${timeout})
    if(label STREQUAL guest)
      guest_chaos_test(${name})
    endif()
    guest_build(dynamic ${name} "${file}" "${CMAKE_C_COMPILER}")
    guest_test(dynamic ${name} ${label} ${timeout})
    if(MUSL_GCC AND NOT first MATCHES "glibc-only")
      guest_build(musl ${name} "${file}" "${MUSL_GCC}" -static
        -idirafter /usr/include -idirafter "/usr/include/${CMAKE_C_LIBRARY_ARCHITECTURE}")
      guest_test(musl ${name} ${label} ${timeout})
    endif()
  endforeach()
  add_custom_target(guest_programs ALL DEPENDS ${guest_programs})
  add_test(NAME guest/root COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/guest/root.sh"
    "${PROJECT_SOURCE_DIR}/build/images/busybox" "${guest_dir}" "${guest_root}")
  set_tests_properties(guest/root PROPERTIES FIXTURES_SETUP guest_root LABELS guest TIMEOUT 300)
endif()
