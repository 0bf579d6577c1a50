# Complete runs of Poisson, heat and Bratu: materials, periodic sides, pure Neumann data, fluxes,
# energies. Included by CMakeLists.txt.

# Materials and directions
foreach(degree 1 2)
  math(EXPR L2_order "${degree} + 1")
  study_test(two_materials_of_degree_${degree}_have_orders_${L2_order}_and_${degree}
    ${here}/poisson_materials_2d.prm --ranks 2 --same-as-ranks 1
    --set Discretization/Degree=${degree} --expect-order L2=${L2_order} H1=${degree}
    --check-vtu --expect-array flux --expect-quantity "balance defect=0+-1e-10")
  study_test(anisotropy_of_degree_${degree}_has_orders_${L2_order}_and_${degree}
    ${here}/poisson_anisotropic.prm --set Discretization/Degree=${degree}
    --expect-order L2=${L2_order} H1=${degree} --set "Output/Write VTU=false")
endforeach()
study_test(anisotropy_on_tetrahedra_has_orders_2_and_1_on_2_ranks ${here}/poisson_anisotropic.prm
  --ranks 2 --same-as-ranks 1 --set Dimension=3 --set Mesh/Cells=simplex
  --set "Mesh/Initial refinements=1" --set Study/Cycles=2 --set "Output/Write VTU=false"
  --set "Poisson/Coefficient=1, 2, 3 + x"
  --set "Poisson/Right-hand side=(6 + x)*pi^2*sin(pi*x)*sin(pi*y)*sin(pi*z)"
  --set "Poisson/Exact solution=sin(pi*x)*sin(pi*y)*sin(pi*z)" --expect-error-below L2=0.05 H1=0.8)
study_test(coefficient_that_is_negative_somewhere_ends_with_1 ${here}/poisson_anisotropic.prm
  --ranks 2 --set "Poisson/Coefficient=1, 0.5 - x" --expect-exit 1
  --expect-message "Poisson/Coefficient is -[0-9.]+ at \\([0-9. ]+\\) in material id 0, but must be pos")
study_test(coefficient_without_a_material_ends_with_1
  ${here}/poisson_materials_2d.prm --set "Poisson/Coefficient=2: 10"
  --expect-exit 1 --expect-message "has no value for material id 1")
study_test(coefficient_with_too_many_directions_ends_with_1 ${here}/poisson_anisotropic.prm
  --set "Poisson/Coefficient=1, 2, 3" --expect-exit 1 --expect-message "needs one or 2")
study_test(robin_with_a_negative_coefficient_ends_with_1 ${here}/poisson_anisotropic.prm
  --set Poisson/Dirichlet= --set "Poisson/Robin=0: x - 0.5, 1" --expect-exit 1
  --expect-message "a of Poisson/Robin is -0\\.[0-9]+ at \\(0[ .]")
study_test(robin_that_is_neumann_ends_with_1 ${here}/poisson_anisotropic.prm
  --set Poisson/Dirichlet= --set "Poisson/Robin=0: 0, 1" --expect-exit 1
  --expect-message "Poisson/Neumann")

# Periodic sides
foreach(element Q1 Q2 Q3 P1 P2)
  read_element(${element})
  set(refinements 4)
  if(cells STREQUAL "simplex")
    math(EXPR refinements "${degree} + 1")
  endif()
  study_test(periodic_${element}_has_orders_${L2_order}_and_${degree}_on_1_and_2_ranks
    ${here}/poisson_periodic_2d.prm --ranks 2 --same-as-ranks 1 --set Mesh/Cells=${cells}
    --set "Mesh/Initial refinements=${refinements}" --set Discretization/Degree=${degree}
    --set "Output/Write VTU=false" --expect-order L2=${L2_order} H1=${degree})
