# External libraries as ext::NAME. Release programs are static, so there the archives are taken.
find_package(PkgConfig REQUIRED)

function(sentry_external name module archives)
  pkg_check_modules(${name} REQUIRED QUIET ${module})
  add_library(ext_${name} INTERFACE)
  add_library(ext::${name} ALIAS ext_${name})
  target_include_directories(ext_${name} SYSTEM INTERFACE ${${name}_INCLUDE_DIRS})
  if(SENTRY_LTO)
    set(paths "")
    foreach(archive ${archives})
      find_library(archive_${archive} NAMES lib${archive}.a REQUIRED)
      list(APPEND paths "${archive_${archive}}")
    endforeach()
    target_link_libraries(ext_${name} INTERFACE ${paths})
  else()
    target_link_libraries(ext_${name} INTERFACE ${${name}_LIBRARIES})
  endif()
endfunction()

sentry_external(seccomp libseccomp "seccomp")
sentry_external(elf libelf "elf;z")
sentry_external(xxhash libxxhash "xxhash")
sentry_external(cap libcap "cap")
sentry_external(jansson jansson "jansson")

sentry_external(nettle nettle "nettle")

# Only libarchive's tar reader with gzip and zstd is used: a static program takes those objects from its
# archive and nothing of the dozen other libraries that the whole of it needs.
sentry_external(archive libarchive "archive;zstd;z;nettle")

pkg_check_modules(check REQUIRED QUIET check)
add_library(ext_check INTERFACE)
add_library(ext::check ALIAS ext_check)
target_link_libraries(ext_check INTERFACE ${check_LIBRARIES} pthread)
