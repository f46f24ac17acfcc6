# /proc/config.gz: packed without name and time, so that two builds are alike.
find_program(GZIP gzip REQUIRED)
set(config_dir "${PROJECT_BINARY_DIR}/proc")
set(config_src "${PROJECT_SOURCE_DIR}/sentry/fs/proc")
file(MAKE_DIRECTORY "${config_dir}")
add_custom_command(OUTPUT "${config_dir}/config.gz"
  COMMAND sh -c "'${GZIP}' -9nc '${config_src}/config.txt' >'${config_dir}/config.gz'"
  DEPENDS "${config_src}/config.txt"
  COMMENT "Packing /proc/config.gz" VERBATIM)
set_source_files_properties("${config_src}/config.S" PROPERTIES
  OBJECT_DEPENDS "${config_dir}/config.gz" COMPILE_OPTIONS "-Wa,-I${config_dir}")
target_sources(kernel PRIVATE "${config_src}/config.S")
