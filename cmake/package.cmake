# SPDX-License-Identifier: Apache-2.0
# Debian packages, made by tools/debs. hcasim: the program and its data. libhcasim-dev: headers and
# examples of the library, of plug-ins and SystemC modules. hcasim-doc: the pages.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME hcasim)
set(CPACK_PACKAGE_CONTACT "hcasim maintainers <maintainers@hcasim.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "simulator of RDMA adapters and the fabrics between them")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL hcasim libhcasim-dev hcasim-doc)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)

set(CPACK_DEBIAN_HCASIM_PACKAGE_NAME hcasim)
set(CPACK_DEBIAN_HCASIM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_HCASIM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_HCASIM_PACKAGE_RECOMMENDS
    "perftest, ibverbs-providers, ibverbs-utils, rdmacm-utils, iproute2, gnuplot-nox")
set(CPACK_DEBIAN_HCASIM_PACKAGE_SUGGESTS "libhcasim-dev, hcasim-doc, libsimgrid-dev, gtkwave")
set(CPACK_COMPONENT_HCASIM_DESCRIPTION
    "Programs run unmodified on simulated InfiniBand and RoCE adapters, in virtual time.
 Scenarios in YAML run without programs.")

set(CPACK_DEBIAN_LIBHCASIM-DEV_PACKAGE_NAME libhcasim-dev)
set(CPACK_DEBIAN_LIBHCASIM-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBHCASIM-DEV_PACKAGE_DEPENDS "hcasim (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_LIBHCASIM-DEV_PACKAGE_RECOMMENDS "pkg-config, gcc, g++, libsystemc-dev")
set(CPACK_COMPONENT_LIBHCASIM-DEV_DESCRIPTION
    "Headers and examples of the simulation library, of congestion-control plug-ins and SystemC
 modules of hcasim.")

set(CPACK_DEBIAN_HCASIM-DOC_PACKAGE_NAME hcasim-doc)
set(CPACK_DEBIAN_HCASIM-DOC_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_HCASIM-DOC_PACKAGE_ARCHITECTURE all)
set(CPACK_COMPONENT_HCASIM-DOC_DESCRIPTION
    "Tutorials, guides, reference and explanation of hcasim, as Markdown.")

foreach(package hcasim libhcasim-dev hcasim-doc)
  install(FILES cmake/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package}
          COMPONENT ${package})
endforeach()
include(CPack)
