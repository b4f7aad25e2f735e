# Compiles the device kernels as HIP, by headers of our own where there is no ROCm: for each of AMD's
# accelerators that this clang knows without a warning and without a spilt register, and for the host.
#   cmake -DCLANG=clang++ -DSOURCE=... -DFOLDER=... -P hip_test.cmake
file(MAKE_DIRECTORY ${FOLDER})
set(hip ${CLANG} -x hip -nogpulib -nogpuinc -std=c++20 -O3 -Wall -Wextra -Werror
        -I${SOURCE}/tests/kernels/hip -I${SOURCE})
set(kernels ${SOURCE}/kernels/device_kernels.cu)
set(compiled "")
foreach(architecture gfx90a gfx942)
  execute_process(COMMAND ${CLANG} --target=amdgcn-amd-amdhsa -mcpu=${architecture} -nogpulib -x c
                          -fsyntax-only /dev/null
                  RESULT_VARIABLE unknown OUTPUT_QUIET ERROR_QUIET)
  if(unknown)
    message(STATUS "this clang does not know ${architecture}")
    continue()
  endif()
  set(assembly ${FOLDER}/${architecture}.s)
  execute_process(COMMAND ${hip} --cuda-device-only --offload-arch=${architecture} -S ${kernels}
                          -o ${assembly} COMMAND_ERROR_IS_FATAL ANY)
  file(STRINGS ${assembly} spills REGEX "gpr_spill_count: +[1-9]")
  file(STRINGS ${assembly} words REGEX "global_load_dwordx4")
  list(LENGTH words count)
  if(spills OR count LESS 40)
    message(FATAL_ERROR "${architecture}: ${count} loads of 16 bytes; spills: ${spills}")
  endif()
  message(STATUS "${architecture}: ${count} loads of 16 bytes, no spills")
  list(APPEND compiled ${architecture})
endforeach()
execute_process(COMMAND ${hip} --cuda-host-only -fsyntax-only ${kernels} COMMAND_ERROR_IS_FATAL ANY)
if(NOT compiled)
  message(FATAL_ERROR "this clang knows none of them")
endif()
