# Complete runs of elasticity: materials, supports, loads, and quantities derived from the
# displacement.

# Benchmarks with known solutions
set(no_vtu --set "Output/Write VTU=false")
study_test(kirsch_has_stress_concentration_3_and_its_orders_in_plane_stress
  ${parameter_dir}/elasticity_kirsch.prm ${tight} --ranks 2 --same-as-ranks 1 ${no_vtu}
  --expect-order L2=3 H1=2 --expect-quantity "max principal stress=3+-0.03")
study_test(kirsch_has_stress_concentration_3_and_its_orders_in_plane_strain
  ${here}/elasticity_kirsch_strain.prm --ranks 2 --same-as-ranks 1 ${no_vtu}
  --expect-order L2=3 H1=2 --expect-quantity "max principal stress=3+-0.03")
foreach(hypothesis plane_stress plane_strain)
  if(hypothesis STREQUAL "plane_stress")
    set(file ${parameter_dir}/elasticity_kirsch.prm)
  else()
    set(file ${here}/elasticity_kirsch_strain.prm)
  endif()
  study_test(kirsch_with_adaptive_refinement_has_optimal_rates_in_${hypothesis} ${file} --ranks 2
    --same-as-ranks 1 ${no_vtu} --set "Solver/Relative tolerance=1e-12" --set Study/Refinement=adaptive --set Study/Cycles=7
    --set Solver/Preconditioner=jacobi --set "Mesh/Initial refinements=1" --expect-rate-by-dofs L2=1.45+-0.15 H1=1.05+-0.15
    --expect-quantity "max principal stress=3+-0.03")
endforeach()
study_test(lame_has_its_orders_and_balances_the_pressure ${parameter_dir}/elasticity_lame.prm
  ${tight} --ranks 2 --same-as-ranks 1 ${no_vtu} --expect-order L2=3 H1=2 --absolute-for-quantities 1e-2
  --expect-quantity "max principal stress=1e8+-1e6" --expect-quantity "balance defect=0+-1e-10"
  --expect-quantity "reaction x of 2=-6e6+-1")
study_test(plate_of_triangles_with_a_hole_balances_its_load ${here}/mesh_file_triangles.prm
  --set "Mesh/File=${mesh_dir}/plate_with_hole_triangles.msh" --ranks 2 --same-as-ranks 1
  ${no_vtu} --set Elasticity/Reactions=true --expect-quantity "balance defect=0+-1e-10"
  --absolute-for-quantities 1e-2)
study_test(cook_reaches_the_deflection_of_the_literature ${parameter_dir}/elasticity_cook.prm
  ${tight} --ranks 2 --same-as-ranks 1 --absolute-for-quantities 1e-9 --check-vtu --expect-array stress_zz
  --expect-at "displacement.1@48,52=23.96e-3+-1.2e-4" --expect-quantity "balance defect=0+-1e-10")
study_test(cook_of_triangles_reaches_the_deflection_of_the_literature
  ${parameter_dir}/elasticity_cook.prm ${tight} --set Mesh/Cells=simplex --set "Mesh/Initial refinements=2"
  --check-vtu --expect-at "displacement.1@48,52=23.96e-3+-1.2e-4"
  --expect-quantity "balance defect=0+-1e-10")
# Multigrid without rigid body modes takes 97 iterations.
study_test(cook_takes_few_iterations_with_multigrid ${parameter_dir}/elasticity_cook.prm ${no_vtu} ${tight}
  --set Solver/Preconditioner=multigrid --set "Solver/Maximum iterations=64"
  --set Solver/Fallback=none --ranks 2 --same-as-ranks 1 --absolute-for-quantities 1e-9
  --expect-at "displacement.1@48,52=23.96e-3+-1.2e-4")
# Multigrid without the levels of degrees 2 and 1 takes 37 iterations in the first cycle.
study_test(kirsch_of_degree_4_takes_few_iterations_with_multigrid
  ${parameter_dir}/elasticity_kirsch.prm ${no_vtu} --set Discretization/Degree=4
  --set Study/Cycles=2 --set Solver/Preconditioner=multigrid
  --set "Solver/Maximum iterations=35" --set Solver/Fallback=none --ranks 2 --same-as-ranks 1 --absolute-for-quantities 1e-6
  --expect-quantity "max principal stress=3+-0.01")
