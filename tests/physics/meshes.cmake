# Meshes from files: kinds of files, names, curved sides, and rejected files.
set(meshes ${here}/meshes)
set(written ${CMAKE_CURRENT_BINARY_DIR}/meshes)

# Files of gmsh and Abaqus
study_test(mesh_file_square.inp_has_its_cells_and_ids ${here}/mesh_square.prm
  --set Mesh/File=${meshes}/square.inp --expect-error-below Linf=1e-11)
# A byte order mark at the beginning must be ignored.
string(ASCII 239 187 191 byte_order_mark)
foreach(case "square.inp;mesh_square" "bar.msh;elasticity_bar")
  set(expected --expect-error-below Linf=1e-11)
  if(case MATCHES "bar")
    set(expected --expect-quantity "reaction z of clamped=1+-1e-8")
  endif()
  list(GET case 0 file)
  list(GET case 1 parameters)
  file(READ ${meshes}/${file} text)
  file(WRITE ${written}/marked_${file} "${byte_order_mark}${text}")
  study_test(mesh_file_${file}_with_a_byte_order_mark_is_read ${here}/${parameters}.prm
    --set Mesh/File=${written}/marked_${file} --set Study/Cycles=1 ${expected})
endforeach()
# Curved sides: without them the flux at the hole would be that of a polygon.
foreach(degree 1 2 3)
  math(EXPR L2_order "${degree} + 1")
  study_test(flux_at_a_hole_has_orders_${L2_order}_and_${degree}_on_1_and_2_ranks
    ${here}/mesh_plate.prm --set Mesh/File=${mesh_dir}/plate_with_hole.msh
    --set Discretization/Degree=${degree} --ranks 2 --same-as-ranks 1
    --expect-order L2=${L2_order} H1=${degree})
endforeach()
study_test(adaptive_mesh_keeps_its_hole_round_on_1_and_2_ranks ${here}/mesh_plate.prm
  --set Mesh/File=${mesh_dir}/plate_with_hole.msh --set Study/Refinement=adaptive
  --set Study/Cycles=5 --set Discretization/Degree=2 --ranks 2 --same-as-ranks 1
  --expect-rate-by-dofs L2=1.45+-0.25 H1=1+-0.15)
study_test(curved_sides_where_generators_have_them_end_with_1 ${parameter_dir}/poisson.prm
  --set Mesh/Generator=hyper_ball --set "Mesh/Arguments=0,0 : 1 : true"
  --set "Mesh/Manifolds=0: polar 0, 0" --expect-exit 1
  --expect-message "Mesh/Manifolds.*generator of this mesh defines")
study_test(curved_sides_that_do_not_fit_end_with_1 ${here}/mesh_plate.prm
  --set Mesh/File=${mesh_dir}/plate_with_hole.msh --set "Mesh/Manifolds=hole: polar 1, 0"
  --expect-exit 1 --expect-message "Mesh/Manifolds.*node at")

# Curved sides in 3D: a tube about an oblique axis and a spherical shell, with coarse hexahedra from
# a script
set(curved_meshes ${here}/curved_meshes.py)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${curved_meshes})
execute_process(COMMAND ${Python3_EXECUTABLE} ${curved_meshes} ${written}
  COMMAND_ERROR_IS_FATAL ANY)
foreach(degree 1 2)
  math(EXPR L2_order "${degree} + 1")
  foreach(body tube shell)
    set(run ${here}/elasticity_${body}.prm --set Mesh/File=${written}/${body}.msh --ranks 2
      --set "Mesh/Initial refinements=1" --set Discretization/Degree=${degree}
      --expect-quantity "balance defect=0+-1e-10")
    study_test(pressure_in_a_${body}_has_orders_${L2_order}_and_${degree} ${run}
      --expect-order L2=${L2_order} H1=${degree})
    study_test(pressure_in_a_${body}_of_degree_${degree}_is_the_same_on_1_and_2_ranks ${run}
      --set Study/Cycles=2 --same-as-ranks 1 --absolute-for-quantities 1e-9)
  endforeach()
endforeach()

