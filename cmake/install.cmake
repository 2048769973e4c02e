# SPDX-License-Identifier: Apache-2.0
# Rules of the installation: headers of the library, of congestion-control algorithms and of
# modules, files for compilation against them (pkg-config hcasim, find_package(hcasim)), examples,
# documentation and manual pages.

# include/hcasim/ is public. Headers of the source tree that the public headers include are
# installed below include/hcasim/, at the same path.
file(GLOB wanted CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include include/hcasim/*.h)
list(APPEND wanted hca/module/examples/tlm_translation.h hca/module/examples/tlm_scheduler.h
     hca/module/examples/tlm_dma.h hca/module/examples/translation_cache.h)
set(headers)
while(wanted)
  list(POP_FRONT wanted header)
  if(NOT header IN_LIST headers)
    list(APPEND headers ${header})
    get_filename_component(folder ${header} DIRECTORY)
    if(EXISTS ${PROJECT_SOURCE_DIR}/include/${header})
      set(source include/${header})
      set(place ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
    else()
      set(source ${header})
      set(place ${CMAKE_INSTALL_INCLUDEDIR}/hcasim/${folder})
    endif()
    install(FILES ${source} DESTINATION ${place} COMPONENT libhcasim-dev)
    file(STRINGS ${source} includes REGEX "^#include \"")
    list(TRANSFORM includes REPLACE "^#include \"([^\"]+)\".*" "\\1")
    list(APPEND wanted ${includes})
  endif()
endwhile()

install(TARGETS hcasim-library EXPORT hcasim
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT hcasim NAMELINK_COMPONENT libhcasim-dev
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${CMAKE_INSTALL_INCLUDEDIR}/hcasim)
set(config ${CMAKE_INSTALL_LIBDIR}/cmake/hcasim)
install(EXPORT hcasim NAMESPACE hcasim:: FILE hcasimConfig.cmake DESTINATION ${config}
        COMPONENT libhcasim-dev)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hcasimConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hcasimConfigVersion.cmake DESTINATION ${config}
        COMPONENT libhcasim-dev)
file(RELATIVE_PATH PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${PROJECT_SOURCE_DIR}/cmake/hcasim.pc.in ${PROJECT_BINARY_DIR}/hcasim.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/hcasim.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT libhcasim-dev)

file(GLOB examples CONFIGURE_DEPENDS hca/module/examples/*.cpp hca/module/examples/*.v
     hcasim/library/examples/*)
install(FILES tests/hca/plugin/halve.c ${examples} DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples
        COMPONENT libhcasim-dev)
install(FILES README.md CHANGELOG.md CONTRIBUTING.md LICENSE SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR}
        COMPONENT hcasim-doc)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT hcasim-doc)

# Manual pages: the commands as `hcasim help` describes them, and the formats of scenarios and
# results.
find_package(Python3 COMPONENTS Interpreter)
if(TARGET hcasim AND Python3_FOUND)
  set(manual ${PROJECT_BINARY_DIR}/manual)
  file(GLOB pages CONFIGURE_DEPENDS docs/reference/*.md)
  add_custom_command(
    OUTPUT ${manual}/man1/hcasim.1
    COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/manual $<TARGET_FILE:hcasim> ${manual}
    DEPENDS hcasim ${PROJECT_SOURCE_DIR}/tools/manual ${PROJECT_SOURCE_DIR}/tools/tables.py ${pages})
  add_custom_target(manual ALL DEPENDS ${manual}/man1/hcasim.1)
  install(DIRECTORY ${manual}/man1 ${manual}/man5 DESTINATION ${CMAKE_INSTALL_MANDIR})
endif()
