# cmake -P: which architectures are asked of which nvcc. Stand-ins list what the compilers of
# those releases do (CUDA's release notes: 11.8 brought 90, 12.8 100 and 120, 12.9 103; 13.0 left
# out 70).
include(${CMAKE_CURRENT_LIST_DIR}/../../scripts/cmake/HeadwayCudaArchitectures.cmake)

function(expect listed wanted)
  set(nvcc ${FOLDER}/nvcc)
  string(REPLACE " " "\\n" lines "${listed}")
  file(WRITE ${nvcc} "#!/bin/sh\n[ \"$1\" = --list-gpu-arch ] && printf '${lines}\\n'\n")
  file(CHMOD ${nvcc} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  headway_cuda_architectures(${nvcc} found problem)
  if(NOT "${found}" STREQUAL "${wanted}")
    message(SEND_ERROR "of '${listed}': '${found}' (${problem}), not '${wanted}'")
  endif()
endfunction()

set(to_90 "compute_50 compute_60 compute_70 compute_75 compute_80 compute_86 compute_89 compute_90")
expect("${to_90}" "70-real;80-real;90-real;90-virtual")  # 12.0 to 12.6, Debian's 12.4 among them
expect("${to_90} compute_100 compute_101 compute_120"
       "70-real;80-real;90-real;100-real;120-real;120-virtual")  # 12.8
expect("compute_75 compute_80 compute_90 compute_100 compute_110 compute_103 compute_120"
       "80-real;90-real;100-real;103-real;120-real;120-virtual")  # 13.0
expect("compute_30 compute_35" "")  # none of them

# A compiler that does not work is said, and is no error.
file(WRITE ${FOLDER}/nvcc "#!/bin/sh\necho 'nvcc fatal: unsupported host compiler' >&2\nexit 1\n")
file(CHMOD ${FOLDER}/nvcc PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
set(CMAKE_BINARY_DIR ${FOLDER})
headway_cuda_architectures(${FOLDER}/nvcc found problem)
if(NOT "${found}" STREQUAL "" OR NOT problem MATCHES "list-gpu-arch fails")
  message(SEND_ERROR "a compiler that fails: '${found}', '${problem}'")
endif()
headway_try_nvcc(${FOLDER}/nvcc problem)
if(NOT problem MATCHES "unsupported host compiler")
  message(SEND_ERROR "what a compiler says is lost: '${problem}'")
endif()