# The same tube with tetrahedra: parts of the mesh that ranks refine separately must have the nodes
# of the whole.
study_test(pressure_in_a_tube_of_tetrahedra_has_orders_2_and_1_on_1_and_4_ranks
  ${here}/elasticity_tube.prm --set Mesh/File=${written}/tube_tetrahedra.msh
  --set "Mesh/Initial refinements=2" --ranks 4 --same-as-ranks 1 --expect-order L2=2 H1=1
  --expect-quantity "balance defect=0+-1e-10" --absolute-for-quantities 1e-9
  --relative-for-residuals 1e-9)
foreach(case "poisson;0, 1, 2, 3: 0" "poisson_3d;0, 1, 3: 0") # 8 triangles, 24 tetrahedra
  list(GET case 0 file)
  list(GET case 1 dirichlet)
  study_test(${file}_of_few_simplices_is_the_same_on_1_and_11_ranks ${parameter_dir}/${file}.prm
    --set Mesh/Generator=hyper_cube --set "Mesh/Arguments=0 : 1 : true" --set Mesh/Cells=simplex
    --set "Mesh/Initial refinements=0" --set Study/Cycles=3 --set Discretization/Degree=2
    --set "Poisson/Dirichlet=${dirichlet}" --ranks 11 --same-as-ranks 1 --expect-order L2=3)
endforeach()

# A body with a sphere and a cylinder: its volume, 7/6 pi + 3/4 pi, converges with order 2p. Also
# hexahedra with a side on a sphere, as distorted as mesh generators leave them.
set(vessel ${here}/poisson_vessel.prm --set Mesh/File=${written}/vessel.msh)
foreach(case "1;4;6.00226+-1e-4;6.02139+-1e-3" "2;3;6.02135085+-1e-6;6.02138592+-2e-5"
        "3;3;6.02138589+-1e-8;6.02138592+-1e-7")
  list(GET case 0 degree)
  list(GET case 1 cycles)
  list(GET case 2 volume)
  list(GET case 3 limit)
  study_test(volume_of_a_vessel_of_sphere_and_cylinder_converges_with_degree_${degree}
    ${vessel} --set Discretization/Degree=${degree} --ranks 2
    --set Study/Cycles=${cycles} --expect-quantity "volume=${volume}"
    --expect-extrapolated "volume=${limit}")
endforeach()
study_test(crooked_hexahedra_at_a_sphere_are_refined ${vessel}
  --set Mesh/File=${meshes}/ball_corner.msh --set "Mesh/Manifolds=3: sphere 0, 0, 0"
  --set "Mesh/Initial refinements=1" --set "Poisson/Dirichlet=3: 0" --set Discretization/Degree=2
  --set Study/Cycles=1 --expect-quantity "volume=0.0411634+-1e-6")

# The shipped meshes and the names of their parts
study_test(shipped_cantilever_has_its_names
  --expect-text "boundary ids 1 \\(clamped\\), 2 \\(end\\), 3 \\(sides\\). material ids 1 \\(beam\\)"
  -- ${here}/elasticity_3d.prm --set Mesh/File=${mesh_dir}/cantilever.msh
  --set "Mesh/Natural boundaries=all" --set "Elasticity/Displacement=clamped: 0, 0, 0"
  --set "Elasticity/Traction=end: 0, 0, 1" --validate)
study_test(shipped_bracket_has_its_names
  --expect-text "1 \\(bolts\\), 2 \\(load\\), 3 \\(free\\). material ids 1 \\(steel\\), 2 \\(alum"
  -- ${here}/elasticity_3d.prm --set Mesh/File=${mesh_dir}/bracket.msh
  --set "Mesh/Natural boundaries=free" --set "Elasticity/Displacement=bolts: 0, 0, 0"
  --set "Elasticity/Traction=load: 0, 0, 1" --validate)

# Curves and points: loads and supports there must be in equilibrium, and a force along an edge
# bends a bar like one on its side
set(bar ${here}/elasticity_bar.prm --set "Output/Write VTU=false")
foreach(mesh bar bar_tets)
  study_test(line_load_bends_${mesh}_on_1_and_2_ranks ${bar} --set Solver/Preconditioner=jacobi --set Mesh/File=${meshes}/${mesh}.msh
    --ranks 2 --same-as-ranks 1 --absolute-for-quantities 1e-5 --set Study/Cycles=2
    --expect-quantity "load moment y=4+-1e-9" --expect-quantity "reaction z of clamped=1+-1e-7"
    --expect-quantity "balance defect=0+-1e-8" --expect-quantity "middle displacement_z=-0.0838+-3e-4")