endforeach()
foreach(degree 1 2)
  set(rates L2=1.05+-0.25 H1=0.6+-0.15)
  if(degree EQUAL 2)
    set(rates L2=1.45+-0.25 H1=1+-0.15)
  endif()
  foreach(ranks 2 4)
    study_test(adaptive_periodic_sides_of_degree_${degree}_are_the_same_on_1_and_${ranks}_ranks
      ${here}/poisson_periodic_2d.prm --ranks ${ranks} --same-as-ranks 1
      --set Discretization/Degree=${degree} --set Study/Cycles=6 --set Study/Refinement=adaptive
      --set "Output/Write VTU=false" --expect-rate-by-dofs ${rates})
    study_test(adaptive_periodic_sides_in_3d_of_degree_${degree}_are_the_same_on_1_and_${ranks}_ranks
      ${here}/poisson_periodic_3d.prm --ranks ${ranks} --same-as-ranks 1
      --set Discretization/Degree=${degree} --set Study/Cycles=3 --set Study/Refinement=adaptive
      --set "Output/Write VTU=false" --expect-error-below L2=0.05)
  endforeach()
endforeach()
study_test(periodic_hexahedra_have_orders_2_and_1 ${here}/poisson_periodic_3d.prm --ranks 2
  --set "Mesh/Initial refinements=3" --set "Output/Write VTU=false" --expect-order L2=2 H1=1)
study_test(periodic_tetrahedra_are_the_same_on_1_and_4_ranks ${here}/poisson_periodic_3d.prm
  --ranks 4 --same-as-ranks 1 --set Mesh/Cells=simplex --set "Mesh/Initial refinements=1"
  --set "Output/Write VTU=false" --expect-error-below L2=0.05)
study_test(fully_periodic_poisson_has_mean_value_zero ${here}/poisson_periodic_2d.prm
  --ranks 4 --same-as-ranks 1 --set "Poisson/Periodic=0, 1: x\\; 2, 3: y" --set Poisson/Dirichlet=
  --set "Poisson/Right-hand side=8*pi^2*cos(2*pi*x + 1)*sin(2*pi*y)"
  --set "Poisson/Exact solution=3 + cos(2*pi*x + 1)*sin(2*pi*y)" --set "Output/Write VTU=false"
  --expect-order L2=2 H1=1 --expect-quantity "balance defect=0+-1e-12")
study_test(fully_periodic_poisson_with_hanging_nodes_is_the_same_on_1_and_4_ranks
  ${here}/poisson_periodic_2d.prm
  --ranks 4 --same-as-ranks 1 --set "Poisson/Periodic=0, 1: x\\; 2, 3: y" --set Poisson/Dirichlet=
  --set "Poisson/Right-hand side=8*pi^2*cos(2*pi*x + 1)*sin(2*pi*y)"
  --set "Poisson/Exact solution=3 + cos(2*pi*x + 1)*sin(2*pi*y)" --set "Output/Write VTU=false"
  --set Study/Refinement=adaptive --set "Study/Refine fraction=0.15"
  --expect-error-below L2=0.0138 H1=0.618)
study_test(periodic_bratu_is_that_of_a_strip ${here}/bratu_strip.prm --ranks 2 --same-as-ranks 1
  --set "Bratu/Periodic=2, 3: y" --expect-quantity "max u=0.140539+-1e-6"
  --set "Output/Write VTU=false")
study_test(periodic_heat_is_that_of_a_bar ${here}/heat_bar.prm --ranks 2 --same-as-ranks 1
  --set "Heat/Periodic=2, 3: y" --expect-order L2=2 H1=1 --expect-falling energy
  --set "Output/Write VTU=false")
study_test(periodic_sides_that_are_not_apart_end_with_1 ${here}/poisson_periodic_2d.prm
  --set "Poisson/Periodic=0, 1: y" --expect-exit 1 --expect-message "not apart along y")
study_test(periodic_sides_that_do_not_match_end_with_1 ${here}/poisson_periodic_2d.prm --ranks 2
  --set Mesh/Generator=hyper_L --set "Mesh/Arguments=-1 : 1 : true"
  --set "Poisson/Periodic=0, 3: x" --set "Poisson/Dirichlet=2: 0" --expect-exit 1
  --expect-message "sides 0 and 3 of Poisson/Periodic (do not match|are not apart)")
study_test(periodic_sides_with_data_end_with_1 ${here}/poisson_periodic_2d.prm
  --set "Poisson/Neumann=0: 1" --expect-exit 1 --expect-message "has a condition in Poisson/Neumann")
