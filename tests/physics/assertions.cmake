# Tests for the preset debug, with deal.II's assertions and the sanitizers: each physics, element,
# kind of mesh file, constraint and refinement, on one rank and on several. They need only the
# program.
set(with_assertions
  # elements, and orders of convergence
  poisson_2d_Q4_has_orders_5_and_4_on_1_and_2_ranks
  elasticity_2d_P2_has_orders_3_and_2_on_1_and_2_ranks
  heat_radiation_3d_P1_has_orders_2_and_1
  # constraints: hanging nodes, periodic sides, the mean. Oblique planes on several ranks are
  # omitted, because AffineConstraints::distribute() compares values at the level of rounding
  # relative to their own size
  hanging_nodes_of_degree_1_at_a_corner_are_the_same_on_1_and_3_ranks
  adaptive_periodic_sides_of_degree_2_are_the_same_on_1_and_2_ranks
  neumann_data_alone_are_solved_by_direct_and_jacobi
  # physics
  two_materials_have_the_strains_of_their_moduli
  pressure_on_tetrahedra_compresses
  heat_of_a_bar_has_its_energy_and_its_flux
  heat_held_by_a_flux_of_u_needs_no_dirichlet_data
  bratu_in_a_strip_with_natural_sides_has_the_solution_in_1d
  branch_of_bratu_is_readable_and_repeatable
  # meshes: files, curved cells, curves and points, seams
  mesh_file_square.inp_has_its_cells_and_ids
  mesh_file_square.vtu_is_the_same_on_1_and_2_ranks
  second_order_ring_triangle6_keeps_its_body_and_has_orders_3_and_2
  second_order_pipe_hex20_of_abaqus_keeps_its_body
  line_load_bends_bar_on_1_and_2_ranks
  merged_nodes_hold_parts_together_on_1_and_2_ranks
  # measurements, output, studies
  measured_linear_function_is_exact_and_the_same_on_1_and_2_ranks
  vtkhdf_files_of_curved_cells_are_the_same_on_1_and_2_ranks
  study_over_two_parameters_runs_all_combinations
  multigrid_of_an_adaptive_mesh_takes_the_iterations_of_one_group)
foreach(test IN LISTS with_assertions)
  if(TEST ${test}) # some need a program that converts meshes
    set_property(TEST ${test} APPEND PROPERTY LABELS assertions)
  endif()
endforeach()