endforeach()
study_test(traction_at_the_tip_bends_the_bar_as_the_line_load ${bar}
  --set "Elasticity/Traction=tip: 0, 0, -1" --set Study/Cycles=2
  --expect-quantity "middle displacement_z=-0.0838+-3e-4")
study_test(adaptive_mesh_keeps_its_line_load_on_1_and_2_ranks ${bar} --set Study/Refinement=adaptive
  --set Study/Cycles=3 --set Discretization/Degree=1 --ranks 2 --same-as-ranks 1
  --absolute-for-quantities 1e-5 --expect-quantity "load z=-1+-1e-12"
  --expect-quantity "reaction z of clamped=1+-1e-7")
study_test(forces_at_points_pull_a_bar_on_1_and_2_ranks ${bar} --ranks 2 --same-as-ranks 1
  --absolute-for-quantities 1e-5 --set "Elasticity/Traction=corners: 0.25, 0, 0" --set Study/Cycles=2
  --expect-quantity "reaction x of clamped=-1+-1e-7" --expect-quantity "middle displacement_x=0.00196+-2e-5")
study_test(edge_and_points_hold_a_bar_on_1_and_2_ranks ${bar} --ranks 2 --same-as-ranks 1
  --absolute-for-quantities 1e-5 --set Elasticity/Traction= --set "Elasticity/Body force=0, 0, -1"
  --set "Elasticity/Displacement=base edge: 0, 0, 0\\; corners: free, free, 0" --set Study/Cycles=2
  --expect-quantity "reaction z of corners=2+-1e-7" --expect-quantity "reaction z of base edge=2+-1e-7")
study_test(one_point_does_not_hold_a_bar ${bar} --set "Elasticity/Displacement=origin: 0, 0, 0"
  --expect-exit 1 --expect-message "rotation about the x axis. rotation about the y axis. rot")
study_test(pressure_on_a_curve_ends_with_1 ${bar} --set "Elasticity/Pressure=top edge: 1"
  --expect-exit 1 --expect-message "'top edge' in Elasticity/Pressure is a curve of the mesh, but this condition needs a surface")
study_test(values_at_points_end_with_1 ${parameter_dir}/poisson_3d.prm --expect-exit 1
  --set Mesh/File=${meshes}/bar.msh --set "Poisson/Dirichlet=corners: 0"
  --expect-message "'corners' in Poisson/Dirichlet is a set of points .*Elasticity/Traction")
study_test(curves_and_points_are_listed --expect-text "curves top edge, base edge. points corners, origin"
  -- ${bar} --validate)

# Boundary ids and names
function(plate_test name)
  study_test(${name} ${here}/mesh_plate.prm --set Mesh/File=${mesh_dir}/plate_with_hole.msh
    --set Study/Cycles=1 ${ARGN})
endfunction()
plate_test(boundary_that_no_condition_names_ends_with_1_on_2_ranks --ranks 2
  --set "Mesh/Natural boundaries=symmetry_x" --expect-exit 1
  --expect-message "No condition is given for 2 \\(symmetry_y\\) of the boundary ids.*Natural boundaries")
plate_test(all_boundaries_may_be_natural --set "Mesh/Natural boundaries=all"
  --expect-error-below L2=0.0248 H1=0.147)
plate_test(name_that_no_boundary_has_ends_with_1 --set "Poisson/Neumann=whole: 1" --expect-exit 1
  --expect-message "'whole' in Poisson/Neumann is neither a boundary id nor a name.*3 \\(hole\\)")
plate_test(unknown_natural_boundary_ends_with_1 --set "Mesh/Natural boundaries=9" --expect-exit 1
  --expect-message "no boundary id 9, which Mesh/Natural boundaries names")

# Damaged files: modifications of two adjacent unit squares.
set(squares "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 2 0 0\n4 0 1 0\n\
5 1 1 0\n6 2 1 0\n$EndNodes\n$Elements\n2\n1 3 2 1 1 1 2 5 4\n2 3 2 1 1 2 3 6 5\n$EndElements\n")
function(bad_mesh name what by message)
  string(REPLACE "${what}" "${by}" text "${squares}")
  file(WRITE ${written}/${name}.msh "${text}")
  study_test(mesh_with_${name}_ends_with_2 ${here}/mesh_square.prm --expect-exit 2
    --set Mesh/File=${written}/${name}.msh --expect-message "${name}\\.msh${message}" ${ARGN})
