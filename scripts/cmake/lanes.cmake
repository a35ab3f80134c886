# Objects that are compiled once for each width of lanes (core/math/lanes.hpp). No option here changes bits.
#
# On x86-64, 2 lanes are compiled for SSE2, 4 for AVX2 and 8 for AVX-512, and all they define but for their factory is made
# local: the linker keeps one copy of an inline function, a machine without AVX2 must not meet that one, and functions with and without
# AVX2 return 4 lanes in different places. That needs the linker and objcopy of binutils. Without them, and elsewhere, lanes are compiled
# as everything else, and wide ones take several registers of SSE2 or NEON.
set(costate_x86_64 FALSE)
set(COSTATE_USUAL_LANES 2)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(costate_x86_64 TRUE)
    if(NOT WIN32)  # there g++ does not align vectors of AVX2 on the stack (bug 54412 of GCC)
        set(COSTATE_USUAL_LANES 4)
    endif()
endif()
set(COSTATE_LANE_WIDTHS ${COSTATE_USUAL_LANES} CACHE STRING
    "Numbers of environments that share a step in lanes, of 2, 4 and 8; ${COSTATE_USUAL_LANES} is always there")
set(COSTATE_LANE_WIDTHS_BUILT ${COSTATE_USUAL_LANES} ${COSTATE_LANE_WIDTHS})
list(REMOVE_DUPLICATES COSTATE_LANE_WIDTHS_BUILT)
foreach(width ${COSTATE_LANE_WIDTHS_BUILT})
    if(NOT width MATCHES "^[248]$")
        message(FATAL_ERROR "COSTATE_LANE_WIDTHS contains ${width}: there are the widths 2, 4 and 8")
    endif()
endforeach()
set(costate_isolates FALSE)
if(costate_x86_64)
    find_program(COSTATE_LINKER NAMES ld.bfd)
    find_program(COSTATE_OBJCOPY NAMES x86_64-linux-gnu-objcopy objcopy)
    mark_as_advanced(COSTATE_LINKER COSTATE_OBJCOPY)
    if(COSTATE_LINKER AND COSTATE_OBJCOPY AND NOT WIN32 AND NOT APPLE AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize"
        AND NOT COSTATE_FUZZ)
        set(costate_isolates TRUE)
    endif()
endif()

# costate_lane_objects(<folder> <source> <factory>): the source, once for each width W, for costate_<folder>, to which
# costate_library adds it. In it COSTATE_LANE_WIDTH is W, and COSTATE_LANE_FACTORY the function <factory>_W, which has
# no C++ name; in all other sources of the folder COSTATE_LANES_W is defined, and COSTATE_USUAL_LANES.
function(costate_lane_objects folder source factory)
    foreach(width ${COSTATE_LANE_WIDTHS_BUILT})
        set(name ${factory}_${width})
        set(instructions)
        if(costate_isolates AND width EQUAL 4)
            set(instructions -mavx2)
        elseif(costate_isolates AND width EQUAL 8)
            set(instructions -mavx512f -mavx512dq -mavx512vl -mprefer-vector-width=512)
        endif()
        add_library(${name} OBJECT ${folder}/${source})
        set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
        target_link_libraries(${name} PRIVATE costate_collision)
        target_compile_definitions(${name} PRIVATE COSTATE_LANE_WIDTH=${width} COSTATE_LANE_FACTORY=${name})
        target_compile_options(${name} PRIVATE -fno-math-errno -Wno-ignored-attributes ${instructions}
            $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique -Wno-psabi>)
        add_dependencies(${name} costate_headers)
        set(object $<TARGET_OBJECTS:${name}>)
        if(costate_isolates)
            set(isolated ${CMAKE_CURRENT_BINARY_DIR}/${folder}/${name}.o)
            add_custom_command(OUTPUT ${isolated}
                COMMAND ${COSTATE_LINKER} -r --force-group-allocation ${object} -o ${isolated}
                COMMAND ${COSTATE_OBJCOPY} --keep-global-symbol=${name} ${isolated}
                DEPENDS ${name} ${object} VERBATIM COMMAND_EXPAND_LISTS)
            add_custom_target(${name}_isolated DEPENDS ${isolated})  # so that it waits for no library of the folder's
            set(object ${isolated})
            set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
            set_property(GLOBAL APPEND PROPERTY costate_lane_targets_${folder} ${name}_isolated)
        endif()
        set_property(GLOBAL APPEND PROPERTY costate_lane_objects_${folder} ${object})
        set_property(GLOBAL APPEND PROPERTY costate_lane_objects ${object})  # of all folders, for libraries of them
    endforeach()
endfunction()

# costate_add_lanes(<folder>): what costate_lane_objects has prepared for costate_<folder>.
function(costate_add_lanes folder)
    get_property(objects GLOBAL PROPERTY costate_lane_objects_${folder})
    if(NOT objects)
        return()
    endif()
    target_sources(costate_${folder} PRIVATE ${objects})
    list(TRANSFORM COSTATE_LANE_WIDTHS_BUILT PREPEND COSTATE_LANES_ OUTPUT_VARIABLE definitions)
    target_compile_definitions(costate_${folder} PRIVATE ${definitions} COSTATE_USUAL_LANES=${COSTATE_USUAL_LANES})
    get_property(targets GLOBAL PROPERTY costate_lane_targets_${folder})
    if(targets)
        # Properties of a source are those of one folder.
        set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
        add_dependencies(costate_${folder} ${targets})
    endif()
endfunction()