study_test(periodic_sides_without_an_axis_end_with_1 ${here}/poisson_periodic_2d.prm
  --set "Poisson/Periodic=0, 1" --expect-exit 1 --expect-message "'left, right: x'")

# Sets `mesh` to the cells of read_element(). Simplices are more numerous and are therefore refined
# less.
macro(coarser_simplices refinements)
  set(mesh --set Mesh/Cells=${cells})
  if(cells STREQUAL "simplex")
    list(APPEND mesh --set "Mesh/Initial refinements=${refinements}")
  endif()
endmacro()

# Pure Neumann data
foreach(element Q1 Q2 P1 P2)
  read_element(${element})
  coarser_simplices(1)
  study_test(neumann_data_alone_have_orders_${L2_order}_and_${degree}_with_${element}
    ${here}/poisson_neumann_2d.prm --ranks 2 --same-as-ranks 1 ${mesh}
    --set Discretization/Degree=${degree} --expect-order L2=${L2_order} H1=${degree} --check-vtu
    --expect-quantity "balance defect=0+-1e-12")
endforeach()
foreach(solver direct "bicgstab" "gmres" "minres" "cg")
  foreach(preconditioner jacobi ic sainv)
    string(MAKE_C_IDENTIFIER "${solver}_and_${preconditioner}" name)
    study_test(neumann_data_alone_are_solved_by_${name} ${here}/poisson_neumann_2d.prm
      --set "Solver/Solver=${solver}" --set "Solver/Preconditioner=${preconditioner}"
      --set Study/Cycles=2 --expect-error-below L2=2e-3 --set "Output/Write VTU=false")
  endforeach()
endforeach()
study_test(neumann_data_alone_with_hanging_nodes_are_the_same_on_1_and_4_ranks
  ${here}/poisson_neumann_2d.prm --ranks 4 --same-as-ranks 1 --set Study/Refinement=adaptive
  --set Study/Cycles=5 --set "Output/Write VTU=false" --expect-rate-by-dofs H1=0.55+-0.15)
study_test(slightly_incompatible_data_are_projected ${here}/poisson_neumann_2d.prm --ranks 2
  --same-as-ranks 1 --set "Poisson/Neumann=0: -1\\; 1: 1.001" --set "Output/Write VTU=false"
  --expect-quantity "balance defect=0.000102+-3e-6" --expect-error-below L2=1e-3)
study_test(incompatible_data_end_with_1_and_the_numbers ${here}/poisson_neumann_2d.prm --ranks 2
  --set "Poisson/Neumann=0: -1\\; 1: 2" --expect-exit 1
  --expect-message "add up to 1 instead of 0.*relative defect of 0\\.0[0-9]+.*Dirichlet")

# Parts that do not touch: each must be held by something
set(parts ${here}/poisson_two_parts.prm --set "Output/Write VTU=false")
set(heated_parts ${here}/heat_two_parts.prm --set "Output/Write VTU=false")
set(on_2_ranks --ranks 2 --same-as-ranks 1 --expect-order L2=2 H1=1)
set(right_part
  "2 parts that do not touch, and in the part around \\(2\\.5 0\\.5\\), with the boundary ids 3, 4, 5")
study_test(two_parts_with_dirichlet_data_have_orders_2_and_1 ${parts} ${on_2_ranks})
study_test(two_parts_of_which_one_has_robin_data_have_orders_2_and_1 ${parts} ${on_2_ranks}
  --set "Poisson/Dirichlet=1: cos(pi*y)" --set "Poisson/Robin=3: 1, cos(pi*y) + 1")
study_test(two_parts_joined_by_periodic_sides_have_orders_2_and_1 ${parts} ${on_2_ranks}
  --set "Poisson/Dirichlet=1: cos(pi*y)" --set "Poisson/Periodic=2, 3: x"
  --set "Poisson/Neumann=4: 1" --set "Poisson/Exact solution=cos(pi*y) + if(x < 1.5, x, x - 1)")
