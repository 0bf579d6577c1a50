# Bad input: every wrong file, value, number of ranks and directory must give an exit code and a
# sentence that names the location and the remedy. Input errors of a feature are tested with that
# feature.
set(poisson ${parameter_dir}/poisson.prm)
set(files ${CMAKE_CURRENT_BINARY_DIR}/bad_input)
file(MAKE_DIRECTORY ${files})

# Expressions
function(wrong_expression name parameter value code message)
  study_test(${name} ${poisson} --set "Poisson/${parameter}=${value}" --set Study/Cycles=1
    --expect-exit ${code} --expect-message "Poisson/${parameter}.*${message}" ${ARGN})
endfunction()
wrong_expression(unknown_function_ends_with_1 Coefficient "foo(x)" 1
  "column 1, at 'f': expected x, y, t, u, pi, e or a function")
wrong_expression(missing_parenthesis_ends_with_1 Coefficient "sin(x" 1
  "column 6, where it ends: expected an operator or '\\)' at the end of 'sin'")
wrong_expression(superfluous_parenthesis_ends_with_1 Coefficient "sin(x))" 1
  "column 7, at '\\)': expected an operator .* or the end")
wrong_expression(empty_expression_ends_with_1 Coefficient "" 1 "has no value for material id 0")
wrong_expression(two_expressions_for_one_component_end_with_1 "Right-hand side" "1, 2" 1
  "has 2 expressions, but needs 1")
wrong_expression(z_in_2d_ends_with_1 Coefficient "1 + z" 1 "at column 5, at 'z'")
wrong_expression(number_that_is_too_large_ends_with_1 "Right-hand side" 1e400 1 "1e400")
wrong_expression(division_by_zero_everywhere_ends_with_1 Coefficient "1/0" 1
  "column 2, at '/': expected a finite value, but the constants give infinity")
foreach(ranks 1 2)
  wrong_expression(division_by_zero_at_a_quadrature_point_ends_with_1_on_${ranks}_ranks
    Coefficient "if(x>0.9, 1/(y-y), 1)" 1 "(infinite|not a number) at \\(0\\.9" --ranks ${ranks})
endforeach()
wrong_expression(root_of_a_negative_number_ends_with_1 "Right-hand side" "sqrt(-1-x)" 1
  "not a number at \\(0\\.")
wrong_expression(infinite_boundary_value_ends_with_1 Dirichlet "0: 1/x" 1 "infinite at \\(0 ")
wrong_expression(infinite_exact_solution_ends_with_1 "Exact solution" "log(x)" 1
  "minus infinite at \\(0 ")
wrong_expression(boundary_entry_without_ids_ends_with_1 Dirichlet "1" 1 "such as '0, 1: sin")
wrong_expression(boundary_id_that_comes_twice_ends_with_1 Dirichlet "0: 1\\; 0: 2" 1 "is given twice")
wrong_expression(boundary_name_without_a_mesh_file_ends_with_1 Dirichlet "inlet: 1" 1
  "neither a boundary id nor a name.*it has 0")
wrong_expression(boundary_id_of_ten_digits_ends_with_1 Dirichlet "9999999999: 1" 1 "no boundary id")
wrong_expression(minus_sign_of_a_word_processor_ends_with_1 Coefficient "2 − x" 1
  "at column 3, at '−': expected .* Note that column 23 has a minus sign \\(U\\+2212\\), which looks like '-'")
wrong_expression(assignment_ends_with_1 Coefficient "1 + (x = 2)" 1
  "assigns a value at column 8.*Use == to compare")
wrong_expression(random_number_ends_with_1_on_2_ranks "Right-hand side" "1 + rand()" 1
  "calls rand at column 5.*sin\\(1e4" --ranks 2)
wrong_expression(random_number_with_a_seed_ends_with_1 Dirichlet "0: rand_seed(1)" 1 "calls rand_seed")
study_test(comparisons_are_no_assignments --expect-text Valid -- ${poisson} --validate
  --set "Poisson/Right-hand side=(x==0.5) + (x<=0.1) + (x>=0.9) + (y!=0)")
# Errors on one of several ranks, or on some but not all
foreach(corner "x>0.9 && y>0.9" "x>0.9")
  string(MAKE_C_IDENTIFIER "error_of_few_ranks_at_${corner}_is_one_sentence" name)
  wrong_expression(${name} Dirichlet "0: if(${corner}, log(-x), 0)" 1
    "is not a number at (?!(.|\n)*(MPI_ABORT|by a signal|not a number))" --ranks 3)
