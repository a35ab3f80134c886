# What is installed in addition to the targets: find_package(costate), pkg-config costate, licenses; and `uninstall`.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/costate)
set(scenes_dir ${CMAKE_INSTALL_DATADIR}/costate/scenes)
configure_package_config_file(scripts/cmake/costateConfig.cmake.in costateConfig.cmake INSTALL_DESTINATION ${package_dir}
    PATH_VARS scenes_dir)
write_basic_package_version_file(costateConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/costateConfig.cmake ${PROJECT_BINARY_DIR}/costateConfigVersion.cmake
    DESTINATION ${package_dir})
install(EXPORT costate NAMESPACE costate:: FILE costateTargets.cmake DESTINATION ${package_dir})
install(EXPORT costate_c NAMESPACE costate:: FILE costateCTargets.cmake DESTINATION ${package_dir})

# Libs.private is for the static library.
file(RELATIVE_PATH pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
set(static_libs ${bullet_float64_LIBRARIES})
foreach(package tinyxml2 assimp png zstd)
    if(${package}_FOUND)
        list(APPEND static_libs ${${package}_LIBRARIES})
    endif()
endforeach()
if(COSTATE_WITH_ZLIB)
    list(APPEND static_libs z)
endif()
list(APPEND static_libs stdc++ m pthread dl)
list(TRANSFORM static_libs PREPEND -l)
list(JOIN static_libs " " static_libs)
configure_file(scripts/cmake/costate.pc.in costate.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/costate.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES LICENSE apps/LICENSES.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -D MANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt
    -P ${PROJECT_SOURCE_DIR}/scripts/cmake/uninstall.cmake VERBATIM)
