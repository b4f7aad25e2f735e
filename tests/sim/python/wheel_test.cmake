# Installs the wheel as users do, without a registry, and runs the tests of the module in it.
#   PYTHON; BUILD: the build folder; SOURCE: the source tree; PROGRAM: headway; FOLDER: scratch;
#   TEST: module_test.py
set(ENV{PYTHONDONTWRITEBYTECODE} 1)
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
execute_process(COMMAND ${PYTHON} -m pip --version RESULT_VARIABLE no_pip OUTPUT_QUIET ERROR_QUIET)
if(no_pip)
  message(STATUS "Python has no pip: the wheel is unpacked by hand")
  execute_process(COMMAND ${PYTHON} ${SOURCE}/sim/python/wheel_backend.py ${FOLDER} ${BUILD}
                  COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB wheel ${FOLDER}/headway-*.whl)
  file(ARCHIVE_EXTRACT INPUT ${wheel} DESTINATION ${FOLDER}/installed)
else()
  execute_process(COMMAND ${PYTHON} -m pip install --quiet --no-index --no-cache-dir
                          --root-user-action=ignore --config-settings build=${BUILD}
                          --target ${FOLDER}/installed ${SOURCE}/sim/python
                  COMMAND_ERROR_IS_FATAL ANY)
endif()
execute_process(COMMAND ${PYTHON} ${TEST} ${FOLDER}/installed ${PROGRAM} ${SOURCE}
                COMMAND_ERROR_IS_FATAL ANY)
