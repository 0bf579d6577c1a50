# Solutions with large contrasts, penalties and offsets must be accurate, or the run must report
# that they are not. Included by CMakeLists.txt.

set(layers ${here}/layers.prm)
set(exact_flux --expect-quantity "flux through 0=1.4285714281+-1.4e-6"
  --expect-quantity "flux through 1=-1.4285714281+-1e-3" --expect-quantity "balance defect=0+-1e-3")
set(random "(1.5 + sin(37*x + 11*sin(53*y)))")

foreach(element Q1 Q2 Q3 Q4 P1 P2)
  read_element(${element})
  study_test(layers_of_contrast_1e9_have_the_exact_flux_with_${element} ${layers}
    --set Discretization/Degree=${degree} --set Mesh/Cells=${cells}
    --set "Mesh/Initial refinements=1" ${exact_flux})
endforeach()
foreach(element Q1 P1)
  read_element(${element})
  study_test(layers_of_contrast_1e9_in_3d_have_the_exact_flux_with_${element}_on_3_ranks ${layers}
    --ranks 3 --set Dimension=3
    --set Mesh/Cells=${cells} --set "Mesh/Arguments=10, 4, 4 : 0, 0, 0 : 1, 1, 1 : true"
    --set "Mesh/Initial refinements=0" ${exact_flux})
endforeach()
foreach(contrast 1e3 1e5 1e7 1e12)
  study_test(layers_of_contrast_${contrast}_have_the_exact_flux ${layers}
    --set "Expressions/Constants=C=${contrast}, u0=0, u1=1"
    --expect-quantity "flux through 0=1.428571428+-1e-3")
endforeach()
# Every preconditioner must give the flux of the direct solver.
foreach(preconditioner auto jacobi fsai multigrid ic chebyshev sainv two-stage)
  study_test(random_layers_have_the_flux_of_direct_with_${preconditioner} ${layers}
    --set "Poisson/Coefficient=if(x < 0.7, 1, C)*${random}"
    --set Solver/Preconditioner=${preconditioner} --set Solver/Fallback=none
    --expect-quantity "flux through 0=2.10495212+-2e-6"
    --expect-quantity "flux through 1=-2.10495+-2e-3")
endforeach()
foreach(solver cg chronopoulos-gear-cg minres gmres bicgstab direct)
  study_test(random_layers_have_the_flux_of_direct_with_${solver} ${layers}
    --set "Poisson/Coefficient=if(x < 0.7, 1, C)*${random}" --set "Solver/Solver=${solver}"
    --set Solver/Fallback=none --expect-quantity "flux through 0=2.10495212+-2e-6")
endforeach()
study_test(solver_that_cannot_reach_the_accuracy_ends_with_3 ${layers}
  --set Solver/Solver=pipelined-bicgstab --set Solver/Preconditioner=jacobi
  --set "Expressions/Constants=C=1e11, u0=0, u1=1"
  --set Solver/Fallback=none --expect-exit 3 --expect-outcome stagnated --expect-message "of the internal forces, but should be at most 1.000e-08")
study_test(residual_alone_leaves_the_balance_to_judge ${layers}
  --set "Solver/Stop at=residual" --set Solver/Scaling=none --expect-line summary.json "\"accuracy\": null"
  --expect-quantity "flux through 0=1.42857143+-1e-5")
foreach(range "300, u1=300.01" "1e5, u1=100001")
  string(MAKE_C_IDENTIFIER "${range}" name)
  set(flux 2.10495212)
  set(width 2e-6)
  if(range MATCHES "300")
    set(flux 0.0210495212)
    set(width 2e-8)
  endif()
  study_test(random_layers_with_an_offset_have_the_flux_of_direct_${name} ${layers}
    --set "Poisson/Coefficient=if(x < 0.7, 1, C)*${random}"
    --set "Expressions/Constants=C=1e9, u0=${range}"
    --expect-quantity "flux through 0=${flux}+-${width}")
endforeach()
foreach(coefficient 1e10 1e14)
  study_test(robin_coefficient_of_${coefficient}_is_a_dirichlet_value ${layers}
    --set Poisson/Coefficient=1 --set "Poisson/Dirichlet=0: 0"
    --set "Poisson/Robin=1: ${coefficient}, ${coefficient}" --set "Poisson/Exact solution=x"
    --expect-error-below L2=1e-9 --expect-quantity "flux through 0=1+-1e-8")
