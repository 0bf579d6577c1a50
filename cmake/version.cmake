# Defines the target femgpu_version, which writes generated/femgpu_version.h at build time, so that it
# has the git revision being built. The file is rewritten only if its text changes. This file is both
# included at configuration, to define the target, and run by the target as a script. A target that
# includes the header needs add_dependencies(TARGET femgpu_version).
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(femgpu_cuda_version "")
  set(femgpu_cuda_targets "")
  if(FEMGPU_HAVE_CUDA)
    set(femgpu_cuda_version "${CUDAToolkit_VERSION_MAJOR}.${CUDAToolkit_VERSION_MINOR}")
    string(REPLACE ";" " " femgpu_cuda_targets "${CMAKE_CUDA_ARCHITECTURES}")
  endif()
  find_package(Git QUIET)
  add_custom_target(femgpu_version
    COMMAND ${CMAKE_COMMAND} -D "source=${PROJECT_SOURCE_DIR}" -D "version=${PROJECT_VERSION}"
            -D "header=${CMAKE_BINARY_DIR}/generated/femgpu_version.h" -D "git=${GIT_EXECUTABLE}"
            -D "compiler=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
            -D "build_type=${CMAKE_BUILD_TYPE}" -D "cuda=${femgpu_cuda_version}"
            -D "cuda_architectures=${femgpu_cuda_targets}" -P ${CMAKE_CURRENT_LIST_FILE}
    BYPRODUCTS ${CMAKE_BINARY_DIR}/generated/femgpu_version.h
    COMMENT "Recording the revision (femgpu_version)"
    VERBATIM)
  return()
endif()

# EXISTS .git: a source archive unpacked inside another repository must not get that one's revision.
set(git_revision unknown)
if(git AND EXISTS "${source}/.git")
  set(ENV{GIT_OPTIONAL_LOCKS} 0)
  execute_process(COMMAND ${git} -C ${source} describe --always --dirty --abbrev=7 --exclude=*
                  OUTPUT_VARIABLE output OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(output)
    set(git_revision "${output}")
  endif()
endif()

set(text "// Written by cmake/version.cmake at build time.
#ifndef femgpu_version_h
#define femgpu_version_h

/// What was built, from which revision and with what.
namespace femgpu::version
{
inline constexpr const char *version = \"${version}\";
/// Short hash of the commit, with \"-dirty\" if tracked files differ from it; \"unknown\" without git.
inline constexpr const char *git_revision = \"${git_revision}\";
inline constexpr const char *compiler = \"${compiler}\";
inline constexpr const char *build_type = \"${build_type}\";
/// Version of the CUDA toolkit; empty without the CUDA backend.
inline constexpr const char *cuda = \"${cuda}\";
inline constexpr const char *cuda_architectures = \"${cuda_architectures}\";
} // namespace femgpu::version

#endif
")
set(old "")
if(EXISTS "${header}")
  file(READ "${header}" old)
endif()
if(NOT text STREQUAL old)
  file(WRITE "${header}" "${text}")
endif()
