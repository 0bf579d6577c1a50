# Transient analyses. Included by CMakeLists.txt.

# Adds a test of the order of convergence in the length of the steps.
function(time_order_test name order)
  add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} ${here}/time_orders.py
           --program $<TARGET_FILE:femgpu> --order ${order} ${ARGN})
  physics_properties(${name})
endfunction()

foreach(scheme "tr-bdf2 2" "crank-nicolson 2" "backward-euler 1")
  string(REPLACE " " ";" scheme ${scheme})
  list(GET scheme 0 name)
  list(GET scheme 1 order)
  time_order_test(${name}_has_order_${order} ${order} ${here}/time_manufactured.prm
    --steps 0.1 0.05 0.025 --set Time/Scheme=${name} --set "Time/Output times=1")
  time_order_test(${name}_with_laws_of_u_has_order_${order} ${order} ${here}/time_laws.prm
    --steps 0.1 0.05 --set Time/Scheme=${name})
endforeach()
# hanging nodes at the boundary whose Dirichlet data change
time_order_test(tr_bdf2_with_hanging_nodes_has_order_2_on_2_ranks 2 ${here}/time_manufactured.prm
  --ranks 2 --steps 0.1 0.05 --set "Mesh/Initial refinement where=if(x + y < 0.6, 1, 0)"
  --set "Time/Output times=1")
time_order_test(tr_bdf2_on_triangles_has_order_2 2 ${here}/time_manufactured.prm --steps 0.1 0.05
  --set Mesh/Cells=simplex --set "Time/Output times=1"
  --set "Heat/Exact solution=(1 + sin(t))*x*(2 - x)" --set "Heat/Initial value=x*(2 - x)"
  --set "Heat/Source=2*cos(t)*x*(2 - x) + 2*(1 + sin(t))" --set Heat/Neumann=
  --set "Heat/Dirichlet=0, 1: (1 + sin(t))*x*(2 - x)")
# the matrix depends on t
time_order_test(conductivity_that_depends_on_time_keeps_order_2 2 ${here}/time_manufactured.prm
  --steps 0.1 0.05 --set "Time/Output times=1" --set "Heat/Conductivity=1 + t"
  --set "Heat/Source=2*cos(t)*x*y*(2 - x) + (1 + t)*2*(1 + sin(t))*y"
  --set "Heat/Dirichlet=0, 1, 2: (1 + sin(t))*x*y*(2 - x)"
  --set "Heat/Neumann=3: (1 + t)*(1 + sin(t))*x*(2 - x)")
# a reaction by nodal quadrature, solved on the device: u' + u^3 = f with u = 1 + t
time_order_test(nodal_reaction_has_order_2 2 ${here}/time_manufactured.prm --steps 0.1 0.05
  --set "Time/Output times=1" --set "Heat/Reaction=u^3" --set "Heat/Reaction coefficient=1"
  --set "Heat/Exact solution=1 + sin(t)" --set "Heat/Initial value=1" --set Heat/Neumann=
  --set "Heat/Source=2*cos(t) + (1 + sin(t))^3" --set "Heat/Dirichlet=0: 1 + sin(t)")

time_order_test(lumped_capacity_of_a_linear_solution_has_order_2 2 ${here}/time_manufactured.prm
  --steps 0.1 0.05 --set "Time/Output times=1" --set Time/Mass=lumped
  --set Discretization/Degree=1 --set "Heat/Exact solution=(1 + sin(t))*x"
  --set "Heat/Initial value=x" --set Heat/Neumann= --set "Heat/Source=2*cos(t)*x"
  --set "Heat/Dirichlet=0, 1: (1 + sin(t))*x")

# convection with SUPG: the exact solution, in the space of the elements, satisfies the equations
foreach(form "convective" "conservative")
  time_order_test(${form}_transport_has_order_2_on_2_ranks 2 ${here}/time_transport.prm --ranks 2
    --steps 0.1 0.05 --set "Convection diffusion/Form=${form}")
endforeach()
time_order_test(transport_with_a_velocity_that_depends_on_time_has_order_2 2
  ${here}/time_transport.prm --steps 0.1 0.05
  --set "Convection diffusion/Velocity=1 + t, 2" --set "Convection diffusion/Capacity=2 + u"
  --set "Convection diffusion/Source=(2 + (1 + sin(t))*x*y)*cos(t)*x*y + (1 + sin(t))*((1 + t)*y + 2*x)")

study_test(steps_by_tolerance_are_the_same_on_1_and_2_ranks ${here}/time_manufactured.prm
  --ranks 2 --same-as-ranks 1 --repeat-identical --set Time/Tolerance=1e-5
  --expect-error-below L2=1e-4 --expect-quantity "balance defect=0+-1e-8")
