#!/usr/bin/env bash
# Installs missing packages, builds femgpu if necessary, and runs it on parameter files, one after
# the other. The exit status is the first one of a run that is not 0.
#
#   scripts/run.sh [-y] [--report] [FILE.prm …] [OPTION …] [-- ARGUMENT …]
#
# Without a FILE.prm, the script runs parameters/poisson.prm; `-` reads a file from standard input.
# --report then draws the figures of each run and writes its report.html (scripts/plot.py,
# scripts/report.py). At a terminal, the script asks before it installs packages, unless -y is
# given. Without a terminal, or if CI is set, it installs packages without asking. All other
# arguments, and all after `--`, are passed to femgpu (see `scripts/run.sh -- --help`).
#
# The first build is for the GPU of this machine or, if it has none, for the CPU cores only. An
# existing build directory keeps its backends.
#
# Environment:
#   FEMGPU_RANKS   number of MPI processes; default: number of physical cores, at most 16
#   and the variables of scripts/build.sh, such as FEMGPU_CUDA=ON for both backends
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
linalg_only && die "the preset $preset does not build femgpu; use release or debug"

files=()
arguments=()
report=0
export FEMGPU_ASK=1 # scripts/dependencies.sh asks before it installs
question=0 # 1 for an option such as --help: there is no simulation, so no file and no ranks
while (($#)); do
  case $1 in
    -h | --help) print_help; exit ;;
    --) shift; break ;;
    -y) FEMGPU_ASK=0 ;;
    --report) report=1 ;;
    -) files+=(-) ;;
    -*) arguments+=("$1") ;;
    *.prm) files+=("$1") ;;
    *) arguments+=("$1") ;; # passed to femgpu, such as the value of an option
  esac
  shift
done
arguments+=("$@")
for argument in "${arguments[@]}"; do
  case $argument in
    -h | --help | --version | --list | --print-parameters*) question=1 ;;
  esac
done

physical_cores() {
  local cores available
  cores=$(lscpu -p=CORE,SOCKET 2>/dev/null | grep -v '^#' | sort -u | wc -l)
  available=$(nproc) # less than the number of cores if the process may not use all of them
  ((cores == 0 || cores > available)) && cores=$available
  echo $((cores < 16 ? cores : 16))
}

# Backends that cannot run here need not be compiled before the first result.
[[ -f $build_dir/build.ninja ]] || export FEMGPU_CUDA=${FEMGPU_CUDA:-NATIVE}
"$root/scripts/build.sh" femgpu
program=$build_dir/bin/femgpu
if ((question)) && [[ ${#files[@]} -eq 0 ]]; then
  exec "$program" "${arguments[@]}"
fi
[[ ${#files[@]} -eq 0 ]] && files=("$root/parameters/poisson.prm")

ranks=${FEMGPU_RANKS:-$(physical_cores)}
[[ $ranks =~ ^[1-9][0-9]*$ ]] || die "FEMGPU_RANKS is '$ranks', but must be a positive number"
launch=()
if ((ranks > 1)); then
  launch=(mpirun -n "$ranks")
  if mpirun --version | grep -q 'Open MPI'; then
    # Ranks are not bound to a core, because the rank that solves on the host uses all cores.
    launch+=(--oversubscribe --bind-to none)
    # femgpu itself prints why it ended. (Open MPI 5 ignores this and has no equivalent.)
    export OMPI_MCA_orte_execute_quiet=1
    [[ $EUID -eq 0 ]] && launch+=(--allow-run-as-root)
  fi
fi

# Draws the results in the directory that the run names in its last line. A failed run names no
# directory; the directory of --output is used instead.
write_report() {
  local directory i
  directory=$(sed -n 's|^Results are in \(.*\)/\(; open .*\)\{0,1\}\.$|\1|p' "$1" | tail -n 1)
  for ((i = 0; i + 1 < ${#arguments[@]}; ++i)); do
    [[ -z $directory && ${arguments[i]} == --output ]] && directory=${arguments[i + 1]}
  done
  [[ -n $directory ]] || { say "run.sh: the run has written no results, so there is no report"; return 0; }
  # Each combination of --study has a separate directory; the study is one level above.
  [[ -f ${directory%/*}/study.csv && $directory == */* ]] && directory=${directory%/*}
  "$root/scripts/plot.py" "$directory" && "$root/scripts/report.py" "$directory"
}

((report)) && "$root/scripts/dependencies.sh" report
status=0
for file in "${files[@]}"; do
  command=("${launch[@]}" "$program" "$file" "${arguments[@]}")
  say "+$(printf ' %q' "${command[@]}")"
  this=0
  if ((report)); then
    said=$(mktemp)
    "${command[@]}" | tee "$said" || this=${PIPESTATUS[0]}
    # A run with status 3 did not converge; its report shows this. Other errors leave no results.
    if ((this == 0 || this == 3)); then
      write_report "$said" || this=$((this == 0 ? 5 : this))
    fi
    rm -f "$said"
  else
    "${command[@]}" || this=$?
  fi
  ((this > 128)) && say "run.sh: femgpu was terminated by signal $((this - 128))"
  ((status == 0)) && status=$this
done
exit "$status"