endforeach()
study_test(floating_inclusions_have_the_flux_of_direct ${layers}
  --set "Poisson/Coefficient=if(sin(4*pi*x)^2 + sin(4*pi*y)^2 > 1.5, C, 1)*${random}"
  --set "Expressions/Constants=C=1e6, u0=0, u1=1"
  --expect-quantity "flux through 0=2.3497561+-2e-6")
study_test(stiff_checkers_have_the_reactions_of_direct ${here}/stiff_checkers.prm --ranks 2
  --expect-quantity "reaction x of 0=-127706369.374+-2" --expect-quantity "strain energy=638538.49107+-1e-4")
study_test(conductivity_of_u_with_a_contrast_has_the_exact_flux ${here}/layers_heat.prm
  --expect-quantity "flux through 0=2.142857142+-1e-5")

# Weakly held parts: a wrong motion has a small residual, so a solver reaches its tolerance before
# it finds the motion. pipelined-cg estimates its energy error; the other solvers do not.
foreach(solver pipelined-cg bicgstab minres gmres)
  set(with_${solver} --set Solver/Solver=${solver} --set Solver/Fallback=none)
  study_test(mean_that_a_weak_exchange_holds_is_found_by_${solver} ${here}/weak_exchange.prm ${with_${solver}}
    --expect-outcome converged --expect-quantity "m u=1.1667+-2e-3")
  study_test(layer_that_a_weak_one_holds_is_found_by_${solver} ${here}/weak_layer.prm ${with_${solver}}
    --expect-outcome converged --expect-quantity "m u=1+-2e-3" --expect-quantity "soft u=1+-2e-3")
  study_test(arm_at_a_stiff_block_is_found_by_${solver} ${here}/weak_arm.prm ${with_${solver}}
    --expect-outcome converged --expect-quantity "m u=0.5+-2e-3" --expect-quantity "end u=0.5+-2e-3")
  study_test(stiff_body_in_a_soft_one_is_moved_by_${solver} ${here}/weak_body.prm ${with_${solver}}
    --set Expressions/Constants=c=2e2 --ranks 2 --expect-outcome converged
    --expect-quantity "max von Mises=2.2886e6+-2e4")
endforeach()
study_test(halves_that_a_weak_strip_holds_are_found ${here}/weak_halves.prm --set Solver/Fallback=none --ranks 3
  --expect-outcome converged --expect-quantity "r u=0.125+-2e-4" --expect-quantity "l u=-0.125+-2e-4")
# Motions of parts that ComponentDeflation does not find, because they are connected to other parts.
# With multigrid, which auto chooses, the error estimate detects these motions.
foreach(solver pipelined-cg minres bicgstab)
  study_test(stiff_body_that_turns_about_a_node_is_found_by_${solver} ${here}/stiff_hinge.prm
    --set Solver/Solver=${solver} --expect-outcome converged
    --expect-quantity "corner displacement_x=-1.63287e-3+-2e-6" --expect-quantity "corner displacement_y=-2.6332e-3+-2e-6")
  study_test(part_behind_a_gradually_weaker_layer_is_found_by_${solver} ${here}/gradual_layer.prm
    --set Solver/Solver=${solver} --expect-outcome converged --expect-quantity "right=0.5005+-1e-3")
endforeach()
study_test(mean_of_a_weak_exchange_is_found_within_a_loose_tolerance ${here}/weak_exchange.prm
  --set Expressions/Constants=a=1e-5 --set "Solver/Stop at=energy error" --expect-quantity "m u=1.1667+-2e-3")
study_test(layer_that_a_weak_one_holds_is_found_at_the_discretisation_error ${here}/weak_layer.prm
  --set "Solver/Stop at=discretisation error" --set Study/Cycles=4 --expect-quantity "m u=1+-5e-3")
study_test(direct_solver_that_has_no_digit_does_not_converge ${here}/weak_exchange.prm
  --set Expressions/Constants=a=1e-14 --set Solver/Solver=direct --expect-exit 3 --expect-outcome stagnated)
study_test(solver_that_misses_the_accuracy_is_replaced_by_direct ${layers}
  --set Solver/Solver=pipelined-bicgstab --set Solver/Preconditioner=jacobi
  --set "Expressions/Constants=C=1e11, u0=0, u1=1"
  --expect-quantity "flux through 0=1.42857143+-1e-6" --expect-message "femgpu used solver 'direct' instead")
study_test(energy_beyond_double_precision_ends_with_3 ${layers} --set "Expressions/Constants=C=1, u0=0, u1=1e160"
  --expect-exit 3 --expect-outcome not_finite --expect-message "Use other units")
