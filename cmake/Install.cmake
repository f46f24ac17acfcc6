# cmake --install: programs side by side in bin (sentry looks for sentry-gofer beside itself), manual pages,
# completions, examples. cpack -G DEB: two packages, `sentry` and `sentry-escape-suite` (the attacks are
# large). Packages are meant to be made from the release preset, whose programs are static.
include(GNUInstallDirs)
# Packing takes what was built; it builds nothing more.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)

set(doc_dir "${CMAKE_INSTALL_DATAROOTDIR}/doc/sentry")
foreach(program sentry sentry-gofer runsc-shim)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT runtime)
  endif()
endforeach()
install(FILES man/sentry.1 DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT runtime)
install(FILES man/runsc-shim.8 DESTINATION "${CMAKE_INSTALL_MANDIR}/man8" COMPONENT runtime)
install(FILES completions/sentry.bash RENAME sentry COMPONENT runtime
  DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions")
install(FILES completions/_sentry COMPONENT runtime
  DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/zsh/vendor-completions")
install(FILES completions/sentry.fish COMPONENT runtime
  DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/fish/vendor_completions.d")
install(FILES packaging/containers.conf packaging/containerd-config.toml
  DESTINATION "${doc_dir}/examples" COMPONENT runtime)
install(FILES README.md SECURITY.md docs/images.md docs/oci.md docs/security.md docs/compat.md
  packaging/copyright DESTINATION "${doc_dir}" COMPONENT runtime)

if(TARGET escape-suite)
  install(TARGETS escape-suite RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT suite)
  install(DIRECTORY "${PROJECT_BINARY_DIR}/escape/attacks"
    DESTINATION "lib/sentry" COMPONENT suite USE_SOURCE_PERMISSIONS)
  install(FILES man/escape-suite.1 DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT suite)
  install(FILES packaging/copyright COMPONENT suite
    DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/sentry-escape-suite")
endif()

set(CPACK_PACKAGE_NAME sentry)
set(CPACK_PACKAGE_VENDOR "the authors of sentry")
set(CPACK_PACKAGE_CONTACT "the authors of sentry <sentry@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "runs programs that nobody trusts, in a kernel in user space")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL runtime suite)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME sentry)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS skopeo)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "podman, containerd")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
  "sentry runs a program whose system calls are answered by a kernel of its own,
an ordinary process. runsc-shim is an OCI runtime on top of it, for podman and
containerd.")
set(CPACK_DEBIAN_SUITE_PACKAGE_NAME sentry-escape-suite)
set(CPACK_DEBIAN_SUITE_PACKAGE_DEPENDS "sentry (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_SUITE_DESCRIPTION
  "Hostile programs with a verdict each, for sentry and other sandboxes.")
include(CPack)
