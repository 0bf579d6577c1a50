#!/usr/bin/env bash
# Generates the developers' pages with Doxygen: build/doc/html/index.html. Warnings go to
# build/doc/warnings.log; the last line is their number. Graphs of classes require Graphviz.
#
#   scripts/doxygen.sh [--check]
#
# --check fails if there is a warning.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
check=0
case ${1:-} in
  "") ;;
  --check) check=1 ;;
  -h | --help) print_help; exit ;;
  *) die "unknown argument '$1': use --check or nothing" ;;
esac
command -v doxygen >/dev/null || die "doxygen is missing: apt-get install doxygen (and graphviz)"

out=$build_dir/doc
log=$out/warnings.log
rm -rf "$out"
mkdir -p "$out"
cd "$root"
version=$(sed -n 's/^project(femgpu VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
{
  cat docs/Doxyfile
  printf '%s = %s\n' PROJECT_NUMBER "$version" OUTPUT_DIRECTORY "$out" WARN_LOGFILE "$log"
  printf 'HAVE_DOT = %s\n' "$(command -v dot >/dev/null && echo YES || echo NO)"
} | doxygen - || die "Doxygen failed"
warnings=$(grep -c 'warning:' "$log" || true)
say "wrote ${out#"$root"/}/html/index.html"
say "$warnings warnings${warnings:+ (${log#"$root"/})}"
((check == 0 || warnings == 0))
