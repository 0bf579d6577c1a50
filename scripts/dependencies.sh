#!/usr/bin/env bash
# Installs missing Debian packages that femgpu needs, after printing which and why.
#
#   scripts/dependencies.sh [linalg|build|report|test|python|ci|fuzz]
#
# The argument selects the packages that are needed to
#   linalg   build and test the code without deal.II
#   build    build all programs (default)
#   report   draw results, and nothing else
#   test     run all tests; includes linalg, build and report
#   python   build and test the Python package
#   ci       run all tests and style checks
#   fuzz     run scripts/fuzz.sh
# FEMGPU_SKIP_DEPENDENCIES=1 skips the script. CUDA is never installed, only used if it is found.
# FEMGPU_ASK=1 asks before installing, unless there is no terminal or CI is set.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

linalg_packages='
g++                 the C++ compiler
cmake               configures the build
ninja-build         runs the build
ccache              makes building again fast
git                 tells the revision in outputs
libgtest-dev        GoogleTest, for the tests
libmpfr-dev         MPFR: numbers of many digits, for the tests
libboost-dev        Boost Graph Library: reverse Cuthill-McKee
libmetis-dev        METIS: cuts graphs into blocks
libsuitesparse-dev  UMFPACK: LU factors of small systems
liblapack-dev       LAPACK: eigenvalues of small matrices
zlib1g-dev          zlib: reads compressed matrix files
libopenmpi-dev      MPI: systems in parts
openmpi-bin         mpirun
libcli11-dev        CLI11: the command line
nlohmann-json3-dev  JSON: reports for machines
python3             runs the programs in the tests'
build_packages='
libdeal.ii-dev      deal.II: meshes, finite elements, output
libisal-dev         ISA-L: compresses files for ParaView'
report_packages='
python3-matplotlib  draws the figures of scripts/plot.py and report.py
python3-numpy       reads result files
python3-vtk9        reads result files as ParaView does, and draws them
python3-pil         writes films as .gif files
xvfb                an X server without a screen, in which VTK draws
xauth               admits VTK to it'
test_packages='
gmsh                meshes CAD files and reads other formats, for tests of both
python3-meshio      converts mesh files, for tests
python3-h5py        reads MED and XDMF files for meshio
pkg-config          finds the installed library, for a test
locales             a locale with decimal commas, for a test
mount               mounts a small disk, for a test'
python_packages='
python3-dev         Python itself, to compile for it
python3-venv        an environment for nanobind
python3-numpy       arrays
python3-scipy       sparse matrices, for tests'
ci_packages='
libdeal.ii-doc      the tutorial programs of deal.II, which a test builds
clang-format        checks the formatting
clang               says whether files compile as one, for clang-tidy
clang-tidy          checks for mistakes'
fuzz_packages='
clang               compiles for libFuzzer
libclang-rt-14-dev  libFuzzer and the sanitizers'

case ${1:-build} in
  linalg) needed=$linalg_packages ;;
  build) needed=$linalg_packages$build_packages ;;
  report) needed=$report_packages ;;
  test) needed=$linalg_packages$build_packages$report_packages$test_packages ;;
  python) needed=$linalg_packages$python_packages ;;
  ci) needed=$linalg_packages$build_packages$report_packages$test_packages$python_packages$ci_packages ;;
  fuzz) needed=$linalg_packages$fuzz_packages ;;
  -h | --help) print_help; exit ;;
  *) die "unknown group '$1': use linalg, build, report, test, python, ci or fuzz" ;;
esac
[[ ${FEMGPU_SKIP_DEPENDENCIES:-0} == 1 ]] && exit

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  die "this is not a Debian system. Install the software of these Debian packages, then set
FEMGPU_SKIP_DEPENDENCIES=1 to skip this check (deal.II 9.4 or newer with MPI, p4est, METIS,
UMFPACK and zlib; CMake 3.25 or newer):$needed"
fi

mapfile -t names < <(awk 'NF { print $1 }' <<<"$needed")
# Unknown packages cause messages on standard error and are missing from the output.
installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${names[@]}" 2>/dev/null || true)
missing=()
for name in "${names[@]}"; do
  grep -qx -- "$name installed" <<<"$installed" || missing+=("$name")
done
[[ ${#missing[@]} -eq 0 ]] && exit

say "femgpu needs Debian packages that are not installed:"
for name in "${missing[@]}"; do
  say "$(awk -v name="$name" '$1 == name { print "  " $0 }' <<<"$needed")"
done

as_root=()
if [[ $EUID -ne 0 ]]; then
  command -v sudo >/dev/null ||
    die "cannot install them without root or sudo. Ask an administrator to run
  apt-get install --no-install-recommends ${missing[*]}
or set FEMGPU_SKIP_DEPENDENCIES=1 if they are installed in another way."
  as_root=(sudo)
fi
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0)
commands="  ${apt[*]} update
  ${apt[*]} install -y --no-install-recommends ${missing[*]}"
say "Install them with:
$commands"
if [[ ${FEMGPU_ASK:-0} == 1 && -z ${CI:-} && -t 0 && -t 2 ]]; then
  read -r -p "Run these commands? [Y/n] " answer || answer=n
  case ${answer,,} in
    '' | y | yes) ;;
    *) die "nothing was installed. Run these commands by hand:
$commands
or set FEMGPU_SKIP_DEPENDENCIES=1 if the packages are installed in another way." ;;
  esac
fi
# Messages of apt-get go to standard error, because standard output belongs to the program.
"${apt[@]}" update >&2 || die "apt-get update failed; check the network"
"${apt[@]}" install -y --no-install-recommends "${missing[@]}" >&2 ||
  die "apt-get install failed; see the errors above"
