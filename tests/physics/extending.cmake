# Checks that the examples of docs/extending.md compile and run: each source file, and each line
# that the page adds to a registry. Included by CMakeLists.txt.
set(page ${PROJECT_SOURCE_DIR}/docs/extending.md)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
file(READ ${page} page_text)
set(extending ${CMAKE_CURRENT_BINARY_DIR}/extending)

# The block of code after "`file`:".
function(block_of_page file language result)
  set(opening "`${file}`:\n\n```${language}\n")
  string(FIND "${page_text}" "${opening}" begin)
  if(begin EQUAL -1)
    message(FATAL_ERROR "docs/extending.md has no block of ${file}")
  endif()
  string(LENGTH "${opening}" length)
  math(EXPR begin "${begin} + ${length}")
  string(SUBSTRING "${page_text}" ${begin} -1 block)
  string(FIND "${block}" "```" end)
  string(SUBSTRING "${block}" 0 ${end} block)
  set(${result} "${block}" PARENT_SCOPE)
endfunction()

# Writes the block to extending/file.
function(extract file language)
  block_of_page(${file} ${language} block)
  file(CONFIGURE OUTPUT ${extending}/${file} CONTENT "${block}" @ONLY)
endfunction()

# Writes the registry with the block as its first line to extending/file.
function(extract_registry file)
  block_of_page(${file} cpp block)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
  file(READ ${PROJECT_SOURCE_DIR}/${file} text)
  string(REPLACE "_table[] = {" "_table[] = {\n${block}" text "${text}")
  file(CONFIGURE OUTPUT ${extending}/${file} CONTENT "${text}" @ONLY)
endfunction()

extract(physics/transport.cc cpp)
extract(transport.prm prm)
extract(linalg/solvers/steepest_descent.cc cpp)
extract(linalg/matrices/dia_format.cc cpp)
extract_registry(physics/registry.cc)
extract_registry(linalg/solvers/registry.cc)
extract_registry(linalg/matrices/registry.cc)

# Object files, so that the linker uses these registries instead of the ones in the libraries.
add_library(femgpu_extensions OBJECT ${extending}/linalg/solvers/registry.cc
            ${extending}/linalg/solvers/steepest_descent.cc
            ${extending}/linalg/matrices/registry.cc ${extending}/linalg/matrices/dia_format.cc)
target_link_libraries(femgpu_extensions PRIVATE femgpu_linalg femgpu_backends)
if(FEMGPU_HAVE_CUDA)
  foreach(file linalg/solvers/steepest_descent linalg/matrices/dia_format)
    file(CONFIGURE OUTPUT ${extending}/${file}.cu CONTENT "#include \"${extending}/${file}.cc\"\n" @ONLY)
    target_sources(femgpu_extensions PRIVATE ${extending}/${file}.cu)
  endforeach()
  target_compile_options(femgpu_extensions PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr --extended-lambda>)
endif()
add_executable(femgpu_with_extensions ${extending}/physics/transport.cc
               ${extending}/physics/registry.cc $<TARGET_OBJECTS:femgpu_extensions>
               ${PROJECT_SOURCE_DIR}/app/main.cc)
target_link_libraries(femgpu_with_extensions PRIVATE femgpu_app)

study_test(physics_of_the_documentation_runs ${extending}/transport.prm --ranks 2 --same-as-ranks 1
  --program $<TARGET_FILE:femgpu_with_extensions> --expect-order L2=3 H1=2 --check-vtu)
study_test(solver_and_format_of_the_documentation_run ${parameter_dir}/poisson.prm --ranks 2
  --program $<TARGET_FILE:femgpu_with_extensions> --set Study/Cycles=3
  --set Solver/Solver=steepest-descent --set "Solver/Format=dia max-padding=1000"
  --expect-order L2=2 H1=1)