study_test(cycles_of_a_transient_analysis_have_order_2 ${here}/time_pulse.prm --ranks 2
  --same-as-ranks 1 --set Study/Cycles=3 --set Study/Refinement=global --set "Time/Adapt every=0"
  --set "Mesh/Initial refinement where=" --set Time/Tolerance=1e-5 --set Study/Strategy=fixed_number
  --expect-order L2=2 H1=1 --check-vtu)
study_test(adaptive_mesh_follows_a_pulse_on_1_and_2_ranks ${here}/time_pulse.prm --ranks 2
  --same-as-ranks 1 --check-vtu --expect-error-below L2=4e-4 H1=1e-2 --expect-quantity
  "balance defect=0+-1e-6")
study_test(adaptive_mesh_only_coarsens_above_maximum_dofs ${here}/time_pulse.prm
  --set "Study/Maximum dofs=1200" --expect-error-below L2=1.5e-3)
study_test(transient_poisson_has_capacity_1 ${here}/poisson_2d.prm --set Analysis=transient
  --set "Time/End time=1" --set Study/Cycles=1 --expect-outcome converged)
study_test(transient_heat_in_3d_on_blocks_is_the_same_on_1_and_2_ranks ${here}/time_manufactured.prm
  --ranks 2 --same-as-ranks 1 --set Dimension=3 --set Discretization/Degree=1
  --set "Mesh/Initial refinements=4" --set Heat/Neumann= --set "Heat/Exact solution="
  --set "Heat/Dirichlet=0: t" --set Heat/Source=1 --set "Heat/Initial value=0"
  --expect-quantity "balance defect=0+-1e-7")

# Failures
study_test(capacity_that_vanishes_late_keeps_the_results ${here}/time_manufactured.prm
  --set "Heat/Conductivity=1 - 2*t" --expect-exit 3 --expect-outcome not_finite
  --expect-message "The step after t = 0\\.[45].* failed, even with a length of .*Heat/Conductivity is")
study_test(transient_heat_without_capacity_ends_with_1 ${here}/time_manufactured.prm
  --set "Heat/Heat capacity=" --expect-exit 1 --expect-message "needs a capacity")
study_test(capacity_of_zero_ends_with_1 ${here}/time_manufactured.prm --set "Heat/Heat capacity=x - 1"
  --expect-exit 1 --expect-message "Heat/Heat capacity is -[0-9.]+ at")
study_test(time_in_a_stationary_analysis_ends_with_1 ${here}/time_manufactured.prm
  --set Analysis=stationary --expect-exit 1 --expect-message "depends on the time t")
study_test(time_in_an_initial_value_ends_with_1 ${here}/time_manufactured.prm
  --set "Heat/Initial value=t" --expect-exit 1 --expect-message "depends on the time t")
study_test(constant_with_the_name_of_time_ends_with_1 ${here}/time_manufactured.prm
  --set "Expressions/Constants=t=3" --expect-exit 1 --expect-message "'t' in Expressions/Constants")
study_test(transient_analysis_without_end_ends_with_1 ${here}/time_manufactured.prm
  --set "Time/End time=0" --expect-exit 1 --expect-message "Set Time/End time")
study_test(negative_step_ends_with_1 ${here}/time_manufactured.prm --set Time/Step=-1
  --expect-exit 1 --expect-message "neither auto nor a positive number")
study_test(output_time_after_the_end_ends_with_1 ${here}/time_manufactured.prm
  --set "Time/Output times=0.5, 2" --expect-exit 1 --expect-message "contains '2'")
study_test(lumped_capacity_with_supg_ends_with_1 ${here}/time_transport.prm --set Time/Mass=lumped
  --expect-exit 1 --expect-message "not available with stabilised convection")
study_test(transient_bratu_ends_with_1 ${here}/bratu_2d.prm --set Analysis=transient
  --set "Time/End time=1" --expect-exit 1 --expect-message "no transient analysis")
study_test(transient_continuation_ends_with_1 ${here}/time_manufactured.prm
  --set Continuation/Enabled=true --expect-exit 1 --expect-message "contradicts Analysis")
study_test(transient_energy_error_ends_with_1 ${here}/time_manufactured.prm
  --set "Solver/Stop at=energy error" --expect-exit 1 --expect-message "Set 'Stop at' to auto")
study_test(adaptation_of_a_global_mesh_ends_with_1 ${here}/time_manufactured.prm
  --set "Time/Adapt every=3" --expect-exit 1 --expect-message "Set Study/Refinement to adaptive")
study_test(adaptation_within_several_cycles_ends_with_1 ${here}/time_pulse.prm
  --set Study/Cycles=2 --expect-exit 1 --expect-message "Set Study/Cycles to 1")