endfunction()
bad_mesh(cells_over_each_other "3 2 0 0\n4 0 1 0\n5 1 1 0\n6 2 1 0"
  "3 0.5 0 0\n4 0 1 0\n5 1 1 0\n6 0.5 1 0" ":16: the cell lies on the same side .* mesh the model")
bad_mesh(an_inverted_cell "5 1 1 0" "5 2.5 1 0" ":16: the cell is inverted.*Jacobian is -")
bad_mesh(a_flat_cell "4 0 1 0\n5 1 1 0\n6 2 1 0" "4 0 0 0\n5 1 0 0\n6 2 1 0"
  ":15: the cell is inverted or degenerate" --ranks 2)
bad_mesh(a_truncated_list "2 3 2 1 1 2 3 6 5\n$EndElements\n" ""
  ":15: the file ends, but element 2 of 2 was expected: it is truncated")
bad_mesh(mixed_cells_and_no_simplices "2 3 2 1 1 2 3 6 5" "2 2 2 1 1 2 3 5"
  "' has cells of several kinds.*Mesh.Cells is hypercube. Set it to auto" --set Mesh/Cells=hypercube)
bad_mesh(a_coordinate_that_is_not_finite "5 1 1 0" "5 nan 1 0" ":10: .* is 'nan', but must be")
# A force at a point in 2D on a square held at the left, and a point that is not a vertex
string(REPLACE "$Nodes" "$PhysicalNames\n2\n0 9 \"tip\"\n1 4 \"left\"\n$EndPhysicalNames\n$Nodes"
  named "${squares}")
string(REPLACE "$Elements\n2" "$Elements\n4\n8 15 2 9 1 6\n9 1 2 4 1 1 4" named "${named}")
file(WRITE ${written}/pulled.msh "${named}")
study_test(force_at_a_point_pulls_a_plate_on_1_and_2_ranks ${here}/elasticity_bar.prm
  --set Dimension=2 --set Mesh/File=${written}/pulled.msh --set "Measurements/Points=" --ranks 2
  --same-as-ranks 1 --absolute-for-quantities 1e-5 --set "Elasticity/Displacement=left: 0, 0"
  --set "Elasticity/Traction=tip: 3, -1" --set "Mesh/Initial refinements=1" --set Study/Cycles=2
  --expect-quantity "reaction x of left=-3+-1e-8" --expect-quantity "moment z of left=5+-1e-8")
string(REPLACE "5 1 1 0" "7 5 5 0\n5 1 1 0" named "${named}")
string(REPLACE "$Nodes\n6" "$Nodes\n7" named "${named}")
string(REPLACE "15 2 9 1 6" "15 2 9 1 7" named "${named}")
file(WRITE ${written}/lost_point.msh "${named}")
study_test(point_that_is_no_vertex_ends_with_1 ${here}/elasticity_bar.prm --expect-exit 1
  --set Dimension=2 --set Mesh/File=${written}/lost_point.msh --set "Measurements/Points="
  --set "Elasticity/Displacement=left: 0, 0" --set "Elasticity/Traction=tip: 3, -1"
  --expect-message "names 'tip'.*lost_point\\.msh:21: this group has no node of a cell. Embed its")
# Parts that touch without common nodes: two unit squares, the second with separate nodes at x = 1
# and 1 + 1e-9; with an additional node at half height; shifted into the first; and coincident with
# it
function(two_parts name second)
  set(ends "${ARGN}")
  list(POP_FRONT ends cells n_cells)
  file(WRITE ${written}/${name}.msh "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n10\n1 0 0 0\n\
2 1 0 0\n3 1 1 0\n4 0 1 0\n${second}$EndNodes\n$Elements\n${n_cells}\n1 3 2 1 1 1 2 3 4\n${cells}\
$EndElements\n")
endfunction()
set(one_more "2 3 2 1 1 5 6 9 10\n3 3 2 1 1 10 9 7 8\n")
two_parts(seam "5 1.000000001 0 0\n6 2 0 0\n7 2 1 0\n8 1 1 0\n9 3 0 0\n10 3 1 0\n"
  "2 3 2 1 1 5 6 7 8\n3 3 2 1 1 6 9 10 7\n" 3)
