# Solver groups: several groups of the cores of a node, and two simulated nodes without shared
# memory (FEMGPU_NODES). Included by CMakeLists.txt.
#
# Iteration counts equal those of one group if the preconditioner does not depend on the groups, as
# is the case with jacobi.

# Checks that results on 4 ranks of two nodes equal those on one rank.
function(nodes_test name file)
  study_test(${name}_is_the_same_on_two_nodes ${file} --ranks 4 --same-as-ranks 1
    --set Solver/Backend=host --set Solver/Preconditioner=jacobi --set "Output/Write VTU=false"
    ${ARGN})
  set_property(TEST ${name}_is_the_same_on_two_nodes APPEND PROPERTY ENVIRONMENT FEMGPU_NODES=2)
endfunction()

foreach(file IN LISTS shipped_files)
  get_filename_component(name ${file} NAME_WE)
  if(NOT name MATCHES "elasticity|heat_radiation|cad_bracket")
    set(tolerance 1e-11)
    if(name MATCHES "poisson_materials|heat_sink") # rounding errors prevent 1e-11 with jacobi
      set(tolerance 1e-10)
    endif()
    set(solver)
    if(name MATCHES "smith_hutton") # rounding changes the number of iterations of idr
      set(solver --set "Solver/Solver=gmres restart=200")
    endif()
    nodes_test(shipped_${name} ${file} ${solver} --set "Solver/Relative tolerance=${tolerance}" --absolute-for-quantities 1e-10 ${figures_of_${name}})
  endif()
endforeach()
nodes_test(shipped_elasticity_kirsch ${parameter_dir}/elasticity_kirsch.prm ${tight}
  --absolute-for-quantities 1e-4 ${figures_of_elasticity_kirsch})
nodes_test(shipped_elasticity_cook ${parameter_dir}/elasticity_cook.prm --set "Solver/Relative tolerance=1e-10"
  --absolute-for-quantities 1e-4 ${figures_of_elasticity_cook})
foreach(name bracket cantilever thermal_twist) # accurate to fewer digits than are compared
  study_test(shipped_elasticity_${name}_repeats_on_two_groups
    ${parameter_dir}/elasticity_${name}.prm --ranks 2 --set Solver/Backend=host
    --set Solver/Devices=2 --repeat-identical ${figures_of_elasticity_${name}})
endforeach()
nodes_test(heat_of_materials ${here}/heat_materials_2d.prm --expect-order L2=2 H1=1)
nodes_test(hanging_nodes_in_3d ${here}/hanging_nodes_3d.prm
  --expect-rate-by-dofs L2=0.85+-0.25 H1=0.45+-0.15)
nodes_test(adaptive_periodic_sides ${here}/poisson_periodic_2d.prm
  --set Study/Cycles=4 --set Study/Refinement=adaptive --expect-error-below L2=1.4e-3 H1=0.134)
nodes_test(mesh_of_triangles_that_is_refined ${here}/poisson_2d.prm --set Mesh/Cells=simplex
  --set Study/Cycles=3 --expect-order L2=2 H1=1)
nodes_test(nonlinear_conjugate_gradients ${here}/bratu_2d.prm --set Nonlinear/Method=nlcg
  --expect-order L2=2 H1=1)
nodes_test(oblique_symmetry_planes ${here}/elasticity_oblique_3d.prm --expect-error-below Linf=1e-10)
nodes_test(discretisation_error_as_the_end_of_a_solve ${here}/poisson_2d.prm
  --set Study/Cycles=4 --set Solver/Solver=cg --set "Solver/Stop at=discretisation error"
  --expect-order H1=1)
nodes_test(nodes_without_cells ${parameter_dir}/poisson.prm ${tight} --set "Mesh/Initial refinements=0"
  --set Study/Cycles=2 --expect-error-below L2=0.12 H1=0.998)

# Multigrid covers the rows of all groups. With levels of lower degrees and coarser meshes, several
# groups take as many iterations as one. Aggregates end at the borders of groups, so the counts of
# the last two tests may differ from 6 and 8, the counts of one group.
function(multigrid_test name file iterations)
  study_test(multigrid_of_${name}_takes_the_iterations_of_one_group ${file} --ranks 3
    --set Solver/Backend=host --set Solver/Devices=3 --same-with Solver/Devices=1
    --set "Output/Write VTU=false" --set Study/Cycles=3 --set "Solver/Stop at=residual" ${ARGN}
    --expect-text "cycle 2: [^\\n]*converged, (${iterations}) linear iterations")
