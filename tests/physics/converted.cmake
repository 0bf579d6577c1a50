# Mesh files that VTK and meshio convert, with their groups. Debian's Python has both packages.
set(written ${CMAKE_CURRENT_BINARY_DIR}/converted)
execute_process(COMMAND /usr/bin/python3 ${here}/converted_meshes.py ${written}
  RESULT_VARIABLE no_converted_meshes OUTPUT_QUIET ERROR_QUIET)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${here}/converted_meshes.py)
if(no_converted_meshes)
  return()
endif()
set(square ${here}/mesh_square.prm --expect-error-below Linf=1e-11 --set)

# VTK's own format in all encodings; pixels, and pieces with a ghost cell
foreach(name ascii base64 zlib raw raw_zlib appended_base64)
  study_test(mesh_file_square_${name}.vtu_has_its_cells_and_ids ${square}
    Mesh/File=${meshes}/square_${name}.vtu)
endforeach()
foreach(name lz4 lzma pixels)
  study_test(mesh_file_square_${name}.vtu_has_its_cells_and_ids ${square}
    Mesh/File=${written}/square_${name}.vtu)
endforeach()
study_test(mesh_file_square.vtu_is_the_same_on_1_and_2_ranks ${square}
  Mesh/File=${meshes}/square_zlib.vtu --ranks 2 --same-as-ranks 1)
study_test(mesh_file_of_two_pieces_has_its_cells_and_ids ${square} Mesh/File=${written}/pieces.vtu
  --set "Mesh/Merge nodes=1e-9" --expect-text "cycle 0: 16 cells, 25 dofs")
study_test(materials_of_a_vtu_file_are_listed --expect-text "material ids 1, 2"
  --expect-text "Mesh: converted by VTK [0-9.]+ from .*square_raw.vtu" --
  ${here}/mesh_square.prm --set Mesh/File=${meshes}/square_raw.vtu --validate)

# Cells of second order, whose upper side is a parabola
foreach(file quad8.vtu quad9.vtu lagrange9.vtu hex20.vtu hex27.vtu lagrange27.vtu hex27.med)
  set(dim 2)
  if(file MATCHES "20|27")
    set(dim 3)
  endif()
  study_test(curved_cells_${file}_have_their_volume ${square} Dimension=${dim}
    --set Mesh/File=${written}/curved_${file} --set "Poisson/Dirichlet=0: 1 + x + 2*y"
    --set Poisson/Neumann= --set "Measurements/Integrals=volume: 1 over all"
    --expect-quantity "volume=1.13333333333+-1e-10" --expect-no-warnings)
endforeach()

# Other formats with ids; all digits of coordinates are kept
foreach(file square.vtk square_42.vtk square.xdmf square_text.xmf square.avs square.su2 square.meshb)
  study_test(mesh_file_${file}_has_its_cells_and_ids ${square} Mesh/File=${written}/${file}
    --ranks 2 --same-as-ranks 1 --expect-line mesh.msh "0.33333333333333331 0.571428571428571[34]")
endforeach()

# Formats with names: overlapping groups of MED, blocks and sets of Exodus, names of Netgen
study_test(overlapping_groups_of_med_are_kept_on_1_and_2_ranks ${square}
  Mesh/File=${written}/square.med --ranks 2 --same-as-ranks 1
  --set "Poisson/Neumann=east: 1\\; north: 2"
  --set "Poisson/Dirichlet=west, south: 1 + x + 2*y" --set "Poisson/Coefficient=all: 1"
  --set "Measurements/Integrals=lower: 1 over material lower part\\; x_sides: 1 over boundary x sides"
  --expect-quantity "lower=0.53571428571+-1e-10" --expect-quantity "x_sides=2+-1e-10"
  --expect-line mesh.msh "0.33333333333333331 0.571428571428571[34]")
