# Complete runs with measurements. measurements_test.cc tests measurements of known functions. A
# semicolon with two backslashes stays within its argument.
set(linear ${here}/measured_linear.prm)

study_test(measured_linear_function_is_exact_and_the_same_on_1_and_2_ranks ${linear}
  --ranks 2 --same-as-ranks 1 --repeat-identical
  --expect-quantity "inside u=1.7+-1e-9" --expect-quantity "vertex u=1.5+-1e-9"
  --expect-quantity "inside grad_u_x=1+-1e-8" --expect-quantity "area=1+-1e-12"
  --expect-quantity "outflow=2+-1e-8" --expect-quantity "mean=1.5+-1e-9"
  --expect-quantity "max u=3+-1e-12" --expect-quantity "max u at x=1+-1e-12"
  --expect-quantity "min u at y=0+-1e-12" --expect-text "quantity +cycle +value +difference +order")
study_test(measurements_are_the_same_on_1_and_4_ranks ${linear} --ranks 4 --same-as-ranks 1
  --expect-quantity "inside u=1.7+-1e-9" --expect-quantity "outflow=2+-1e-8"
  --expect-quantity "max u at x=1+-1e-12")
study_test(measurements_on_an_adaptive_mesh_are_the_same_on_1_and_4_ranks
  ${parameter_dir}/poisson_lshape_adaptive.prm ${tight} --ranks 4 --same-as-ranks 1 --set Study/Cycles=4
  --set "Output/Write VTU=false" --set "Measurements/Points=a: -0.5, 0.5\\; corner: 0, 0"
  --set "Measurements/Point fields=u, grad_u_magnitude" --set "Measurements/Extrema=grad_u_magnitude"
  --set "Measurements/Lines=l: -0.9, 0.1 -> -0.1, 0.7 : 21"
  --set "Measurements/Integrals=area: 1 over all\\; flow: grad_u.n over boundary"
  --expect-quantity "area=3+-1e-12" --expect-quantity "max grad_u_magnitude at x=0+-1e-12")
study_test(measured_elasticity_is_the_same_on_1_and_2_ranks
  ${parameter_dir}/elasticity_cantilever.prm --set "Solver/Relative tolerance=1e-9" --ranks 2 --same-as-ranks 1
  --set "Output/Write VTU=false" --set "Measurements/Extrema=displacement_z\\; von_mises_stress"
  --set "Measurements/Averages=stress: von_mises_stress over material 1"
  --set Study/Cycles=1 --absolute-for-quantities 1
  --expect-quantity "min displacement_z=-3.80e-3+-4e-5")
study_test(measured_triangles_are_the_same_on_1_and_2_ranks ${linear} --ranks 2 --same-as-ranks 1
  --set Mesh/Cells=simplex --set "Mesh/Initial refinements=1" --set Discretization/Degree=2
  --expect-quantity "vertex u=1.5+-1e-9" --expect-quantity "outflow=2+-1e-8"
  --expect-quantity "max u at x=1+-1e-12")
# The example of docs/measurements.md; the exact values are 1, -8 and 4/pi^2.
study_test(measured_quantities_converge_with_their_order ${parameter_dir}/poisson.prm
  --set Study/Cycles=4 --set "Output/Write VTU=false" --set "Measurements/Points=middle: 0.5, 0.5"
  --set "Measurements/Integrals=outflow: grad_u.n over boundary 0"
  --set "Measurements/Averages=mean: u over all" --expect-quantity "middle u=1.000200822+-1e-8"
  --expect-quantity "mean=0.4052033413+-1e-9"
  --expect-text "outflow +3 +-7\\.996787432 +-0\\.00964 +2 *\\n")
# The line of a cycle shows six of 14 quantities: first those that the user has named.
study_test(what_was_measured_by_name_comes_first ${parameter_dir}/elasticity_cook.prm
  --set Study/Cycles=1 --set "Output/Write VTU=false" --set Measurements/Extrema=von_mises_stress
  --expect-text "residual [-+0-9.e]+, right displacement_y [0-9.]+, min von_mises_stress "
  --expect-text "and [0-9]+ more quantities, "
  --expect-text "order *\n *right displacement_y +0 [^\n]*\n *min von_mises_stress ")
study_test(measurements_are_files_that_the_summary_names ${linear} --expect-file points.csv=7
  --expect-file line_diagonal_000.csv=12 --expect-file line_diagonal_002.csv=12)

# Wrong measurements
function(wrong_measurement name key value message)
  study_test(${name} ${linear} --set "Measurements/${key}=${value}" --expect-exit 1
    --expect-message "${message}" ${ARGN})
endfunction()
wrong_measurement(point_outside_of_the_mesh_ends_with_1 Points "far: 2, 0.5"
  "Measurements/Points.*closest vertex of the mesh is \\(1 0\\.5\\), 1 away" --ranks 2)
wrong_measurement(unknown_field_ends_with_1_and_lists_the_fields Integrals "a: v over all"
  "Field 'v'.*The fields are u, grad_u_x")
wrong_measurement(normal_component_inside_ends_with_1 Integrals "a: grad_u.n over all" "boundary")
wrong_measurement(unknown_region_of_a_measurement_ends_with_1 Averages "a: u over boundary 9"
  "The mesh has no boundary id 9")
wrong_measurement(unreadable_line_ends_with_1 Lines "a: 0,0 -> 1,1" "such as 'axis:")
wrong_measurement(point_with_too_many_coordinates_ends_with_1 Points "a: 0, 0, 0"
  "has 3 coordinates.*needs 2")
study_test(validate_finds_a_wrong_measurement --expect-exit 1 --expect-message "Field 'w'"
  -- ${linear} --set "Measurements/Extrema=w" --validate)
study_test(measurements_along_a_branch_end_with_1 ${parameter_dir}/bratu_branch.prm
  --set "Measurements/Extrema=u" --expect-exit 1 --expect-message "Measurements/Extrema.*branch")
study_test(full_disk_at_points.csv_ends_with_5 ${linear} --ranks 2 --full-disk points.csv
  --expect-exit 5 --expect-message "points\\.csv")
