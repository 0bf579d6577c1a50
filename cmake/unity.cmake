# Unity builds: the files of a folder are compiled in groups. Most files take less time than their
# headers and template instantiations: deal.II's precompiled header takes 2 s per file, linalg's
# backends 1 s, or 4 s with nvcc. CPU seconds for groups of one, four and eight files: physics 328, 223,
# 221 (without the precompiled header itself), app 147, 82, 77. Groups have four files, because a change
# to one file recompiles its group. For frequent changes, set FEMGPU_UNITY=OFF.
option(FEMGPU_UNITY "Compile files of a folder together where that saves time" ON)
set(femgpu_unity_size 4)

# Compiles the sources of @p target in groups. Names in unnamed namespaces must be unique in a folder.
function(femgpu_compile_together target)
  if(NOT FEMGPU_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cc$")
  list(SORT sources)
  foreach(source IN LISTS sources)
    if(source MATCHES "registry\\.cc$") # its table uses functions that other files specialise
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
  # GCC treats an included .cc file as a header and warns of its unnamed namespaces.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endfunction()