# 1 % around the deflection of Timoshenko's theory, 3.8386 mm; the force is 40 kN
study_test(slender_cantilever_bends_as_timoshenko_says ${parameter_dir}/elasticity_cantilever.prm
  --set "Solver/Relative tolerance=1e-9" --set Study/Cycles=2 --check-vtu --expect-minimum "displacement=-3.8386e-3+-3.83e-5"
  --expect-quantity "reaction z of 0=4e4+-1e-3" --expect-quantity "moment y of 0=-8e4+-1e-3"
  --expect-quantity "balance defect=0+-1e-10")
study_test(displacement_beyond_the_body_is_told ${parameter_dir}/elasticity_cantilever.prm ${no_vtu}
  --set Study/Cycles=1 --set "Elasticity/Young's modulus=210" --expect-message
  "the largest displacement, 3\\.[78][0-9]e\\+06, is 1\\.9[0-9]*e\\+06 times the size of the body, 2: .*units are")
study_test(displacement_beyond_small_strains_is_told ${parameter_dir}/elasticity_cantilever.prm
  ${no_vtu} --set Study/Cycles=1 --set "Elasticity/Young's modulus=1e9"
  --expect-message "the largest displacement, 0\\.79[0-9], is 39\\.[0-9] % of the size of the body")
study_test(poisson_ratio_with_a_decimal_comma_ends_with_1
  ${parameter_dir}/elasticity_cantilever.prm --set "Elasticity/Poisson's ratio=0,3" --expect-exit 1
  --expect-message "write 0\\.3 for 0,3")
study_test(bar_that_is_turned_and_warmed_has_torque_and_force_of_bars
  ${parameter_dir}/elasticity_thermal_twist.prm ${tight} --ranks 2 --same-as-ranks 1 ${no_vtu}
  --absolute-for-quantities 0.1 --expect-quantity "moment x of 1=90.8+-1.5"
  --expect-quantity "reaction x of 1=-40320+-1500" --expect-quantity "balance defect=0+-1e-10")

# Manufactured solutions. In plane stress with nu = 3/7 and E = 20/7, lambda of the plate is 3/2, as
# in the plane strain of the file.
set(as_plate --set "Elasticity/Young's modulus=20/7" --set "Elasticity/Poisson's ratio=3/7"
  --set "Elasticity/2D hypothesis=plane stress")
set(by_lame --set "Elasticity/Young's modulus=" --set "Elasticity/Poisson's ratio="
  --set "Elasticity/Lame's lambda=3/2" --set "Elasticity/Lame's mu=1")
foreach(kind as_plate by_lame)
  study_test(elasticity_2d_${kind}_has_orders_3_and_2_on_1_and_2_ranks ${here}/elasticity_2d.prm
    --ranks 2 --same-as-ranks 1 ${no_vtu} --set Discretization/Degree=2 ${${kind}}
    --expect-order L2=3 H1=2)
endforeach()
study_test(plane_stress_of_triangles_has_orders_3_and_2 ${here}/elasticity_2d.prm ${no_vtu}
  --set Discretization/Degree=2 --set Mesh/Cells=simplex --set "Mesh/Initial refinements=1"
  ${as_plate} --expect-order L2=3 H1=2)
foreach(degree 1 2)
  math(EXPR L2_order "${degree} + 1")
  study_test(stiffness_that_varies_has_orders_${L2_order}_and_${degree}_on_1_and_2_ranks
    ${here}/elasticity_varying_2d.prm --ranks 2 --same-as-ranks 1 ${no_vtu}
    --set Discretization/Degree=${degree} --set "Mesh/Initial refinements=3"
    --expect-order L2=${L2_order} H1=${degree})
endforeach()
# Solutions in the finite element space: only rounding errors remain.
function(exact_test name file)
  study_test(${name} ${here}/${file}.prm --ranks 2 --same-as-ranks 1 ${no_vtu}
    --expect-error-below Linf=1e-10 --absolute-for-quantities 1e-10 ${ARGN})
endfunction()
exact_test(two_materials_have_the_strains_of_their_moduli elasticity_two_materials
  --set Mesh/File=${here}/elasticity_two_materials.msh --expect-quantity "min safety factor=3+-1e-9"
  --expect-quantity "reaction x of left=-1+-1e-10" --expect-quantity "balance defect=0+-1e-10")
exact_test(free_thermal_expansion_has_no_stress elasticity_thermal_2d
  --expect-quantity "max von Mises=0+-1e-12")
