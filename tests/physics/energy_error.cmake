# Linear solves that stop at their error in the energy norm. Included by CMakeLists.txt.

set(cook ${parameter_dir}/elasticity_cook.prm --set "Output/Write VTU=false")
set(l_shape ${parameter_dir}/poisson_lshape_adaptive.prm --set "Output/Write VTU=false")

study_test(cook_stops_at_the_energy_error ${cook} --set "Solver/Stop at=energy error"
  --set "Solver/Energy tolerance=1e-3" --set Study/Cycles=2
  --expect-outcome converged --expect-text "Energy tolerance"
  --expect-line convergence.csv "Energy tolerance"
  --expect-quantity "right displacement_y=23.94941e-3+-1e-6")
study_test(cook_that_stops_at_the_discretisation_error_has_its_displacement ${cook}
  --expect-quantity "right displacement_y=23.96e-3+-2e-5"
  --set "Solver/Stop at=discretisation error" --set Study/Cycles=5
  --expect-outcome converged --expect-text "energies, best order" --expect-text "energies, extrapolated"
  --expect-line convergence.csv "energy_error,energy_tolerance,energy_tolerance_from"
  --expect-line summary.json "\"source\": \"energies, extrapolated\"")
study_test(adaptive_l_shape_stops_at_the_error_that_its_estimator_tells ${l_shape}
  --set "Solver/Stop at=discretisation error" --set Study/Cycles=30 --set "Study/Maximum dofs=30000"
  --set "Mesh/Initial refinements=1" --set "Study/Refine fraction=0.2"
  --expect-rate-by-dofs H1=0.5+-0.03 --expect-text "estimator and its effectivity")
study_test(pure_neumann_data_stop_at_the_discretisation_error ${parameter_dir}/poisson_neumann.prm
  --set "Solver/Stop at=discretisation error" --set "Output/Write VTU=false" --ranks 2
  --expect-outcome converged --expect-text "energies, " --expect-error-below L2=1.33e-4 H1=3.15e-2)

foreach(stop "energy error" "discretisation error")
  string(REPLACE " " "_" word ${stop})
  study_test(nonlinear_problem_cannot_stop_at_the_${word} ${parameter_dir}/bratu_2d.prm
    --set "Solver/Stop at=${stop}" --expect-exit 1
    --expect-message "Solver/Stop at.*Nonlinear solves.*Set 'Stop at' to auto")
  study_test(minres_cannot_stop_at_the_${word} ${cook} --set "Solver/Stop at=${stop}"
    --set Solver/Solver=minres --expect-exit 1
    --expect-message "Solver/Stop at.*'minres' cannot stop at the energy error.*Use cg, pipelined-cg, ")
  study_test(direct_solver_cannot_stop_at_the_${word} ${cook} --set "Solver/Stop at=${stop}"
    --set Solver/Solver=direct --expect-exit 1
    --expect-message "Solver/Stop at.*'direct' cannot stop at the energy error.*Use cg, pipelined-cg, ")
endforeach()
study_test(branch_cannot_stop_at_an_energy_error ${parameter_dir}/bratu_branch.prm
  --set "Solver/Stop at=energy error" --expect-exit 1
  --expect-message "Solver/Stop at.*Set Solver/Stop at to auto")
study_test(energy_tolerance_of_zero_ends_with_1 ${cook} --set "Solver/Energy tolerance=0"
  --expect-exit 1 --expect-message "Solver/Energy tolerance")
