#!/usr/bin/env bash
# Builds the Python package in the build directory and runs its tests with Debian's Python; the last
# line is `N passed, N failed`. Arguments are passed to ctest. To install the package, use
# `pip install .` instead.
#
#   scripts/python.sh [ARGUMENT …]
#
# Installs missing Debian packages, and nanobind in a virtual environment in the build directory. Uses
# the environment variables of scripts/build.sh.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
[[ ${1:-} == -h || ${1:-} == --help ]] && { print_help; exit; }

"$root/scripts/dependencies.sh" python
"$root/scripts/build.sh" femgpu_linalg
venv=$build_dir/venv
if [[ ! -x $venv/bin/python ]]; then
  /usr/bin/python3 -m venv --system-site-packages "$venv"
fi
"$venv/bin/python" -m nanobind --version >/dev/null 2>&1 || "$venv/bin/pip" install -q nanobind
cmake -S "$root" -B "$build_dir" -DFEMGPU_PYTHON=ON "-DPython_EXECUTABLE=$venv/bin/python" >/dev/null
FEMGPU_TARGETS="femgpu_solve femgpu_python femgpu_python_stub" "$root/scripts/test.sh" -L python "$@"