endforeach()
study_test(conditional_expression_may_avoid_its_singularity ${poisson} --set Study/Cycles=1
  --set "Poisson/Coefficient=if(x <= 0, 1, 1/x)" --set "Poisson/Right-hand side=0"
  --set "Poisson/Dirichlet=0: x^2" --set "Poisson/Exact solution=x^2" --set Discretization/Degree=2
  --expect-error-below Linf=1e-8)

# Parameter files
function(wrong_file name code message)
  string(REPLACE ";" "\n" text "${ARGN}")
  file(WRITE ${files}/${name}.prm "${text}\n")
  study_test(${name} ${files}/${name}.prm --expect-exit ${code}
    --expect-message "${name}\\.prm:${message}")
endfunction()
wrong_file(empty_parameter_file_ends_with_2 2 " the file sets no parameter: it is empty")
wrong_file(comments_alone_end_with_2 2 " the file sets no parameter: it has only comments" "# nothing")
study_test(dev_null_ends_with_2 --expect-exit 2 --expect-message "/dev/null: the file sets no parameter"
  -- /dev/null)
add_test(NAME closed_standard_input_ends_with_2 COMMAND sh -c
  "$<TARGET_FILE:femgpu> - <&- 2>${files}/closed.txt; test $? -eq 2 && grep 'standard input>: the file sets no parameter' ${files}/closed.txt")
physics_properties(closed_standard_input_ends_with_2)
wrong_file(section_without_end_ends_with_1 1 "1: .*never closed" "subsection Solver")
wrong_file(end_without_section_ends_with_1 1 "1: .*without an open 'subsection'" "end")
wrong_file(key_that_is_set_twice_ends_with_1 1 "2: .*first at .*:1" "set Dimension = 2"
  "set Dimension = 3")
wrong_file(set_without_equals_sign_ends_with_1 1 "1: .*has no '='" "set Dimension 2")
wrong_file(line_without_set_ends_with_1 1 "1: .*did you mean 'set" "Dimension = 2")
wrong_file(include_ends_with_1 1 "1: .*'include' is not supported" "include other.prm")
wrong_file(misspelt_key_ends_with_1_and_names_the_nearest 1
  "2: .*nearest valid key: 'Initial refinements'" "subsection Mesh"
  "set Initial refinments = 2" "end")
wrong_file(misspelt_section_ends_with_1_and_names_the_nearest 1 "1: .*nearest.*'Mesh'"
  "subsection Mesj" "end")
wrong_file(misspelt_physics_ends_with_1_and_names_the_nearest 1 "1: .*did you mean 'poisson'"
  "set Physics = poison")
wrong_file(word_in_place_of_a_number_ends_with_1 1 "1: .*an integer from 2 to 3"
  "set Dimension = two")
string(REPEAT "2" 100000 long)
file(WRITE ${files}/long.prm "set Dimension = ${long}\n")
study_test(value_of_100000_digits_ends_with_1_and_is_not_repeated ${files}/long.prm --expect-exit 1
  --expect-message "long\\.prm:1: value '2{199}\\.\\.\\.2{59}' of 'Dimension'")
study_test(binary_parameter_file_ends_with_2 ${PROJECT_SOURCE_DIR}/docs/bratu_branch.png
  --expect-exit 2 --expect-message "is not text")
string(REPEAT "set Dimension = 2\n" 1000000 large)
file(WRITE ${files}/large.prm "${large}")
study_test(parameter_file_of_18_megabytes_ends_with_2 ${files}/large.prm --expect-exit 2
  --expect-message "large\\.prm' is larger than 16 MiB")
study_test(directory_in_place_of_a_parameter_file_ends_with_2 --expect-exit 2
  --expect-message "is a directory" -- ${parameter_dir})
foreach(value nan inf 1e999 -1 1e-3x)
  study_test(relative_tolerance_of_${value}_ends_with_1 ${poisson}
    --set "Solver/Relative tolerance=${value}" --expect-exit 1
    --expect-message "a real number from 0 to 1")
endforeach()
study_test(number_of_20_digits_ends_with_1 ${poisson} --set Study/Cycles=99999999999999999999
  --expect-exit 1 --expect-message "an integer from 1 to 100")
study_test(key_at_the_wrong_level_ends_with_1 ${poisson} --set Degree=1 --expect-exit 1
  --expect-message "this key is valid in 'Discretization'")
