# Compiles with ccache if it is found.
#
# ccache caches files with a precompiled header only with two kinds of sloppiness, which are set here
# so that users need not configure it. Neither can yield a wrong object file:
#   time_macros  ccache cannot see whether the header uses __DATE__ or __TIME__. femgpu's headers do
#                not, and no result depends on their use in deal.II's and Boost's headers.
#   pch_defines  ccache cannot see macros that a file defines before it includes the header. CMake
#                includes the header first (-include), and -D options are part of the hash.
# The content of the compiled header is part of the hash too, so a change of it is a cache miss. With
# -fpch-preprocess, GCC names the compiled header in its output, as ccache's manual requires.
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
