# Refinement, stopping criteria, extrapolation, parameter studies, and equal numbers on 1 and 4
# ranks.

set(l_shape ${parameter_dir}/poisson_lshape_adaptive.prm)

# H1 error of r^(2/3): the rate of the singularity on global meshes, the optimal rate on adaptive
# ones.
study_test(l_shape_has_rate_one_third_with_global_refinement ${l_shape}
  --set Study/Refinement=global --set Study/Cycles=5 --set "Output/Write VTU=false"
  --expect-rate-by-dofs H1=0.3333+-0.03)
foreach(estimator kelly residual)
  foreach(strategy fixed_number fixed_fraction)
    if(strategy STREQUAL "fixed_number")
      set(fraction 0.2)
    else()
      set(fraction 0.6)
    endif()
    study_test(l_shape_has_rate_one_half_with_${estimator}_and_${strategy} ${l_shape}
      --set Study/Estimator=${estimator} --set Study/Strategy=${strategy}
      --set "Output/Write VTU=false" --set Study/Cycles=30 --set "Study/Maximum dofs=30000"
      --set "Mesh/Initial refinements=1" --set "Study/Refine fraction=${fraction}"
      --expect-rate-by-dofs H1=0.5+-0.03 --expect-stopped-by maximum_dofs
      --expect-text "H1: error falls like dofs\\^-0\\.5[0-9], expected dofs\\^-0\\.50: as expected")
  endforeach()
endforeach()

# Reasons for the end of a study
study_test(study_ends_before_too_many_dofs ${parameter_dir}/poisson.prm
  --set "Study/Maximum dofs=1100" --set Study/Cycles=9 --expect-stopped-by maximum_dofs
  --expect-order L2=2 H1=1 --expect-cycles 3 --expect-text "would have at least 4225 dofs, more than Study/Maximum dofs = 1100")
study_test(study_whose_first_mesh_has_too_many_dofs_ends_with_1 ${parameter_dir}/poisson.prm
  --set "Study/Maximum dofs=10" --expect-exit 1 --expect-message "Study/Maximum dofs=10.*81 dofs")
study_test(study_ends_at_its_target_in_H1 ${l_shape} --set Study/Cycles=30
  --set "Study/Target error=0.02" --set "Study/Target norm=H1" --set "Output/Write VTU=false"
  --expect-stopped-by target_error --expect-text "Stopped after cycle [0-9]+: the relative error in H1"
  --expect-error-below H1=0.0235)
study_test(study_ends_at_its_target_in_L2_with_global_refinement ${parameter_dir}/poisson.prm
  --set "Study/Target error=0.01" --set "Study/Target norm=L2" --set Study/Cycles=9
  --set "Output/Write VTU=false" --expect-stopped-by target_error --expect-error-below L2=0.01
  --expect-order L2=2 H1=1)
study_test(study_ends_at_its_estimated_target ${l_shape} --set Study/Cycles=30
  --set "Study/Target error=0.05" --set "Study/Target norm=estimate" --ranks 2
  --set "Output/Write VTU=false" --expect-stopped-by target_error
  --expect-estimate relative=0.04+-0.01)
study_test(study_ends_at_its_maximum_level ${parameter_dir}/poisson.prm
  --set "Mesh/Initial refinements=2" --set "Study/Maximum level=4" --set Study/Cycles=9
  --set "Output/Write VTU=false" --expect-stopped-by nothing_to_refine --expect-cycles 3
  --expect-order L2=2 H1=1)
study_test(triangles_end_at_their_maximum_level ${parameter_dir}/poisson.prm
  --set "Mesh/Initial refinements=1" --set "Study/Maximum level=2" --set Study/Cycles=9
  --set Mesh/Cells=simplex --set "Output/Write VTU=false" --expect-stopped-by nothing_to_refine
  --expect-cycles 2 --expect-order L2=2 H1=1)