exact_test(thermal_expansion_in_plane_strain_has_a_stress_along_the_bar elasticity_thermal_strain
  --expect-quantity "max von Mises=0.01+-1e-12" --expect-quantity "min principal stress=-0.01+-1e-12")
exact_test(pressure_from_all_sides_compresses elasticity_pressure_3d
  --expect-quantity "max principal stress=-1+-1e-10"
  --expect-quantity "reaction z of 4=1+-1e-10" --expect-quantity "balance defect=0+-1e-10")
exact_test(pressure_on_tetrahedra_compresses elasticity_pressure_3d --set Mesh/Cells=simplex
  --set "Mesh/Initial refinements=0" --expect-quantity "max principal stress=-1+-1e-10"
  --expect-quantity "balance defect=0+-1e-10")
exact_test(rotation_by_the_full_matrix_has_the_linear_strain_of_it elasticity_rotation_2d
  --expect-quantity "min principal stress=-0.1339745962+-1e-9")
exact_test(rotation_about_an_oblique_axis_permutes_the_axes elasticity_rotation_3d)
foreach(cells hypercube simplex)
  exact_test(oblique_symmetry_planes_turn_the_solution_of_${cells} elasticity_oblique_2d
    --set Mesh/Cells=${cells} --set "Mesh/Initial refinements=1"
    --expect-quantity "max principal stress=1+-1e-9" --expect-quantity "balance defect=0+-1e-10")
endforeach()
foreach(degree 1 2)
  exact_test(oblique_symmetry_planes_with_hanging_nodes_of_degree_${degree} elasticity_oblique_3d
    --ranks 4 --set Discretization/Degree=${degree} --expect-cycles 3
    --expect-quantity "max principal stress=1+-1e-9" --expect-quantity "balance defect=0+-1e-10"
    --expect-quantity "reaction x of 0=-0.6666666667+-1e-9")
endforeach()
# Normals with components of equal size. The choice of the constrained component must not depend on
# rounding, which differs between cells of different ranks.
study_test(oblique_symmetry_planes_are_the_same_on_1_and_4_ranks ${here}/elasticity_oblique_3d.prm
  --ranks 4 --same-as-ranks 1 --set "Elasticity/Exact solution="
  --set "Elasticity/Body force=x*y, exp(z), sin(3*x)" --set Study/Estimator=kelly
  --set "Study/Refine where=" --set Study/Cycles=5 --absolute-for-quantities 1e-9
  --expect-quantity "balance defect=0+-1e-9" --same-with Solver/Solver=direct)

# Rejected input, with exit code 1
function(refused_test name file message)
  study_test(${name} ${file} --expect-exit 1 --expect-message "${message}" ${ARGN})
endfunction()
set(plate ${here}/elasticity_2d.prm)
set(block ${here}/elasticity_pressure_3d.prm)
refused_test(body_without_supports_is_refused ${plate}
  "translation in x. translation in y. rotation about the z axis" --set Elasticity/Displacement=)
refused_test(body_on_one_roller_is_refused ${plate} "rigid body by translation in y\\."
  --set "Elasticity/Displacement=0: 0, free")
refused_test(block_between_two_planes_is_refused_on_2_ranks ${block}
  "by translation in x. translation in y. rotation about the z axis\\." --ranks 2
  --set "Elasticity/Symmetry planes=4, 5")
refused_test(oblique_direction_that_is_free_is_named ${here}/elasticity_oblique_2d.prm
  "translation along \\(0\\.866, 0\\.5\\)" --set "Elasticity/Symmetry planes=2")
refused_test(incompressible_material_is_refused ${plate} "material id 0 is 0\\.5, but must be less"
  --set "Elasticity/Poisson's ratio=0.5")
refused_test(poisson_ratio_of_minus_1_is_refused ${plate} "greater than -1"
  --set "Elasticity/Poisson's ratio=-1")
refused_test(poisson_ratio_that_reaches_one_half_is_refused_with_its_place_on_2_ranks ${plate}
  "at \\(0\\.8125 0\\) is 0\\.503" --ranks 2 --set "Elasticity/Poisson's ratio=0.3 + 0.25*x")
refused_test(negative_stiffness_of_one_material_is_refused ${here}/elasticity_two_materials.prm
  "modulus of material id 2.* is -4" --set "Elasticity/Young's modulus=if(x < 0.6, 1, -4)"
  --set Mesh/File=${here}/elasticity_two_materials.msh)
refused_test(two_pairs_of_constants_are_refused ${plate} "Both Young"
  --set "Elasticity/Lame's mu=1")
