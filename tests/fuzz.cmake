# Fuzz targets: tests/fuzz/targets/NAME.c defines LLVMFuzzerTestOneInput. In the fuzz preset each
# becomes a libFuzzer program; in every other build a program that replays tests/fuzz/corpus/NAME
# once (label `fuzz-replay`). A line `/* links: LAYER... */` among the first lines names the layers;
# without it the target gets the kernel and the fakes.
file(GLOB fuzz_files CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/targets/*.c")
foreach(file ${fuzz_files})
  get_filename_component(name "${file}" NAME_WE)
  set(layers test_fakes kernel host)
  file(STRINGS "${file}" links REGEX "links: " LIMIT_COUNT 1)
  if(links MATCHES "links: ([a-z_ ]+)")
    string(STRIP "${CMAKE_MATCH_1}" links)
    separate_arguments(layers UNIX_COMMAND "${links}")
  endif()
  if(SENTRY_FUZZ)
    add_executable(fuzz_${name} "${file}")
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  else()
    add_executable(fuzz_${name} "${file}" fuzz/replay.c)
    add_test(NAME fuzz-replay/${name}
      COMMAND fuzz_${name} "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${name}")
    set_tests_properties(fuzz-replay/${name} PROPERTIES LABELS fuzz-replay TIMEOUT 300)
  endif()
  # libFuzzer's entry point has no header of its own.
  set_source_files_properties("${file}" PROPERTIES COMPILE_OPTIONS "-Wno-missing-prototypes")
  target_link_libraries(fuzz_${name} PRIVATE ${layers} flags)
endforeach()
