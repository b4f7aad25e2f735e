# What the calibrator is built with; each of its parts may be missing.

headway_part(MPI "Ranks of the calibrator over MPI")
if(NOT HEADWAY_MPI STREQUAL "OFF")
  find_package(MPI QUIET COMPONENTS CXX)
endif()
headway_settle(MPI MPI_CXX_FOUND
               "no MPI was found (one process is measured then); Debian has it as libopenmpi-dev")

headway_part(CPU "CPU backend of the calibrator (OpenBLAS)")
if(NOT HEADWAY_CPU STREQUAL "OFF")
  find_package(OpenBLAS QUIET)
endif()
headway_settle(CPU OpenBLAS_FOUND "OpenBLAS was not found; Debian has it as libopenblas-dev")

headway_part(CUDA "CUDA backend of the calibrator (cuBLASLt)")
set(_cuda_found OFF)
set(_cuda_lacks "the CUDA toolkit (nvcc) was not found; set CUDACXX")
if(NOT HEADWAY_CUDA STREQUAL "OFF")
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(HEADWAY_NVCC nvcc HINTS ENV CUDA_PATH PATH_SUFFIXES bin
                 PATHS /usr/local/cuda /opt/cuda)
    mark_as_advanced(HEADWAY_NVCC)
    if(HEADWAY_NVCC)
      set(ENV{CUDACXX} ${HEADWAY_NVCC})
    endif()
  endif()
  # enable_language ends the configuration where the compiler does not work, and with it a build
  # that needs no CUDA: what could go wrong is tried before, once.
  set(_nvcc "${CMAKE_CUDA_COMPILER}")
  if(NOT _nvcc)
    set(_nvcc "$ENV{CUDACXX}")
  endif()
  if(_nvcc AND NOT HEADWAY_NVCC_TRIED STREQUAL _nvcc)
    include(HeadwayCudaArchitectures)
    headway_try_nvcc(${_nvcc} _nvcc_problem)
    if(NOT _nvcc_problem AND NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      headway_cuda_architectures(${_nvcc} _nvcc_architectures _nvcc_problem)
      set(HEADWAY_CUDA_ARCHITECTURES "${_nvcc_architectures}" CACHE INTERNAL "")
    endif()
    if(_nvcc_problem)
      set(_cuda_lacks "${_nvcc_problem}")
      set(_nvcc "")
    else()
      set(HEADWAY_NVCC_TRIED "${_nvcc}" CACHE INTERNAL "")
    endif()
  endif()
  if(_nvcc)
    # Must stand before the language is enabled.
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES ${HEADWAY_CUDA_ARCHITECTURES})
    endif()
    enable_language(CUDA)
    # CUDA follows CMAKE_CXX_STANDARD; CMake 3.25 does not know that nvcc has C++20.
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    endif()
    # CUDA::cudart_static is linked by name, from where the toolkit really stands; what CMake would
    # add on its own it looks for in the system's folders, and there is no device linking.
    set(CMAKE_CUDA_RUNTIME_LIBRARY None)
    # CMake 3.25 ends with an error on CUDA 13, which has no nvToolsExt any more, where a project says
    # that it needs 3.25 (FindCUDAToolkit's warning about that library).
    set(_needs ${CMAKE_MINIMUM_REQUIRED_VERSION})
    set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
    find_package(CUDAToolkit QUIET)
    set(CMAKE_MINIMUM_REQUIRED_VERSION ${_needs})
    if(TARGET CUDA::cublasLt)
      set(_cuda_found ON)
    else()
      set(_cuda_lacks "the CUDA toolkit lacks cuBLASLt")
    endif()
  endif()
endif()
headway_settle(CUDA _cuda_found "${_cuda_lacks}")

# headway_cuda_library(NAME DESCRIPTION VERSION LACKS): what the CUDA backend may go without.
macro(headway_cuda_library name description version lacks)
  headway_part(${name} "${description}")
  set(_library_lacks "the CUDA backend is left out")
  set(_library_found OFF)
  if(HEADWAY_WITH_CUDA AND NOT HEADWAY_${name} STREQUAL "OFF")
    find_package(${name} ${version} QUIET)
    set(_library_found ${${name}_FOUND})
    set(_library_lacks "${lacks}")
  endif()
  headway_settle(${name} _library_found "${_library_lacks}")
endmacro()
headway_cuda_library(NCCL "Collectives of the CUDA backend (NCCL)" 2.14
                     "NCCL 2.14 or later was not found; set NCCL_ROOT")
headway_cuda_library(CUDNN "Fused attention of the CUDA backend (cuDNN)" 9.8
                     "cuDNN 9.8 or later was not found; set CUDNN_ROOT")
