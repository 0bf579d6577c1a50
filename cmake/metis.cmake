# Finds METIS, which partitions the graph of a matrix into blocks (partition=metis). Without it, that
# option is rejected.
find_path(METIS_INCLUDE_DIR metis.h)
find_library(METIS_LIBRARY metis)
mark_as_advanced(METIS_INCLUDE_DIR METIS_LIBRARY)
if(METIS_INCLUDE_DIR AND METIS_LIBRARY)
  set(FEMGPU_HAVE_METIS ON)
  add_library(femgpu_metis INTERFACE)
  target_include_directories(femgpu_metis SYSTEM INTERFACE ${METIS_INCLUDE_DIR})
  target_link_libraries(femgpu_metis INTERFACE ${METIS_LIBRARY})
else()
  set(FEMGPU_HAVE_METIS OFF)
  message(STATUS "femgpu: no METIS (libmetis-dev); partition=metis will be refused")
endif()