study_test(name_of_files_with_a_slash_ends_with_1 ${poisson} --set Output/Name=../up
  --expect-exit 1 --expect-message "Output/Name")
study_test(fractions_that_add_up_to_more_than_1_end_with_1 ${poisson}
  --set "Study/Refine fraction=0.7" --set "Study/Coarsen fraction=0.7" --expect-exit 1
  --expect-message "Study/Refine fraction")

# Missing data, and data that no physics reads
wrong_file(poisson_without_right-hand_side_ends_with_1 1
  " 'Poisson/Right-hand side' is not given.*'set Right-hand side = 1'" "set Physics = poisson")
wrong_file(heat_without_conductivity_ends_with_1 1
  "3: 'Heat/Conductivity' is not given.*'set Conductivity = 200'" "set Physics = heat"
  "subsection Heat" "set Conductivity =" "end")
wrong_file(bratu_without_lambda_ends_with_1 1 " 'Bratu/Lambda' is not given" "set Physics = bratu")
wrong_file(elasticity_without_material_ends_with_1 1
  " 'Elasticity/Young's modulus' is not given.*\n.*: 'Elasticity/Poisson's ratio' is not given"
  "set Physics = elasticity")
wrong_file(section_of_another_physics_ends_with_1 1
  "6: 'Bratu/Lambda' would have no effect, because Physics is heat .*prm:1\\).*set Physics = bratu"
  "set Physics = heat" "subsection Heat" "set Conductivity = 1" "end" "subsection Bratu"
  "set Lambda = 1" "end")
study_test(data_of_another_physics_end_with_1 ${parameter_dir}/elasticity_cook.prm
  --set "Poisson/Dirichlet=0: 0" --expect-exit 1 --expect-message
  "--set 'Poisson/Dirichlet=0: 0': .*because Physics is elasticity \\(.*elasticity_cook\\.prm:[0-9]+\\)")
file(WRITE ${files}/robin_alone.prm
  "subsection Poisson\n set Right-hand side = 1\n set Robin = 0: 1, 0\nend\n")
study_test(robin_meets_no_condition_that_nobody_wrote ${files}/robin_alone.prm
  --expect-outcome converged --set "Measurements/Integrals=outflow: u over boundary"
  --expect-quantity "outflow=1+-1e-7")
file(WRITE ${files}/two_physics.prm "subsection Poisson\n set Right-hand side = 0\n set Dirichlet = \
0: 1\nend\nsubsection Heat\n set Conductivity = 2\n set Dirichlet = 0: 1\nend\n")
study_test(study_over_physics_has_data_of_all --expect-text "Valid: 2 combinations" --
  ${files}/two_physics.prm --validate --study Physics=poisson,heat)

# Command line
function(wrong_option name code message)
  study_test(${name} --expect-exit ${code} --expect-message "${message}" -- ${poisson} ${ARGN})
endfunction()
wrong_option(no_thread_ends_with_1 1 "--threads 0: give an integer" --threads 0)
wrong_option(negative_number_of_threads_ends_with_1 1 "--threads -3" --threads -3)
wrong_option(unknown_backend_ends_with_1 1 "auto, host, cuda or cuda:K" --backend gpu)
wrong_option(negative_device_ends_with_1 1 "cuda:-1 is not a backend" --backend cuda:-1)
wrong_option(unknown_option_ends_with_1 1 "unknown option '--refine'" --refine)
wrong_option(set_without_value_ends_with_1 1 "has no '='" --set Dimension)
wrong_option(two_parameter_files_end_with_1 1 "two parameter files" ${poisson})
wrong_option(empty_output_directory_ends_with_5 5 "output directory is empty" --set Output/Directory=)
study_test(device_that_is_not_there_ends_with_4 ${poisson} --set Solver/Backend=cuda:99
  --set Study/Cycles=1 --expect-exit 4 --expect-message "cuda:99")
study_test(device_that_is_not_there_ends_with_4_on_2_ranks ${poisson} --ranks 2
  --set Solver/Backend=cuda:99 --set Study/Cycles=1 --expect-exit 4 --expect-message "cuda:99")

# Size
study_test(unknowns_of_more_than_31_bits_end_with_1_at_once ${parameter_dir}/poisson_3d.prm
  --set "Mesh/Initial refinements=12" --expect-exit 1
  --expect-message "Mesh/Initial refinements.*more than the maximum of")
