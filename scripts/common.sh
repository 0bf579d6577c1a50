# shellcheck shell=bash
# Sourced by the other scripts: paths and messages. Messages go to standard error, because standard
# output belongs to the program.

# shellcheck disable=SC2034  # used by the scripts that source this file
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() {
  printf '%s\n' "$*" >&2
}

die() {
  say "${0##*/}: $*"
  exit 1
}

# The comment at the top of a script is its help.
print_help() {
  sed -n '2,/^[^#]/ { s/^# \{0,1\}//p }' "$0"
}

# The preset of CMakePresets.json and its build directory.
preset=${FEMGPU_PRESET:-release}
case $preset in
  release) build_dir=$root/build ;;
  debug) build_dir=$root/build-debug ;;
  sanitize) build_dir=$root/build-sanitize ;;
  sanitize-integers) build_dir=$root/build-integers ;;
  host-only) build_dir=$root/build-host ;;
  *) die "FEMGPU_PRESET is '$preset', but must be release, debug, sanitize, sanitize-integers or host-only" ;;
esac

# Open MPI does not free all of its memory.
[[ $preset == debug ]] && export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}

# Prints the value of a variable of the last configuration, or nothing without one.
cached() {
  sed -n "s/^$1:[A-Z]*=//p" "$build_dir/CMakeCache.txt" 2>/dev/null || true
}

# Succeeds if the preset builds only linalg, without deal.II and CUDA.
linalg_only() {
  [[ $preset == sanitize* || $preset == host-only ]]
}
