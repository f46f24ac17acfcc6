# sentry_layer(NAME [SOURCES globs] [FILES files] [EXCLUDE files] [LINK targets])
#   a static library of the files found; "dir/**.c" searches below dir, "dir/*.c" in dir only.
# sentry_program(NAME MAIN file LINK layers)
#   a program in build/PRESET/bin; nothing when its main file does not exist.

file(WRITE "${PROJECT_BINARY_DIR}/empty.c" "extern int sentry_empty_unit;\n")

function(sentry_find ret_files)
  set(found "")
  foreach(glob ${ARGN})
    if(glob MATCHES "^(.*)/\\*\\*(\\..*)$")
      file(GLOB_RECURSE part CONFIGURE_DEPENDS
        "${PROJECT_SOURCE_DIR}/${CMAKE_MATCH_1}/*${CMAKE_MATCH_2}")
    else()
      file(GLOB part CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${glob}")
    endif()
    list(APPEND found ${part})
  endforeach()
  set(${ret_files} "${found}" PARENT_SCOPE)
endfunction()

function(sentry_layer name)
  cmake_parse_arguments(arg "" "" "SOURCES;FILES;EXCLUDE;LINK" ${ARGN})
  sentry_find(files ${arg_SOURCES} ${arg_FILES})
  foreach(file ${arg_EXCLUDE})
    list(REMOVE_ITEM files "${PROJECT_SOURCE_DIR}/${file}")
  endforeach()
  if(NOT files)
    set(files "${PROJECT_BINARY_DIR}/empty.c")
  endif()
  add_library(${name} STATIC ${files})
  target_link_libraries(${name} PUBLIC ${arg_LINK} PRIVATE flags)
  sentry_analysis(${name})
endfunction()

function(sentry_program name)
  cmake_parse_arguments(arg "" "MAIN" "LINK" ${ARGN})
  if(NOT EXISTS "${PROJECT_SOURCE_DIR}/${arg_MAIN}")
    return()
  endif()
  add_executable(${name} "${PROJECT_SOURCE_DIR}/${arg_MAIN}")
  target_link_libraries(${name} PRIVATE ${arg_LINK} flags program_flags)
  sentry_analysis(${name})
  # The linker writes here and there, so the page cache holds its file in small pieces, and each start pays for mapping
  # them (a tenth of its CPU time). A copy, as an installed program is one, is held in large ones.
  if(SENTRY_LTO)
    add_custom_command(TARGET ${name} POST_BUILD
      COMMAND cp "$<TARGET_FILE:${name}>" "$<TARGET_FILE:${name}>.copy"
      COMMAND mv -f "$<TARGET_FILE:${name}>.copy" "$<TARGET_FILE:${name}>")
  endif()
endfunction()

# clang-tidy beside the compiler in the `analyze` preset.
function(sentry_analysis target)
  if(SENTRY_ANALYZE)
    set_target_properties(${target} PROPERTIES C_CLANG_TIDY "${PROJECT_SOURCE_DIR}/cmake/checks/analyze_tidy.sh;--quiet")
  endif()
endfunction()
