#!/usr/bin/env bash
# Installs missing packages, builds everything, and runs the tests; the last line is `N passed, N
# failed`. Arguments are passed to ctest, for example -R pcg or -j 4.
#
#   scripts/test.sh [ARGUMENT …]
#
# Builds both backends if nvcc is found, even without a GPU. Reuses the files that scripts/run.sh
# has compiled. Uses the environment variables of scripts/build.sh, and
#   FEMGPU_TARGETS  targets that the selected tests need, such as "femgpu femgpu_physics_tests";
#                   default: all
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[[ ${1:-} == -h || ${1:-} == --help ]] && { print_help; exit; }

linalg_only || "$root/scripts/dependencies.sh" test
# On a machine without a GPU, scripts/run.sh omits CUDA, but a change must still compile for CUDA.
if [[ $(cached FEMGPU_CUDA) == NATIVE && $(cached FEMGPU_HAVE_CUDA) == OFF ]]; then
  export FEMGPU_CUDA=${FEMGPU_CUDA:-AUTO}
fi
# shellcheck disable=SC2086  # a list of targets
"$root/scripts/build.sh" ${FEMGPU_TARGETS:-}

# One test per core; waiting threads leave their core to other tests.
export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$(nproc)}
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}

log=$build_dir/test.log
status=0
cd "$root"
ctest --preset "$preset" "$@" | tee "$log" || status=$?

# Repeats the output of failed tests at the end.
if ((status != 0)); then
  echo "== what failed"
  awk '/^ *[0-9]+\/[0-9]+ Test /           { shown = /\*\*\*/ && !/\*\*\*(Skipped|Not Run \(Disabled\))/ }
       /^ +Start +[0-9]+:|^[0-9]+% tests/ { shown = 0 }
       shown' "$log"
fi

# ctest counts skipped tests as passed; we do not.
summary='^[0-9]*% tests passed, \([0-9]*\) tests\{0,1\} failed out of \([0-9]*\)$'
read -r failed total < <(sed -n "s/$summary/\1 \2/p" "$log" | tail -n 1) || true
if [[ -n ${total:-} ]]; then
  skipped=$(grep -c '^ *[0-9]*/[0-9]* Test .*\*\*\*Skipped' "$log" || true)
  ((skipped)) && echo "$skipped skipped"
  echo "$((total - failed - skipped)) passed, $failed failed"
fi
exit "$status"
