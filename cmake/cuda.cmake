# Sets FEMGPU_HAVE_CUDA (ON or OFF) according to FEMGPU_CUDA. If ON, enables the language CUDA and finds
# CUDAToolkit. Values of FEMGPU_CUDA:
#   AUTO    build CUDA if nvcc is found, for the release architectures
#   NATIVE  build CUDA if nvcc and a GPU are found, for that GPU; a configured build directory keeps it
#   ON      build CUDA for the release architectures; fail without nvcc
#   OFF     do not build CUDA
# FEMGPU_CUDA_STATUS describes the choice; the scripts print it.
# Include this file after deal.II, whose configuration clears CMAKE_CUDA_ARCHITECTURES.
set(femgpu_cuda_minimum 12.4) # first version with conditional WHILE nodes in CUDA graphs
set(FEMGPU_HAVE_CUDA OFF CACHE INTERNAL "Is the CUDA backend built?")

string(TOUPPER "${FEMGPU_CUDA}" femgpu_cuda_wanted)
if(NOT femgpu_cuda_wanted MATCHES "^(AUTO|NATIVE|ON|OFF)$")
  message(FATAL_ERROR "FEMGPU_CUDA is \"${FEMGPU_CUDA}\", but must be AUTO, NATIVE, ON or OFF.")
endif()
# An empty normal variable would hide the user's cache entry.
if("${CMAKE_CUDA_ARCHITECTURES}" STREQUAL "")
  unset(CMAKE_CUDA_ARCHITECTURES)
endif()
if("${CMAKE_CUDA_ARCHITECTURES}" STREQUAL "")
  set(femgpu_cuda_architectures "$ENV{CUDAARCHS}")
else()
  set(femgpu_cuda_architectures "${CMAKE_CUDA_ARCHITECTURES}")
endif()

# The GPUs of this machine, for NATIVE. scripts/build.sh looks again if there were none.
set(femgpu_gpus "")
if(femgpu_cuda_wanted STREQUAL "NATIVE" AND NOT femgpu_cuda_architectures)
  include(cmake/gpus.cmake)
  femgpu_find_gpus(femgpu_gpus)
endif()
set(FEMGPU_GPUS "${femgpu_gpus}" CACHE INTERNAL "Compute capabilities of this machine's GPUs")
list(FILTER femgpu_gpus EXCLUDE REGEX "^[1-7].$") # too old

# The compiler: set by the user, or nvcc in CUDA_HOME, PATH or the default location.
if(CMAKE_CUDA_COMPILER)
  set(FEMGPU_NVCC "${CMAKE_CUDA_COMPILER}" CACHE FILEPATH "NVIDIA's CUDA compiler" FORCE)
elseif(NOT femgpu_cuda_wanted STREQUAL "OFF")
  find_program(FEMGPU_NVCC NAMES $ENV{CUDACXX} nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH
               PATHS /usr/local/cuda PATH_SUFFIXES bin DOC "NVIDIA's CUDA compiler")
endif()
mark_as_advanced(FEMGPU_NVCC)

# The reason why the CUDA backend cannot be built; empty if it can.
set(femgpu_cuda_obstacle "")
if(femgpu_cuda_wanted STREQUAL "OFF")
  set(femgpu_cuda_obstacle "FEMGPU_CUDA is OFF")
elseif(femgpu_cuda_wanted STREQUAL "NATIVE" AND NOT femgpu_cuda_architectures
       AND NOT femgpu_gpus)
  set(femgpu_cuda_obstacle "no GPU of compute capability >= 8.0 here; FEMGPU_CUDA=ON builds both backends")
elseif(NOT FEMGPU_NVCC)
  set(femgpu_cuda_obstacle "nvcc >= ${femgpu_cuda_minimum} not found")
else()
  execute_process(COMMAND ${FEMGPU_NVCC} --version
                  OUTPUT_VARIABLE femgpu_nvcc_output ERROR_QUIET RESULT_VARIABLE femgpu_nvcc_failed)
  string(REGEX MATCH "V([0-9]+\\.[0-9]+\\.[0-9]+)" femgpu_nvcc_version "${femgpu_nvcc_output}")
  set(femgpu_nvcc_version "${CMAKE_MATCH_1}")
  if(femgpu_nvcc_failed OR NOT femgpu_nvcc_version)
    set(femgpu_cuda_obstacle
        "nvcc >= ${femgpu_cuda_minimum} not found; ${FEMGPU_NVCC} does not tell its version")
  elseif(femgpu_nvcc_version VERSION_LESS femgpu_cuda_minimum)
    set(femgpu_cuda_obstacle
        "nvcc >= ${femgpu_cuda_minimum} not found; ${FEMGPU_NVCC} is ${femgpu_nvcc_version}")
  elseif(NOT femgpu_cuda_wanted STREQUAL "ON" AND NOT CMAKE_CUDA_COMPILER)
    # Check that nvcc works with this host compiler. With FEMGPU_CUDA=ON, enable_language() fails with
    # the full error instead.
    include(CheckLanguage)
    set(ENV{CUDACXX} "${FEMGPU_NVCC}")
    unset(CMAKE_CUDA_COMPILER CACHE)
    check_language(CUDA)
    if(NOT CMAKE_CUDA_COMPILER)
      unset(CMAKE_CUDA_COMPILER CACHE)
      set(femgpu_cuda_obstacle
          "${FEMGPU_NVCC} ${femgpu_nvcc_version} does not work here, see CMakeFiles/CMakeError.log")
    endif()
  endif()
endif()

if(NOT femgpu_cuda_obstacle)
  if(femgpu_gpus)
    femgpu_filter_known_to(${FEMGPU_NVCC} femgpu_gpus)
    set(femgpu_cuda_architectures "${femgpu_gpus}")
  endif()
  if(NOT femgpu_cuda_architectures)
    set(femgpu_cuda_architectures "80-real;90") # code for 80 and 90, and PTX of 90 for newer GPUs
  endif()
  set(CMAKE_CUDA_ARCHITECTURES "${femgpu_cuda_architectures}"
      CACHE STRING "GPUs to compile for, as in 80-real;90" FORCE)
  if(NOT CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER "${FEMGPU_NVCC}" CACHE FILEPATH "CUDA compiler")
  endif()
  enable_language(CUDA)
  find_package(CUDAToolkit ${femgpu_cuda_minimum} REQUIRED)
  set(FEMGPU_HAVE_CUDA ON CACHE INTERNAL "Is the CUDA backend built?")
  find_path(FEMGPU_NCCL_INCLUDE nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  set(femgpu_cuda_status "host and CUDA ${CUDAToolkit_VERSION} backends, for the architectures \
${CMAKE_CUDA_ARCHITECTURES}")
  if(NOT FEMGPU_NCCL_INCLUDE)
    string(APPEND femgpu_cuda_status ", without NCCL (no nccl.h)")
  endif()
elseif(femgpu_cuda_wanted STREQUAL "ON")
  message(FATAL_ERROR "FEMGPU_CUDA is ON, but: ${femgpu_cuda_obstacle}.\n"
          "Install the CUDA toolkit >= ${femgpu_cuda_minimum}, name its compiler with "
          "-DCMAKE_CUDA_COMPILER=/path/to/nvcc, or use -DFEMGPU_CUDA=AUTO or OFF.")
else()
  set(femgpu_cuda_status "the host backend only (${femgpu_cuda_obstacle})")
endif()
set(FEMGPU_CUDA_STATUS "${femgpu_cuda_status}" CACHE INTERNAL "What was chosen, in words")
message(STATUS "femgpu: ${FEMGPU_CUDA_STATUS}")
