# What `cmake --install` puts where, so that find_package(tutti) gives the target tutti::tutti.
include(CMakePackageConfigHelpers)
set(tutti_config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tutti)

install(TARGETS tutti EXPORT tutti_targets)
if(TARGET tutti_cli)
  install(TARGETS tutti_cli)
endif()
install(DIRECTORY tutti DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY recipes machines DESTINATION ${CMAKE_INSTALL_DATADIR}/tutti)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT tutti_targets NAMESPACE tutti:: FILE tutti-targets.cmake DESTINATION ${tutti_config_folder})
configure_package_config_file(cmake/tutti-config.cmake.in tutti-config.cmake
                              INSTALL_DESTINATION ${tutti_config_folder})
write_basic_package_version_file(tutti-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tutti-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/tutti-config-version.cmake
        DESTINATION ${tutti_config_folder})
