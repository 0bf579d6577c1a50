# Dynamics of elastic bodies. Included by CMakeLists.txt.

set(manufactured ${here}/dynamics_manufactured.prm)
set(velocities --quantity vx=-0.346789030455952 --quantity vy=0.07012258206732472)
foreach(radius 0.8 0 1)
  time_order_test(generalised_alpha_of_radius_${radius}_has_order_2 2 ${manufactured}
    --steps 0.05 0.025 0.0125 --set "Time/Spectral radius=${radius}" ${velocities})
endforeach()
time_order_test(newmark_has_order_2 2 ${manufactured} --steps 0.1 0.05 0.025
  --set Time/Scheme=newmark ${velocities} --quantity ax=-1.5154957113761363)
time_order_test(newmark_with_gamma_above_one_half_has_order_1 1 ${manufactured}
  --steps 0.05 0.025 --set Time/Scheme=newmark --set "Time/Newmark gamma=0.7"
  --set "Time/Newmark beta=0.4")
time_order_test(dynamics_with_hanging_nodes_has_order_2_on_2_ranks 2 ${manufactured} --ranks 2
  --steps 0.1 0.05 --set "Mesh/Initial refinement where=if(x + y < 0.6, 1, 0)" ${velocities})
time_order_test(dynamics_on_triangles_has_order_2 2 ${manufactured} --steps 0.1 0.05
  --set Mesh/Cells=simplex ${velocities})
time_order_test(dynamics_of_two_materials_has_order_2 2 ${here}/dynamics_materials.prm
  --steps 0.1 0.05 ${velocities})
study_test(hanging_nodes_at_a_moving_corner_are_the_same_on_1_and_3_ranks
  ${here}/dynamics_corner.prm --ranks 3 --same-as-ranks 1 --expect-error-below L2=4e-4)
study_test(lumped_mass_of_a_fine_mesh_agrees_with_the_exact_solution ${manufactured}
  --set Time/Mass=lumped --set Time/Step=0.01 --set "Mesh/Initial refinements=4"
  --expect-error-below L2=3e-5)
study_test(dynamic_steps_by_tolerance_are_the_same_on_1_and_2_ranks ${manufactured} --ranks 2
  --same-as-ranks 1 --repeat-identical --set Time/Tolerance=1e-5 --expect-error-below L2=3e-4)
study_test(waves_on_an_adaptive_mesh_are_the_same_on_1_and_2_ranks ${here}/dynamics_pulse.prm
  --ranks 2 --same-as-ranks 1 --check-vtu --expect-array velocity --expect-array acceleration
  --expect-error-below L2=1.1e-2)
study_test(dynamics_in_3d_on_blocks_is_the_same_on_1_and_2_ranks ${manufactured} --ranks 2
  --same-as-ranks 1 --set Dimension=3 --set Discretization/Degree=1 --set "Time/Step=0.1"
  --set "Mesh/Initial refinements=4" --set "Elasticity/Exact solution="
  --set "Elasticity/Body force=0, 0, -t" --set "Elasticity/Traction=1: t, 0, 0"
  --set "Elasticity/Displacement=0: 0, 0.01*sin(t)*y, 0" --set "Elasticity/Initial displacement="
  --set "Elasticity/Initial velocity=0, 0.01*y, 0" --expect-quantity "energy balance error=0+-1e-3")

# Adds a test of the energies by step.
function(energy_test name)
  add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} ${here}/energy_of_steps.py
           --program $<TARGET_FILE:femgpu> ${ARGN})
  physics_properties(${name})
endfunction()
energy_test(newmark_keeps_the_energy_over_1000_periods ${here}/dynamics_bar.prm --steps 20000
  --constant 1e-9 --balance 1e-9)
energy_test(newmark_balances_weight_and_damping_on_2_ranks ${here}/dynamics_bar.prm --ranks 2
  --steps 50 --balance 1e-9 --set "Time/End time=100" --set "Time/Output times=100"
  --set "Elasticity/Gravity=1e-4, -1e-4" --set "Time/Rayleigh mass=0.01"
  --set "Time/Rayleigh stiffness=0.1" --set "Mesh/Initial refinement where=if(x < 2, 1, 0)")
energy_test(newmark_balances_the_energy_of_a_prestrained_lumped_bar ${here}/dynamics_bar.prm
  --steps 50 --balance 1e-9 --set "Time/End time=100" --set "Time/Output times=100"
  --set "Elasticity/Displacement=0, 1: 0.002*x, 0" --set Time/Mass=lumped
  --set "Elasticity/Initial displacement=0.002*x, 0" --set "Elasticity/Traction=3: 0, 1e-3*sin(t/9)")
energy_test(newmark_balances_the_energy_between_oblique_planes_on_2_ranks
  ${here}/elasticity_oblique_3d.prm --ranks 2 --steps 20 --balance 1e-9 --set Analysis=transient
  --set Elasticity/Density=1 --set "Elasticity/Exact solution=" --set Study/Cycles=1
  --set Time/Scheme=newmark --set Time/Step=0.1 --set "Time/End time=2" --set "Time/Rayleigh mass=0.1"
  --set "Mesh/Initial refinement where=if(x^2 + y^2 + z^2 < 0.3, 1, 0)")
energy_test(newmark_balances_the_energy_of_growing_forces_at_points ${here}/dynamics_bar.prm
  --steps 20 --balance 1e-9 --set Dimension=3 --set "Mesh/File=${here}/meshes/bar.msh"
  --set "Mesh/Natural boundaries=all" --set Mesh/Generator= --set "Elasticity/Initial displacement="
  --set "Elasticity/Displacement=clamped: 0, 0, 0" --set "Elasticity/Traction=corners: 0, 1e-4*t, 0"
  --set "Time/End time=40" --set "Time/Output times=40")
