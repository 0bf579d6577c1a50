# Files of parameters/ that no shipped_test() names: VTK reads what they write, the numbers are those of the
# run, and a second run writes the same bytes.
file(GLOB shipped_files CONFIGURE_DEPENDS ${parameter_dir}/*.prm)
foreach(file IN LISTS shipped_files)
  get_filename_component(name ${file} NAME_WE)
  if(NOT TEST shipped_${name}_converges_is_readable_and_repeatable AND NOT name STREQUAL "bratu_branch")
    study_test(shipped_${name}_is_readable_and_repeatable ${file} --ranks 2
      --expect-outcome converged --expect-no-warnings --check-vtu --repeat-identical ${figures_of_${name}})
  endif()
endforeach()