study_test(two_parts_of_which_one_has_a_reaction_have_orders_2_and_1 ${heated_parts} ${on_2_ranks})
study_test(part_with_neumann_data_alone_ends_with_1 ${parts}
  --set "Poisson/Dirichlet=1: cos(pi*y)" --set "Poisson/Neumann=2, 4: 1\\; 3: -1"
  --expect-exit 1
  --expect-message "${right_part} u is known only up to a constant.* in Poisson/Dirichlet or Poisson/Robin")
study_test(part_with_robin_data_of_zero_ends_with_1 ${parts}
  --set "Poisson/Dirichlet=1: cos(pi*y)" --set "Poisson/Robin=3: 0, 1" --expect-exit 1
  --expect-message "${right_part}")
study_test(two_parts_with_neumann_data_alone_end_with_1_on_2_ranks ${parts} --ranks 2
  --set Poisson/Dirichlet= --set "Poisson/Neumann=2, 4: 1\\; 1, 3: -1" --expect-exit 1
  --expect-message "in the part around \\(0\\.5 0\\.5\\), with the boundary ids 1, 2, 5")
study_test(part_without_a_reaction_ends_with_1 ${heated_parts}
  --set "Heat/Reaction coefficient=1\\; 2: 0" --expect-exit 1
  --expect-message "${right_part}.*Heat/Dirichlet or Heat/Boundary reaction")

# Bratu and heat
foreach(zero 0.0e0 0*7)
  string(MAKE_C_IDENTIFIER of_${zero} name)
  study_test(heat_with_a_reaction_${name}_and_fluxes_alone_ends_with_1 ${here}/heat_bar.prm
    --set "Heat/Reaction coefficient=${zero}" --set Heat/Dirichlet= --set "Heat/Neumann=0: 1\\; 1: -1"
    --expect-exit 1 --expect-message "known only up to a constant")
endforeach()
study_test(heat_with_a_boundary_reaction_of_zero_alone_ends_with_1 ${here}/heat_bar.prm
  --set "Heat/Reaction coefficient=0" --set Heat/Dirichlet= --set "Heat/Boundary reaction=1: 0, 1"
  --expect-exit 1 --expect-message "known only up to a constant")
# -u'' + u = 0 with u' = tanh(1) given at x = 1
study_test(heat_held_by_its_linear_reaction_has_orders_2_and_1 ${here}/heat_bar.prm --ranks 2
  --same-as-ranks 1 --set Heat/Dirichlet= --set "Heat/Neumann=1: sinh(1)/cosh(1)"
  --expect-order L2=2 H1=1 --set "Output/Write VTU=false")
# A linear reaction is a term of the matrix: no Newton iterations, the tolerance of linear solves,
# any element.
study_test(heat_with_a_linear_reaction_is_solved_as_a_linear_problem ${here}/heat_bar.prm
  --set Study/Cycles=1 --set "Solver/Relative tolerance=1e-3" --set "Nonlinear/Relative tolerance=0"
  --expect-outcome converged --expect-text "solving with pipelined-cg"
  --expect-no-text "nonlinear iterations" --set "Output/Write VTU=false" --expect-error-below L2=2.4e-4)
foreach(element Q2 P2)
  read_element(${element})
  coarser_simplices(1)
  study_test(heat_with_newtons_law_of_cooling_has_orders_3_and_2_with_${element}
    ${here}/heat_radiation_2d.prm ${mesh} --set Discretization/Degree=2 --ranks 2 --same-as-ranks 1
    --set "Heat/Reaction=2*u + 3" --set "Heat/Reaction derivative=2"
    --set "Heat/Neumann=1: -exp(-1)*cos(y) + a*(1 + y)*2*(1 + exp(-1)*cos(y)/2 - cold)\\; \
3: -exp(-x)*sin(1) + 0.1*2*(1 + exp(-x)*cos(1)/2)"
    --set "Solver/Relative tolerance=1e-12" --expect-order L2=3 H1=2
    --expect-text "solving with pipelined-cg" --set "Output/Write VTU=false")
endforeach()
# phi = -2 is a source of 2: u = 2 - x^2
set(source ${here}/heat_bar.prm --set Heat/Reaction=-2 --set "Heat/Reaction derivative=0")
study_test(heat_with_a_constant_reaction_has_a_source ${source} --set Discretization/Degree=2
  --set "Heat/Exact solution=2 - x^2" --set Study/Cycles=2 --expect-error-below Linf=1e-10
  --expect-text "solving with pipelined-cg" --expect-quantity "balance defect=0+-1e-10")
