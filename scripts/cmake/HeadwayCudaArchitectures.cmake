# What a CUDA compiler can build for, as the compiler says itself: code for compute_100 is an error
# to CUDA before 12.8, code for compute_70 to CUDA 13.

# headway_cuda_architectures(NVCC RESULT PROBLEM): the architectures of data-centre devices that
# NVCC knows, the newest also as PTX for what comes after; RESULT is empty where there is none, and
# PROBLEM says why.
function(headway_cuda_architectures nvcc result problem)
  set(${result} "" PARENT_SCOPE)
  set(${problem} "" PARENT_SCOPE)
  execute_process(COMMAND ${nvcc} --list-gpu-arch OUTPUT_VARIABLE listed ERROR_VARIABLE said
                  RESULT_VARIABLE code)
  if(NOT code EQUAL 0)  # CUDA before 11.0, or nothing that can be run
    set(${problem} "${nvcc} --list-gpu-arch fails" PARENT_SCOPE)
    return()
  endif()
  set(known "")
  # Volta, Ampere, Hopper, Blackwell (B200; B300), the RTX PRO 6000.
  foreach(architecture 70 80 90 100 103 120)
    if(listed MATCHES "compute_${architecture}(\n|$)")
      list(APPEND known ${architecture}-real)
      set(newest ${architecture})
    endif()
  endforeach()
  if(NOT known)
    set(${problem} "${nvcc} builds for none of the architectures 70 to 120" PARENT_SCOPE)
    return()
  endif()
  list(APPEND known ${newest}-virtual)
  set(${result} "${known}" PARENT_SCOPE)
endfunction()

# headway_try_nvcc(NVCC PROBLEM): compiles a kernel. A toolkit that refuses the host's compiler, or
# half of one, is found here and not by enable_language, which ends the configuration.
function(headway_try_nvcc nvcc problem)
  set(folder ${CMAKE_BINARY_DIR}/CMakeFiles/headway_nvcc)
  file(WRITE ${folder}/kernel.cu "#include <cuda_bf16.h>\n#include <cstddef>\n__global__ void empty() {}\n")
  execute_process(COMMAND ${nvcc} -std=c++20 -c kernel.cu -o kernel.o WORKING_DIRECTORY ${folder}
                  OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE code)
  set(${problem} "" PARENT_SCOPE)
  if(NOT code EQUAL 0)
    string(STRIP "${said}" said)
    string(REGEX REPLACE "\n.*" "" said "${said}")
    set(${problem} "${nvcc} cannot compile a kernel as C++20: ${said}" PARENT_SCOPE)
  endif()
endfunction()
