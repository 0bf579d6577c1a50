# Curved bodies from files: cells with nodes of second order, and sides on ellipses and cones. The
# script curved_meshes.py, which meshes.cmake runs, writes the meshes.
set(curved ${CMAKE_CURRENT_BINARY_DIR}/meshes)

# Every mesh has the body of the file: parabolas through the nodes, with area 3 n (sin(phi) +
# 8/3 sin(phi/2) (1 - cos(phi/2))) / 2 for n = 2 arcs of phi = pi/4 at the radii 1 and 2.
set(second_order ${here}/poisson_second_order.prm --ranks 2 --same-as-ranks 1)
foreach(case "ring_triangle6;2" "ring_quad8;2" "ring_quad9;2" "pipe_tet10;3" "pipe_hex20;3"
        "pipe_hex27;3")
  list(GET case 0 body)
  list(GET case 1 dim)
  study_test(second_order_${body}_keeps_its_body_and_has_orders_3_and_2 ${second_order}
    --set Mesh/File=${curved}/${body}.msh --set Dimension=${dim} --expect-order L2=3 H1=2
    --expect-quantity "volume=2.354360677734+-1e-11")
endforeach()
foreach(case "ring_triangle6;2" "ring_quad8;2" "pipe_tet10;3" "pipe_hex20;3")
  list(GET case 0 body)
  list(GET case 1 dim)
  study_test(second_order_${body}_of_abaqus_keeps_its_body ${second_order} --set Study/Cycles=2
    --set Mesh/File=${curved}/${body}.inp --set Dimension=${dim}
    --expect-quantity "volume=2.354360677734+-1e-11")
endforeach()
study_test(second_order_hexahedra_go_through_the_nodes_of_their_faces ${second_order}
  --set Mesh/File=${curved}/dome_hex27.msh --set Dimension=3 --expect-order L2=3 H1=2
  --expect-quantity "volume=2.586663551143+-1e-11")
study_test(second_order_quadrilaterals_go_through_their_middle ${second_order}
  --set Mesh/File=${curved}/warped_quad9.msh --expect-quantity "volume=2+-1e-11"
  --expect-order L2=3 H1=2)
study_test(second_order_body_is_kept_by_adaptive_refinement ${second_order} --set Study/Cycles=6
  --set Mesh/File=${curved}/ring_quad8.msh --set Study/Refinement=adaptive
  --expect-quantity "volume=2.354360677734+-1e-11" --expect-rate-by-dofs L2=1.5+-0.25 H1=1+-0.15)
study_test(named_side_goes_before_the_nodes_of_second_order ${second_order}
  --set Mesh/File=${curved}/pipe_hex20.msh --set Dimension=3 --expect-order L2=3 H1=2
  --set "Mesh/Manifolds=inner, outer: cylinder 0, 0, 0, 0, 0, 1"
  --expect-extrapolated "volume=2.356194490192+-1e-7")
study_test(flat_side_goes_before_the_nodes_of_second_order ${second_order}
  --set Mesh/File=${curved}/pipe_tet10.msh --set Dimension=3 --expect-order L2=3 H1=2
  --set "Mesh/Manifolds=inner, outer: flat" --expect-quantity "volume=2.121320343560+-1e-11")

# Cones and triangles of degree 2 at a circle: volumes of order 4
study_test(triangles_of_degree_2_at_a_circle_are_curved ${second_order}
  --set Mesh/File=${mesh_dir}/plate_with_hole_triangles.msh --set "Mesh/Manifolds=hole: polar 0, 0"
  --set "Poisson/Dirichlet=1, 2, 3, 4: 0.5*log(x^2 + y^2)" --set "Poisson/Neumann=hole: -4"
  --set "Poisson/Exact solution=0.5*log(x^2 + y^2)" --set "Mesh/Initial refinements=0"
  --expect-order L2=3 H1=2 --expect-extrapolated "volume=3.80365045915+-1e-9")
foreach(case "1;2.7489+-2e-4" "2;2.748893572+-1e-7")
  list(GET case 0 degree)
  list(GET case 1 volume)
  math(EXPR L2_order "${degree} + 1")
  study_test(funnel_of_two_cones_has_its_volume_with_degree_${degree} ${second_order}
    --set Mesh/File=${curved}/funnel.msh --set Dimension=3 --set Discretization/Degree=${degree}
    --set "Mesh/Manifolds=inner, outer: cone 0, 0, -1, 0, 0, 2" --expect-order L2=${L2_order} H1=${degree}
    --expect-extrapolated "volume=${volume}")
endforeach()

# NAFEMS LE1: sigma_yy = 92.7 MPa at D, with the order of the stress of elements of degree 2
set(le1 ${parameter_dir}/elasticity_le1.prm ${tight} --set "Output/Write VTU=false" --ranks 2 --same-as-ranks 1)
set(ellipses "Mesh/Manifolds=inner: ellipse 0, 0, 2, 0, 1\\; outer: ellipse 0, 0, 0, 2.75, 3.25")
study_test(le1_of_second_order_has_its_stress ${le1} --expect-quantity "D stress_yy=92.684e6+-2e3"
  --expect-text "D stress_yy +3 .* 1\\.[89][0-9]*" --expect-extrapolated "D stress_yy=92.66e6+-2e4")
