# Types and sets of Abaqus files: plane stress or strain, and nodes of second order.
set(written ${CMAKE_CURRENT_BINARY_DIR}/meshes)
set(pull ${here}/elasticity_pull.prm)
set(two_cycles --set Study/Cycles=2 --ranks 2 --same-as-ranks 1)

# A square of two elements with different types.
function(write_square name first second)
  file(WRITE ${written}/${name}.inp "*NODE\n1, 0, 0\n2, 0.5, 0\n3, 1, 0\n4, 0, 1\n5, 0.5, 1\n6, 1, 1\n\
*ELEMENT, TYPE=${first}\n1, 1, 2, 5, 4\n*ELEMENT, TYPE=${second}\n2, 2, 3, 6, 5\n\
*NSET, NSET=LEFT\n1, 4\n*NSET, NSET=FRONT\n1, 2, 3\n*NSET, NSET=RIGHT\n3, 6\n")
endfunction()
foreach(case "CPS4;1" "CPS4R;1" "S4R;1" "M3D4;1" "CPE4;0.91" "DC2D4;0.91")
  list(GET case 0 type)
  list(GET case 1 displacement)
  write_square(${type} ${type} ${type})
  set(hypothesis "plane stress")
  if(displacement LESS 1)
    set(hypothesis "plane strain")
  endif()
  study_test(${type}_elements_say_the_hypothesis ${pull} --set Mesh/File=${written}/${type}.inp
    --expect-text "elasticity in 2D \\(${hypothesis}\\), " --expect-quantity "p displacement_x=${displacement}+-1e-7")
endforeach()
study_test(hypothesis_of_the_parameter_file_may_be_that_of_the_names ${pull}
  --set Mesh/File=${written}/CPE4.inp --set "Elasticity/2D hypothesis=plane strain"
  --expect-quantity "p displacement_x=0.91+-1e-7")
study_test(hypothesis_that_contradicts_the_names_ends_with_1 ${pull} --expect-exit 1
  --set Mesh/File=${written}/CPS4.inp --set "Elasticity/2D hypothesis=plane strain"
  --expect-message "2D hypothesis is plane strain, but the CPS4 elements of .*CPS4.inp:8 are for plane stress")
write_square(mixed_names CPS4 CPE4R)
study_test(names_of_two_hypotheses_end_with_1 ${pull} --set Mesh/File=${written}/mixed_names.inp
  --expect-exit 1
  --expect-message "CPE4R elements of .*:10 are for plane strain, but CPS4 elements of .*:8 are for plane stress")
write_square(generalised CPEG4 CPEG4)
study_test(generalised_plane_strain_ends_with_1 ${pull} --set Mesh/File=${written}/generalised.inp
  --expect-exit 1 --expect-message "CPEG4 elements of .* are for generalised plane strain")
foreach(type CAX4 DCAX4 CGAX4R)
  write_square(${type} ${type} ${type})
  study_test(${type}_elements_end_with_2 ${pull} --set Mesh/File=${written}/${type}.inp
    --expect-exit 2 --expect-message "${type}.inp:8: elements of TYPE=${type} are axisymmetric")
endforeach()

# The same square as two instances of a part in an included file, with the pull as a load on a face.
file(WRITE ${written}/parts/half.inp "*NODE, NSET=ALL\n1,\n2, 0.5\n3, 0.5, 1.\n4, , 1.\n\
*ELEMENT, TYPE=CPS4, ELSET=BODY\n1, 1, 2, 3, 4\n*ELEMENT, TYPE=MASS, ELSET=M\n2, 3\n")
file(WRITE ${written}/assembly.inp "*PART, NAME=HALF\n*INCLUDE, INPUT=parts/half.inp\n*END PART\n\
*ASSEMBLY, NAME=A\n*INSTANCE, NAME=H1, PART=HALF\n*END INSTANCE\n*INSTANCE, NAME=H2, PART=HALF\n\
1., 1.\n1., 1., 0., 1., 1., 1., 180.\n*END INSTANCE\n*NSET, NSET=LEFT, INSTANCE=H1\n1, 4\n\
*NSET, NSET=FRONT\nH1.1, H1.2, H2.4, H2.3\n*NSET, NSET=EMPTY\n*END ASSEMBLY\n*STEP\n*DLOAD\nH2.BODY, P4, -1.\n\
H1.BODY, GRAV, 1.\n*END STEP")
file(COPY_FILE ${written}/assembly.inp ${written}/cgx.msh)
set(assembly ${pull} --set "Mesh/Merge nodes=1e-9" --set Elasticity/Traction=
  --set "Elasticity/Pressure=dload_1: -1")
