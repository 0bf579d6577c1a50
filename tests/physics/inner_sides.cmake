# Sides inside the body with an id: Dirichlet data, sources and measurements on them.
set(written ${CMAKE_CURRENT_BINARY_DIR}/inner_sides)
file(MAKE_DIRECTORY ${written})
set(membrane ${here}/inner_sides.prm --set Mesh/File=${here}/meshes/membrane.msh --set Dimension=2)
set(membrane_3d ${here}/inner_sides.prm --set Mesh/File=${here}/meshes/membrane_3d.msh --set Dimension=3)

# On coarse cells, in blocks, on triangles and tetrahedra, for each degree
foreach(case "2;1;auto;3" "2;2;hypercube;2" "2;2;simplex;2" "3;1;hypercube;2" "3;1;simplex;2" "3;2;simplex;1")
  list(GET case 0 dim)
  list(GET case 1 degree)
  list(GET case 2 cells)
  list(GET case 3 refinements)
  set(mesh ${membrane})
  if(dim EQUAL 3)
    set(mesh ${membrane_3d})
  endif()
  study_test(source_on_a_membrane_in_${dim}d_${cells}_of_degree_${degree}_on_1_and_2_ranks ${mesh}
    --set Discretization/Degree=${degree} --set Mesh/Cells=${cells} --set Study/Cycles=2
    --set "Mesh/Initial refinements=${refinements}" --ranks 2 --same-as-ranks 1
    --expect-error-below Linf=1e-9 --expect-quantity "area=1+-1e-12" --expect-quantity "top=2+-1e-9"
    --expect-quantity "flux through membrane=-4+-1e-9" --expect-quantity "flux through west=2+-1e-9")
  study_test(values_on_a_membrane_in_${dim}d_${cells}_of_degree_${degree}_on_1_and_2_ranks ${mesh}
    --set Discretization/Degree=${degree} --set Mesh/Cells=${cells} --set Study/Cycles=2
    --set "Mesh/Initial refinements=${refinements}" --ranks 2 --same-as-ranks 1
    --set Poisson/Neumann= --set "Poisson/Dirichlet=west, east: 0\\; membrane: 2"
    --expect-error-below Linf=1e-9 --expect-quantity "top=2+-1e-9"
    --expect-quantity "flux through membrane=-4+-1e-9")
endforeach()
# Hanging nodes on either side of the membrane
foreach(side left right)
  set(where_left "x < 1")
  set(where_right "x > 1")
  study_test(membrane_with_finer_cells_on_the_${side}_on_1_and_2_ranks ${membrane}
    --set Discretization/Degree=2 --set "Mesh/Initial refinement where=${where_${side}} ? 1 : 0"
    --ranks 2 --same-as-ranks 1 --expect-error-below Linf=1e-9
    --expect-quantity "flux through membrane=-4+-1e-9")
  study_test(values_on_a_membrane_with_finer_cells_on_the_${side}_on_1_and_2_ranks ${membrane}
    --set Discretization/Degree=2 --set "Mesh/Initial refinement where=${where_${side}} ? 1 : 0"
    --set Poisson/Neumann= --set "Poisson/Dirichlet=west, east: 0\\; membrane: 2"
    --ranks 2 --same-as-ranks 1 --expect-error-below Linf=1e-9
    --expect-quantity "flux through membrane=-4+-1e-9")
endforeach()
# Linear functions on both sides of a source have no error, so nothing is to be refined.
foreach(estimator kelly residual)
  study_test(${estimator}_estimator_knows_the_source_on_a_membrane_on_1_and_2_ranks ${membrane}
    --set Study/Cycles=2 --set Study/Refinement=adaptive --set Study/Estimator=${estimator}
    --ranks 2 --same-as-ranks 1 --expect-estimate relative=0+-1e-9)
endforeach()
study_test(estimator_knows_the_values_on_a_membrane ${membrane} --set "Output/Error indicator=true"
  --set Poisson/Neumann= --set "Poisson/Dirichlet=west, east: 0\\; membrane: 2"
  --expect-estimate relative=0+-1e-9)

