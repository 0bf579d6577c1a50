# Target femgpu_dealii: deal.II's headers as system headers, and its release library.
# deal_ii_setup_target() would force its own optimisation flags on us, and link every library of
# its dependency list; this target takes what a program needs.
find_package(deal.II 9.4 REQUIRED HINTS ${DEAL_II_DIR} $ENV{DEAL_II_DIR})
foreach(feature MPI P4EST METIS UMFPACK ZLIB)
  if(NOT DEAL_II_WITH_${feature})
    message(FATAL_ERROR "femgpu needs deal.II built with ${feature}; Debian's libdeal.ii-dev has it.")
  endif()
endforeach()

add_library(femgpu_dealii INTERFACE)
if(TARGET dealii::dealii_release)
  target_link_libraries(femgpu_dealii INTERFACE dealii::dealii_release)
else()
  target_include_directories(femgpu_dealii SYSTEM INTERFACE ${DEAL_II_INCLUDE_DIRS})
  target_compile_definitions(femgpu_dealii INTERFACE ${DEAL_II_USER_DEFINITIONS})
  target_link_options(femgpu_dealii INTERFACE -Wl,--as-needed,--copy-dt-needed-entries)
  list(FILTER DEAL_II_LIBRARIES INCLUDE REGEX "tbb|mpi|boost_(serialization|iostreams)|/libz\\.")
  target_link_libraries(femgpu_dealii INTERFACE ${DEAL_II_TARGET_RELEASE} ${DEAL_II_LIBRARIES})
endif()