two_parts(other_nodes "5 1.000000001 0 0\n6 2 0 0\n7 2 1 0\n8 1 1 0\n9 2 0.5 0\n10 1 0.5 0\n"
  "${one_more}" 3)
two_parts(overlap "5 0.7 0 0\n6 2 0 0\n7 2 1 0\n8 0.7 1 0\n9 2 0.5 0\n10 0.7 0.5 0\n" "${one_more}" 3)
two_parts(twice "5 0 0 0\n6 1 0 0\n7 1 1 0\n8 0 1 0\n9 2 0 0\n10 2 1 0\n"
  "2 3 2 1 1 5 6 7 8\n3 3 2 1 1 6 9 10 7\n" 3)
foreach(case "seam;:[0-9]+: the node of this cell at \\(1 0\\) coincides with another node.*2 such pairs.*Merge nodes = 1e-05"
        "other_nodes;Merge nodes" "overlap;lies in another cell .*overlap"
        "twice;lies in another cell .*overlap")
  list(GET case 0 name)
  list(GET case 1 message)
  study_test(parts_with_${name}_are_refused --expect-exit 2 --expect-message "${name}\\.msh${message}|${message}"
    -- ${here}/mesh_square.prm --set Mesh/File=${written}/${name}.msh --validate)
endforeach()
set(seam ${parameter_dir}/poisson.prm --set Mesh/File=${written}/seam.msh --set Study/Cycles=1
  --set "Poisson/Exact solution=" --set "Poisson/Dirichlet=0: x" --set "Poisson/Right-hand side=0"
  --set "Measurements/Points=middle: 1.5, 0.5" --set "Measurements/Point fields=grad_u_x")
study_test(merged_nodes_hold_parts_together_on_1_and_2_ranks ${seam} --set "Mesh/Merge nodes=1e-6"
  --ranks 2 --same-as-ranks 1 --expect-text "cycle 0: 192 cells, 225 dofs"
  --expect-quantity "middle grad_u_x=1+-1e-7")
study_test(parts_may_be_meant_to_be_apart ${seam} --set "Mesh/Merge nodes=keep"
  --expect-text "cycle 0: 192 cells, 234 dofs" --expect-quantity "middle grad_u_x=1+-1e-7")
study_test(merging_too_far_ends_with_2 ${seam} --set "Mesh/Merge nodes=1.5" --expect-exit 2
  --expect-message "seam\\.msh:19: two nodes of this cell are closer than")
study_test(other_nodes_at_a_side_cannot_be_merged ${seam} --set Mesh/File=${written}/other_nodes.msh
  --set "Mesh/Merge nodes=1e-6" --expect-exit 2 --expect-message "lies on a side of another cell")
study_test(merging_by_a_word_ends_with_1 ${seam} --set "Mesh/Merge nodes=near" --expect-exit 1
  --expect-message "Mesh/Merge nodes=near.*not a distance")

# Mixed meshes, which are split into simplices: a linear solution is exact, others converge.
foreach(case "mixed_square;2;29 quadrilaterals, so that all cells are triangles .66."
        "mixed_cube;3;4 hexahedra and 4 pyramids, so that all cells are tetrahedra .101."
        "prisms;3;28 prisms, so that all cells are tetrahedra .84.")
  list(GET case 0 file)
  list(GET case 1 dim)
  list(GET case 2 message)
  set(run ${here}/poisson_${dim}d.prm --set Mesh/File=${meshes}/${file}.msh
    --set "Mesh/Initial refinements=0" --ranks 2 --same-as-ranks 1)
  set(others "0, 2, 3")
  if(dim EQUAL 3)
    list(APPEND run --set "Output/Write VTU=false")
    set(others "0, 2, 3, 4, 5")
  endif()
  study_test(linear_function_on_${file}_is_exact_on_1_and_2_ranks ${run} --set Study/Cycles=1
    --set Discretization/Degree=1 --set Poisson/Coefficient=1 --set "Poisson/Right-hand side=0"
    --set "Poisson/Dirichlet=${others}: x + 2*y" --set "Poisson/Neumann=1: 1" --set Poisson/Robin=
    --set "Poisson/Exact solution=x + 2*y" --expect-error-below Linf=1e-11
    --expect-message "warning: .*${file}.msh: femgpu has split ${message}")
  foreach(degree 1 2)
    math(EXPR L2_order "${degree} + 1")
    study_test(${file}_of_degree_${degree}_has_orders_${L2_order}_and_${degree}_on_1_and_2_ranks
      ${run} --set Discretization/Degree=${degree} --expect-order L2=${L2_order} H1=${degree})
  endforeach()
