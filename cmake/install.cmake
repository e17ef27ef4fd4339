# What `cmake --install` puts where: the libraries with their headers and the files by which CMake and pkg-config find it, the
# programs, the shim, the manual pages, the systemd units, shells' completions, what mount(8) runs for a mount of ours.
include(CMakePackageConfigHelpers)

set(LANDTRACE_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/landtrace)

set(LANDTRACE_LIBRARIES landtrace landtrace_shared)
if(TARGET landtrace_reader_shared)
  list(APPEND LANDTRACE_LIBRARIES landtrace_reader_shared)
endif()
install(TARGETS ${LANDTRACE_LIBRARIES} EXPORT landtraceTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(DIRECTORY include/landtrace DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(EXPORT landtraceTargets NAMESPACE landtrace:: DESTINATION ${LANDTRACE_PACKAGE_DIR} COMPONENT development)

configure_package_config_file(cmake/landtraceConfig.cmake.in ${PROJECT_BINARY_DIR}/landtraceConfig.cmake
  INSTALL_DESTINATION ${LANDTRACE_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/landtraceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/landtraceConfig.cmake ${PROJECT_BINARY_DIR}/landtraceConfigVersion.cmake
  DESTINATION ${LANDTRACE_PACKAGE_DIR} COMPONENT development)

# The prefix follows the file, so that an installation can be moved.
file(RELATIVE_PATH LANDTRACE_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
foreach(library landtrace landtrace-reader)
  configure_file(cmake/${library}.pc.in ${PROJECT_BINARY_DIR}/${library}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endforeach()

if(TARGET landtrace_cli)
  install(TARGETS landtrace_cli landtraced RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(TARGET landtrace_bpf_program)
    install(TARGETS landtrace_bpf_program RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/landtrace)
  endif()
  install(TARGETS landtrace_dwarf_program RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/landtrace)
  if(TARGET landtrace_metrics_program)
    install(TARGETS landtrace_metrics_program RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/landtrace)
  endif()
  if(TARGET landtrace_fleet_program)
    install(TARGETS landtrace_fleet_program RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/landtrace)
  endif()
  if(TARGET landtrace_fleet_metrics_program)
    install(TARGETS landtrace_fleet_metrics_program RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/landtrace)
  endif()
  if(TARGET landtrace_collect_program)
    install(TARGETS landtrace_collect_program RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/landtrace)
  endif()
  if(TARGET landtrace_ui_program)
    install(TARGETS landtrace_ui_program RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/landtrace)
  endif()
  # systemd looks for both below lib, whatever the libraries' folder is called. They name the program by its path, which
  # is known when they are installed: --prefix may differ from what was configured.
  install(CODE "
    cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX NORMALIZE OUTPUT_VARIABLE prefix)
    cmake_path(APPEND prefix \"${CMAKE_INSTALL_BINDIR}\" OUTPUT_VARIABLE LANDTRACE_BINDIR)
    foreach(kind system user)
      foreach(unit landtraced.service landtraced.socket)
        configure_file(\"${PROJECT_SOURCE_DIR}/packaging/systemd/\${kind}/\${unit}.in\"
          \"${PROJECT_BINARY_DIR}/systemd/\${kind}/\${unit}\" @ONLY)
        file(INSTALL \"${PROJECT_BINARY_DIR}/systemd/\${kind}/\${unit}\"
          DESTINATION \"\${CMAKE_INSTALL_PREFIX}/lib/systemd/\${kind}\")
      endforeach()
    endforeach()" COMPONENT units)
  install(FILES packaging/sysusers.conf DESTINATION lib/sysusers.d RENAME landtrace.conf COMPONENT units)
  install(FILES packaging/tmpfiles.conf DESTINATION lib/tmpfiles.d RENAME landtrace.conf COMPONENT units)
  install(PROGRAMS packaging/completions/complete DESTINATION ${CMAKE_INSTALL_DATADIR}/landtrace COMPONENT completions)
  install(FILES packaging/completions/landtrace.bash
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME landtrace COMPONENT completions)
  install(FILES packaging/completions/_landtrace
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT completions)
  install(FILES packaging/completions/landtrace.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT completions)
  install(PROGRAMS packaging/mount.fuse.tracefs DESTINATION ${CMAKE_INSTALL_SBINDIR})
endif()
if(TARGET landtrace_preload)
  install(TARGETS landtrace_preload LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/landtrace)
  if(TARGET landtrace_perf_object)
    install(TARGETS landtrace_perf_object LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/landtrace)
  endif()
  if(TARGET landtrace_agent_object)
    install(TARGETS landtrace_agent_object LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/landtrace)
  endif()
endif()

file(GLOB LANDTRACE_MAN_PAGES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/man/*.1)
if(LANDTRACE_MAN_PAGES)
  install(FILES ${LANDTRACE_MAN_PAGES} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
install(FILES man/landtraced.8 man/mount.fuse.tracefs.8 DESTINATION ${CMAKE_INSTALL_MANDIR}/man8)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