endfunction()
multigrid_test(elasticity_kirsch ${parameter_dir}/elasticity_kirsch.prm "28" ${tight}
  --set Solver/Preconditioner=multigrid ${figures_of_elasticity_kirsch})
multigrid_test(elasticity_lame ${parameter_dir}/elasticity_lame.prm "15" ${tight}
  --set Solver/Preconditioner=multigrid ${figures_of_elasticity_lame})
multigrid_test(materials ${parameter_dir}/poisson_materials.prm "3[34]" ${tight}
  --set Solver/Preconditioner=multigrid ${figures_of_poisson_materials})
multigrid_test(an_adaptive_mesh ${parameter_dir}/poisson_lshape_adaptive.prm "6" ${tight}
  --set Solver/Preconditioner=multigrid --expect-error-below L2=6.22e-4 H1=3.56e-2)
multigrid_test(heat_radiation ${parameter_dir}/heat_radiation.prm "3 nonlinear iterations, 17"
  --set Solver/Preconditioner=multigrid ${figures_of_heat_radiation})
multigrid_test(aggregates ${here}/poisson_3d.prm "[5-8]" --expect-order L2=2 H1=1
  --set "Solver/Preconditioner=multigrid coarsening=aggregation")
multigrid_test(a_scaled_system ${here}/poisson_materials_2d.prm "[7-9]|10" --expect-order L2=2 H1=1
  --set "Solver/Preconditioner=multigrid coarsening=aggregation" --set Solver/Scaling=symmetric)

# Values of Solver/Devices
study_test(groups_of_a_node_are_told ${parameter_dir}/poisson.prm --ranks 3 --set Solver/Backend=host
  --set Solver/Devices=2 --set Study/Cycles=2 --set "Output/Write VTU=false" --expect-order L2=2 H1=1
  --expect-text "2 solver groups: ranks 0 to 1 with host .* rank 2 with host")
study_test(groups_of_two_nodes_are_listed --ranks 3 --expect-text "Solver groups for these ranks"
  --expect-text "ranks 0 to 1 with host " --expect-text "rank 2 with host " -- --list)
set_property(TEST groups_of_two_nodes_are_listed APPEND PROPERTY ENVIRONMENT FEMGPU_NODES=2)
study_test(repeats_of_three_groups_have_the_same_bytes ${parameter_dir}/heat_radiation.prm --ranks 3
  --set Solver/Backend=host --set Solver/Devices=3 --set Study/Cycles=2 --repeat-identical
  ${figures_of_heat_radiation})
study_test(more_groups_than_ranks_end_with_1 ${parameter_dir}/poisson.prm --ranks 2
  --set Solver/Backend=host --set Solver/Devices=3 --expect-exit 1
  --expect-message "Solver/Devices.*3 solver groups per node, but a node has 2 ranks")
study_test(direct_solver_of_two_groups_ends_with_1 ${parameter_dir}/poisson.prm --ranks 2
  --set Solver/Backend=host --set Solver/Devices=2 --set Solver/Solver=direct --expect-exit 1
  --expect-message "'direct' needs all rows in one subdomain")
foreach(devices none 0 cuda: cuda:0,x cuda:1,1)
  study_test(devices_${devices}_end_with_1 ${parameter_dir}/poisson.prm
    --set Solver/Devices=${devices} --expect-exit 1 --expect-message "Devices is '${devices}'")
endforeach()
study_test(devices_of_another_backend_end_with_1 ${parameter_dir}/poisson.prm
  --set Solver/Backend=host --set Solver/Devices=cuda:0,1 --expect-exit 1
  --expect-message "Devices is 'cuda:0,1', but the backend is 'host'")

# If a rank dies, all others must end, whatever they are doing.
add_test(NAME rank_that_is_killed_in_any_phase_ends_all COMMAND ${Python3_EXECUTABLE}
  ${here}/killed_rank.py --program $<TARGET_FILE:femgpu> ${parameter_dir}/poisson_3d.prm)
physics_properties(rank_that_is_killed_in_any_phase_ends_all)
# Makes Open MPI kill the remaining ranks at once instead of after a second.
set_property(TEST rank_that_is_killed_in_any_phase_ends_all APPEND PROPERTY ENVIRONMENT
  OMPI_MCA_odls_base_sigkill_timeout=0)
# This test takes longest but mostly waits, so it starts first, in parallel with others.
set_tests_properties(rank_that_is_killed_in_any_phase_ends_all PROPERTIES PROCESSORS 1 COST 60)