study_test(groups_of_med_that_overlap_need_one_condition ${here}/mesh_square.prm --expect-exit 1
  --set Mesh/File=${written}/square.med --set Poisson/Neumann= --set "Poisson/Dirichlet=west, x sides: 1" --expect-message "'x sides' in Poisson/Dirichlet")
set(blocks ${parameter_dir}/poisson_3d.prm --set Mesh/File=${meshes}/two_blocks.e
  --set "Mesh/Initial refinements=0" --set Study/Cycles=1 --set "Mesh/Natural boundaries=all"
  --set "Poisson/Right-hand side=0" --set Poisson/Neumann= --set Poisson/Robin=
  --set "Poisson/Exact solution=x" --set "Output/Write VTU=false")
study_test(blocks_and_side_sets_of_exodus_are_kept_on_1_and_2_ranks ${blocks} --ranks 2
  --same-as-ranks 1 --set "Poisson/Dirichlet=ends: x" --expect-error-below Linf=1e-9
  --set "Measurements/Integrals=steel: 1 over material steel\\; other: 1 over material 20\\; right: 1 over boundary right"
  --expect-quantity "steel=1+-1e-12" --expect-quantity "other=1+-1e-12"
  --expect-quantity "right=1+-1e-12")
study_test(node_sets_of_exodus_are_points --expect-text "points tips" -- ${blocks}
  --set "Poisson/Dirichlet=left: 0" --validate)
study_test(names_of_netgen_are_kept ${square} Mesh/File=${written}/square.vol
  --set "Poisson/Neumann=cd2_2: 1\\; cd2_4: 2" --set "Poisson/Coefficient=cd1_1: 1\\; cd1_2: 1"
  --set "Poisson/Dirichlet=cd2_1, cd2_3: 1 + x + 2*y")

# Files that are damaged, or would lose groups
file(WRITE ${written}/nonsense.e "1 2 3\n")
file(WRITE ${written}/nonsense.med "1 2 3\n")
file(READ ${meshes}/square_ascii.vtu text)
string(SUBSTRING "${text}" 0 1000 text)
file(WRITE ${written}/cut.vtu "${text}")
foreach(case "unnamed.vtu|the cell array 'flags' may contain ids, but none is named material_id"
        "fractions.vtu|array 'material_id' has values that are not integers"
        "polygons.vtu|cells of VTK's type 7 are not supported. triangulate"
        "cubic.vtu|a quad with 16 nodes is not supported. use order 1 or 2"
        "named.su2|does not support tags of string type.*another format"
        "cut.vtu|it is damaged, truncated" "nonsense.e|it is damaged, truncated"
        "nonsense.med|(file signature not found|OSError)")
  string(REPLACE "|" ";" case "${case}")
  list(POP_FRONT case file message)
  list(APPEND message ${case})
  list(JOIN message "|" message)
  string(MAKE_C_IDENTIFIER ${file} name)
  study_test(mesh_file_${name}_is_refused ${here}/mesh_square.prm --expect-exit 2
    --set Mesh/File=${written}/${file}
    --expect-message "Python could not convert .*${file}': it ended with exit code 1: .*${message}")
endforeach()

# Missing programs and packages
file(WRITE ${written}/bare_python "#!/bin/sh\nexec /usr/bin/python3 -S \"$@\"\n")
file(CHMOD ${written}/bare_python PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
foreach(case "python;/nowhere/python;needs the program Python, but ./nowhere/python. could not be started"
        "package;${written}/bare_python;this format needs the package numpy of Python .Debian: apt install python3-numpy")
  list(POP_FRONT case name python message)
  study_test(missing_${name}_ends_with_2 ${here}/mesh_square.prm --ranks 2 --expect-exit 2
    --set Mesh/File=${meshes}/square_zlib.vtu --expect-message "${message}.*FEMGPU_PYTHON")
  set_property(TEST missing_${name}_ends_with_2 APPEND PROPERTY ENVIRONMENT FEMGPU_PYTHON=${python})
endforeach()
