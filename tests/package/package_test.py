"""Installs femgpu from a build directory and builds and runs programs that use it as a library.

    FEMGPU_BUILD=build FEMGPU_SOLVE=build/bin/femgpu-solve python3 tests/package/package_test.py Install

Run Install first: the other groups use its result, FEMGPU_BUILD/tests/package/prefix.
"""

import difflib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
BUILD = pathlib.Path(os.environ.get("FEMGPU_BUILD", "build")).resolve()
CMAKE = os.environ.get("CMAKE", "cmake")
CXX = os.environ.get("CXX", "g++")
SOLVE = os.environ.get("FEMGPU_SOLVE", BUILD / "bin/femgpu-solve")
LIBDIR = os.environ.get("FEMGPU_LIBDIR", "lib")
WORK = BUILD / "tests/package"
PREFIX = WORK / "prefix"
LAUNCHER = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
STRICT = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
EXAMPLES = pathlib.Path(os.environ.get("DEAL_II_EXAMPLES", "/usr/share/doc/libdeal.ii-doc/examples"))


def public_headers(kind):
    """Returns the headers of the list femgpu_public_KINDheaders in cmake/package.cmake."""
    text = (SOURCE / "cmake/package.cmake").read_text(encoding="utf-8")
    return re.search(rf"set\(femgpu_public_{kind}headers\s([^)]*)\)", text)[1].split()


def on_ranks(n, program):
    return ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", n, program]


class PackageTest(unittest.TestCase):
    def run_program(self, *command, code=0, **options):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              check=False, **options)
        if code is not None:
            self.assertEqual(done.returncode, code, f"{command}\n{done.stdout}{done.stderr}")
        return done

    def output(self, *command, **options):
        return self.run_program(*command, **options).stdout

    def values(self, *command, **options):
        """Returns {name: number} of the output "name number ... name number"."""
        words = self.output(*command, **options).split()
        return {name: float(value) for name, value in zip(words, words[1:])
                if re.fullmatch(r"[-+.\de]*\d|nan|inf", value)}

    def configure(self, directory, *options, source=HERE / "consumer", code=0):
        shutil.rmtree(directory, ignore_errors=True)
        return self.run_program(CMAKE, "-S", source, "-B", directory, f"-DCMAKE_PREFIX_PATH={PREFIX}",
                                f"-DCMAKE_CXX_COMPILER={CXX}", "-DCMAKE_BUILD_TYPE=Release",
                                *LAUNCHER, *options, code=code)

    def build(self, directory, *options, source=HERE / "consumer"):
        self.configure(directory, *options, source=source)
        self.run_program(CMAKE, "--build", directory, "--parallel", os.cpu_count())
        return directory


class Install(PackageTest):
    def test_libraries_and_headers_are_installed_without_programs_and_can_be_moved(self):
        first = WORK / "first"
        for directory in (first, PREFIX):
            shutil.rmtree(directory, ignore_errors=True)
        for component in ("libraries", "development"):
            self.run_program(CMAKE, "--install", BUILD, "--prefix", first, "--component", component)
            if component == "libraries":
                self.assertFalse((first / "include").exists())
        first.rename(PREFIX)
        self.assertFalse((PREFIX / "bin").exists())
        self.assertTrue((PREFIX / "include/femgpu/linalg/linear_solver.h").exists())
        for library in ("femgpu", "femgpu_mpi"):
            self.assertTrue(list((PREFIX / LIBDIR).glob(f"lib{library}.*")), library)
        for file in PREFIX.rglob("*"):
            if file.suffix in (".cmake", ".pc", ".h", ".hpp"):
                text = file.read_text(encoding="utf-8")
                self.assertNotIn(str(SOURCE), text, file)
                self.assertNotIn(str(BUILD), text, file)
                self.assertNotIn(str(first), text, file)


