#!/usr/bin/env bash
# Regenerates docs/parameters.md from the declarations in the program: the output of femgpu's
# `--print-parameters md` under a heading.
#
#   scripts/parameter_reference.sh [--check] [--program FILE]
#
# --check changes nothing, shows the difference, and fails if there is one. By default, the script
# builds the program in the build directory and uses it; --program selects another one.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

check=0
program=
while (($#)); do
  case $1 in
    -h | --help) print_help; exit ;;
    --check) check=1 ;;
    --program) program=${2:?--program needs a file}; shift ;;
    *) die "unknown argument '$1': use --check or --program FILE" ;;
  esac
  shift
done
if [[ -z $program ]]; then
  "$root/scripts/build.sh" femgpu
  program=$build_dir/bin/femgpu
fi

page=$root/docs/parameters.md
new=$(mktemp)
trap 'rm -f "$new"' EXIT
{
  cat <<'END'
# Parameters

<!-- Written by scripts/parameter_reference.sh from the declarations; changes belong there. -->

Every parameter of a `.prm` file, by section. In a file,
`subsection Discretization` … `set Degree = 2` … `end` sets a parameter; on the command line,
`--set 'Discretization/Degree=2'` does. `femgpu --print-parameters prm` prints a file with all defaults. A key that "must be given" has no default.
The files in [`parameters/`](../parameters/) show the keys at work.
END
  "$program" --print-parameters md | sed '1{/^# Parameters$/d}'
} >"$new"
if ((check)); then
  diff -u "$page" "$new" >&2 ||
    die "docs/parameters.md is out of date; run scripts/parameter_reference.sh"
else
  cp "$new" "$page"
  say "wrote docs/parameters.md"
fi
