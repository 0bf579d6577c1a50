# Defines the target femgpu_dealii: deal.II's headers, as system headers, and its library. Debug builds
# use the library with assertions, and DEBUG enables assertions in the headers.
# deal_ii_setup_target() is not used, because it would impose deal.II's optimisation flags and link all
# libraries that deal.II depends on. This target links only the libraries that femgpu needs.
find_package(deal.II 9.4 REQUIRED HINTS ${DEAL_II_DIR} $ENV{DEAL_II_DIR})
foreach(feature MPI P4EST METIS UMFPACK ZLIB)
  if(NOT DEAL_II_WITH_${feature})
    message(FATAL_ERROR "femgpu needs deal.II built with ${feature}; Debian's libdeal.ii-dev has it.")
  endif()
endforeach()

add_library(femgpu_dealii INTERFACE)
set(flavour RELEASE)
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(flavour DEBUG)
  target_compile_definitions(femgpu_dealii INTERFACE DEBUG)
endif()
string(TOLOWER dealii::dealii_${flavour} target)
if(TARGET ${target})
  target_link_libraries(femgpu_dealii INTERFACE ${target})
else()
  target_include_directories(femgpu_dealii SYSTEM INTERFACE ${DEAL_II_INCLUDE_DIRS})
  target_compile_definitions(femgpu_dealii INTERFACE ${DEAL_II_USER_DEFINITIONS})
  target_link_options(femgpu_dealii INTERFACE -Wl,--as-needed,--copy-dt-needed-entries)
  list(FILTER DEAL_II_LIBRARIES INCLUDE REGEX "tbb|mpi|boost_(serialization|iostreams)|/libz\\.")
  target_link_libraries(femgpu_dealii INTERFACE ${DEAL_II_TARGET_${flavour}} ${DEAL_II_LIBRARIES})
endif()
