# Complete runs of convection_diffusion. Included by CMakeLists.txt.
set(section "Convection diffusion")
set(convection ${here}/convection_2d.prm --set "Output/Write VTU=false")
# For meshes whose dofs have another order on two ranks: direct factors would differ in size.
set(same_in_any_order --set "Solver/Solver=gmres restart=100" --set Solver/Preconditioner=jacobi
    --set "Solver/Relative tolerance=1e-12")

# Orders of a smooth solution: p + 1 in L2 and p in H1. If convection dominates, theory promises
# p + 1/2 in L2; the observed orders are higher.
function(convection_order_test element refinements)
  read_element(${element})
  foreach(K 1 1e-6)
    study_test(convection_${element}_with_diffusivity_${K}_has_orders_${L2_order}_and_${degree}
      ${convection} --ranks 2 --same-as-ranks 1 --expect-order L2=${L2_order} H1=${degree}
      --set Discretization/Degree=${degree} --set Mesh/Cells=${cells}
      --set "Mesh/Initial refinements=${refinements}"
      --set "Expressions/Constants=K = ${K}, D = 0, F = 0" --expect-no-warnings ${same_in_any_order})
  endforeach()
endfunction()
convection_order_test(Q1 3)
convection_order_test(Q3 2)
convection_order_test(P1 2)
foreach(element Q2 P2)
  read_element(${element})
  study_test(convection_${element}_with_much_diffusion_has_orders_3_and_2 ${convection}
    --expect-order L2=3 H1=2 --set Discretization/Degree=2 --set Mesh/Cells=${cells}
    --set "Mesh/Initial refinements=2" --ranks 2 --same-as-ranks 1 ${same_in_any_order})
  study_test(convection_${element}_with_little_diffusion_has_orders_above_5_halves ${convection}
    --expect-rate-by-dofs L2=1.4+-0.15 H1=0.88+-0.13 --set Discretization/Degree=2
    --set Mesh/Cells=${cells} --set "Mesh/Initial refinements=3" --ranks 2 --same-as-ranks 1
    ${same_in_any_order}
    --set "Expressions/Constants=K = 1e-6, D = 0, F = 0")
endforeach()
set(u "sin(pi*x)*sin(pi*y)*sin(pi*z)")
foreach(element Q1 Q2 P1)
  read_element(${element})
  math(EXPR refinements "2 - ${degree} / 2")
  set(diffusivities 1 1e-5)
  if(degree EQUAL 2)
    set(diffusivities 1)
  endif()
  foreach(K IN LISTS diffusivities)
    study_test(convection_in_3d_with_${element}_and_diffusivity_${K}_has_orders_${L2_order}_and_${degree}
      ${convection} --ranks 2 --same-as-ranks 1 --set Dimension=3 --set Mesh/Arguments=0:1:false
      --set Mesh/Cells=${cells} --set Discretization/Degree=${degree}
      --set "Mesh/Initial refinements=${refinements}" --set "Expressions/Constants=K = ${K}"
      --set "${section}/Diffusivity=K, 2*K, 3*K" --set "${section}/Velocity=1 + y, 2 - x, 1"
      --set "${section}/Reaction=0" --set "${section}/Dirichlet=0: 0"
      --set "${section}/Exact solution=${u}"
      --set "${section}/Source=K*6*pi^2*${u} + pi*(1 + y)*cos(pi*x)*sin(pi*y)*sin(pi*z) + pi*(2 - x)*sin(pi*x)*cos(pi*y)*sin(pi*z) + pi*sin(pi*x)*sin(pi*y)*cos(pi*z)"
      --expect-order L2=${L2_order} H1=${degree} ${same_in_any_order})
  endforeach()
endforeach()
study_test(convection_on_curved_cells_has_orders_4_and_3 ${convection} --ranks 2 --same-as-ranks 1
  --set Discretization/Degree=3 --set Mesh/Generator=hyper_shell
  --set "Mesh/Arguments=0, 0 : 0.5 : 1 : 0 : true" --set "Mesh/Initial refinements=1"
  --set "${section}/Dirichlet=0, 1: sin(pi*x)*sin(pi*y) + x"
  --set "Expressions/Constants=K = 1e-4, D = 0, F = 0" --expect-order L2=4 H1=3)
