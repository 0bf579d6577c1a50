# What files of Abaqus and of second order say of the solution.
set(written ${CMAKE_CURRENT_BINARY_DIR}/meshes)

# The degree is that of the file, or the highest that the physics supports.
set(ring ${here}/poisson_second_order.prm --set Study/Cycles=1)
study_test(degree_is_the_order_of_the_file ${ring} --set Discretization/Degree=auto
  --set Mesh/File=${written}/ring_triangle6.msh --expect-text "FE_SimplexP<2>\\(2\\)"
  --expect-line summary.json "^  \"degree\": 2,")
study_test(degree_of_a_generator_is_1 ${parameter_dir}/poisson.prm --set Discretization/Degree=auto
  --set Study/Cycles=1 --expect-text "FE_Q<2>\\(1\\)" --expect-line summary.json "^  \"degree\": 1,")
study_test(degree_below_the_order_of_the_file_is_named ${ring} --set Discretization/Degree=1
  --set Mesh/File=${written}/ring_quad8.msh
  --expect-message "warning: Discretization/Degree is 1, but the cells of the mesh file '.*ring_quad8.msh' are of order 2")
study_test(physics_that_needs_degree_1_says_so ${here}/bratu_2d.prm --set Study/Cycles=1
  --set Discretization/Degree=auto --set Mesh/File=${written}/ring_triangle6.msh
  --set "Bratu/Dirichlet=inner, outer, ends: 0" --set "Bratu/Exact solution=" --set "Bratu/Right-hand side=0"
  --set "Bratu/Lambda=1" --expect-text "FE_SimplexP<2>\\(1\\)"
  --expect-message "Degree = auto: the cells of .* are of order 2, but physics bratu is solved with elements of degree 1")
