# The image is made with what `package.sh --prove` runs: the parts that the script takes from the
# Containerfile are there once each, and name what is packaged.
#   SCRIPTS: their folder; BUILD: the build folder
file(READ ${SCRIPTS}/package.sh script)
file(STRINGS ${SCRIPTS}/Containerfile lines REGEX "^[A-Z]+ ")
set(expected
    "FROM debian:[a-z]+-slim"
    "COPY headway_\\*\\.deb /headway\\.deb"
    "RUN .*apt-get install .*--no-install-recommends /headway\\.deb && .*"
    "ENTRYPOINT \\[\"headway\"\\]")
list(LENGTH lines count)
if(NOT count EQUAL 4)
  message(FATAL_ERROR "the Containerfile says ${count} things, of which --prove proves 4: ${lines}")
endif()
foreach(line pattern IN ZIP_LISTS lines expected)
  if(NOT line MATCHES "^${pattern}$")
    message(SEND_ERROR "${line}\nis not\n${pattern}")
  endif()
endforeach()
foreach(taken IN ITEMS "s/^COPY headway_\\*\\.deb //p" "s/^RUN //p"
                       "s/^ENTRYPOINT \\[\"\\(.*\\)\"\\]$/\\1/p")
  string(FIND "${script}" "${taken}" place)
  if(place EQUAL -1)
    message(SEND_ERROR "package.sh does not take ${taken} from the Containerfile")
  endif()
endforeach()
include(${BUILD}/CPackConfig.cmake)
if(NOT CPACK_PACKAGE_NAME STREQUAL "headway")
  message(SEND_ERROR "packages are called ${CPACK_PACKAGE_NAME}_*.deb")
endif()
