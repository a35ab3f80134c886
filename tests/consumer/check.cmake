# Installs BUILD into an empty prefix, then configures, builds and runs the project beside this file against it, and has the
# installed program find a scene that is nowhere but there, and the model file that it names.
set(work ${BUILD}/tests/consumer)
file(REMOVE_RECURSE ${work})
set(run COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)

execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --config ${CONFIG} --prefix ${work}/prefix ${run})
execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${work}/build -G ${GENERATOR}
    -D CMAKE_BUILD_TYPE=${CONFIG} -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_CXX_FLAGS=${CXX_FLAGS}
    -D CMAKE_PREFIX_PATH=${work}/prefix -D CMAKE_FIND_PACKAGE_NO_PACKAGE_REGISTRY=ON ${run})
execute_process(COMMAND ${CMAKE_COMMAND} --build ${work}/build --config ${CONFIG} ${run})
execute_process(COMMAND ${CMAKE_CTEST_COMMAND} --build-config ${CONFIG} --output-on-failure
    WORKING_DIRECTORY ${work}/build ${run})

if(EXISTS ${work}/prefix/bin/costate)
    file(COPY_FILE ${work}/prefix/share/costate/scenes/go1_stand.json ${work}/prefix/share/costate/scenes/only_here.json)
    execute_process(COMMAND ${work}/prefix/bin/costate info only_here ${run})
endif()