foreach(estimator kelly residual)
  study_test(convection_is_refined_by_${estimator} ${convection} --ranks 2 --same-as-ranks 1
    --set Study/Refinement=adaptive --set Study/Cycles=5 --set Study/Estimator=${estimator}
    --set Discretization/Degree=2 --set "Expressions/Constants=K = 1e-3, D = 0, F = 0"
    --expect-error-below L2=5e-5 H1=5e-3 ${same_in_any_order})
endforeach()

# Forms and boundary conditions. The divergence of b is 1.
set(conservative ${convection} --set "${section}/Form=conservative" --ranks 2 --same-as-ranks 1
    --set "Expressions/Constants=K = 1e-3, D = 0.5, F = 1" --expect-quantity "balance defect=0+-1e-9")
set(outflow "1: K*(1 + y)*(1 - pi*sin(pi*y))\\; 3: -K*(1 + y)*pi*sin(pi*x)")
foreach(degree 1 3)
  math(EXPR L2_order "${degree} + 1")
  set(orders --set Discretization/Degree=${degree} --expect-order L2=${L2_order} H1=${degree})
  study_test(conservative_form_of_degree_${degree}_converges ${conservative} ${orders})
  study_test(conservative_form_of_degree_${degree}_has_diffusive_neumann_data ${conservative} ${orders}
    --set "${section}/Dirichlet=0, 2: x" --set "${section}/Neumann=${outflow}")
  study_test(convective_form_of_degree_${degree}_has_neumann_data ${convection} ${orders}
    --set "${section}/Dirichlet=0, 2: x" --set "${section}/Neumann=${outflow}"
    --set "Expressions/Constants=K = 1e-3, D = 0.5, F = 0")
endforeach()
# u is x at x = 1 and y = 1, so that the total flux is known there
set(total_flux "1: K*(1 + y)*(1 - pi*sin(pi*y)) - (2 + y + D)\\; 3: -K*(1 + y)*pi*sin(pi*x) - (1 - x + D)*x")
foreach(form convective conservative)
  set(F 0)
  if(form STREQUAL "conservative")
    set(F 1)
  endif()
  study_test(total_flux_in_the_${form}_form_converges ${convection} --set "${section}/Form=${form}"
    --set "${section}/Dirichlet=0, 2: x" --set "${section}/Total flux=${total_flux}"
    --set Discretization/Degree=3 --set "Expressions/Constants=K = 1, D = 0.5, F = ${F}"
    --expect-order L2=4 H1=3)
  # the inlets x = 0 and y = 0 supply u = 1
  study_test(inflow_by_total_flux_in_the_${form}_form_gives_u_1 ${here}/convection_skew.prm
    --set "${section}/Form=${form}" --set "${section}/Dirichlet=" --expect-no-warnings
    --set "${section}/Total flux=0: 2\\; 2: 1" --expect-quantity "min u=1+-1e-6"
    --expect-quantity "max u=1+-1e-6")
  study_test(inflow_by_robin_in_the_${form}_form_gives_u_1 ${here}/convection_skew.prm
    --set "${section}/Form=${form}" --set "${section}/Dirichlet=" --expect-no-warnings
    --set "${section}/Robin=0: 2, 2\\; 2: 1, 1" --expect-quantity "min u=1+-1e-6"
    --expect-quantity "max u=1+-1e-6")
endforeach()
study_test(fluxes_of_the_conservative_form_contain_convection ${here}/convection_skew.prm
  --set "${section}/Form=conservative" --set "${section}/Dirichlet=0, 2: 1 + y"
  --set "${section}/Diffusivity=0.5" --set "${section}/Source=1" --set Discretization/Degree=2
  --set "${section}/Exact solution=1 + y" --set "${section}/Neumann=3: 0.5" --ranks 2
  --set Solver/Solver=direct
  --same-as-ranks 1 --expect-error-below L2=1e-7 --expect-quantity "flux through 1=3+-1e-6"
  --expect-quantity "flux through 3=1.5+-1e-6" --expect-quantity "balance defect=0+-1e-8"
  --check-vtu --set "Output/Write VTU=true" --expect-array flux)
study_test(periodic_convection_is_that_of_a_strip ${here}/convection_skew.prm --ranks 2
  --same-as-ranks 1 --set "${section}/Velocity=1, 3" --set "${section}/Diffusivity=0.1"
  --set "${section}/Dirichlet=0: 0\\; 1: 1" --set "${section}/Periodic=2, 3: y"
  --set Discretization/Degree=3 --expect-error-below L2=1e-5
  --set "${section}/Exact solution=(exp(10*x) - 1)/(exp(10) - 1)")