study_test(cells_are_not_refined_beyond_the_maximum_level ${l_shape} --set Study/Cycles=30
  --set "Study/Maximum level=5" --set "Study/Maximum dofs=20000" --set "Output/Write VTU=false"
  --expect-stopped-by nothing_to_refine --expect-error-below L2=5.84e-4 H1=3.36e-2)
study_test(target_without_exact_solution_ends_with_1 ${parameter_dir}/bratu_2d.prm
  --set "Study/Target error=0.1" --expect-exit 1 --expect-message "Study/Target norm")

# Refinement by expressions
study_test(cells_get_the_size_that_is_asked_for ${parameter_dir}/poisson.prm
  --set Study/Refinement=adaptive --set Study/Estimator=expression
  --set "Study/Cell size=if(x < 0.5, 0.05, 0.2)" --set Study/Cycles=9 --ranks 4 --same-as-ranks 1
  --expect-stopped-by nothing_to_refine --expect-text "Cell size select no other cells" --check-vtu
  --expect-at "cell_size@0.01,0.01=0.03125+-1e-6" --expect-at "cell_size@0.49,0.99=0.03125+-1e-6"
  --expect-at "cell_size@0.51,0.5=0.0625+-1e-6" --expect-at "cell_size@0.99,0.01=0.125+-1e-6")
study_test(regions_are_refined_before_and_between_cycles ${parameter_dir}/poisson.prm
  --set Study/Refinement=adaptive --set Study/Estimator=expression
  --set "Study/Refine where=x < 0.5 && y < 0.5" --set Study/Cycles=3 --ranks 4 --same-as-ranks 1
  --set "Mesh/Initial refinement where=2*(x > 0.5)" --set "Output/Write VTU=false"
  --expect-cycles 3 --expect-error-below L2=2.31e-3 H1=0.1005)
study_test(expression_that_is_missing_ends_with_1 ${parameter_dir}/poisson.prm
  --set Study/Refinement=adaptive --set Study/Estimator=expression --expect-exit 1
  --expect-message "Study/Refine where")
study_test(expression_with_global_refinement_ends_with_1 ${parameter_dir}/poisson.prm
  --set "Study/Refine where=x < 0.5" --expect-exit 1
  --expect-message "Set Study/Refinement to adaptive")
study_test(unreadable_region_ends_with_1 ${parameter_dir}/poisson.prm
  --set "Mesh/Initial refinement where=x <" --expect-exit 1
  --expect-message "Mesh/Initial refinement where")
study_test(local_refinement_of_triangles_ends_with_1 ${parameter_dir}/poisson.prm
  --set "Mesh/Initial refinement where=x < 0.5" --set Mesh/Cells=simplex --expect-exit 1
  --expect-message "only be refined globally")

# Richardson: max u of Bratu's problem, 0.79795 by bratu_2d.prm with degree 4 on a finer mesh
study_test(bratu_extrapolates_max_u ${parameter_dir}/bratu_2d.prm --set Study/Cycles=4
  --set "Mesh/Initial refinements=3" --set "Output/Write VTU=false" --ranks 4 --same-as-ranks 1
  --expect-text "max u: extrapolated 0\\.797")
study_test(flux_with_the_order_of_its_quadrature_is_extrapolated ${parameter_dir}/poisson.prm
  --set Study/Cycles=3 --set "Output/Write VTU=false"
  --expect-text "flux through 0: extrapolated 8(\\.0+[0-9])?, order 4\\.0")

study_test(safety_factor_at_a_singularity_is_not_extrapolated ${here}/elasticity_clamped_l.prm
  --expect-text "min safety factor: not extrapolated" --expect-text "max von Mises: not extrapolated"
  --expect-text "strain energy: extrapolated 4\\.508")

# All numbers are the same on 1 and 4 ranks
function(ranks_test name)
  study_test(${name}_has_the_same_numbers_on_1_and_4_ranks ${ARGN} --ranks 4 --same-as-ranks 1
    --set "Output/Write VTU=false")