class Headers(PackageTest):
    def compile(self, header, *options):
        self.run_program(CXX, *STRICT, *options, "-fsyntax-only", "-x", "c++", "-I",
                         PREFIX / "include", "-", input=f"#include <femgpu/{header}>\n")

    def test_each_public_header_compiles_alone(self):
        for header in public_headers("") + ["femgpu.hpp"]:
            with self.subTest(header=header):
                self.compile(header)

    def test_header_for_c_compiles_as_c(self):
        self.run_program("cc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only",
                         "-x", "c", "-I", PREFIX / "include", "-", input="#include <femgpu/femgpu.h>\n")

    def test_each_header_for_mpi_compiles_alone(self):
        flags = [flag.replace("-I", "-isystem", 1) if flag.startswith("-I") else flag
                 for flag in shlex.split(self.output("mpicxx", "--showme:compile"))]
        for header in public_headers("mpi_") + ["mpi.h"]:
            with self.subTest(header=header):
                self.compile(header, *flags, "-DOMPI_SKIP_MPICXX")

    def test_headers_include_each_other_by_their_installed_names(self):
        for file in (PREFIX / "include").rglob("*.h*"):
            for name in re.findall(r'#include "([^"]+)"', file.read_text(encoding="utf-8")):
                self.assertTrue((PREFIX / "include" / name).exists(), f"{file} includes {name}")


class Csr(PackageTest):
    """The program csr against femgpu-solve for the same matrix."""

    def matrix_market(self, side):
        n = side * side
        lines = []
        for i in range(n):
            for j, is_there in ((i - side, i >= side), (i - 1, i % side > 0), (i, True),
                                (i + 1, i % side < side - 1), (i + side, i + side < n)):
                if is_there:
                    lines.append(f"{i + 1} {j + 1} {4 if i == j else -1}")
        return "\n".join(["%%MatrixMarket matrix coordinate real general", f"{n} {n} {len(lines)}"] +
                         lines) + "\n"

    def compare(self, program, **options):
        values = self.values(program, **options)
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "matrix.mtx"
            file.write_text(self.matrix_market(100), encoding="utf-8")
            report = json.loads(self.output(
                SOLVE, file, "--rhs", "ones", "--solver", "cg", "--preconditioner", "jacobi",
                "--relative-tolerance", "1e-10", "--json", "-"))["solve"]
        self.assertGreater(values["iterations"], 100)
        self.assertEqual(values["iterations"], report["iterations"])
        self.assertEqual(values["residual"], report["true_residual"])

    def test_programs_have_the_iterations_and_the_residual_of_femgpu_solve(self):
        programs = self.build(WORK / "csr", "-DWITH_DEALII=OFF")
        self.compare(programs / "csr")
        self.compare(programs / "solve")
        self.assertIn("backend host\n", self.output(programs / "solve"))
        values = self.values(programs / "operators")
        self.assertEqual(values["product"], 18)
        self.assertAlmostEqual(values["maximum"], 250 * 251 / 2, delta=1e-4)


class PkgConfig(Csr):
    def setUp(self):
        if shutil.which("pkg-config") is None:
            self.skipTest("no pkg-config")
        self.environment = dict(os.environ, PKG_CONFIG_PATH=str(PREFIX / LIBDIR / "pkgconfig"),
                                LD_LIBRARY_PATH=str(PREFIX / LIBDIR))

    def flags(self, *options):
        return shlex.split(self.output("pkg-config", *options, env=self.environment))

    def test_programs_have_the_iterations_and_the_residual_of_femgpu_solve(self):
        program = WORK / "csr_by_pkg_config"
        self.run_program(CXX, "-std=c++17", HERE / "consumer/csr.cc", "-o", program,
                         *self.flags("--static", "--cflags", "--libs", "femgpu"))
        self.compare(program, env=self.environment)

    def test_file_for_mpi_requires_the_other(self):
        flags = self.flags("--libs", "femgpu_mpi")
        self.assertIn("-lfemgpu", flags)
        self.assertIn("-lfemgpu_mpi", flags)


