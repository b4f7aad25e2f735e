# Compiles the device kernels without a warning for every architecture that the compiler knows of those
# that Headway is for, into nothing that is kept:
#   cmake -DNVCC=nvcc  -DSOURCE=... -DFOLDER=... -P compilers_test.cmake
#   cmake -DCLANG=clang++ -DTOOLKIT=/usr/local/cuda -DSOURCE=... -DFOLDER=... -P compilers_test.cmake
# Says "not run" where the compiler cannot compile any kernel: clang knows toolkits up to its own age.
file(MAKE_DIRECTORY ${FOLDER})
set(kernels ${SOURCE}/kernels/device_kernels.cu)
set(probe ${FOLDER}/probe.cu)
file(WRITE ${probe} "#include <cuda_bf16.h>\n__global__ void probe(__nv_bfloat16* x) { *x = __float2bfloat16(1.0F); }\n")
if(NVCC)
  set(name ${NVCC})
  set(compile ${NVCC} -std=c++20 -O3 -I${SOURCE} -Werror all-warnings -Xcompiler
              -Wall,-Wextra,-Wconversion,-Wshadow -cubin -o ${FOLDER}/kernels.cubin -arch=)
else()
  set(name ${CLANG})
  set(compile ${CLANG} -x cuda --cuda-path=${TOOLKIT} -std=c++20 -fsyntax-only -Wall -Wextra
              -Wconversion -Wshadow -Werror -Wno-unknown-cuda-version -I${SOURCE} --cuda-gpu-arch=)
endif()
set(compiled "")
foreach(architecture 75 80 90 100 103 120)
  execute_process(COMMAND ${compile}sm_${architecture} ${probe} RESULT_VARIABLE unknown OUTPUT_QUIET
                  ERROR_VARIABLE said)
  if(unknown)
    string(REGEX MATCH "[^\n]*error[^\n]*" said "${said}")
    message(STATUS "not for sm_${architecture}: ${said}")
    continue()
  endif()
  execute_process(COMMAND ${compile}sm_${architecture} ${kernels} COMMAND_ERROR_IS_FATAL ANY)
  list(APPEND compiled sm_${architecture})
endforeach()
if(compiled)
  message(STATUS "${name}: no warning for ${compiled}")
else()
  message(STATUS "not run: ${name} compiles no kernel with this toolkit")
endif()