# Diffusivity (1 + u²) K (1 + y)
set(S "sin(pi*x)*sin(pi*y)")
set(grad2 "((pi*cos(pi*x)*sin(pi*y) + 1)^2 + (pi*sin(pi*x)*cos(pi*y))^2)")
set(nonlinear "(1 + (${S} + x)^2)*K*((1 + y)*2*pi^2*${S} - pi*sin(pi*x)*cos(pi*y)) - K*(1 + y)*2*(${S} + x)*${grad2} + (2 + y)*(pi*cos(pi*x)*sin(pi*y) + 1) + (1 - x)*pi*sin(pi*x)*cos(pi*y) + (1 + x)*(${S} + x)")
foreach(degree 1 2 3)
  math(EXPR L2_order "${degree} + 1")
  set(K 0.1)
  if(degree EQUAL 1) # the neglected second derivatives are of order K h
    set(K 1e-4)
  endif()
  study_test(convection_with_diffusivity_of_u_has_orders_${L2_order}_and_${degree} ${convection}
    --ranks 2 --same-as-ranks 1 --set Discretization/Degree=${degree}
    --set "Expressions/Constants=K = ${K}, D = 0, F = 0"
    --set "${section}/Diffusivity=K*(1 + y)*(1 + u^2)" --set "${section}/Source=${nonlinear}"
    --expect-order L2=${L2_order} H1=${degree})
endforeach()

# Consistency: SUPG reproduces polynomials of the finite element space on any cell.
function(consistency_test name degree cells u u_x u_y u_xx u_yy)
  set(sides "0, 1, 2, 3")
  set(mesh --set "Mesh/Initial refinements=1")
  if(name MATCHES "distorted")
    set(sides "1, 2, 3, 4")
    set(mesh --set Mesh/File=${mesh_dir}/plate_with_hole.msh --set "Mesh/Initial refinements=0")
  endif()
  study_test(supg_reproduces_${name} ${convection} --set Discretization/Degree=${degree}
    --set Mesh/Cells=${cells} ${mesh} --set Study/Cycles=1
    --set "${section}/Diffusivity=1e-3*(1 + x), 2e-3" --set "${section}/Dirichlet=${sides}: ${u}"
    --set "${section}/Exact solution=${u}" --expect-error-below L2=1e-10 H1=1e-9
    --set "${section}/Source=-1e-3*(${u_x} + (1 + x)*(${u_xx}) + 2*(${u_yy})) + (2 + y)*(${u_x}) + (1 - x)*(${u_y}) + (1 + x)*(${u})")
endfunction()
consistency_test(lines_on_distorted_cells 1 hypercube "x + 2*y" 1 2 0 0)
consistency_test(lines_on_triangles 1 simplex "x + 2*y" 1 2 0 0)
foreach(cells hypercube simplex)
  consistency_test(parabolas_on_${cells} 2 ${cells} "x^2 + x*y - y^2" "2*x + y" "x - 2*y" 2 -2)
endforeach()
consistency_test(parabolas_on_distorted_cells 2 hypercube "x^2 + x*y - y^2" "2*x + y" "x - 2*y" 2 -2)
consistency_test(cubics_on_distorted_cells 3 hypercube "x^3 + y^3 - x*y^2" "3*x^2 - y^2"
  "3*y^2 - 2*x*y" "6*x" "6*y - 2*x")

# Jumps of the solution: SUPG overshoots by 13 % and 5 % of the jump, Galerkin's method by up to 25 %
# and, if u is also given at the outlet, by 200 %.
study_test(supg_transports_a_jump_with_small_overshoots ${here}/convection_skew.prm --ranks 2
  --same-as-ranks 1 --expect-quantity "min u=-0.06+-0.07" --expect-quantity "max u=1.03+-0.03"
  --expect-no-warnings)
study_test(supg_has_small_overshoots_at_a_boundary_layer ${here}/convection_skew.prm
  --set "${section}/Dirichlet=0: if(y > 0.25, 1, 0)\\; 1, 2: 0" --expect-quantity "max u=1.15+-0.1")
study_test(galerkin_oscillates_at_a_boundary_layer ${here}/convection_skew.prm
  --set "${section}/Dirichlet=0: if(y > 0.25, 1, 0)\\; 1, 2: 0" --set "${section}/Stabilisation=none"
  --set Solver/Solver=direct --expect-quantity "max u=3+-0.3"
  --expect-message "cell Péclet number .* is up to 3\\.12e\\+04 .*Stabilisation = supg")
