# What Python's compiler would find only when a line runs: names that are nowhere defined, what is
# imported or set for nothing.
#   PYFLAKES: the program, or empty; SOURCE: the project
if(NOT PYFLAKES)
  message("Skipped: pyflakes3 was not found")
  return()
endif()
set(scripts)
foreach(folder IN ITEMS scripts sim/python tests)
  file(GLOB_RECURSE found ${SOURCE}/${folder}/*.py)
  list(APPEND scripts ${found})
endforeach()
list(LENGTH scripts count)
if(count LESS 20)
  message(FATAL_ERROR "only ${count} scripts were found below ${SOURCE}")
endif()
execute_process(COMMAND ${PYFLAKES} ${scripts} RESULT_VARIABLE code OUTPUT_VARIABLE said
                ERROR_VARIABLE said)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${said}")
endif()
