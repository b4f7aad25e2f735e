# Each part is AUTO (built if its dependency is found), ON (its absence is an error) or OFF.

option(HEADWAY_WERROR "Treat warnings as errors" OFF)
option(HEADWAY_UNITY "Compile several sources of a target as one: half the time from nothing" ON)
option(HEADWAY_SANITIZE "Build with the address and undefined-behaviour sanitizers" OFF)

set(HEADWAY_SUMMARY "")

# headway_part(NAME DESCRIPTION): declares the three-valued option HEADWAY_<NAME>.
macro(headway_part name description)
  set(HEADWAY_${name} AUTO CACHE STRING "${description}: AUTO, ON or OFF")
  set_property(CACHE HEADWAY_${name} PROPERTY STRINGS AUTO ON OFF)
  if(NOT HEADWAY_${name} MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "HEADWAY_${name} is '${HEADWAY_${name}}'; use AUTO, ON or OFF")
  endif()
endmacro()

# headway_settle(NAME FOUND HOW): sets HEADWAY_WITH_<NAME> from the option and what was found.
macro(headway_settle name found how)
  set(HEADWAY_WITH_${name} OFF)
  if(HEADWAY_${name} STREQUAL "OFF")
    list(APPEND HEADWAY_SUMMARY "${name}: left out (HEADWAY_${name}=OFF)")
  elseif(${found})
    set(HEADWAY_WITH_${name} ON)
    list(APPEND HEADWAY_SUMMARY "${name}: in")
  elseif(HEADWAY_${name} STREQUAL "ON")
    message(FATAL_ERROR "HEADWAY_${name}=ON, but ${how}")
  else()
    list(APPEND HEADWAY_SUMMARY "${name}: left out (${how})")
  endif()
endmacro()

headway_part(SIM "The simulator `headway` (SimGrid)")
if(NOT HEADWAY_SIM STREQUAL "OFF")
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(SimGrid QUIET IMPORTED_TARGET simgrid)
  endif()
endif()
headway_settle(SIM SimGrid_FOUND "SimGrid was not found by pkg-config; Debian has it as libsimgrid-dev")

headway_part(CHARTS "Charts in HTML reports (Chart.js)")
if(NOT HEADWAY_CHARTS STREQUAL "OFF")
  find_file(HEADWAY_CHART_JS chart.min.js PATHS /usr/share/javascript/chart.js
            /usr/share/nodejs/chart.js/dist DOC "Chart.js, minified, version 3")
  mark_as_advanced(HEADWAY_CHART_JS)
endif()
headway_settle(CHARTS HEADWAY_CHART_JS
               "Chart.js was not found (tables are all there is then); Debian has it as libjs-chart.js")
set(HEADWAY_CHART_LIBRARY "")
if(HEADWAY_WITH_CHARTS)
  set(HEADWAY_CHART_LIBRARY ${HEADWAY_CHART_JS})
endif()

headway_part(PYTHON "The Python module `headway` (pybind11)")
set(headway_python_lack "the simulator is left out")
if(HEADWAY_SANITIZE)
  set(headway_python_lack "Python itself is not built with sanitizers")
elseif(HEADWAY_WITH_SIM AND NOT HEADWAY_PYTHON STREQUAL "OFF")
  set(headway_python_lack
      "pybind11 or Python's headers were not found; Debian has them as pybind11-dev and python3-dev")
  set(PYBIND11_FINDPYTHON ON)
  find_package(Python 3.9 QUIET COMPONENTS Interpreter Development.Module)
  if(Python_Development.Module_FOUND)
    find_package(pybind11 2.10 QUIET CONFIG)
  endif()
endif()
headway_settle(PYTHON pybind11_FOUND "${headway_python_lack}")

include(HeadwayCalibratorOptions)

headway_part(TESTS "The tests (GoogleTest)")
if(NOT HEADWAY_TESTS STREQUAL "OFF")
  find_package(GTest QUIET)
endif()
headway_settle(TESTS GTest_FOUND "GoogleTest was not found; Debian has it as libgtest-dev and libgmock-dev")

find_package(nlohmann_json 3.11 REQUIRED)
find_package(fmt REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS program_options)

function(headway_print_summary)
  message(STATUS "Headway ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}:")
  foreach(line IN LISTS HEADWAY_SUMMARY)
    message(STATUS "  ${line}")
  endforeach()
endfunction()