class Components(PackageTest):
    def configure_with(self, call, code=0):
        with tempfile.TemporaryDirectory() as directory:
            source = pathlib.Path(directory)
            (source / "CMakeLists.txt").write_text(
                "cmake_minimum_required(VERSION 3.16)\nproject(components LANGUAGES CXX)\n" + call,
                encoding="utf-8")
            return self.configure(source / "build", source=source, code=code)

    def test_default_is_linalg(self):
        self.configure_with("""find_package(femgpu REQUIRED)
            if(NOT TARGET femgpu::linalg OR TARGET femgpu::mpi OR NOT DEFINED femgpu_HAVE_CUDA)
              message(FATAL_ERROR "wrong targets")
            endif()""")

    def test_mpi_has_its_target(self):
        self.configure_with("""find_package(femgpu REQUIRED COMPONENTS mpi)
            if(NOT TARGET femgpu::mpi)
              message(FATAL_ERROR "no target")
            endif()""")

    def test_unknown_component_is_reported(self):
        done = self.configure_with("find_package(femgpu REQUIRED COMPONENTS petsc)", code=1)
        self.assertIn("has no component 'petsc'", done.stderr)

    def test_optional_component_may_be_missing(self):
        self.configure_with("""find_package(femgpu REQUIRED OPTIONAL_COMPONENTS petsc)
            if(femgpu_petsc_FOUND)
              message(FATAL_ERROR "found")
            endif()""")

    def test_other_version_is_refused(self):
        done = self.configure_with("find_package(femgpu 99 REQUIRED)", code=1)
        self.assertIn("99", done.stderr)


class DealII(PackageTest):
    @classmethod
    def setUpClass(cls):
        cls.programs = WORK / "dealii"
        cls().build(cls.programs)

    def runTest(self):
        """Lets setUpClass() make an object."""

    def test_poisson(self):
        values = self.values(self.programs / "poisson")
        self.assertAlmostEqual(values["maximum"], 0.07367, delta=1e-4)
        self.assertLess(values["iterations"], 20)
        self.assertLess(values["residual"], 1e-10)

    def test_newton_updates_the_values_of_one_pattern(self):
        values = self.values(self.programs / "newton")
        self.assertEqual(values["patterns"], 1)
        self.assertLess(values["newton"], 8)
        self.assertLess(values["residual"], 1e-10)
        self.assertLess(values["iterations"], 20)

    def test_rigid_body_modes_save_iterations(self):
        with_modes, with_constants, with_none = (self.values(self.programs / "elasticity", modes)
                                                 for modes in ("rigid-body", "constants", "none"))
        self.assertLess(with_modes["iterations"], with_constants["iterations"])
        self.assertLess(with_constants["iterations"], with_none["iterations"])
        self.assertAlmostEqual(with_modes["maximum"], with_none["maximum"], delta=1e-8)

    def test_numbering_that_splits_nodes_is_refused(self):
        for arguments in (["rigid-body", "component-wise"], ["constants", "component-wise"],
                          ["rigid-body", "default", "3"]):
            with self.subTest(arguments=arguments):
                done = self.run_program(self.programs / "elasticity", *arguments, code=1)
                self.assertIn("Call DoFRenumbering::support_point_wise(dof_handler)", done.stderr)

    def test_support_point_wise_numbering_supports_all_degrees(self):
        values = self.values(self.programs / "elasticity", "rigid-body", "support-points", "3")
        self.assertLess(values["iterations"], 40)

    def test_controls_failures_and_wrong_arguments(self):
        for n in (1, 2):
            self.output(*on_ranks(n, self.programs / "checks"), timeout=300)

    def test_distributed_solution_does_not_depend_on_the_number_of_ranks(self):
        alone = self.values(*on_ranks(1, self.programs / "distributed"))
        for n in (2, 3):
            values = self.values(*on_ranks(n, self.programs / "distributed"))
            self.assertEqual(values["dofs"], alone["dofs"])
            self.assertAlmostEqual(values["maximum"], alone["maximum"], delta=1e-9)
            self.assertLess(values["iterations"], alone["iterations"] + 8)


