# Files of a folder are compiled several at a time: headers (deal.II's, precompiled, 2 s a file; linalg's
# backends 1 s, for nvcc 4 s) and what is instantiated from them cost more than most files have of their
# own. In CPU seconds, one, four and eight at a time: physics 328, 223, 221 (without the header itself),
# app 147, 82, 77. Four, since a change to one file compiles its neighbours again; who makes many changes
# compiles each file by itself with FEMGPU_UNITY=OFF.
option(FEMGPU_UNITY "Compile files of a folder together where that saves time" ON)
set(femgpu_unity_size 4)

# Compiles the sources of @p target together. Names in unnamed namespaces must differ within a folder.
function(femgpu_compile_together target)
  if(NOT FEMGPU_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cc$")
  list(SORT sources)
  foreach(source IN LISTS sources)
    if(source MATCHES "registry\\.cc$") # its table uses functions that the other files specialise
      continue()
    endif()
    get_filename_component(path ${source} ABSOLUTE)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${path})
    get_filename_component(folder ${path} DIRECTORY)
    string(MAKE_C_IDENTIFIER ${folder} folder)
    math(EXPR group "0${n_${folder}} / ${femgpu_unity_size}")
    math(EXPR n_${folder} "0${n_${folder}} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # GCC takes unnamed namespaces of a .cc file that is included for those of a header.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endfunction()
