# Whole runs of elasticity: materials, supports, loads, and what is computed from the displacement.

# Benchmarks with known solutions
set(no_vtu --set "Output/Write VTU=false")
study_test(kirsch_has_stress_concentration_3_and_its_orders_in_plane_stress
  ${parameter_dir}/elasticity_kirsch.prm --ranks 2 --same-as-ranks 1 ${no_vtu}
  --expect-order L2=3 H1=2 --expect-quantity "max principal stress=3+-0.03")
study_test(kirsch_has_stress_concentration_3_and_its_orders_in_plane_strain
  ${here}/elasticity_kirsch_strain.prm --ranks 2 --same-as-ranks 1 ${no_vtu}
  --expect-order L2=3 H1=2 --expect-quantity "max principal stress=3+-0.03")
foreach(hypothesis plane_stress plane_strain)
  if(hypothesis STREQUAL "plane_stress")
    set(file ${parameter_dir}/elasticity_kirsch.prm)
  else()
    set(file ${here}/elasticity_kirsch_strain.prm)
  endif()
  study_test(kirsch_with_adaptive_refinement_has_optimal_rates_in_${hypothesis} ${file} --ranks 2
    --same-as-ranks 1 ${no_vtu} --set Study/Refinement=adaptive --set Study/Cycles=5
    --set "Mesh/Initial refinements=1" --expect-rate-by-dofs L2=1.3 H1=0.9
    --expect-quantity "max principal stress=3+-0.03")
endforeach()
study_test(lame_has_its_orders_and_balances_the_pressure ${parameter_dir}/elasticity_lame.prm
  --ranks 2 --same-as-ranks 1 ${no_vtu} --expect-order L2=3 H1=2
  --expect-quantity "max principal stress=1e8+-1e6" --expect-quantity "balance error=0+-1e-10"
  --expect-quantity "reaction x of 2=-6e6+-1")