endfunction()
ranks_test(poisson ${parameter_dir}/poisson.prm ${tight} --set Study/Cycles=4 --expect-order L2=2 H1=1)
ranks_test(poisson_with_triangles ${parameter_dir}/poisson.prm ${tight} --set Study/Cycles=3
  --set Mesh/Cells=simplex --set "Mesh/Initial refinements=1" --expect-order L2=2 H1=1)
ranks_test(elasticity ${here}/elasticity_2d.prm --set "Mesh/Initial refinements=2"
  --expect-order L2=2 H1=1)
ranks_test(elasticity_3d ${parameter_dir}/elasticity_cantilever.prm --set Study/Cycles=1
  --set "Solver/Relative tolerance=1e-9"
  --absolute-for-quantities 1e-2 --expect-quantity "end displacement_z=-3.784247142e-3+-1e-9"
  --expect-quantity "moment y of 0=-8e4+-1e-2")
ranks_test(bratu ${parameter_dir}/bratu_2d.prm --set "Mesh/Initial refinements=3"
  --set Study/Cycles=3 --expect-quantity "max u=0.798+-3e-3" --expect-quantity "energy=-6.987+-1e-3")
# The total flux is zero. Jacobians of cells of size h have rounding errors of about 1e-16/h, here
# 4e-13. Translated cells reuse the Jacobian of the first one, which depends on the ranks.
ranks_test(adaptive_l_shape ${l_shape} ${tight} --set Study/Cycles=8 --absolute-for-quantities 1e-11
  --expect-rate-by-dofs H1=0.6+-0.05)
ranks_test(adaptive_l_shape_by_fraction_of_the_error ${l_shape} ${tight} --set Study/Cycles=8
  --set Study/Strategy=fixed_fraction --expect-error-below L2=1.07e-3 H1=4.41e-2)

# Studies over parameters
study_test(study_over_two_parameters_runs_all_combinations ${parameter_dir}/poisson.prm
  --study Solver/Preconditioner=jacobi,fsai --study Discretization/Degree=1..2 --ranks 4
  --same-as-ranks 1 --set Study/Cycles=2 --set "Output/Write VTU=false"
  --expect-text "Combination 4 of 4: Preconditioner = fsai, Degree = 2"
  --expect-text "\\n *fsai +2 +1 "
  --expect-line study.csv "^Solver/Preconditioner,Discretization/Degree,cycle,cells,dofs,"
  --expect-line study.csv "^fsai,2,1,.*,\"Preconditioner=fsai,Degree=2\""
  --expect-line study.md "^. *fsai *. *2 *. *1 "
  --expect-line study.tex "fsai & 2 & 1 &" --expect-line study.json "\"schema\": 1"
  --expect-line "Preconditioner=jacobi,Degree=2/convergence.csv" "^1,"
  --expect-line "Preconditioner=fsai,Degree=1/summary.json" "\"Preconditioner\": \"fsai\"")
study_test(combination_that_does_not_converge_is_a_line_and_ends_with_3
  ${parameter_dir}/poisson.prm ${tight} --set "Solver/Stop at=residual"
  --study "Solver/Maximum iterations=4,2000" --set Solver/Fallback=none --set Study/Cycles=4
  --set "Output/Write VTU=false" --expect-exit 3
  --expect-message "femgpu: combination Maximum iterations = 4: .*4 iterations"
  --expect-line study.csv "^4,3,.*,iteration_limit," --expect-line study.csv "^2000,3,.*,converged,"
  --expect-line study.json "\"exit_code\": 3")
