# OpenBLAS::OpenBLAS, with the header cblas.h of the same library: Debian keeps one per variant.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(OPENBLAS_PC QUIET openblas)
endif()
find_path(OPENBLAS_INCLUDE_DIR openblas_config.h
          HINTS ${OPENBLAS_PC_INCLUDE_DIRS} ${OPENBLAS_PC_INCLUDEDIR}
          PATH_SUFFIXES openblas openblas-pthread ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-pthread)
find_library(OPENBLAS_LIBRARY openblas HINTS ${OPENBLAS_PC_LIBRARY_DIRS} ${OPENBLAS_PC_LIBDIR})
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenBLAS REQUIRED_VARS OPENBLAS_LIBRARY OPENBLAS_INCLUDE_DIR)
if(OpenBLAS_FOUND AND NOT TARGET OpenBLAS::OpenBLAS)
  add_library(OpenBLAS::OpenBLAS UNKNOWN IMPORTED)
  set_target_properties(OpenBLAS::OpenBLAS PROPERTIES IMPORTED_LOCATION ${OPENBLAS_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${OPENBLAS_INCLUDE_DIR})
endif()
mark_as_advanced(OPENBLAS_INCLUDE_DIR OPENBLAS_LIBRARY)
