# SPDX-License-Identifier: Apache-2.0
# What an installation has beside programs, libraries and scenarios: headers for congestion-control plug-ins and SystemC modules,
# with the commands that compile them (pkg-config hcasim), examples of both, the documentation and manual pages.

# The headers that a plug-in or a module includes, and what those include: their places are those of the source tree.
set(wanted hca/congestion/congestion.h fabric/wire/packet.h hca/module/examples/tlm_translation.h hca/module/examples/tlm_scheduler.h
           hca/module/examples/tlm_dma.h hca/module/examples/translation_cache.h)
set(headers)
while(wanted)
  list(POP_FRONT wanted header)
  if(NOT header IN_LIST headers)
    list(APPEND headers ${header})
    get_filename_component(folder ${header} DIRECTORY)
    install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hcasim/${folder})
    file(STRINGS ${header} includes REGEX "^#include \"")
    list(TRANSFORM includes REPLACE "^#include \"([^\"]+)\".*" "\\1")
    list(APPEND wanted ${includes})
  endif()
endwhile()
file(RELATIVE_PATH PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${PROJECT_SOURCE_DIR}/cmake/hcasim.pc.in ${PROJECT_BINARY_DIR}/hcasim.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/hcasim.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

file(GLOB examples CONFIGURE_DEPENDS hca/module/examples/*.cpp hca/module/examples/*.v)
install(FILES tests/hca/plugin/halve.c ${examples} DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(FILES README.md CHANGELOG.md CONTRIBUTING.md LICENSE SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Manual pages: the commands as `hcasim help` describes them, and the formats of scenarios and results.
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