foreach(file assembly.inp cgx.msh)
  study_test(instances_of_parts_in_${file}_are_put_together ${assembly} --set Mesh/File=${written}/${file}
    ${two_cycles} --expect-quantity "p displacement_x=1+-1e-7"
    --expect-message "half.inp:8: elements of TYPE=MASS are ignored \\(2 in all\\)"
    --expect-message "assembly.inp:15: the set 'EMPTY' is empty|cgx.msh:15: the set 'EMPTY' is empty")
endforeach()
study_test(instances_that_are_not_merged_end_with_2 ${assembly} --set "Mesh/Merge nodes=refuse"
  --set Mesh/File=${written}/assembly.inp --expect-exit 2 --expect-message "half.inp:7: .*half.inp:7")
study_test(empty_set_is_refused_where_it_is_named ${assembly} --set Mesh/File=${written}/assembly.inp
  --set Elasticity/Displacement=EMPTY:0,0 --expect-exit 1
  --expect-message "names 'EMPTY'. This set of line 15 of .*assembly.inp' is empty")
file(WRITE ${written}/avs.inp "4 1 0 0 0\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n1 1 quad 1 2 3 4\n")
study_test(ucd_file_with_the_extension_inp_is_refused ${pull} --set Mesh/File=${written}/avs.inp
  --expect-exit 2 --expect-message "avs.inp:1: '4 1 0 0 0' is not .* in the UCD format of AVS")

# A cube of one element of second order, pulled at its top and bottom. The mid-side nodes NMID of
# its vertical edges do not move; if a bottom edge, EDGE, is held, the top rises by 1.
file(WRITE ${written}/cube_c3d20.inp "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 1, 1, 0\n4, 0, 1, 0\n\
5, 0, 0, 1\n6, 1, 0, 1\n7, 1, 1, 1\n8, 0, 1, 1\n9, 0.5, 0, 0\n10, 1, 0.5, 0\n11, 0.5, 1, 0\n12, 0, 0.5, 0\n\
13, 0.5, 0, 1\n14, 1, 0.5, 1\n15, 0.5, 1, 1\n16, 0, 0.5, 1\n17, 0, 0, 0.5\n18, 1, 0, 0.5\n19, 1, 1, 0.5\n\
20, 0, 1, 0.5\n*ELEMENT, TYPE=C3D20\n1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,\n11, 12, 13, 14, 15, 16, 17, 18, 19, 20\n\
*SURFACE, NAME=BOTTOM\n1, S1\n*SURFACE, NAME=TOP\n1, S2\n*SURFACE, NAME=FRONT\n1, S3\n*SURFACE, NAME=LEFT\n\
1, S6\n*NSET, NSET=NMID\n17, 18, 19, 20\n*NSET, NSET=EDGE\n1, 9, 2\n")
set(cube ${pull} --set Dimension=3 --set Mesh/File=${written}/cube_c3d20.inp
  --set "Measurements/Points=p: 1, 1, 1" --set "Measurements/Point fields=displacement_z")
set(pull_up "Elasticity/Traction=TOP: 0, 0, 1\\; BOTTOM: 0, 0, -1")
set(mid_sides_held --set "Elasticity/Displacement=NMID: free, free, 0")
study_test(mid_side_nodes_are_held ${cube} --set "${pull_up}" ${mid_sides_held} ${two_cycles}
  --expect-text "FE_Q<3>\\(2\\)" --expect-quantity "p displacement_z=0.5+-1e-6")
study_test(mid_side_nodes_where_elements_have_none_end_with_1 ${cube} --set "${pull_up}"
  ${mid_sides_held} --set Discretization/Degree=1 --expect-exit 1
  --expect-message "NMID.* are mid-side nodes of the mesh file, but elements of degree 1 have no nodes")
study_test(forces_at_mid_side_nodes_are_their_sum ${cube} ${two_cycles}
  --set "Elasticity/Traction=NMID: 0, 0, 2" --set "Elasticity/Displacement=BOTTOM: 0, 0, 0"
  --set "Elasticity/Symmetry planes=" --set Elasticity/Reactions=true
  --expect-quantity "reaction z of BOTTOM=-8+-1e-6" --absolute-for-quantities 1e-6)
study_test(node_set_of_a_whole_edge_is_a_curve ${cube} --set "${pull_up}" ${two_cycles}
  --set "Elasticity/Displacement=EDGE: free, free, 0" --expect-quantity "p displacement_z=1+-1e-6")
study_test(curves_and_points_of_node_sets_are_listed --expect-text "curves EDGE. points NMID"
  -- ${cube} --set "${pull_up}" ${mid_sides_held} --validate)

# With Degree = auto, the elements have the degree of the mesh file, at most the highest degree that
# the physics supports.
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
  --expect-message "Degree = auto: the cells of .* are of order 2, but physics bratu supports only elements of degree 1")