study_test(mesh_that_is_larger_than_the_memory_ends_with_4_at_once ${parameter_dir}/poisson_3d.prm
  --set Discretization/Degree=4 --set "Mesh/Arguments=0 : 1 : true"
  --set "Mesh/Initial refinements=8" --expect-exit 4 --expect-message "GB, but this machine has")
study_test(coarse_mesh_that_is_larger_than_the_memory_ends_with_4_at_once ${poisson}
  --set Mesh/Generator=subdivided_hyper_cube --set "Mesh/Arguments=300000 : 0 : 1 : true"
  --expect-exit 4 --expect-message "Mesh/Arguments of .* 9e\\+10 cells.*GB, but this machine has")
study_test(refinement_where_the_forecast_is_small_is_made ${poisson} --set Study/Cycles=1
  --set "Mesh/Initial refinement where=12*(x<1e-3 && y<1e-3)" --expect-cycles 1
  --expect-error-below L2=7.6e-3 H1=0.252)
add_test(NAME memory_that_does_not_suffice_ends_with_4 COMMAND ${Python3_EXECUTABLE}
  ${here}/memory_limit.py --program $<TARGET_FILE:femgpu> ${parameter_dir}/poisson_3d.prm)
physics_properties(memory_that_does_not_suffice_ends_with_4)
foreach(cells hypercube simplex)
  set(error L2=0.12 H1=0.998)
  if(cells STREQUAL "simplex")
    set(error L2=0.097 H1=0.947)
  endif()
  study_test(more_ranks_than_cells_give_the_same_with_${cells} ${poisson} --ranks 4
    --set "Mesh/Initial refinements=0" --set Mesh/Cells=${cells} --set Study/Cycles=2
    --same-as-ranks 1 --expect-error-below ${error})
endforeach()

# A domain other than those whose folds are known
study_test(bratu_beyond_the_fold_of_a_disc_ends_with_3_and_no_number_of_the_square
  ${parameter_dir}/bratu_2d.prm --set Study/Cycles=1 --set Mesh/Generator=hyper_ball
  --set "Mesh/Arguments=0, 0 : 1 : false" --set "Mesh/Initial refinements=2" --set Bratu/Lambda=50
  --expect-exit 3 --expect-message "lambda = 50 is probably beyond the fold(?!(.|\\n)*(6\\.808|9\\.90))")

# An installed tree
add_test(NAME installed_parameters_come_with_their_meshes COMMAND sh -c
  "${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${files}/installed >/dev/null && cd ${files}/installed/share/femgpu && ${files}/installed/bin/femgpu parameters/elasticity_bracket.prm --validate")
physics_properties(installed_parameters_come_with_their_meshes)

# Output, and the end of a run at any moment
study_test(device_in_place_of_the_output_directory_ends_with_5 ${poisson} --output /dev/null
  --expect-exit 5 --expect-message "/dev/null.* not a directory")
study_test(file_above_the_output_directory_ends_with_5 ${poisson} --output ${poisson}/below
  --expect-exit 5 --expect-message "poisson\\.prm/below.*could not be created")
foreach(file convergence.csv history.csv)
  study_test(full_disk_at_${file}_ends_with_5 ${poisson} --set Study/Cycles=2 --full-disk ${file}
    --expect-exit 5 --expect-message "${file}")
endforeach()
add_test(NAME working_directory_that_was_removed_ends_with_1 COMMAND sh -c
  "mkdir -p gone && cd gone && rmdir ../gone && $<TARGET_FILE:femgpu> ${poisson} --output ${files}/of_gone 2>${files}/gone.txt; test $? -eq 1 && test $(wc -l <${files}/gone.txt) -eq 1 && grep 'femgpu: The working directory' ${files}/gone.txt"
  WORKING_DIRECTORY ${files})
physics_properties(working_directory_that_was_removed_ends_with_1)
function(ended_test name)
  add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} ${here}/ended_run.py
    --program $<TARGET_FILE:femgpu> ${poisson} --set Study/Cycles=2 ${ARGN})
  physics_properties(${name})
endfunction()
foreach(file summary.json convergence.csv solution_001.000.vtu solution.pvd)
  ended_test(run_that_is_killed_at_${file}_leaves_the_files_of_the_run_before --how KILL
    --when ${file})
endforeach()
foreach(file summary.json solution_001.000.vtu)
  ended_test(two_ranks_that_are_killed_at_${file}_leave_no_half_file --how KILL --when ${file}
    --ranks 2)
endforeach()
foreach(signal TERM INT)
  ended_test(run_that_gets_SIG${signal}_leaves_no_partial_file --how ${signal}
    --when solution_001.000.vtu)
