# The tarball that cpack makes holds all that an answer needs.
#   BUILD: the build folder; FOLDER: scratch; SOURCE: the source tree
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
execute_process(COMMAND ${CMAKE_CPACK_COMMAND} -G TGZ -B ${FOLDER} --config ${BUILD}/CPackConfig.cmake
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(GLOB archive ${FOLDER}/headway-*.tar.gz)
file(ARCHIVE_EXTRACT INPUT ${archive} DESTINATION ${FOLDER})
file(GLOB program ${FOLDER}/headway-*/bin/headway)
if(NOT program)
  message(FATAL_ERROR "${archive} has no bin/headway")
endif()
cmake_path(GET program PARENT_PATH folder)
cmake_path(GET folder PARENT_PATH root)
foreach(file IN ITEMS man/man1/headway.1 bash-completion/completions/headway
                      zsh/site-functions/_headway fish/vendor_completions.d/headway.fish)
  if(NOT EXISTS ${root}/share/${file})
    message(FATAL_ERROR "${archive} has no share/${file}")
  endif()
endforeach()

# Whatever the source tree ships is there too, and is what the program reads.
foreach(part IN ITEMS scenarios topologies calibrate/profiles)
  file(GLOB_RECURSE shipped RELATIVE ${SOURCE} ${SOURCE}/${part}/*.json)
  foreach(file IN LISTS shipped)
    file(SHA256 ${SOURCE}/${file} wanted)
    file(SHA256 ${root}/share/headway/${file} found)
    if(NOT wanted STREQUAL found)
      message(FATAL_ERROR "share/headway/${file} is not what ${SOURCE} has")
    endif()
  endforeach()
endforeach()
file(WRITE ${root}/share/headway/scenarios/only_here.json "{\"schema\": \"headway/scenario/1\"}")
execute_process(COMMAND ${program} list scenarios WORKING_DIRECTORY ${FOLDER}
                OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
if(NOT listed MATCHES "llama3_405b_16384" OR NOT listed MATCHES "only_here")
  message(FATAL_ERROR "the unpacked program lists:\n${listed}")
endif()
execute_process(COMMAND ${program} simulate llama3_8b_64 --quiet WORKING_DIRECTORY ${FOLDER}
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