# Two layers: the flux through the interface is that of resistances in series. The normal points out
# of the material with the smaller id.
file(WRITE ${written}/layers.prm "set Dimension = 2
set Physics = poisson
subsection Mesh
  set File = ${here}/meshes/membrane.msh
  set Initial refinements = 1
end
subsection Poisson
  set Right-hand side = 0
  set Dirichlet       = west: 0; east: 1
  set Coefficient     = left: 1; right: 3
end
subsection Solver
  set Relative tolerance = 1e-12
end
subsection Output
  set Write VTU = false
end
")
study_test(flux_through_an_interface_is_measured_on_1_and_2_ranks ${written}/layers.prm --ranks 2 --same-as-ranks 1
  --set "Measurements/Integrals=heat: flux.n over boundary membrane\\; slope: grad_u.n over boundary membrane"
  --expect-quantity "heat=-0.75+-1e-10" --expect-quantity "slope=0.75+-1e-10")
file(READ ${here}/meshes/membrane.msh text)
string(REPLACE "4 3 2 1 1 1 2 5 4" "4 3 2 2 2 1 2 5 4" one_material "${text}")
string(REPLACE "5 3 2 2 2 2 3 6 5" "5 3 2 1 1 2 3 6 5" swapped "${text}")
string(REPLACE "4 3 2 1 1 1 2 5 4" "4 3 2 2 2 1 2 5 4" swapped "${swapped}")
file(WRITE ${written}/one_material.msh "${one_material}")
file(WRITE ${written}/swapped.msh "${swapped}")
study_test(normal_of_an_interface_points_out_of_the_smaller_id ${written}/layers.prm
  --set Mesh/File=${written}/swapped.msh --set "Poisson/Coefficient=left: 3\\; right: 1"
  --set "Measurements/Integrals=heat: flux.n over boundary membrane" --expect-quantity "heat=0.75+-1e-10")
study_test(flux_through_sides_in_one_material_ends_with_1 ${written}/layers.prm --expect-exit 1
  --set Mesh/File=${written}/one_material.msh --set "Poisson/Coefficient=1"
  --set "Measurements/Integrals=heat: flux.n over boundary membrane"
  --expect-message "'flux.n' in Measurements/Integrals may differ on the two sides of 'boundary membrane'")
study_test(the_whole_boundary_has_no_sides_inside_the_body ${membrane}
  --set "Measurements/Integrals=length: 1 over boundary" --expect-quantity "length=6+-1e-12")
study_test(sides_inside_the_body_are_listed --expect-text "boundary ids 0, 1 .west., 2 .east.. inside the body 5 .membrane.. material ids"
  -- ${membrane} --validate)

study_test(sides_are_written_for_a_picture_on_2_ranks ${membrane} --ranks 2
  --expect-text "sides.vtu' has the sides"
  --expect-line sides.vtu "Name=.boundary_id.*> 1 1 5 5 0 0 0 0 2 2 0 0 0 0<" -- --validate --picture)
study_test(picture_without_validation_ends_with_1 ${membrane} --expect-exit 1
  --expect-message "--picture needs --validate" -- --picture)

# A group with sides at the boundary and inside the body
string(REPLACE "3 1 2 5 5 2 5" "3 1 2 1 1 2 5" shared "${text}")
file(WRITE ${written}/shared.msh "${shared}")
study_test(groups_may_have_sides_at_the_boundary_and_inside ${membrane} --set Poisson/Neumann=
  --set Mesh/File=${written}/shared.msh --set "Poisson/Dirichlet=west: 2*x\\; east: 0"
  --set "Measurements/Integrals=length: 1 over boundary 1" --set "Measurements/Averages="
  --expect-error-below Linf=1e-9 --expect-quantity "length=2+-1e-12")

# A bar that is held at its ends and moved, or loaded, in the middle
file(WRITE ${written}/bar.prm "set Dimension = 3
set Physics = elasticity
subsection Mesh
  set File = ${here}/meshes/membrane_3d.msh
  set Initial refinements = 1
end
subsection Elasticity
  set Young's modulus = 100
  set Poisson's ratio = 0
  set Displacement    = west, east: 0, 0, 0
  set Reactions       = true
end
subsection Output
  set Write VTU = false
end
")
study_test(bar_is_moved_in_its_middle_on_1_and_2_ranks ${written}/bar.prm --ranks 2 --same-as-ranks 1
  --set "Elasticity/Displacement=west, east: 0, 0, 0\\; membrane: 0.01, 0, 0"
  --expect-quantity "reaction x of membrane=2+-1e-6" --expect-quantity "reaction x of west=-1+-1e-6")
study_test(bar_is_loaded_in_its_middle_on_1_and_2_ranks ${written}/bar.prm --ranks 2 --same-as-ranks 1
  --set "Elasticity/Traction=membrane: 2, 0, 0" --set "Measurements/Extrema=displacement_x"
  --expect-quantity "max displacement_x=0.01+-1e-8" --expect-quantity "reaction x of west=-1+-1e-6")
foreach(case "pressure;Elasticity/Pressure=membrane: 1" "symmetry_plane;Elasticity/Symmetry planes=membrane")
  list(GET case 0 name)
  list(GET case 1 value)
  study_test(${name}_inside_the_body_ends_with_1 ${written}/bar.prm --set "${value}" --expect-exit 1
    --expect-message "'membrane' in Elasticity/.* has sides inside the body, but this parameter needs sides on the boundary")
endforeach()

# A surface of Abaqus, listed by the sides of cells, and shells between cells
file(WRITE ${written}/membrane.inp "*NODE
1, 0, 0, 0
2, 1, 0, 0
3, 2, 0, 0
4, 0, 1, 0
5, 1, 1, 0
6, 2, 1, 0
7, 0, 0, 1
8, 1, 0, 1
9, 2, 0, 1
10, 0, 1, 1
11, 1, 1, 1
12, 2, 1, 1
*ELEMENT, TYPE=C3D8, ELSET=left
1, 1, 2, 5, 4, 7, 8, 11, 10
*ELEMENT, TYPE=C3D8, ELSET=right
2, 2, 3, 6, 5, 8, 9, 12, 11
*ELEMENT, TYPE=S4, ELSET=shells
3, 2, 5, 11, 8
*SURFACE, NAME=membrane
left, S4
*SURFACE, NAME=west
left, S6
*SURFACE, NAME=east
right, S4
")
foreach(name membrane shells)
  study_test(abaqus_names_sides_inside_the_body_by_${name} ${membrane_3d} --set Mesh/File=${written}/membrane.inp
    --set "Poisson/Neumann=${name}: 4" --set Measurements/Integrals= --set Measurements/Averages=
    --expect-error-below Linf=1e-9)
endforeach()