study_test(inflow_without_condition_is_a_warning ${here}/convection_skew.prm --ranks 2
  --set "${section}/Dirichlet=0: 1" --expect-message "flow enters through boundary '2', which has no")

# The default solver
foreach(dimension 2 3)
  set(of_dimension --set "Mesh/Initial refinements=5")
  if(dimension EQUAL 3)
    set(of_dimension --set "Mesh/Initial refinements=3" --set "${section}/Velocity=2, 1, 0.5")
  endif()
  foreach(diffusivity 1 1e-3 1e-6)
    study_test(auto_solves_convection_in_${dimension}d_with_diffusivity_${diffusivity}
      ${here}/convection_skew.prm --ranks 2 --set Solver/Solver=auto --set Solver/Preconditioner=auto
      --set Solver/Fallback=none --set Dimension=${dimension} ${of_dimension}
      --set "${section}/Diffusivity=${diffusivity}" --expect-outcome converged
      --expect-text "solving with idr s=8 on host" --repeat-identical)
  endforeach()
endforeach()
study_test(auto_solves_a_recirculating_flow ${here}/convection_skew.prm --ranks 2
  --set Solver/Solver=auto --set Solver/Preconditioner=auto --set Solver/Fallback=none
  --set "Mesh/Initial refinements=6" --set "${section}/Diffusivity=1e-4"
  --set "${section}/Velocity=8*x*(1 - x)*(2*y - 1), -8*y*(1 - y)*(2*x - 1)"
  --set "${section}/Dirichlet=0, 2, 3: 0\\; 1: 1" --expect-outcome converged)
study_test(auto_keeps_a_preconditioner_that_is_set ${here}/convection_skew.prm
  --set Solver/Solver=auto --set Solver/Preconditioner=jacobi --set Solver/Fallback=none
  --set "${section}/Diffusivity=0.1" --expect-outcome converged
  --expect-text "solving with idr s=8 on host")
study_test(auto_solves_an_unsymmetric_jacobian ${parameter_dir}/heat_laws.prm --set Solver/Solver=auto
  --set Solver/Preconditioner=auto --expect-outcome converged --expect-order L2=3 H1=2
  --set "Output/Write VTU=false" --expect-line summary.json "pipelined-bicgstab")

# Wrong input
function(convection_error name message)
  study_test(convection_with_${name}_ends_with_1 ${here}/convection_skew.prm --expect-exit 1
    --expect-message "${message}" ${ARGN})
endfunction()
convection_error(no_velocity "Convection diffusion/Velocity' is not given.*set Velocity = 1, 0"
  --set "${section}/Velocity=")
convection_error(no_diffusivity "Convection diffusion/Diffusivity' is not given"
  --set "${section}/Diffusivity=")
convection_error(one_component_of_velocity "Velocity has 1 expression, but needs 2"
  --set "${section}/Velocity=2")
convection_error(negative_reaction "Convection diffusion/Reaction is -0\\.[0-9]+ at .*not be negative"
  --set "${section}/Reaction=x - 0.5" --ranks 2)
convection_error(zero_diffusivity "Convection diffusion/Diffusivity is 0 at .*must be positive"
  --set "${section}/Diffusivity=0")
convection_error(a_symmetric_solver "Solver 'cg' needs a symmetric matrix" --set Solver/Solver=cg)
convection_error(options_of_auto "Solver auto has no options" --set "Solver/Solver=auto s=4")
convection_error(two_conditions_on_a_side "Boundary id 0 of Convection diffusion/Total flux already"
  --set "${section}/Total flux=0: 1")
convection_error(periodic_sides_with_total_flux "has a condition in Convection diffusion/Total flux"
  --set "${section}/Dirichlet=0: 0" --set "${section}/Periodic=2, 3: y" --set "${section}/Total flux=2: 1")
convection_error(nothing_that_fixes_u "known only up to a constant.*Convection diffusion/Dirichlet"
  --set "${section}/Dirichlet=")
convection_error(total_flux_everywhere "prescribes the flux through the whole boundary"
  --set "${section}/Dirichlet=" --set "${section}/Total flux=0, 1, 2, 3: 0")
convection_error(an_unknown_stabilisation "Convection diffusion/Stabilisation"
  --set "${section}/Stabilisation=gls")
