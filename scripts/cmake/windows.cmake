# Toolchain file: compiles the program for Windows by mingw-w64 of Debian, against the packages that
# scripts/check/windows_packages.sh puts into build-windows/packages. Without optional packages but zlib.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_CROSSCOMPILING_EMULATOR /usr/lib/wine/wine64)
get_filename_component(packages ${CMAKE_CURRENT_LIST_DIR}/../../build-windows/packages ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH ${packages} /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
    set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
set(ENV{PKG_CONFIG_LIBDIR} ${packages}/lib/pkgconfig)
# no DLL beside the program
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(ZLIB_USE_STATIC_LIBS ON)