endforeach()
foreach(signal KILL TERM INT)
  ended_test(study_that_gets_SIG${signal}_in_cycle_2_keeps_the_cycles_before --how ${signal}
    --set Study/Cycles=4 --when solution_002.000.vtu --finished 2)
endforeach()
ended_test(two_ranks_that_are_killed_in_cycle_2_keep_the_cycles_before --how KILL --ranks 2
  --set Study/Cycles=4 --when solution_002.000.vtu --finished 2)
study_test(values_of_a_study_that_are_cut_at_their_commas_end_with_1
  ${parameter_dir}/elasticity_bracket.prm --study "Elasticity/Traction=load: 0, 1, -1"
  --expect-exit 1 --expect-message "Commas separate values. put each value that contains commas in quotes")
study_test(cycles_before_an_error_are_kept ${poisson} --set Study/Cycles=3
  --set "Poisson/Right-hand side=if(0 < x && x < 0.02, 1/(y-y), 1)"
  --expect-exit 1 --expect-message "Poisson/Right-hand side" --expect-line summary.json
  "\"outcome\": \"unfinished\"" --expect-line convergence.csv "^0,")
ended_test(two_ranks_that_get_SIGTERM_leave_no_partial_file --how TERM --when summary.json
  --ranks 2)
ended_test(output_directory_that_vanishes_ends_with_5 --how VANISH --when solution_001.000.vtu)
ended_test(output_directory_that_vanishes_at_the_end_ends_with_5_on_2_ranks --how VANISH
  --when summary.json --ranks 2)
foreach(ranks 1 2)
  ended_test(second_run_in_a_directory_ends_with_5_and_names_the_first_on_${ranks}_ranks
    --how SECOND --when solution_001.000.vtu --ranks ${ranks})
endforeach()
ended_test(run_with_fewer_cycles_leaves_no_files_that_look_like_its_own --how FEWER)
foreach(format vtu vtkhdf)
  ended_test(small_disk_ends_with_5_writing_${format} --how FULL --set Output/Format=${format})
endforeach()
ended_test(closed_standard_output_changes_no_file --how CLOSED)
ended_test(reader_that_goes_away_changes_no_file --how READER)
foreach(format vtu vtkhdf)
  add_test(NAME file_beyond_the_limit_of_file_sizes_ends_with_5_writing_${format} COMMAND sh -c
    "ulimit -f 16; rm -rf ${files}/limit_${format}; $<TARGET_FILE:femgpu> ${poisson} --output ${files}/limit_${format} --set Output/Format=${format} 2>${files}/limit_${format}.txt; test $? -eq 5 && grep 'File too large; raise the limit' ${files}/limit_${format}.txt && ! ls ${files}/limit_${format} | grep partial")
  physics_properties(file_beyond_the_limit_of_file_sizes_ends_with_5_writing_${format})
endforeach()
add_test(NAME printing_to_a_full_disk_ends_with_5 COMMAND sh -c
  "$<TARGET_FILE:femgpu> --list >/dev/full; test $? -eq 5")
physics_properties(printing_to_a_full_disk_ends_with_5)
study_test(home_that_cannot_be_written_does_not_matter ${poisson} --set Study/Cycles=1
  --expect-error-below L2=7.6e-3 H1=0.252)
set_property(TEST home_that_cannot_be_written_does_not_matter APPEND PROPERTY ENVIRONMENT
  HOME=/proc/nowhere)
# Few machines have a locale with decimal commas, so the tests create one.
add_test(NAME locale_with_decimal_commas_is_made COMMAND sh -c
  "localedef -i de_DE -f UTF-8 ${files}/de_DE.UTF-8 && test \"$(env printf %.1f 2)\" = 2,0")
physics_properties(locale_with_decimal_commas_is_made)
study_test(decimal_commas_of_a_locale_change_no_number ${poisson} --set Study/Cycles=2
  --expect-order L2=2 H1=1 --check-vtu)
set_property(TEST locale_with_decimal_commas_is_made PROPERTY FIXTURES_SETUP decimal_commas)
set_property(TEST decimal_commas_of_a_locale_change_no_number
  PROPERTY FIXTURES_REQUIRED decimal_commas)
set_property(TEST locale_with_decimal_commas_is_made decimal_commas_of_a_locale_change_no_number
  APPEND PROPERTY ENVIRONMENT LOCPATH=${files} LC_ALL=de_DE.UTF-8)
