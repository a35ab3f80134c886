# Installs BUILD into an empty prefix, then configures, builds and runs the projects beside this file against it, the C
# programs by pkg-config too. The installed library and program find a scene that is nowhere but there. A project that
# contains SOURCE is configured. At last, what was installed is removed.
set(work ${BUILD}/tests/consumer)
file(REMOVE_RECURSE ${work})
set(run COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)

set(options -G ${GENERATOR} -D CMAKE_BUILD_TYPE=${CONFIG} -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_CXX_FLAGS=${CXX_FLAGS}
    -D CMAKE_C_COMPILER=${CC} -D CMAKE_C_FLAGS=${C_FLAGS}
    -D CMAKE_PREFIX_PATH=${work}/prefix -D CMAKE_FIND_PACKAGE_NO_PACKAGE_REGISTRY=ON)
function(check_project source build)  # configure, build, test
    execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}${source} -B ${work}/${build} ${options} ${run})
    execute_process(COMMAND ${CMAKE_COMMAND} --build ${work}/${build} --config ${CONFIG} ${run})
    execute_process(COMMAND ${CMAKE_CTEST_COMMAND} --build-config ${CONFIG} --output-on-failure --no-tests=error
        WORKING_DIRECTORY ${work}/${build} ${run})
endfunction()

# A scene that is only here, where the library was moved after its installation
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --config ${CONFIG} --prefix ${work}/prefix ${run})
set(scenes ${work}/prefix/share/costate/scenes)
file(COPY_FILE ${scenes}/bounce.json ${scenes}/only_here.json)
foreach(file LICENSE LICENSES.md)
    if(NOT EXISTS ${work}/prefix/share/doc/costate/${file})
        message(FATAL_ERROR "${file} is not installed")
    endif()
endforeach()

check_project("" build)
file(GLOB_RECURSE pc ${work}/prefix/*/costate.pc)
if(pc)
    check_project(/c_only c_only)

    # The C program by pkg-config, against the shared and the static library
    get_filename_component(pc_folder ${pc} DIRECTORY)
    get_filename_component(library_folder ${pc_folder} DIRECTORY)
    foreach(kind shared static)
        set(arguments --cflags --libs costate)
        if(kind STREQUAL static)
            list(PREPEND arguments --static)
        endif()
        execute_process(COMMAND ${CMAKE_COMMAND} -E env PKG_CONFIG_LIBDIR=${pc_folder} pkg-config ${arguments}
            OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE ${run})
        if(kind STREQUAL static)
            string(REPLACE "-lcostate" "-l:libcostate.a" flags "${flags}")
        endif()
        separate_arguments(flags UNIX_COMMAND "${C_FLAGS} ${flags}")
        execute_process(COMMAND ${CC} -std=c99 ${CMAKE_CURRENT_LIST_DIR}/main.c -o ${work}/prefix/bin/by_pkg_config_${kind}
            ${flags} ${run})
        execute_process(COMMAND ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${library_folder}
            ${work}/prefix/bin/by_pkg_config_${kind} only_here ${run})
        file(REMOVE ${work}/prefix/bin/by_pkg_config_${kind})
    endforeach()
endif()

if(EXISTS ${work}/prefix/bin/costate)
    execute_process(COMMAND ${work}/prefix/bin/costate info only_here ${run})
endif()

execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/subdirectory -B ${work}/subdirectory ${options}
    -D COSTATE_SOURCE=${SOURCE} ${run})
execute_process(COMMAND ${CMAKE_COMMAND} --build ${work}/subdirectory --config ${CONFIG} --target consumer ${run})

file(REMOVE ${scenes}/only_here.json)
execute_process(COMMAND ${CMAKE_COMMAND} -D MANIFEST=${BUILD}/install_manifest.txt -P ${SOURCE}/scripts/cmake/uninstall.cmake
    ${run})
if(EXISTS ${work}/prefix)
    message(FATAL_ERROR "uninstall leaves files in ${work}/prefix")
endif()
