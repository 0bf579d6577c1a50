# Files in VTK's HDF5 format: read by VTK and compared with the XML files. Included by
# CMakeLists.txt.

function(vtkhdf_test name)
  add_test(NAME vtkhdf_${name} COMMAND /usr/bin/python3 ${here}/vtkhdf_test.py
    --program $<TARGET_FILE:femgpu> ${ARGN})
  physics_properties(vtkhdf_${name})
endfunction()
# Errors at the nodes of the elements
set(exact_2d --exact "u=sin(pi*x)*sin(pi*y)")
set(exact_3d --exact "u=sin(pi*x)*cos(pi*y/2)*exp(-z)")
vtkhdf_test(of_hexahedra_takes_few_bytes_a_cell ${parameter_dir}/poisson_3d.prm --ranks 3
  --bytes 100 ${exact_3d} 4.2e-4)
foreach(case "2;2.7e-4;2.2e-6" "3;7.6e-5;8e-7" "4;5e-6;4e-7")
  list(GET case 0 degree)
  list(GET case 1 error_3d)
  list(GET case 2 error_2d)
  vtkhdf_test(of_hexahedra_of_degree_${degree} ${parameter_dir}/poisson_3d.prm --ranks 2
    --set Study/Cycles=1 --set Discretization/Degree=${degree} ${exact_3d} ${error_3d})
  vtkhdf_test(of_quadrilaterals_of_degree_${degree} ${parameter_dir}/poisson.prm --ranks 2
    --set Study/Cycles=2 --set Discretization/Degree=${degree} --set "Output/Error indicator=true"
    ${exact_2d} ${error_2d})
endforeach()
foreach(case "1;2.8e-2;1.5e-2" "2;9.3e-4;8.7e-5")
  list(GET case 0 degree)
  list(GET case 1 error_3d)
  list(GET case 2 error_2d)
  vtkhdf_test(of_tetrahedra_of_degree_${degree} ${parameter_dir}/poisson_3d.prm --ranks 2
    --set Mesh/Cells=simplex --set Study/Cycles=1 --set Discretization/Degree=${degree}
    ${exact_3d} ${error_3d})
  vtkhdf_test(of_triangles_of_degree_${degree} ${parameter_dir}/poisson.prm --ranks 2
    --set Mesh/Cells=simplex --set Study/Cycles=1 --set Discretization/Degree=${degree}
    ${exact_2d} ${error_2d})
endforeach()
vtkhdf_test(of_plane_stress ${parameter_dir}/elasticity_cook.prm --ranks 2 --set Study/Cycles=2)
vtkhdf_test(of_stress_in_3d ${parameter_dir}/elasticity_cantilever.prm --ranks 2 --set Study/Cycles=2
  --set Discretization/Degree=1)
vtkhdf_test(of_hanging_nodes ${parameter_dir}/poisson_lshape_adaptive.prm --ranks 2
  --set Study/Cycles=6)
set(vtkhdf --set Output/Format=vtkhdf)
study_test(vtkhdf_files_are_the_same_on_1_and_4_ranks ${parameter_dir}/poisson_materials.prm ${vtkhdf} ${tight}
  --ranks 4 --same-as-ranks 1 --set Study/Cycles=3 --check-vtu --expect-steps 3 --expect-array flux
  ${figures_of_poisson_materials})
study_test(vtkhdf_files_of_double_precision_are_repeatable ${parameter_dir}/elasticity_cook.prm ${vtkhdf}
  --ranks 2 --set Study/Cycles=2 --set Output/Precision=double --repeat-identical --check-vtu
  --expect-array stress ${figures_of_elasticity_cook} --expect-at "displacement.1@48,52=23.96e-3+-2e-5")
study_test(vtkhdf_files_of_curved_cells_are_the_same_on_1_and_2_ranks
  ${parameter_dir}/elasticity_kirsch.prm ${vtkhdf} ${tight} --ranks 2 --same-as-ranks 1 --set Study/Cycles=2
  --check-vtu --expect-array von_mises_stress --expect-error-below L2=1.96e-7 H1=6.84e-6)
study_test(vtkhdf_files_say_what_has_not_converged ${parameter_dir}/poisson.prm ${vtkhdf} ${tight} --check-vtu
  --set Solver/Preconditioner=jacobi --set "Solver/Maximum iterations=10" --set Solver/Fallback=none
  --expect-exit 3 --expect-outcome iteration_limit --expect-cycles 5 --expect-steps 5 --ranks 2)
study_test(vtkhdf_files_of_a_branch_are_readable ${parameter_dir}/bratu_branch.prm ${vtkhdf} --check-vtu
  ${figures_of_bratu_branch})
foreach(file solution_000.vtkhdf solution_001.vtkhdf solution.vtkhdf.series)
  study_test(full_disk_at_${file}_ends_with_5 ${parameter_dir}/poisson.prm --set Study/Cycles=2
    ${vtkhdf} --full-disk ${file} --expect-exit 5 --expect-message "${file}" --ranks 2)
endforeach()