endforeach()
study_test(hexahedra_of_a_file_are_split_on_request_on_1_and_2_ranks ${here}/elasticity_bar.prm
  --set Mesh/File=${meshes}/bar.msh --set Mesh/Cells=simplex --set Study/Cycles=1 --ranks 2
  --same-as-ranks 1 --expect-message "femgpu has split .* set Mesh/Cells to auto")

# Inverted cells: the patch test of MacNeal and Harder, in which one vertex has a negative
# determinant; the same mesh with exchanged nodes; two squares whose common edge, a parabola, leaves
# the first one.
set(patch ${here}/elasticity_patch.prm)
study_test(patch_test_has_constant_stress_on_1_and_2_ranks ${patch} --ranks 2 --same-as-ranks 1
  --expect-quantity "max von Mises=1200+-1e-3" --expect-quantity "max principal stress=2800+-1e-3"
  --expect-quantity "min principal stress=1600+-1e-3" --expect-quantity "strain energy=3.6+-1e-7"
  --expect-message "warning: .*patch.inp:22: the cell is inverted at a vertex, but at no Gauss point.* Jacobian is -0.0126502")
study_test(children_of_a_cell_inverted_at_a_vertex_end_with_2_on_2_ranks ${patch} --ranks 2
  --set "Mesh/Initial refinements=3" --expect-exit 2
  --expect-message "degree 1, because a cell of the mesh file is inverted at a vertex.*refine less")
file(READ ${meshes}/patch.inp text)
string(REPLACE "5, 0.32," "5, 0.9," text "${text}")
string(REPLACE "6, 0.677," "6, 0.2," text "${text}")
file(WRITE ${written}/inverted.inp "${text}")
study_test(inverted_cells_are_written_on_2_ranks ${patch} --set Mesh/File=${written}/inverted.inp
  --ranks 2 --expect-exit 2 --expect-line inverted_cells.vtu "Name=.location.*> (19 ){8}(21 ){8}(22 ?){8}<"
  --expect-message "inverted.inp:19: the cell is inverted.*inverted_cells.vtu' shows all 3 such cells")
file(WRITE ${written}/bulge.msh "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n13\n1 0 0 0\n2 1 0 0\n\
3 2 0 0\n4 0 1 0\n5 1 1 0\n6 2 1 0\n7 0.5 0 0\n8 1.5 0 0\n9 0 0.5 0\n10 -0.2 0.5 0\n11 2.2 0.5 0\n\
12 0.5 1 0\n13 1.5 1 0\n$EndNodes\n$Elements\n2\n1 16 2 1 1 1 2 5 4 7 10 12 9\n\
2 16 2 1 1 2 3 6 5 8 11 13 10\n$EndElements\n")
set(bulge ${here}/mesh_square.prm --set Mesh/File=${written}/bulge.msh --set "Poisson/Neumann="
  --set "Poisson/Dirichlet=0: 1 + x + 2*y")
study_test(cell_inverted_by_a_mid_side_node_ends_with_2 ${bulge} --expect-exit 2
  --expect-message "bulge.msh:22: .*with its nodes of second order.*Set Mesh/Inverted cells to straighten")
study_test(cell_inverted_by_a_mid_side_node_is_straightened_on_1_and_2_ranks ${bulge}
  --set "Mesh/Inverted cells=straighten" --ranks 2 --same-as-ranks 1 --expect-error-below Linf=1e-11
  --expect-message "warning: .*bulge.msh:22: .*straightened the edges of 1 such cell,")