foreach(ranks 1 2)
  study_test(combination_that_an_error_ends_is_a_line_and_gives_the_exit_code_on_${ranks}_ranks
    ${parameter_dir}/poisson.prm --study "Poisson/Coefficient=0.5 - x,1,2" --set Study/Cycles=2
    --ranks ${ranks} --set "Output/Write VTU=false" --expect-exit 1
    --expect-message "combination Coefficient = 0\\.5 - x: --study 'Poisson/Coefficient=0\\.5 - x': .*must be pos"
    --expect-text "Combination 3 of 3" --expect-text "\\n *0\\.5 - x +- +- +- +failed +- +- +- "
    --expect-line study.csv "^0\\.5 - x,,.*,failed,.*,Coefficient=0.5_-_x"
    --expect-line study.csv "^2,1,.*,converged," --expect-line study.md "0\\.5 - x.* failed "
    --expect-line study.json "\"outcome\": \"failed\""
    --expect-line study.json "\"message\": \".*Poisson/Coefficient is -0"
    --expect-line "Coefficient=2/summary.json" "\"outcome\": \"converged\"")
endforeach()
study_test(first_failure_of_a_study_gives_the_exit_code ${parameter_dir}/poisson.prm
  --study "Solver/Maximum iterations=2,2000" --set Solver/Fallback=none --study "Poisson/Coefficient=1,0.5 - x"
  --set Study/Cycles=2 --set "Output/Write VTU=false" --expect-exit 3
  --expect-message "combination Maximum iterations = 2, Coefficient = 1: "
  --expect-message "combination Maximum iterations = 2000, Coefficient = 0\\.5 - x: "
  --expect-line study.csv "^2000,1,1,.*,converged,")
study_test(combination_that_cannot_be_written_ends_the_study_with_5 ${parameter_dir}/poisson.prm
  --study Discretization/Degree=1..2 --set Study/Cycles=1
  --full-disk "Degree=1/solution_000.pvtu"
  --expect-exit 5 --expect-message "combination Degree = 1: .*solution_000\\.pvtu"
  --expect-no-text "Combination 2")
study_test(combination_whose_mesh_is_missing_is_named ${parameter_dir}/poisson.prm
  --study "Mesh/File=nowhere.msh,elsewhere.msh" --expect-exit 2
  --expect-message "combination File = nowhere\\.msh: .*nowhere")
study_test(wrong_value_of_the_last_combination_comes_before_the_first_solve
  ${parameter_dir}/poisson.prm --study Discretization/Degree=1,2,9 --expect-exit 1
  --expect-message "combination Degree = 9: --study 'Discretization/Degree=9'"
  --expect-no-text "cycle 0")
study_test(methods_that_do_not_fit_come_before_the_first_solve ${parameter_dir}/poisson.prm
  --study Solver/Preconditioner=jacobi,sai --expect-exit 1 --expect-no-text "cycle 0"
  --expect-message "combination Preconditioner = sai: .*needs a symmetric")
study_test(unknown_studied_parameter_ends_with_1 ${parameter_dir}/poisson.prm
  --study Solver/Precondtioner=jacobi --expect-exit 1
  --expect-message "--study 'Solver/Precondtioner=jacobi'.*Preconditioner")
study_test(study_without_equals_sign_ends_with_1 ${parameter_dir}/poisson.prm --study Solver
  --expect-exit 1 --expect-message "has no '='")
study_test(validate_checks_all_combinations --expect-text "Valid: 4 combinations" --
  ${parameter_dir}/poisson.prm --validate --study Discretization/Degree=1..4)
study_test(study_with_a_full_disk_ends_with_5 ${parameter_dir}/poisson.prm --set Study/Cycles=1
  --study Discretization/Degree=1..2 --full-disk study.csv --expect-exit 5
  --expect-message "study\\.csv" --set "Output/Write VTU=false")

# Tables
study_test(convergence_table_is_written_for_markdown_and_latex ${parameter_dir}/poisson.prm
  --set Study/Cycles=3 --set "Output/Write VTU=false" --set "Output/Error indicator=true"
  --expect-line convergence.md "^. cycle" --expect-line convergence.md "^.---"
  --expect-line convergence.tex "begin.tabular" --expect-line convergence.tex "converged"
  --expect-line convergence.csv "estimated_error,estimated_order,effectivity" --expect-order L2=2 H1=1)
