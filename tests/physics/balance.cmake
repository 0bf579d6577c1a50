# Complete runs whose fluxes and forces must balance. Included by CMakeLists.txt.

study_test(flux_through_layers_of_1_and_1e9_is_that_of_the_soft_one ${here}/balance.prm
  --expect-outcome converged --expect-quantity "flux through 0=1.428571428+-1e-6"
  --expect-quantity "flux through 1=-1.428571428+-1e-4"
  --expect-quantity "energy=0.714285714+-1e-6" --expect-quantity "balance defect=0+-1e-3")
study_test(solution_without_balance_ends_with_3 ${here}/balance.prm
  --set "Solver/Stop at=residual" --set "Solver/Relative tolerance=0.9"
  --set "Solver/Maximum iterations=3" --set Solver/Preconditioner=jacobi
  --set Solver/Fallback=none --expect-exit 3 --expect-outcome not_balanced
  --expect-message "the defect of their balance is [0-9.]+.*The defect may be at most 0.1 %")
study_test(isothermal_body_has_no_flow_and_no_warning ${here}/balance.prm --set Poisson/Coefficient=50
  --set "Poisson/Dirichlet=0: 300\\; 1: 300" --expect-quantity "flux through 0=0+-1e-7"
  --expect-outcome converged --expect-no-warnings)
set(uniform ${here}/balance.prm --ranks 2 --same-as-ranks 1 --set Poisson/Coefficient=1)
study_test(large_coefficient_of_exchange_is_a_boundary_value ${uniform} --set Poisson/Dirichlet=0:0
  --set "Poisson/Robin=1: 1e8, 1e8" --set "Poisson/Exact solution=x/(1 + 1e-8)"
  --expect-error-below Linf=1e-6 --expect-quantity "flux through 0=1+-1e-6"
  --expect-quantity "flux through 1=-1+-1e-3" --expect-quantity "balance defect=0+-1e-3")
# -u'' = 1 with u' = u at x = 0 and u' = -3u at x = 1: u = (5/14)(1 + x) - x^2/2
study_test(robin_data_alone_have_fluxes_and_their_balance ${uniform} --set Poisson/Dirichlet=
  --set "Poisson/Right-hand side=1" --set "Poisson/Robin=0: 1, 0\\; 1: 3, 0"
  --set Discretization/Degree=2 --expect-quantity "flux through 0=0.3571428571+-1e-8"
  --expect-quantity "flux through 1=0.6428571429+-1e-8"
  --expect-quantity "balance defect=0+-1e-8")
study_test(what_enters_a_bar_leaves_by_convection ${here}/heat_bar.prm --ranks 2 --same-as-ranks 1
  --set Heat/Reaction= --set "Heat/Reaction derivative=" --set "Heat/Reaction coefficient="
  --set Heat/Dirichlet= --set "Heat/Neumann=0: 3\\; 1: 2*(5 - u)" --set Study/Cycles=1
  --set "Heat/Exact solution=6.5 + 3*(1 - x)" --expect-error-below Linf=1e-8
  --expect-quantity "flux through 0=-3+-1e-9" --expect-quantity "flux through 1=3+-1e-8"
  --expect-quantity "balance defect=0+-1e-8" --set "Output/Write VTU=false")
# q enters at x = 0 and is radiated at x = 1: u(1)^4 - 1 = 15, u(1) = 2
study_test(what_enters_a_bar_is_radiated_with_hanging_nodes ${here}/heat_bar.prm --ranks 2
  --same-as-ranks 1 --set Heat/Reaction=u^4 --set "Heat/Reaction derivative=4*u^3"
  --set "Heat/Reaction range=1, 30" --set "Heat/Initial guess=2"
  --set "Heat/Reaction coefficient=" --set Heat/Dirichlet= --set "Heat/Neumann=0: 15"
  --set "Heat/Boundary reaction=1: 1, 1" --set "Heat/Exact solution=2 + 15*(1 - x)"
  --set Study/Cycles=2 --set Study/Refinement=adaptive --set Study/Estimator=expression
  --set "Study/Refine where=y > 0.5" --expect-error-below Linf=1e-7
  --expect-quantity "flux through 0=-15+-1e-7" --expect-quantity "flux through 1=15+-1e-6"
  --expect-quantity "balance defect=0+-1e-8" --set "Output/Write VTU=false")

# Exchange that grows with u. u = 2 - x is a stable state as long as conduction outweighs the
# exchange.
set(bar ${here}/heat_bar.prm --set Heat/Reaction= --set "Heat/Reaction derivative="
  --set "Heat/Reaction coefficient=" --set Study/Cycles=1 --set "Output/Write VTU=false")
study_test(convection_of_the_wrong_sign_alone_ends_with_1 ${bar} --set Heat/Dirichlet=
  --set "Heat/Neumann=0: 3\\; 1: 50*(u - 5)" --expect-exit 1
  --expect-message "Heat/Neumann grows with u on boundary .1., by 50 per unit of u.*Change the sign")
study_test(convection_of_the_wrong_sign_that_conduction_outweighs_is_told ${bar}
  --set "Heat/Neumann=0: 0.5*u" --set "Heat/Exact solution=2 - x" --expect-error-below Linf=1e-8
  --expect-message "warning: Heat/Neumann grows with u on boundary .0., by 0.5 per unit of u"
  --expect-quantity "flux through 0=-1+-1e-8" --expect-quantity "balance defect=0+-1e-8")
study_test(convection_of_the_wrong_sign_with_no_stable_state_ends_with_3 ${bar}
  --set "Heat/Neumann=0: 50*(u - 5)" --expect-exit 3
  --expect-message "Boundary data that grow with u.*Change the sign")
study_test(convection_of_the_wrong_sign_beside_radiation_is_named ${parameter_dir}/heat_radiation.prm
  --set "Heat/Neumann=3: 50*(u - 25)" --set Study/Cycles=1 --set "Output/Write VTU=false"
  --expect-exit 3 --expect-message "Heat/Neumann grows with u on boundary .3., by 50 per unit of u"
  --expect-message "Boundary data that grow with u.*Change the sign")
study_test(convection_of_the_wrong_sign_is_solved_by_the_direct_solver_if_asked_for ${bar}
  --set "Heat/Neumann=0: 50*u" --set Solver/Solver=direct
  --set "Heat/Exact solution=1 - (1 - x)*50/49" --expect-error-below Linf=1e-8)
study_test(conductivity_with_a_decimal_comma_is_told ${bar} --set Heat/Conductivity=1,5
  --expect-message "Heat/Conductivity = '1,5' gives one value per direction.*write 1\\.5 for 1,5")
study_test(comma_between_arguments_is_no_decimal_comma ${bar} --expect-no-warnings
  --set "Heat/Conductivity=max(0,1-x)+1")
