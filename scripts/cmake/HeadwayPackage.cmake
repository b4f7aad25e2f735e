# What `cpack` makes of a build: a Debian package and a tarball of the simulator with all that it
# reads. The calibrator is not in them: it belongs to the machine that it was built on.
set(CPACK_PACKAGE_NAME headway)
set(CPACK_PACKAGE_VENDOR "Headway")
set(CPACK_PACKAGE_CONTACT "Headway maintainers <maintainers@headway.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL simulator)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "Headway simulates data, tensor, pipeline, expert and context parallel training on InfiniBand and
Ethernet fabrics, and plans clusters: throughput, memory, stragglers, failures, cost.")

set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/scripts/cmake/PackageFormats.cmake)
set(CPACK_ARCHIVE_FILE_NAME headway-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
include(CPack)