energy_test(moving_supports_count_in_the_energy ${manufactured} --steps 100 --balance 1e-3
  --set Time/Step=0.01)
energy_test(work_of_stiff_moving_supports_is_right ${here}/dynamics_base.prm --steps 20
  --balance 5e-3 --set "Elasticity/Young's modulus=1e6" --set "Elasticity/Initial velocity=3, 0"
  --set "Elasticity/Displacement=left, bottom: sin(3*t), 0" --set Time/Step=0.05
  --set "Time/End time=1" --set "Time/Output times=1" --set Time/Scheme=generalised-alpha)

# The base moves by 0.01 (t - sin t): displacements relative to it, and absolute ones.
study_test(base_that_moves_shakes_a_block ${here}/dynamics_base.prm --expect-no-warnings
  --expect-quantity "corner displacement_x=0.02864736+-1e-7"
  --expect-quantity "reaction x of bottom=5.8010e-4+-2e-7")
study_test(base_acceleration_shakes_a_block_in_the_same_way ${here}/dynamics_base.prm
  --set "Elasticity/Displacement=left, bottom: 0, 0"
  --set "Elasticity/Base acceleration=0.01*sin(t), 0"
  --expect-quantity "corner displacement_x=5.8556e-5+-1e-7" # less 0.01 (3 - sin 3)
  --expect-quantity "reaction x of bottom=5.8010e-4+-2e-7")
# v t + g t^2/2 of a body without supports, and its energy
study_test(body_without_supports_falls ${here}/dynamics_bar.prm --set "Time/End time=10"
  --set "Time/Output times=10" --set Elasticity/Displacement= --set "Elasticity/Gravity=0, -0.02"
  --set "Elasticity/Initial displacement=" --set "Elasticity/Initial velocity=0.01, 0.1"
  --set "Measurements/Points=end: 10, 1" --expect-quantity "end displacement_x=0.1+-1e-9"
  --expect-quantity "end displacement_y=0+-1e-9" --expect-quantity "kinetic energy=0.0505+-1e-9")
study_test(weight_is_in_the_balance_of_reactions ${here}/elasticity_weight.prm
  --set "Elasticity/Body force=" --expect-quantity "load y=-25+-1e-9"
  --expect-quantity "reaction y of bottom=25+-1e-6")
study_test(body_force_by_material_carries_a_weight ${here}/elasticity_weight.prm
  --expect-quantity "load y=-10+-1e-9" --expect-quantity "reaction y of bottom=10+-1e-6")

# Failures and warnings
study_test(data_that_end_early_keep_the_dynamic_results ${manufactured} --expect-exit 3
  --set "Elasticity/Traction=1: sqrt(0.5 - t), 0" --set Time/Step=0.1 --expect-outcome not_finite
  --expect-message "The step after t = 0\\.[45].* failed, even with a length of .*Elasticity/Traction is")
study_test(initial_velocity_that_contradicts_supports_is_a_warning ${manufactured}
  --set "Elasticity/Initial velocity=" --set Time/Step=0.1
  --expect-message "Elasticity/Initial velocity contradicts the supports by up to 1")
study_test(transient_elasticity_without_density_ends_with_1 ${manufactured}
  --set Elasticity/Density= --expect-exit 1 --expect-message "Set Elasticity/Density")
study_test(density_of_zero_ends_with_1 ${manufactured} --set Elasticity/Density=0 --expect-exit 1
  --expect-message "Elasticity/Density is 0 at .* must be positive")
study_test(density_missing_on_one_material_ends_with_1 ${here}/dynamics_materials.prm
  --set "Elasticity/Density=soft: 1" --expect-exit 1
  --expect-message "Elasticity/Density has no value for material id 2")
study_test(gravity_without_density_ends_with_1 ${here}/elasticity_2d.prm
  --set "Elasticity/Gravity=0, -9.81" --expect-exit 1
  --expect-message "Elasticity/Gravity needs the density")
study_test(negative_damping_ends_with_1 ${manufactured} --set "Time/Rayleigh mass=-1"
  --expect-exit 1 --expect-message "'Time/Rayleigh mass' is not valid")
study_test(damping_of_heat_ends_with_1 ${here}/time_manufactured.prm
  --set "Time/Rayleigh stiffness=1" --expect-exit 1 --expect-message "damping has no effect")
study_test(modulus_that_depends_on_time_ends_with_1 ${manufactured} --set "Elasticity/Lame's mu=1 + t"
  --expect-exit 1 --expect-message "Elasticity/Lame's mu depends on the time t")
study_test(time_in_an_initial_velocity_ends_with_1 ${manufactured}
  --set "Elasticity/Initial velocity=t, 0" --expect-exit 1 --expect-message "depends on the time t")
study_test(scheme_of_heat_for_elasticity_ends_with_1 ${manufactured} --set Time/Scheme=tr-bdf2
  --expect-exit 1 --expect-message "elasticity is of order 2")
study_test(scheme_of_elasticity_for_heat_ends_with_1 ${here}/time_manufactured.prm
  --set Time/Scheme=newmark --expect-exit 1 --expect-message "this physics is of order 1")
study_test(growing_newmark_ends_with_1 ${manufactured} --set Time/Scheme=newmark
  --set "Time/Newmark gamma=0.4" --expect-exit 1 --expect-message "vibrations grow")
study_test(unstable_newmark_ends_with_1 ${manufactured} --set Time/Scheme=newmark
  --set "Time/Newmark beta=0.1" --expect-exit 1 --expect-message "unstable for long steps")
study_test(lumped_mass_of_quadratic_triangles_ends_with_1 ${manufactured} --set Time/Mass=lumped
  --set Mesh/Cells=simplex --expect-exit 1 --expect-message "needs positive weights")
