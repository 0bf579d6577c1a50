#!/usr/bin/env bash
# Configures femgpu if necessary and builds all targets or the named ones.
#
#   scripts/build.sh [TARGET …]
#
# Environment:
#   FEMGPU_PRESET              release (default, into build/), debug, sanitize,
#                              sanitize-integers or host-only
#   FEMGPU_CUDA                whether to build the CUDA backend: AUTO (if nvcc is found), NATIVE
#                              (for the GPU of this machine, if it has one), ON or OFF
#   FEMGPU_CUDA_ARCHITECTURES  GPUs to compile for, such as "80-real;90"
#   FEMGPU_BENCHMARKS          ON: also the benchmark programs, or OFF
#   FEMGPU_JOBS                parallel compilers; default: one per core with 1.5 GB of memory
#   FEMGPU_SKIP_DEPENDENCIES   1: install nothing
#
# A build directory remembers the values of FEMGPU_CUDA, FEMGPU_CUDA_ARCHITECTURES and
# FEMGPU_BENCHMARKS until a variable requests another value. A new directory uses AUTO and
# "80-real;90", like a release; scripts/run.sh uses NATIVE instead. If a directory made by
# scripts/run.sh lacks the CUDA backend, scripts/test.sh adds it if nvcc is found. The scripts use
# the same build directory.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[[ ${1:-} == -h || ${1:-} == --help ]] && { print_help; exit; }

# The settings of the environment as options of cmake; none for a host-only build.
options=()
if ! linalg_only; then
  [[ -n ${FEMGPU_CUDA:-} ]] && options+=("-DFEMGPU_CUDA=$FEMGPU_CUDA")
  [[ -n ${FEMGPU_CUDA_ARCHITECTURES:-} ]] &&
    options+=("-DCMAKE_CUDA_ARCHITECTURES=$FEMGPU_CUDA_ARCHITECTURES")
fi
[[ -n ${FEMGPU_BENCHMARKS:-} ]] && options+=("-DFEMGPU_BENCHMARKS=$FEMGPU_BENCHMARKS")

must_configure() {
  local option name
  [[ -f $build_dir/build.ninja ]] || return 0
  for option in "${options[@]}"; do
    name=${option#-D}
    name=${name%%=*}
    [[ $(cached "$name") == "${option#*=}" ]] || return 0
  done
  came_since
}

# Succeeds if nvcc or, with NATIVE, the GPU has become available since the configuration.
came_since() {
  [[ $(cached FEMGPU_NVCC) == *NOTFOUND ]] &&
    { command -v nvcc || [[ -x /usr/local/cuda/bin/nvcc ]]; } >/dev/null && return 0
  [[ $(cached FEMGPU_CUDA) == NATIVE && $(cached FEMGPU_HAVE_CUDA) == OFF &&
    -z $(cached FEMGPU_GPUS) ]] && nvidia-smi -L 2>/dev/null | grep -q '^GPU'
}

configure() {
  local log=$build_dir/configure.log
  say "Configuring ${build_dir#"$root"/} (preset $preset) …"
  (cd "$root" && cmake --preset "$preset" "${options[@]}") >"$log" || {
    cat "$log" >&2
    die "the configuration failed; fix the errors above"
  }
  [[ $(cached FEMGPU_HAVE_CUDA) == OFF ]] || say "femgpu: $(cached FEMGPU_CUDA_STATUS)"
}

# A compiler needs up to 1.5 GB for deal.II's headers; too many at once would make the machine swap.
compile_jobs() {
  local cores by_memory limit
  cores=$(nproc)
  by_memory=$(awk '/^MemAvailable/ { print int($2 / 1500000) }' /proc/meminfo)
  limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null || true)
  if [[ $limit =~ ^[0-9]+$ ]] && ((limit / 1500000000 < by_memory)); then
    by_memory=$((limit / 1500000000))
  fi
  ((by_memory < cores)) && cores=$by_memory
  echo $((cores > 1 ? cores : 1))
}

# Prints an estimate of the time if at least a minute is needed. CPU seconds per file, measured on
# an AMD EPYC: 7 in C++, averaged over linalg and users of deal.II, and 24 in CUDA for each
# architecture.
announce() {
  local jobs=$1 object n_host=0 n_cuda=0 architectures seconds
  shift
  while read -r object; do
    [[ -e $build_dir/$object ]] && continue
    if [[ $object == *.cu.o ]]; then ((++n_cuda)); else ((++n_host)); fi
  done < <(ninja -C "$build_dir" -t commands "${@:-all}" | sed -n 's/.* -o \([^ ]*\.o\)\( .*\)\{0,1\}$/\1/p')
  architectures=$(cached CMAKE_CUDA_ARCHITECTURES | tr ';' '\n' | grep -c . || true)
  seconds=$(((7 * n_host + 24 * n_cuda * architectures) / jobs))
  ((seconds < 60)) ||
    say "Compiling $((n_host + n_cuda)) files, $jobs at a time: about $(((seconds + 59) / 60)) minutes; less with a filled ccache."
}

# Shows ninja's progress: one line that is overwritten on a terminal, one line per step elsewhere,
# and nothing for the step that every build runs.
show_progress() {
  local line open=0 width=${COLUMNS:-80}
  while IFS= read -r line; do
    case $line in
      *femgpu_version* | "ninja: Entering directory"* | "ninja: no work to do.") ;;
      "["*/*"] "*)
        if [[ -t 2 ]]; then
          printf '\r\033[K%.*s' $((width - 1)) "$line" >&2
          open=1
        else
          say "$line"
        fi
        ;;
      *)
        ((open)) && say ""
        open=0
        say "$line"
        ;;
    esac
  done
  ((open)) && printf '\r\033[K' >&2
  return 0
}

if linalg_only; then
  "$root/scripts/dependencies.sh" linalg
else
  "$root/scripts/dependencies.sh" build
fi
mkdir -p "$build_dir"
exec 9>"$build_dir/.lock"
flock 9 # concurrent builds in one directory would corrupt it
if must_configure; then
  configure
fi
jobs=${FEMGPU_JOBS:-$(compile_jobs)}
[[ $jobs =~ ^[1-9][0-9]*$ ]] || die "FEMGPU_JOBS is '$jobs', but must be a positive number"
announce "$jobs" "$@"
ninja -C "$build_dir" -j "$jobs" "$@" 2>&1 | show_progress ||
  die "the build failed; fix the errors above"
if ! linalg_only && [[ $(cached FEMGPU_HAVE_CUDA) == OFF ]]; then
  say "femgpu: $(cached FEMGPU_CUDA_STATUS)"
fi
