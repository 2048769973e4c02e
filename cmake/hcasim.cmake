# SPDX-License-Identifier: Apache-2.0
# Definitions for all folders: compiler flags, and two functions that make a library or tests from a
# folder.
include(GNUInstallDirs)
find_package(PkgConfig REQUIRED)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(GSL REQUIRED IMPORTED_TARGET gsl)
pkg_check_modules(SYSTEMC REQUIRED IMPORTED_TARGET systemc)
pkg_check_modules(SIMGRID REQUIRED IMPORTED_TARGET simgrid)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(PROTOBUF_C REQUIRED IMPORTED_TARGET libprotobuf-c)
find_program(PROTOC_C protoc-c REQUIRED) # Debian: protobuf-c-compiler

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_CXX_STANDARD 17) # Debian's libsystemc exports its API version for exactly this standard
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()
# Asserts stay on in every build: they are part of the product.
foreach(language C CXX)
  foreach(type RELEASE RELWITHDEBINFO MINSIZEREL)
    string(REPLACE "-DNDEBUG" "" CMAKE_${language}_FLAGS_${type} "${CMAKE_${language}_FLAGS_${type}}")
  endforeach()
endforeach()

option(HCASIM_SANITIZE "build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(HCASIM_FUZZ "build the libFuzzer targets (clang only)" OFF)
# On in every preset. Off for packagers: another compiler's new warning must not stop their build.
option(HCASIM_WERROR "treat compiler warnings as errors" OFF)

add_library(hcasim_flags INTERFACE)
target_include_directories(hcasim_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(hcasim_flags INTERFACE _GNU_SOURCE)
target_compile_options(
  hcasim_flags INTERFACE -Wall -Wextra -Wshadow "$<$<BOOL:${HCASIM_WERROR}>:-Werror>" -fno-strict-aliasing
                         "$<$<COMPILE_LANGUAGE:C>:-Wconversion;-Wstrict-prototypes;-Wmissing-prototypes>")
# The same scenario gives the same bytes on every processor: none rounds a product and a sum once instead of twice.
add_compile_options(-ffp-contract=off)
# No program replaces a function of hcasim's libraries, so the compiler may inline all of them.
add_compile_options(-fno-semantic-interposition)
# gcc clears and copies structs of some hundred bytes by `rep`, which is slower than the C library.
include(CheckCCompilerFlag)
check_c_compiler_flag(-mstringop-strategy=libcall HCASIM_STRINGOP)
if(HCASIM_STRINGOP)
  add_compile_options($<$<COMPILE_LANGUAGE:C>:-mstringop-strategy=libcall>)
endif()
if(HCASIM_SANITIZE)
  add_compile_options(-O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

# hcasim_module(NAME [FOLDERS folder...] [LINKS target...]): every .c and .cpp of the folders (this
# one if none is named) is the library hcasim_NAME.
function(hcasim_module name)
  cmake_parse_arguments(MODULE "" "" "FOLDERS;LINKS" ${ARGN})
  if(NOT MODULE_FOLDERS)
    set(MODULE_FOLDERS .)
  endif()
  set(sources)
  foreach(folder ${MODULE_FOLDERS})
    file(GLOB found CONFIGURE_DEPENDS ${folder}/*.c ${folder}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  if(sources)
    add_library(hcasim_${name} STATIC ${sources})
    target_link_libraries(hcasim_${name} PUBLIC hcasim_flags ${MODULE_LINKS})
  else()
    add_library(hcasim_${name} INTERFACE)
    target_link_libraries(hcasim_${name} INTERFACE hcasim_flags ${MODULE_LINKS})
  endif()
endfunction()