class Tutorials(PackageTest):
    """deal.II's tutorial programs with a few changed lines, if Debian's libdeal.ii-doc is installed
    or DEAL_II_EXAMPLES names the folder of its examples."""

    def build_changed(self, name, changes):
        """Builds the example @p name with some of its texts replaced."""
        if not (EXAMPLES / name).exists():
            self.skipTest(f"no {EXAMPLES / name}")
        source = WORK / name
        shutil.rmtree(source, ignore_errors=True)
        shutil.copytree(EXAMPLES / name, source)
        file = source / f"{name}.cc"
        original = text = file.read_text(encoding="utf-8")
        for old, new in changes.items():
            self.assertEqual(text.count(old), 1, old)
            text = text.replace(old, new)
        lines = [line for line in difflib.unified_diff(original.splitlines(), text.splitlines(), n=0)
                 if re.match(r"\+[^+]", line)]
        self.assertLessEqual(len(lines), 10)
        file.write_text(text, encoding="utf-8")
        with (source / "CMakeLists.txt").open("a", encoding="utf-8") as cmake:
            cmake.write("find_package(femgpu REQUIRED COMPONENTS dealii)\n"
                        f"target_link_libraries({name} femgpu::dealii)\n")
        return self.build(source / "build", source=source) / name

    def test_step_3(self):
        program = self.build_changed("step-3", {
            "#include <deal.II/lac/solver_cg.h>": "#include <femgpu/dealii.h>",
            "SolverCG<Vector<double>> solver(solver_control);":
                "femgpu::SolverCG solver(solver_control);",
            "solver.solve(system_matrix, solution, system_rhs, PreconditionIdentity());":
                "femgpu::PreconditionMG preconditioner;\npreconditioner.initialize(system_matrix);\n"
                "solver.solve(system_matrix, solution, system_rhs, preconditioner);"})
        output = self.output(program, cwd=program.parent)
        self.assertLess(int(re.search(r"Convergence step (\d+)", output)[1]), 15)
        self.assertTrue((program.parent / "solution.vtk").exists())

    def test_step_8(self):
        program = self.build_changed("step-8", {
            "#include <deal.II/lac/solver_cg.h>": "#include <femgpu/dealii.h>",
            "SolverCG<Vector<double>> cg(solver_control);": "femgpu::SolverCG cg(solver_control);",
            "PreconditionSSOR<SparseMatrix<double>> preconditioner;":
                "femgpu::PreconditionMG preconditioner;\n"
                "femgpu::PreconditionMG::AdditionalData data;\ndata.constant_modes_values ="
                " femgpu::rigid_body_modes(StaticMappingQ1<dim>::mapping, dof_handler);",
            "preconditioner.initialize(system_matrix, 1.2);":
                "preconditioner.initialize(system_matrix, data);"})
        output = self.output(program, cwd=program.parent)
        self.assertIn("Cycle 7:", output)

    def test_step_40(self):
        program = self.build_changed("step-40", {
            "// #define FORCE_USE_OF_TRILINOS": "#define FORCE_USE_OF_TRILINOS",
            "#include <deal.II/lac/full_matrix.h>":
                "#include <deal.II/lac/full_matrix.h>\n#include <femgpu/dealii.h>",
            "LA::SolverCG solver(solver_control);": "femgpu::SolverCG solver(solver_control);",
            "LA::MPI::PreconditionAMG preconditioner;": "femgpu::PreconditionMG preconditioner;",
            "LA::MPI::PreconditionAMG::AdditionalData data;":
                "femgpu::PreconditionMG::AdditionalData data;"})
        for n in (1, 2):
            output = self.output(*on_ranks(n, program), cwd=program.parent)
            iterations = [int(match) for match in re.findall(r"Solved in (\d+) iterations", output)]
            self.assertGreaterEqual(len(iterations), 8)
            self.assertLess(max(iterations), 50)


if __name__ == "__main__":
    program = unittest.main(exit=False)
    result = program.result
    sys.exit(77 if result.wasSuccessful() and result.testsRun == len(result.skipped) else
             not result.wasSuccessful())
