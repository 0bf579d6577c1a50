# Compiles through ccache where it is found.
#
# ccache caches a file with a precompiled header only if it may overlook two things, which it is told
# here so that nobody has to configure it. No wrong object can come of it:
#   time_macros  it cannot see whether the header uses __DATE__ or __TIME__. Nothing of ours does, and
#                of deal.II's and Boost's headers nothing that a result depends on.
#   pch_defines  it cannot see macros that a file defines before it includes the header. CMake's is
#                the first thing a compiler reads (-include), and -D options are part of the hash.
# The compiled header's content is part of the hash, too: a change in it is a miss. With
# -fpch-preprocess GCC names that file in the preprocessed text, as ccache's manual asks for.
find_program(FEMGPU_CCACHE ccache)
mark_as_advanced(FEMGPU_CCACHE)
if(FEMGPU_CCACHE)
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${FEMGPU_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${FEMGPU_CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT FEMGPU_LINALG_ONLY)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endif()
