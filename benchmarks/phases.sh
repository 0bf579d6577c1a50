#!/usr/bin/env bash
# Seconds of each phase of a whole run, start to written VTU: 3D Poisson, Q1, unit cube, relative
# tolerance 1e-8, for several sizes and numbers of ranks. One line of CSV for each run.
#
#   benchmarks/phases.sh FEMGPU [CELLS:REFINEMENTS:RANKS ...]   > phases.csv
#
# CELLS is the coarse mesh, as 13,13,13. MPIRUN (default: mpirun --oversubscribe --bind-to none) and
# TIMEOUT (seconds of one run, default 300) may be set.
set -euo pipefail

femgpu=${1:?usage: benchmarks/phases.sh FEMGPU [CELLS:REFINEMENTS:RANKS ...]}
shift
[[ $# -gt 0 ]] || set -- 6,6,6:3:1 6,6,6:3:2 13,13,13:3:1 13,13,13:3:2
mpirun=${MPIRUN:-mpirun --oversubscribe --bind-to none}
[[ $(id -u) -ne 0 ]] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "coarse,dofs,ranks,outcome,iterations,grid,dofs,pattern,assembly,transfer,setup,solve,estimate,output,cycle,program"
for run in "$@"; do
  IFS=: read -r cells refinements ranks <<<"$run"
  cat >"$work/run.prm" <<PRM
set Dimension = 3
set Physics   = poisson
subsection Mesh
  set Generator           = subdivided_hyper_rectangle
  set Arguments           = $cells : 0,0,0 : 1,1,1 : false
  set Initial refinements = $refinements
end
subsection Solver
  set Relative tolerance = 1e-8
end
PRM
  rm -rf "$work/output"
  begin=$(date +%s.%N)
  # shellcheck disable=SC2086
  if ! timeout "${TIMEOUT:-300}" $mpirun -n "$ranks" "$femgpu" "$work/run.prm" \
    --output "$work/output" --quiet; then
    echo "phases.sh: $run failed" >&2
    continue
  fi
  end=$(date +%s.%N)
  awk -F, -v cells="$cells" -v ranks="$ranks" -v begin="$begin" -v end="$end" 'NR == 2 {
    printf "\"%s\",%s,%d,%s,%s", cells, $3, ranks, $6, $8
    for (i = 10; i <= 19; ++i) printf ",%.3f", $i
    printf ",%.2f\n", end - begin }' "$work/output/convergence.csv"
done