study_test(heat_with_a_constant_reaction_alone_ends_with_1 ${source} --set Heat/Dirichlet=
  --expect-exit 1 --expect-message "known only up to a constant")
study_test(heat_with_a_negative_linear_reaction_ends_with_1 ${here}/heat_bar.prm
  --set "Heat/Reaction coefficient=x - 0.5" --expect-exit 1
  --expect-message "Heat/Reaction coefficient is -0\\.[0-9]+ at \\(")
study_test(heat_with_a_negative_boundary_reaction_ends_with_1_on_2_ranks ${here}/heat_bar.prm
  --set "Heat/Boundary reaction=0: y - 0.5, 1" --ranks 2 --expect-exit 1
  --expect-message "c of Heat/Boundary reaction is -0\\.[0-9]+ at \\(0 0\\.")
foreach(key "Reaction coefficient" Reaction)
  string(MAKE_C_IDENTIFIER "${key}" name)
  study_test(heat_without_its_${name}_ends_with_1 ${here}/heat_bar.prm --set "Heat/${key}="
    --expect-exit 1 --expect-message "Heat/Reaction.* has no effect")
endforeach()
foreach(element Q1 Q2 P1)
  read_element(${element})
  coarser_simplices(2)
  study_test(bratu_with_lambda_of_the_place_has_orders_${L2_order}_and_${degree}_with_${element}
    ${here}/bratu_lambda_2d.prm --ranks 2 --same-as-ranks 1 ${mesh}
    --set Discretization/Degree=${degree} --expect-order L2=${L2_order} H1=${degree}
    --same-with Nonlinear/Method=nlcg --check-vtu --expect-array residual)
endforeach()
study_test(bratu_with_a_negative_lambda_ends_with_1 ${here}/bratu_lambda_2d.prm --ranks 2
  --set "Bratu/Lambda=0.7 - x" --expect-exit 1
  --expect-message "Bratu/Lambda is -0\\.[0-9]+ at \\([01]")
study_test(branch_over_a_factor_of_lambda_has_the_fold ${parameter_dir}/bratu_branch.prm
  --set "Bratu/Lambda=2 + 0*x" --set Discretization/Degree=2 --set "Mesh/Initial refinements=3"
  --expect-quantity "fold lambda=3.404+-1e-2" --set "Output/Write VTU=false")
# For a strip of width 1, the flux out of each end is u'(0) = sqrt(2 (exp(max u) - 1)), and the
# energy is exp(max u) - 4 u'(0). This strip has width 1/4.
study_test(bratu_in_a_strip_has_the_energy_and_the_fluxes_of_1d ${here}/bratu_strip.prm --ranks 2
  --same-as-ranks 1 --expect-quantity "energy=-0.2616292+-1e-6"
  --expect-quantity "flux through 0=0.1373382+-1e-6"
  --expect-quantity "flux through 1=0.1373382+-1e-6"
  --expect-quantity "balance defect=0+-1e-10" --set "Output/Write VTU=false")
study_test(heat_of_a_bar_has_its_energy_and_its_flux ${here}/heat_bar.prm --ranks 2
  --same-as-ranks 1 --set Discretization/Degree=2 --expect-quantity "energy=0.38079708+-1e-7"
  --expect-quantity "flux through 1=-0.76159416+-1e-7" --set Study/Cycles=3
  --set "Solver/Relative tolerance=1e-12"
  --expect-quantity "balance defect=0+-1e-10" --check-vtu --expect-array flux
  --expect-array residual)
study_test(heat_by_material_is_that_of_poisson ${here}/heat_materials_2d.prm
  --expect-order L2=2 H1=1 --set "Output/Write VTU=false")

# Shipped files must reproduce the numbers in their tutorials
function(tutorial_test name)
  study_test(${name}_gives_the_figures_of_its_tutorial ${parameter_dir}/${name}.prm
    --set "Output/Write VTU=false" ${ARGN})