refused_test(lambda_without_mu_is_refused ${block} "Only one of Lame"
  --set "Elasticity/Young's modulus=" --set "Elasticity/Poisson's ratio="
  --set "Elasticity/Lame's lambda=1")
refused_test(temperature_without_expansion_is_refused ${plate} "only one of them"
  --set "Elasticity/Temperature rise=1")
refused_test(units_of_another_number_are_refused ${plate}
  "Output/Units=m.: 'm' of Output/Units has 1 .* of length, force" --set Output/Units=m)
refused_test(yield_stress_of_0_is_refused ${plate} "not positive" --set "Elasticity/Yield stress=0")
refused_test(boundary_with_two_supports_is_refused ${plate} "one of them only"
  --set "Elasticity/Symmetry planes=0")
refused_test(symmetry_plane_that_is_curved_is_refused ${parameter_dir}/elasticity_lame.prm
  "not plane: it has different normals" --set "Elasticity/Symmetry planes=0")
refused_test(rotation_about_no_axis_is_refused ${here}/elasticity_rotation_3d.prm "is zero"
  --set "Elasticity/Rotation=0: 0,0,0, 0,0,0, 0.1")
refused_test(rotation_about_an_axis_that_varies_is_refused ${here}/elasticity_rotation_3d.prm
  "only the angle may vary" --set "Elasticity/Rotation=0: x,0,0, 0,0,1, 0.1")

# A line on the terminal holds six quantities; the table below holds all.
study_test(many_quantities_are_in_the_table_and_not_in_the_line
  ${parameter_dir}/elasticity_thermal_twist.prm --set Discretization/Degree=1 --set Study/Cycles=1
  --expect-text "cycle 0: [^\\n]*strain energy [^\\n]*, and [0-9]+ more quantities, "
  --expect-text "\\n *moment x of 1 +0 +[0-9.]+")

# Bodies that do not touch: each must be held.
set(bodies ${here}/elasticity_2d.prm --set "Mesh/File=${here}/two_parts.msh" --set Study/Cycles=1
  --set Elasticity/Traction= --set "Elasticity/Exact solution=" --set "Mesh/Natural boundaries=all"
  --set "Output/Write VTU=false")
study_test(body_beside_one_that_is_held_ends_with_1_and_its_motions ${bodies} --ranks 2
  --set "Elasticity/Displacement=1: 0, 0\\; 3: 0, free" --expect-exit 1
  --expect-message "body around \\(2\\.5 0\\.5\\), with the boundary ids 3, 4, 5, .* by translation in y")
study_test(two_bodies_that_are_held_are_solved ${bodies} --ranks 2 --same-as-ranks 1
  --set "Elasticity/Displacement=1, 3: 0, 0" --same-with Solver/Solver=direct
  --set Elasticity/Reactions=true --expect-quantity "balance defect=0+-1e-9")

# Elements of degree 1 that are too stiff must be reported. The estimate is that the beam bends
# 45 % too little.
set(beam ${here}/elasticity_3d.prm --set Mesh/Generator=subdivided_hyper_rectangle
  --set "Mesh/Arguments=20, 1, 1 : 0, 0, 0 : 20, 1, 1 : true" --set "Mesh/Initial refinements=0"
  --set Study/Cycles=1 --validate)
function(locking_test name message)
  study_test(${name} --expect-message "^${message}$" -- ${beam} ${ARGN})
endfunction()
set(shear "femgpu: warning: a slender body with about 1 cells of degree 1 across its thickness, each 1 times.* 45 % too stiff.*\n")
set(volume "femgpu: warning: elements of degree 1 are too stiff for a Poisson's ratio of 0.49.*\n")
locking_test(linear_beam_is_named_too_stiff "${shear}")
locking_test(nearly_incompressible_linear_elements_are_named "${volume}"
  --set "Elasticity/Poisson's ratio=0.49" --set Mesh/Generator=hyper_cube
  --set "Mesh/Arguments=0 : 1 : true")
locking_test(nearly_incompressible_linear_tetrahedra_are_named "${volume}" --set Mesh/Cells=simplex
  --set "Elasticity/Poisson's ratio=0.49")
locking_test(quadratic_beam_is_not_named "" --set Discretization/Degree=2
  --set "Elasticity/Poisson's ratio=0.49")
locking_test(fine_linear_beam_is_not_named ""
  --set "Mesh/Arguments=80, 4, 4 : 0, 0, 0 : 20, 1, 1 : true")
