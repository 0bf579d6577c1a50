# Target femgpu_dealii: deal.II's headers as system headers, and its library; in Debug builds the one with
# deal.II's assertions, which DEBUG turns on in the headers, too.
# deal_ii_setup_target() would force its own optimisation flags on us, and link every library of
# its dependency list; this target takes what a program needs.
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
