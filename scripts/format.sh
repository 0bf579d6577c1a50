#!/usr/bin/env bash
# Formats femgpu's sources with clang-format 14; CLANG_FORMAT selects another one.
#
#   scripts/format.sh [--check]
#
# --check changes nothing; it shows the differences and fails if there are any.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

mode=(-i)
case ${1:-} in
  "") ;;
  --check) mode=(--dry-run --Werror --ferror-limit=3) ;;
  -h | --help) print_help; exit ;;
  *) die "unknown argument '$1': use --check or nothing" ;;
esac
tool=${CLANG_FORMAT:-$(command -v clang-format-14 || command -v clang-format || true)}
[[ -n $tool ]] || die "clang-format is missing: apt-get install clang-format"
version=$("$tool" --version)
[[ $version == *"version 14."* ]] || say "warning: the project uses clang-format 14, but this is $version"

cd "$root"
# Formats tracked and new files; git also lists deleted ones.
git ls-files -z --cached --others --exclude-standard -- '*.h' '*.cc' '*.cu' '*.cuh' |
  while IFS= read -r -d '' file; do
    if [[ -f $file ]]; then printf '%s\0' "$file"; fi
  done |
  xargs -0 -r -n 8 -P "$(nproc)" "$tool" "${mode[@]}" ||
  die "not formatted, see above; run scripts/format.sh"