endfunction()
tutorial_test(poisson --expect-cycles 5 --expect-error-below L2=2.971e-5 H1=1.575e-2
  --expect-quantity "flux through 0=8+-1e-7" --expect-quantity "balance defect=0+-1e-10")
foreach(case "kelly;3.332e-3;1.114" "residual;3.330e-3;3.230")
  list(GET case 0 estimator)
  list(GET case 1 error)
  list(GET case 2 effectivity)
  study_test(poisson_lshape_adaptive_by_${estimator}_gives_the_figures_of_its_tutorial
    ${parameter_dir}/poisson_lshape_adaptive.prm --set Study/Estimator=${estimator}
    --set Study/Cycles=9 --set "Output/Write VTU=false" --expect-error-below H1=${error}
    --expect-estimate effectivity=${effectivity}+-1e-3)
endforeach()
tutorial_test(poisson_materials --ranks 2 --expect-cycles 4
  --expect-quantity "flux through 0=1+-1e-8")
tutorial_test(poisson_periodic --expect-cycles 6 --expect-error-below L2=3.340e-4 H1=6.271e-2
  --expect-quantity "flux through 2=0.12845363+-1e-8"
  --expect-quantity "flux through 3=0.12845363+-1e-8")
tutorial_test(poisson_neumann --ranks 2 --expect-cycles 4
  --expect-error-below L2=1.189e-4 H1=3.149e-2 --expect-quantity "balance defect=0+-1e-12")
tutorial_test(bratu_2d --expect-cycles 4 --expect-quantity "max u=0.7972889+-1e-7"
  --expect-quantity "energy=-6.98675694+-1e-7" --expect-quantity "flux through 0=8.77737697+-1e-6")
tutorial_test(bratu_3d --ranks 2 --expect-cycles 3 --expect-quantity "max u=0.75308928+-1e-7"
  --expect-quantity "energy=-8.91891052+-1e-7" --expect-quantity "flux through 0=10.36151777+-1e-6")
tutorial_test(bratu_branch --expect-quantity "fold lambda=6.8081244+-1e-5"
  --expect-quantity "fold max u=1.3916621+-1e-4")
tutorial_test(heat_radiation --expect-cycles 3 --expect-quantity "min u=261.76095+-1e-4"
  --expect-quantity "energy=15065.1756+-1e-2" --expect-quantity "flux through 0=-176.1353+-1e-3")
# Both halves of the peak must be in equally small cells; different data on them would change the
# solution.
study_test(shipped_poisson_periodic_is_the_same_on_1_and_4_ranks
  ${parameter_dir}/poisson_periodic.prm --ranks 4 --same-as-ranks 1 --check-vtu
  --expect-array flux ${figures_of_poisson_periodic})

# Conductivity, source and boundary data that depend on u: Newton's method assembles them.
foreach(element Q1 Q2 P1 P2)
  read_element(${element})
  coarser_simplices(1)
  study_test(heat_with_laws_of_u_has_orders_${L2_order}_and_${degree}_with_${element}
    ${parameter_dir}/heat_laws.prm --ranks 2 --same-as-ranks 1 ${mesh}
    --set Discretization/Degree=${degree} --expect-order L2=${L2_order} H1=${degree}
    --set "Nonlinear/Method=newton forcing=constant eta=1e-8" --expect-quantity "balance defect=0+-1e-8" --check-vtu
    --expect-array flux)
endforeach()
set(laws ${parameter_dir}/heat_laws.prm --set "Output/Write VTU=false")
foreach(method "pipelined-bicgstab; jacobi" "gmres; ilu" "direct; jacobi")
  list(GET method 0 solver)
  list(GET method 1 preconditioner)
  string(STRIP ${preconditioner} preconditioner)
  study_test(heat_with_laws_of_u_is_solved_by_${solver}_with_${preconditioner} ${laws} --repeat-identical
    --set Study/Cycles=2 --set Solver/Solver=${solver} --set Solver/Preconditioner=${preconditioner}
    --expect-error-below L2=9e-7)
endforeach()
study_test(heat_with_laws_of_u_is_refined_by_estimates ${laws} --ranks 2 --same-as-ranks 1
  --set Study/Refinement=adaptive --set Study/Estimator=residual --expect-error-below L2=2e-6)
