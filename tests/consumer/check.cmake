# Installs BUILD into an empty prefix, then configures, builds and runs the project beside this file against it, the C program by
# pkg-config too, and has the installed program find a scene that is nowhere but there, and the model file that it names.
set(work ${BUILD}/tests/consumer)
file(REMOVE_RECURSE ${work})
set(run COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)

execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --config ${CONFIG} --prefix ${work}/prefix ${run})
execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${work}/build -G ${GENERATOR}
    -D CMAKE_BUILD_TYPE=${CONFIG} -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_CXX_FLAGS=${CXX_FLAGS}
    -D CMAKE_C_COMPILER=${CC} -D CMAKE_C_FLAGS=${C_FLAGS}
    -D CMAKE_PREFIX_PATH=${work}/prefix -D CMAKE_FIND_PACKAGE_NO_PACKAGE_REGISTRY=ON ${run})
execute_process(COMMAND ${CMAKE_COMMAND} --build ${work}/build --config ${CONFIG} ${run})
execute_process(COMMAND ${CMAKE_CTEST_COMMAND} --build-config ${CONFIG} --output-on-failure
    WORKING_DIRECTORY ${work}/build ${run})

# The C program by pkg-config
file(GLOB_RECURSE pc ${work}/prefix/*/costate.pc)
if(pc)
    get_filename_component(pc_folder ${pc} DIRECTORY)
    execute_process(COMMAND ${CMAKE_COMMAND} -E env PKG_CONFIG_LIBDIR=${pc_folder} pkg-config --cflags --libs costate
        OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE ${run})
    separate_arguments(flags UNIX_COMMAND "${C_FLAGS} ${flags}")
    execute_process(COMMAND ${CC} -std=c99 ${CMAKE_CURRENT_LIST_DIR}/main.c -o ${work}/by_pkg_config ${flags} ${run})
    get_filename_component(library_folder ${pc_folder} DIRECTORY)
    execute_process(COMMAND ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${library_folder} COSTATE_SCENES=${work}/prefix/share/costate/scenes
        ${work}/by_pkg_config ${run})
endif()

if(EXISTS ${work}/prefix/bin/costate)
    file(COPY_FILE ${work}/prefix/share/costate/scenes/go1_stand.json ${work}/prefix/share/costate/scenes/only_here.json)
    execute_process(COMMAND ${work}/prefix/bin/costate info only_here ${run})
endif()