study_test(le1_with_ellipses_has_its_stress ${le1} --set Mesh/File=${mesh_dir}/le1_straight.msh
  --set "${ellipses}" --expect-quantity "D stress_yy=92.679e6+-2e3"
  --expect-text "D stress_yy +3 .* 1\\.[89][0-9]*" --expect-extrapolated "D stress_yy=92.66e6+-2e4")
set(plate ${here}/elasticity_le1_plate.prm --ranks 2)
study_test(le1_plate_with_elliptic_cylinders_has_its_stress_and_volume ${plate}
  --set Mesh/File=${curved}/plate_hex8.msh --expect-quantity "D stress_yy=94.06e6+-2e4"
  --set "Mesh/Manifolds=inner: elliptic cylinder 0, 0, 0, 0, 0, 1, 2, 0, 0, 1\\; \
outer: elliptic cylinder 0, 0, 1, 0, 0, 2, 0, -2.75, 0, 3.25"
  --expect-extrapolated "volume=0.54486997585+-1e-9")
study_test(le1_plate_of_second_order_has_its_stress_and_volume ${plate}
  --set Mesh/File=${curved}/plate_hex27.msh --expect-quantity "D stress_yy=94.12e6+-2e4"
  --expect-quantity "volume=0.544868290574+-1e-11")

# Rejected files: two adjacent unit squares with nodes at the middles of their edges.
function(bad_cell name elements message)
  file(WRITE ${curved}/${name}.msh "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n14\n1 0 0 0\n2 1 0 0\n\
3 2 0 0\n4 0 1 0\n5 1 1 0\n6 2 1 0\n7 0.5 0 0\n8 1 0.5 0\n9 0.5 1 0\n10 0 0.5 0\n11 1.5 0 0\n12 2 0.5 0\n\
13 1.5 1 0\n14 1.2 0.5 0\n$EndNodes\n$Elements\n2\n${elements}\n$EndElements\n")
  study_test(second_order_${name}_ends_with_2 ${here}/mesh_square.prm --expect-exit 2
    --set Mesh/File=${curved}/${name}.msh --expect-message "${name}\\.msh${message}" ${ARGN})
endfunction()
bad_cell(inverted_cell "1 16 2 1 1 1 2 5 4 13 8 9 10\n2 16 2 1 1 2 3 6 5 11 12 13 8"
  ":23: the cell is inverted or degenerate with its nodes of second order.*HighOrderOptimize")
bad_cell(torn_side "1 16 2 1 1 1 2 5 4 7 14 9 10\n2 16 2 1 1 2 3 6 5 11 12 13 12"
  ":24: the mid-side node of an edge or face of this cell differs from its neighbour")
bad_cell(third_order "1 36 2 1 1 1 2 5 4 7 7 8 8 9 9 10 10 1 2 3 4\n2 3 2 1 1 2 3 6 5"
  ":23: an element of order 3 or more.*gmsh -order 2")
study_test(cylinder_that_is_a_cone_ends_with_1 ${here}/poisson_second_order.prm --set Dimension=3
  --set Mesh/File=${curved}/funnel.msh --set "Mesh/Manifolds=inner: cylinder 0, 0, 0, 0, 0, 1"
  --expect-exit 1 --expect-message "does not fit the mesh: the node at")
study_test(cone_about_another_axis_ends_with_1 ${here}/poisson_second_order.prm --set Dimension=3
  --set Mesh/File=${curved}/funnel.msh --set "Mesh/Manifolds=inner: cone 0.1, 0, 0, 0, 0, 1"
  --expect-exit 1 --expect-message "does not fit the mesh: the node at")
study_test(oblique_semi_axis_ends_with_1 ${here}/poisson_second_order.prm --set Dimension=3
  --set "Mesh/Manifolds=inner: elliptic cylinder 0, 0, 0, 0, 0, 1, 1, 0, 1, 2"
  --set Mesh/File=${curved}/funnel.msh --expect-exit 1 --expect-message "is not normal to the axis")

# Two such squares with separate nodes at x = 1 and 1 + 1e-9. Edges at merged nodes must remain
# curved: -0.1 below each square, which adds 2/3 0.1 to its area.
file(WRITE ${curved}/curved_seam.msh "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n16\n1 0 0 0\n2 1 0 0\n\
3 1 1 0\n4 0 1 0\n5 0.5 -0.1 0\n6 1.1 0.5 0\n7 0.5 1 0\n8 0 0.5 0\n9 1.000000001 0 0\n10 2 0 0\n11 2 1 0\n\
12 1.000000001 1 0\n13 1.5 -0.1 0\n14 2 0.5 0\n15 1.5 1 0\n16 1.100000001 0.5 0\n$EndNodes\n\
$Elements\n2\n1 16 2 1 1 1 2 3 4 5 6 7 8\n2 16 2 1 1 9 10 11 12 13 14 15 16\n$EndElements\n")
study_test(merged_nodes_of_second_order_cells_keep_their_curves ${second_order}
  --set Mesh/File=${curved}/curved_seam.msh --set "Mesh/Merge nodes=1e-6" --set Study/Cycles=2
  --set "Poisson/Dirichlet=0: sin(x)*exp(y)" --expect-quantity "volume=2.13333333333+-1e-8"
  --expect-text "cycle 0: 8 cells, 45 dofs")
