#!/usr/bin/env bash
# Builds the fuzz targets of tests/fuzz with clang's libFuzzer and runs each, starting from the
# files in parameters/, meshes/ and tests/physics/meshes/. If a target fails, the script fails and
# keeps the input.
#
#   scripts/fuzz.sh [SECONDS]      default: 600 for each target
#
# Environment:
#   FEMGPU_SKIP_DEPENDENCIES   1: install nothing
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[[ ${1:-} == -h || ${1:-} == --help ]] && { print_help; exit; }
seconds=${1:-600}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || die "'$seconds' is not a number of seconds; give an integer above 0"

"$root/scripts/dependencies.sh" fuzz
build_dir=$root/build-fuzz
say "Building the fuzz targets into ${build_dir#"$root"/} …"
cmake -S "$root" -B "$build_dir" -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=Release \
  -DFEMGPU_LINALG_ONLY=ON -DFEMGPU_CUDA=OFF -DFEMGPU_TESTS=OFF -DFEMGPU_FUZZ=ON >/dev/null
ninja -C "$build_dir" mesh_names_fuzz parameter_scan_fuzz expression_fuzz >&2

# run TARGET SEED…
run() {
  local target=$1 corpus=$build_dir/corpus/$1 findings=$build_dir/findings/$1/
  shift
  mkdir -p "$corpus" "$findings"
  cp "$@" "$corpus"
  say "$target: $seconds seconds"
  "$build_dir/bin/$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 \
    -max_len=20000 -print_final_stats=1 -verbosity=0 -artifact_prefix="$findings" "$corpus" >&2 ||
    die "$target has a finding, see above; the input is in ${findings#"$root"/}"
}

run mesh_names_fuzz "$root"/meshes/*.msh "$root"/tests/physics/meshes/*.inp
run parameter_scan_fuzz "$root"/parameters/*.prm
seeds=$build_dir/expressions
mkdir -p "$seeds"
grep -oE '= [^#]*[(^*][^#]*' "$root"/parameters/*.prm -h | split -l 1 - "$seeds/seed"
run expression_fuzz "$seeds"/*
say "fuzz.sh: no finding"