study_test(poisson_with_a_coefficient_of_u_has_orders_2_and_1 ${here}/poisson_anisotropic.prm
  --set "Poisson/Coefficient=1 + u^2" --set Solver/Solver=gmres --set Solver/Preconditioner=ilu
  --set "Poisson/Right-hand side=(1 + u^2)*2*pi^2*sin(pi*x)*sin(pi*y) \
- 2*u*pi^2*((cos(pi*x)*sin(pi*y))^2 + (sin(pi*x)*cos(pi*y))^2)"
  --set "Poisson/Exact solution=sin(pi*x)*sin(pi*y)" --expect-order L2=2 H1=1
  --set "Output/Write VTU=false")
# -u'' = 2 + 4 (x (1 - x) - u) with a source that is linear in u: one linear problem
study_test(source_that_is_linear_in_u_makes_a_linear_problem ${here}/poisson_anisotropic.prm
  --set "Poisson/Coefficient=1" --set "Poisson/Dirichlet=0: x*(1 - x)"
  --set "Poisson/Right-hand side=2 + 4*(x*(1 - x) - u)" --set "Poisson/Exact solution=x*(1 - x)"
  --set Discretization/Degree=2 --set Study/Cycles=1 --expect-error-below Linf=1e-9
  --expect-text "solving with pipelined-cg" --set "Output/Write VTU=false")
study_test(conjugate_gradients_refuse_a_conductivity_of_u ${laws} --set Solver/Solver=cg --expect-exit 1
  --expect-message "Solver/Solver=cg.*needs a symmetric matrix.*pipelined-bicgstab or gmres")
study_test(nonlinear_conjugate_gradients_refuse_laws_of_u ${laws} --set Nonlinear/Method=nlcg
  --expect-exit 1 --expect-message "Nonlinear/Method=nlcg.*Set the method to newton")
study_test(conductivity_that_is_negative_at_a_solution_ends_with_1_on_2_ranks ${laws} --ranks 2
  --set "Heat/Conductivity=1 - u^2" --expect-exit 1
  --expect-message "Heat/Conductivity is .* where u is .*, but must be positive")
# This conductivity has no value at u = 0. Tolerances usually refer to the residual at u = 0.
study_test(conductivity_without_a_value_at_zero_has_a_solution ${laws} --set "Heat/Conductivity=1/u"
  --set "Heat/Source=0" --set "Heat/Dirichlet=0: 1\\; 1: exp(1)" --set Heat/Neumann=
  --set "Heat/Exact solution=exp(x)" --expect-order L2=3 H1=2)
study_test(heat_held_by_a_flux_of_u_needs_no_dirichlet_data ${laws} --set Heat/Dirichlet=
  --set "Heat/Neumann=1: h*(2 - u)" --set Heat/Source=0 --set "Heat/Exact solution=2"
  --set Study/Cycles=1 --expect-error-below Linf=1e-9)
study_test(heat_with_fluxes_and_a_conductivity_of_u_alone_ends_with_1 ${laws} --set Heat/Dirichlet=
  --set "Heat/Neumann=1: 2" --set Heat/Source=0 --expect-exit 1
  --expect-message "known only up to a constant")
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/k.csv "u, k\n# of two points\n0, 1\n2, 5\n")
study_test(table_is_read_from_a_file ${laws} --set Study/Cycles=2 --expect-error-below L2=9e-7
  --set "Expressions/Tables=k: ${CMAKE_CURRENT_BINARY_DIR}/k.csv")
foreach(entry "k: 0 1" "k" "k: 0 1, 0 2" "k: 0 1, 2" "k: nowhere.csv" "sin: 0 1, 1 2" "h: 0 1, 1 2"
        "u: 0 1, 1 2" "k: 0 1, 1 nan")
  string(MAKE_C_IDENTIFIER "${entry}" name)
  set(code 1)
  if(entry MATCHES "csv|, 2$|nan")
    set(code 2)
  endif()
  study_test(wrong_table_${name}_ends_with_${code} ${laws} --set "Expressions/Tables=${entry}"
    --expect-exit ${code} --expect-message "Expressions/Tables")
endforeach()