# Warnings: cells with the opposite orientation, and sides that look curved
string(REPLACE "2 3 2 1 1 2 3 6 5" "2 3 2 1 1 5 6 3 2" text "${squares}")
file(WRITE ${written}/clockwise.msh "${text}")
study_test(clockwise_cells_are_named
  --expect-message "warning: .*clockwise\\.msh:16: the nodes of this cell are numbered clockwise"
  -- ${here}/mesh_square.prm --set Mesh/File=${written}/clockwise.msh --set "Poisson/Dirichlet=0: 0"
  --set Poisson/Neumann= --set Poisson/Robin= --validate)
set(hole ${here}/mesh_plate.prm --set Mesh/File=${mesh_dir}/plate_with_hole.msh --set Study/Cycles=1)
study_test(refined_side_that_looks_curved_is_named ${hole} --set Mesh/Manifolds=
  --set "Mesh/Initial refinements=1" --expect-message "boundary id 3 \\(hole\\) has angles of .*Mesh/Manifolds"
  --expect-line summary.json "boundary id 3 .hole. has angles of")
foreach(case "is_meant;Mesh/Manifolds=hole: flat;1" "is_not_refined;Mesh/Manifolds=;0")
  list(GET case 0 name)
  list(GET case 1 manifolds)
  list(GET case 2 refinements)
  study_test(angular_side_that_${name}_is_not_named ${hole} --set "${manifolds}"
    --set "Mesh/Initial refinements=${refinements}" --expect-line summary.json "warnings.: ..,")
endforeach()

file(WRITE ${written}/empty.msh "\n")
file(WRITE ${written}/cube.stl "solid cube\n")
foreach(case "empty.msh;is empty" ";is a directory" "cube.stl;unknown extension.*format that Mesh/File lists")
  list(GET case 0 file)
  list(GET case 1 message)
  string(MAKE_C_IDENTIFIER "${message}" what)
  study_test(mesh_file_that_${what}_ends_with_2 ${here}/mesh_square.prm --expect-exit 2
    --set Mesh/File=${written}/${file} --expect-message "${message}")
endforeach()
file(WRITE ${written}/nonsense.inp "1 2 3\nno mesh\n")
study_test(nonsense_in_a_inp_file_ends_with_2 ${here}/mesh_square.prm --expect-exit 2
  --set Mesh/File=${written}/nonsense.inp --expect-message "nonsense\\.inp")

# A cube with a corner pushed through its centre: its volume is positive, but its Jacobian at that
# corner is not. Also curved cells of high degree.
file(WRITE ${written}/twisted.msh "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n8\n1 0 0 0\n\
2 1 0 0\n3 1 1 0\n4 0 1 0\n5 0 0 1\n6 1 0 1\n7 0.2 0.2 0.2\n8 0 1 1\n$EndNodes\n\
$Elements\n1\n1 5 2 1 1 1 2 3 4 5 6 7 8\n$EndElements\n")
study_test(twisted_hexahedron_ends_with_2 ${parameter_dir}/poisson_3d.prm
  --set Mesh/File=${written}/twisted.msh --expect-exit 2
  --expect-message "twisted\\.msh:17: the cell is inverted or degenerate")

# Truncated files, which end between lines or within a line, must be rejected; missing data must not
# be invented.
foreach(case "250;the last line is not terminated" "612;the last line is not terminated"
        "777;the file ends within the block .SURFACE of line 33: it is truncated"
        "784;the last line is not terminated")
  list(GET case 0 size)
  list(GET case 1 message)
  file(READ ${meshes}/square.inp text) # LIMIT would complete the last line
  string(SUBSTRING "${text}" 0 ${size} text)
  file(WRITE ${written}/cut_${size}.inp "${text}")
  study_test(abaqus_file_cut_after_${size}_bytes_ends_with_2 ${here}/mesh_square.prm
    --set Mesh/File=${written}/cut_${size}.inp --expect-exit 2
    --expect-message "^femgpu: .*cut_${size}\\.inp:.*${message}")
endforeach()
file(READ ${meshes}/square.inp text)
string(STRIP "${text}" text)
file(WRITE ${written}/cut_end.inp "${text}")
study_test(abaqus_file_whose_last_line_has_no_end_is_read ${here}/mesh_square.prm
  --set Mesh/File=${written}/cut_end.inp --expect-error-below Linf=1e-11)
