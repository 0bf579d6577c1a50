# Geometries and formats of other programs, which gmsh meshes or converts; groups that overlap or lie
# inside the body; parts named by place.
find_program(gmsh_program gmsh)
if(NOT gmsh_program)
  return()
endif()
set(written ${CMAKE_CURRENT_BINARY_DIR}/geometry)
file(MAKE_DIRECTORY ${written})

# Two unit squares side by side, a group of both, and a group of their common side
file(WRITE ${written}/two.geo "SetFactory(\"OpenCASCADE\");
Rectangle(1) = {0, 0, 0, 1, 1}; Rectangle(2) = {1, 0, 0, 1, 1};
BooleanFragments{ Surface{1}; Delete; }{ Surface{2}; Delete; }
Physical Surface(\"left part\") = {1}; Physical Surface(\"right part\") = {2};
Physical Surface(\"everything\") = {1, 2}; Physical Curve(\"interface\") = {2};
Physical Curve(\"west\") = {4}; Physical Curve(\"east\") = {6}; Physical Curve(\"ends\") = {4, 6};
")
set(two ${here}/mesh_square.prm --set Mesh/File=${written}/two.geo --set "Mesh/Initial refinements=0"
  --set "Poisson/Neumann=" --set Mesh/Size=0.3 --set "Mesh/Natural boundaries=all")
study_test(geometry_with_groups_inside_and_in_several_groups_is_solved ${two} --ranks 2 --same-as-ranks 1
  --set "Poisson/Dirichlet=ends: x" --set "Poisson/Exact solution=x"
  --set "Poisson/Coefficient=everything: 2"
  --set "Measurements/Integrals=area: 1 over material everything\\; left: 1 over material left part\\; ends: 1 over boundary ends"
  --expect-error-below Linf=1e-10 --expect-quantity "area=2+-1e-12"
  --expect-quantity "left=1+-1e-12" --expect-quantity "ends=2+-1e-12")
study_test(condition_inside_a_meshed_geometry_holds ${two} --ranks 2 --same-as-ranks 1
  --set "Poisson/Dirichlet=ends: 0\\; interface: 1" --set "Poisson/Exact solution=1 - abs(x - 1)"
  --set "Poisson/Coefficient=everything: 2" --set Study/Refinement=remesh --set Study/Cycles=2
  --expect-error-below Linf=1e-10 --expect-quantity "flux through interface=-4+-1e-9")
study_test(entries_for_groups_that_overlap_end_with_1 ${two} --expect-exit 1
  --set "Poisson/Dirichlet=west: 0\\; ends: x"
  --expect-message "'ends' in Poisson/Dirichlet contains .*to which another entry applies")

# A disk with curved cells: its area converges to pi under remeshing, faster than with straight cells
file(WRITE ${written}/disk.geo "// no Physical Curve\nSetFactory(\"OpenCASCADE\");\nDisk(1) = {0, 0, 0, 1};\n")
set(disk ${here}/mesh_square.prm --set Mesh/File=${written}/disk.geo --set "Mesh/Initial refinements=0"
  --set "Poisson/Neumann=" --set "Poisson/Dirichlet=1: x^2 - y^2"
  --set "Poisson/Exact solution=x^2 - y^2" --set "Measurements/Integrals=area: 1 over all")
study_test(remeshed_disk_follows_its_boundary_on_1_and_2_ranks ${disk} --ranks 2 --same-as-ranks 1
  --set Mesh/Size=0.4 --set Mesh/Order=2 --set Study/Refinement=remesh --set Study/Cycles=3
  --expect-quantity "area=3.14159265+-2e-6" --expect-error-below L2=1e-5)
study_test(remeshing_ends_at_the_maximum_of_dofs ${disk} --set Mesh/Size=0.4
  --set Study/Refinement=remesh --set Study/Cycles=4 --set "Study/Maximum dofs=300"
  --expect-text "Stopped: the next cycle would have at least")
study_test(geometry_is_meshed_with_quadrilaterals_and_sizes_by_place ${disk} --set Study/Cycles=1
  --set "Mesh/Size=0.05 + 0.2*(x^2 + y^2)" --set Mesh/Cells=hypercube --set Mesh/Order=2
  --expect-quantity "area=3.14159265+-1e-3")
study_test(remeshing_without_geometry_ends_with_1 ${here}/mesh_square.prm --expect-exit 1
  --set Mesh/File=${meshes}/square.inp --set Study/Refinement=remesh
  --expect-message "Study/Refinement = remesh needs a geometry")
study_test(negative_size_ends_with_1 ${disk} --set Mesh/Size=-1 --expect-exit 1
  --expect-message "Mesh/Size is -1, but the size of cells must be positive")
study_test(size_of_a_mesh_file_ends_with_1 ${here}/mesh_square.prm --expect-exit 1
  --set Mesh/File=${meshes}/square.inp --set Mesh/Size=1 --expect-message "Mesh/Size applies to geometry")
file(WRITE ${written}/broken.geo "Circle(1) = {1, 2;\n")
study_test(geometry_that_gmsh_rejects_ends_with_2 ${disk} --ranks 2 --expect-exit 2
  --set Mesh/File=${written}/broken.geo --expect-message "gmsh could not mesh .*syntax error.*mesh\\.log")
file(WRITE ${written}/empty.geo "// nothing\n")
study_test(geometry_without_faces_ends_with_2 ${disk} --expect-exit 2
  --set Mesh/File=${written}/empty.geo --expect-message "gmsh [0-9.]+ found no faces to mesh in .*empty.geo")
file(WRITE ${written}/broken.step "not a STEP file\n")
study_test(step_file_that_gmsh_rejects_ends_with_2 ${disk} --expect-exit 2
  --set Mesh/File=${written}/broken.step --expect-message "gmsh could not mesh ")
study_test(meshing_ends_at_its_time_limit ${disk} --set Mesh/Size=0.0005
  --set "Mesh/Meshing time limit=0.5" --expect-exit 2
  --expect-message "gmsh was stopped because it ran longer than Mesh/Meshing time limit")
study_test(missing_gmsh_ends_with_2 ${disk} --ranks 2 --expect-exit 2
  --expect-message "needs the program gmsh.*apt install gmsh")
set_property(TEST missing_gmsh_ends_with_2 APPEND PROPERTY ENVIRONMENT FEMGPU_GMSH=/nowhere/gmsh)

# Three bodies with a fillet from a CAD file
set(cad ${parameter_dir}/cad_bracket.prm --set "Output/Write VTU=false")
study_test(cad_file_of_three_bodies_is_solved ${cad} --set Study/Cycles=1 --set Mesh/Size=10
  --ranks 2 --same-as-ranks 1 --absolute-for-quantities 1e-3 ${tight}
  --expect-quantity "volume=60570.6+-5")
study_test(shipped_cad_bracket_is_readable ${parameter_dir}/cad_bracket.prm --check-vtu
  --expect-no-warnings --expect-quantity "volume=60570.6+-2"
  --expect-quantity "fillet von_mises_stress=22.5+-1")

# Files that femgpu would overwrite
file(WRITE ${written}/mesh.geo "SetFactory(\"OpenCASCADE\");\nDisk(1) = {0, 0, 0, 1};\n")
study_test(geometry_that_would_be_overwritten_ends_with_2 ${disk} --ranks 2 --expect-exit 2
  --set Mesh/File=${written}/mesh.geo --set Output/Directory=${written}
  --expect-message "mesh\\.geo', which femgpu would overwrite")

# Hexahedra in two bodies, and numbers of properties of Nastran and Medit
file(WRITE ${written}/boxes.geo "SetFactory(\"OpenCASCADE\");
Box(1) = {0, 0, 0, 1, 1, 1}; Box(2) = {1, 0, 0, 1, 1, 1};
BooleanFragments{ Volume{1}; Delete; }{ Volume{2}; Delete; }
")
set(boxes ${parameter_dir}/poisson_3d.prm --set "Mesh/Initial refinements=0" --set "Output/Write VTU=false"
  --set Study/Cycles=1 --set "Poisson/Right-hand side=0" --set Poisson/Neumann= --set Poisson/Robin=
  --set "Mesh/Natural boundaries=all" --set "Poisson/Dirichlet=ends: x" --set "Poisson/Exact solution=x"
  --set "Mesh/Boundaries=ends: x < 1e-6 || x > 2 - 1e-6"
  --set "Measurements/Integrals=second: 1 over material 2" --set "Solver/Relative tolerance=1e-11"
  --expect-error-below Linf=1e-9 --expect-quantity "second=1+-1e-9")
study_test(two_bodies_are_meshed_with_hexahedra ${boxes} --set Mesh/File=${written}/boxes.geo
  --set Mesh/Cells=hypercube --set Mesh/Size=0.5)
foreach(ending bdf mesh)
  execute_process(COMMAND ${gmsh_program} ${written}/boxes.geo -3 -clmax 0.5 -o ${written}/boxes.${ending}
    OUTPUT_QUIET ERROR_QUIET)
  study_test(numbers_of_properties_in_${ending}_are_ids ${boxes} --set Mesh/File=${written}/boxes.${ending})
endforeach()

# Formats that gmsh converts, with their groups
foreach(case "unv;-format;unv" "binary.msh;-format;msh22;-bin" "v1.msh;-format;msh1"
    "v4.msh;-format;msh40" "binary4.msh;-format;msh41;-bin" "parametric.msh;-format;msh41;-parametric"
    "parts.msh;-format;msh41;-part;2")
  list(POP_FRONT case ending)
  execute_process(COMMAND ${gmsh_program} ${written}/two.geo -2 -clmax 0.3 ${case}
    -o ${written}/two.${ending} OUTPUT_QUIET ERROR_QUIET)
  set(ends ends)
  if(ending STREQUAL "v1.msh") # this version has no names
    set(ends 7)
  endif()
  study_test(groups_of_two.${ending}_are_kept ${two} --set Mesh/File=${written}/two.${ending}
    --set Mesh/Size= --set "Poisson/Dirichlet=${ends}: x" --set "Poisson/Exact solution=x"
    --expect-error-below Linf=1e-10)
endforeach()

string(REPLACE "2.2 0 8" "2.2 1 8" not_binary "${squares}")
file(WRITE ${written}/not_binary.msh "${not_binary}")
file(WRITE ${written}/nonsense.unv "1 2 3\n")
foreach(file not_binary.msh nonsense.unv)
  study_test(${file}_cannot_be_converted ${here}/mesh_square.prm --expect-exit 2
    --set Mesh/File=${written}/${file} --expect-message "gmsh (could not convert|[0-9.]+ found no cells in)")
endforeach()

# Parts by place
set(plate ${here}/mesh_square.prm --set Mesh/Generator=subdivided_hyper_cube
  --set "Mesh/Arguments=4 : 0 : 1 : true" --set "Poisson/Neumann=")
study_test(boundary_by_place_that_is_not_defined_yet_ends_with_1 ${plate}
  --set "Mesh/Boundaries=heater: x < 0.01 && y < 0.6\\; rest: 0, 1, bottom\\; bottom: y < 0.01"
  --expect-exit 1 --expect-message "'bottom' in Mesh/Boundaries is neither")
study_test(boundaries_by_place_are_measured ${plate} --ranks 2 --same-as-ranks 1
  --set "Mesh/Boundaries=heater: x < 0.01 && y < 0.51\\; bottom: y < 0.01\\; rest: 0, 1, bottom"
  --set "Poisson/Dirichlet=heater, rest, 3: 1 + x + 2*y"
  --set "Measurements/Integrals=heater: 1 over boundary heater\\; rest: 1 over boundary rest"
  --expect-error-below Linf=1e-10 --expect-quantity "heater=0.5+-1e-12"
  --expect-quantity "rest=2.5+-1e-12")
study_test(boundary_by_place_without_faces_ends_with_1 ${plate} --expect-exit 1
  --set "Mesh/Boundaries=far: x > 2" --expect-message "names no part of the boundary.*from .0 0. to .1 1.")
set(bar_by_place ${here}/elasticity_bar.prm --set "Output/Write VTU=false" --set Mesh/File=
  --set Mesh/Generator=subdivided_hyper_rectangle --set Study/Cycles=2)
study_test(curve_by_place_bends_a_bar ${bar_by_place}
  --set "Mesh/Arguments=8, 2, 2 : 0, 0, 0 : 4, 1, 1 : true" --set "Elasticity/Displacement=0: 0, 0, 0"
  --set "Mesh/Named curves=top: x > 3.99 && z > 0.99" --set "Elasticity/Traction=top: 0, 0, -1"
  --ranks 2 --same-as-ranks 1 --absolute-for-quantities 1e-5
  --expect-quantity "middle displacement_z=-0.0838+-3e-4")
study_test(points_by_place_pull_a_bar ${bar_by_place}
  --set "Mesh/Arguments=8, 2, 2 : 0, 0, 0 : 4, 1, 1 : true" --set "Elasticity/Displacement=0: 0, 0, 0"
  --set "Mesh/Named points=a: 4, 0, 0\\; b: 4, 1, 0\\; c: 4, 0, 1\\; d: 4, 1, 1"
  --set "Elasticity/Traction=a, b, c, d: 0.25, 0, 0" --expect-quantity "reaction x of 0=-1+-1e-7")
study_test(point_by_place_that_is_no_vertex_ends_with_1 ${bar_by_place} --expect-exit 1
  --set "Mesh/Arguments=8, 2, 2 : 0, 0, 0 : 4, 1, 1 : true"
  --set "Mesh/Named points=a: 4, 0.1, 0"
  --expect-message "is not at a vertex of the coarse mesh. the nearest one is .4 0 0.")

add_test(NAME meshes_of_a_directory_are_validated COMMAND ${Python3_EXECUTABLE}
  ${PROJECT_SOURCE_DIR}/scripts/validate_meshes.py ${mesh_dir} --program $<TARGET_FILE:femgpu>)
physics_properties(meshes_of_a_directory_are_validated)
