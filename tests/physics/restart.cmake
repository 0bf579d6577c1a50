# Runs that are killed and continue from their checkpoints. Included by CMakeLists.txt.
# Adds a test by restart_test.py, which compares all files with those of an uninterrupted run.
function(restart_test name)
  add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} ${here}/restart_test.py
           --program $<TARGET_FILE:femgpu> ${ARGN})
  physics_properties(${name})
endfunction()


set(pulse ${here}/time_pulse.prm --set "Output/Checkpoint every=7 steps"
    --set "Time/Initial step=5e-5" --set "Time/Output times=every 0.005")
set(branch ${CMAKE_SOURCE_DIR}/parameters/bratu_branch.prm --set "Output/Checkpoint every=10 steps")
set(study ${CMAKE_SOURCE_DIR}/parameters/poisson.prm --set "Output/Checkpoint every=1 step")

foreach(ranks 1 2)
  restart_test(adaptive_heat_continues_with_the_same_bits_on_${ranks}_ranks ${pulse}
    --ranks ${ranks} --kill 1 2)
  restart_test(branch_continues_with_the_same_bits_on_${ranks}_ranks ${branch} --ranks ${ranks}
    --set "Mesh/Initial refinement where=if(x < 0.3, 1, 0)" --set Discretization/Degree=2 --kill 2)
  restart_test(adaptive_study_continues_with_the_same_bits_on_${ranks}_ranks ${study}
    --ranks ${ranks} --set Study/Refinement=adaptive --set Study/Cycles=6 --kill 3 5)
endforeach()
restart_test(heat_on_tetrahedra_continues_with_the_same_bits ${here}/time_manufactured.prm --ranks 2
  --set Dimension=3 --set Mesh/Cells=simplex --set "Output/Checkpoint every=3 steps" --kill 1)
restart_test(heat_on_blocks_continues_with_the_same_bits ${here}/time_manufactured.prm --ranks 2
  --set Dimension=3 --set Discretization/Degree=1 --set "Mesh/Initial refinements=5"
  --set "Output/Checkpoint every=2 steps" --set Time/Step=0.25 --kill 1)
# the iterations of the first steps decide the preconditioner
restart_test(the_choice_of_a_preconditioner_continues_with_the_same_bits
  ${here}/time_manufactured.prm --ranks 2 --set Dimension=3 --set "Mesh/Initial refinements=4"
  --set "Output/Checkpoint every=1 step" --set Time/Step=0.25 --kill 1)
restart_test(transport_by_steps_of_newton_continues_with_the_same_bits ${here}/time_laws.prm
  --set "Output/Checkpoint every=2 steps" --set Output/Format=vtkhdf --kill 2)
restart_test(refinement_study_of_triangles_continues_with_the_same_bits ${study} --ranks 2
  --set Mesh/Cells=simplex --set Study/Cycles=4 --kill 2)
restart_test(each_cycle_in_time_continues_with_the_same_bits ${here}/time_pulse.prm
  --set "Output/Checkpoint every=5 steps" --set "Time/Initial step=5e-5" --set Study/Cycles=2
  --set "Mesh/Initial refinement where=" --set Study/Refinement=global
  --set Study/Strategy=fixed_number --set "Time/Adapt every=0" --kill 2 5)
# 16 coarse cells, of which p4est numbers most otherwise
restart_test(adaptive_dynamics_continue_with_the_same_bits_on_2_ranks ${here}/dynamics_pulse.prm
  --ranks 2 --set "Output/Checkpoint every=6 steps" --kill 2)
restart_test(adaptive_dynamics_continue_on_other_ranks ${here}/dynamics_pulse.prm --ranks 2
  --continue-ranks 3 --set "Output/Checkpoint every=6 steps" --kill 2 --tolerance 1e-4)
restart_test(damped_dynamics_continue_with_the_same_bits
  ${CMAKE_SOURCE_DIR}/parameters/elasticity_shock.prm --set "Output/Checkpoint every=20 steps"
  --kill 2)
restart_test(adaptive_heat_continues_on_other_ranks ${pulse} --ranks 1 --continue-ranks 3
  --kill 2 --tolerance 1e-3)
restart_test(branch_continues_on_other_ranks ${branch} --ranks 2 --continue-ranks 1 --kill 2
  --tolerance 1e-6)
restart_test(tetrahedra_continue_on_other_ranks ${here}/time_manufactured.prm --ranks 3
  --continue-ranks 2 --set Dimension=3 --set Mesh/Cells=simplex
  --set "Output/Checkpoint every=3 steps" --kill 1 --tolerance 1e-3)
restart_test(a_checkpoint_with_damaged_values_is_not_used ${pulse} --kill 3 --damage values_0)
restart_test(a_checkpoint_with_a_damaged_state_is_not_used ${pulse} --kill 3 --damage state)
restart_test(killed_at_random_moments_nothing_is_lost ${pulse} --ranks 2 --random 5)
restart_test(a_run_continues_with_more_time_but_on_the_same_mesh ${here}/time_manufactured.prm
  --set "Output/Checkpoint every=3 steps" --changes)
