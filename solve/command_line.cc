#include "solve/command_line.h"

#include "common/command_line_reader.h"
#include "linalg/mpi/communicators.h"
#include "linalg/transformations/registry.h"

namespace femgpu
{
namespace
{
constexpr const char *description =
    "Solve A x = b with a matrix from a Matrix Market file, plain or compressed by gzip, or from "
    "a\n"
    "generator, on the GPU or on the CPU cores, and report how it went.";

constexpr const char *notes =
    "Right-hand sides made by --rhs belong to the system that is solved, which is the scaled one\n"
    "with --scaling: row-sums is A-hat times the vector of ones. One from a file is that of A.\n"
    "Without --solver, --preconditioner and --scaling, femgpu-solve chooses them by the matrix, "
    "and\n"
    "others where these fail; the report lists all attempts. Where one of them is given, the "
    "others\n"
    "are pipelined-cg for a symmetric matrix, else pipelined-bicgstab; jacobi, but identity where\n"
    "the diagonal has zeros; none. nlcg takes the preconditioner and needs no solver.\n"
    "\n"
    "Examples:\n"
    "  femgpu-solve --generate poisson2d-p1:256 --solver cg\n"
    "  femgpu-solve bcsstk18.mtx.gz --scaling symmetric --json report.json --history h.csv\n"
    "  femgpu-solve A.mtx -b b.mtx --solver bicgstab --format 'sell slice=32' --solution x.mtx\n"
    "  femgpu-solve A.mtx --backend cuda --fixed-iterations 500 --repeat 5\n"
    "  femgpu-solve --generate poisson2d-p1:32 --copies 1000 --json report.json\n"
    "  femgpu-solve --generate poisson3d-7pt:72 --nonlinear 'bratu lambda=6' \\\n"
    "    --nonlinear-method nlcg --preconditioner fsai\n"
    "\n";

void declare_system(CommandLineReader &reader, SolveCommand &command)
{
  reader.positional("A.mtx[.gz]", "Matrix Market file of a square sparse matrix");
  reader.option("--generate", "NAME:SIZE", "A model problem instead of a file, with its own b",
                command.generator);
  reader.option("-b", "FILE.mtx",
                "Right-hand side from a file; with several columns, systems solved together",
                command.rhs_file);
  reader.option("--rhs", "ones|row-sums|random:SEED",
                "Make a right-hand side; row-sums for files without -b, 0 with --nonlinear",
                command.rhs);
  reader.option("--x0", "FILE.mtx", "Initial guess; 0 if not given", command.x0_file);
  reader.option("--copies", "K",
                "Solve K systems together: the given one and others, varied, for timing",
                command.copies);
  reader.option("--nonlinear", "'NAME OPTION=VALUE ...'",
                "Solve A x = b + LAMBDA w phi(x): bratu lambda=6, or expression phi=u^3",
                command.nonlinear);
}

void declare_method(CommandLineReader &reader, SolveCommand &command)
{
  reader.option("--nonlinear-method", "'NAME OPTION=VALUE ...'",
                "For --nonlinear, with its options; newton if not given", command.nonlinear_method);
  reader.option("--solver", "'NAME OPTION=VALUE ...'", "Krylov method with its options",
                command.solver);
  reader.option("--preconditioner", "'NAME OPTION=VALUE ...'", "Preconditioner with its options",
                command.preconditioner);
  reader.option("--format", "'NAME OPTION=VALUE ...'",
                "Matrix format with its options. Default: csr, or pcsr on a GPU where one row is\n"
                "extremely long",
                command.format);
  reader.option("--scaling", "NAME", "Scaling before the solve", command.scaling);
  reader.option("--ordering", "'NAME OPTION=VALUE ...'",
                "Order of the unknowns with its options; none if not given", command.ordering);
  reader.backend(command.backend);
  reader.option("--communicator", "NAME",
                "How the parts speak with each other under mpirun; auto if not given",
                command.communicator);
  reader.option("--threads", "N", "Threads of the host backend, at least 1", command.threads);
  reader.option("--device-memory", "SIZE",
                "Memory that the solver may take of its device, as 2GB; a matrix that needs more "
                "than half of it is read from the host's",
                command.device_memory);
  reader.option("--relative-tolerance", "T", "Of the true residual; 1e-8 if not given",
                command.relative_tolerance);
  reader.option("--absolute-tolerance", "T", "... or this one, whichever is larger; 0 if not given",
                command.absolute_tolerance);
  reader.choice("--relative-to", {"rhs", "initial"},
                "Relative to |b| (the default) or to |b - A x0|", command.relative_to);
  reader.option("--energy-tolerance", "T",
                "Stop conjugate gradients by the estimated energy norm of the error, relative to "
                "that of x, instead of the residual",
                command.energy_tolerance);
  reader.option("--max-iterations", "N", "20000 if not given", command.max_iterations);
  reader.choice(
      "--execution", {"auto", "graph", "resident"},
      "How a GPU runs the loop: as a graph of kernels, or as one that keeps the system on "
      "the chip; auto if not given",
      command.execution);
}

void declare_run(CommandLineReader &reader, SolveCommand &command)
{
  reader.option("--repeat", "N", "Solve N times from the same start; all must agree bit by bit",
                command.repeat);
  reader.option("--fixed-iterations", "N", "Do N iterations whatever the residual is, for timing",
                command.fixed_iterations);
  reader.option("--json", "FILE", "Write the report with the history; - prints only that",
                command.json);
  reader.option("--history", "FILE.csv", "Write iteration,residual", command.history);
  reader.option("--solution", "FILE.mtx", "Write x", command.solution);
  reader.flag("--list", command.list, "List what can be chosen: solvers, formats, devices, ...");
  reader.flag("--quiet", command.quiet, "Print errors only");
  reader.flag("--version", command.version, "Print the versions");
}

/// Fails if both @p option and one of @p others are given.
void exclude(const CommandLineReader &reader, const std::string &option,
             const std::vector<std::string> &others)
{
  for (const std::string &other : others)
    if (reader.has(option) && reader.has(other))
      reader.fail(option + " and " + other + " exclude each other; keep one of them");
}

void check_nonlinear(const CommandLineReader &reader, const SolveCommand &command)
{
  if (command.nonlinear.empty() && reader.has("--nonlinear-method"))
    reader.fail("--nonlinear-method has no term to work on; add for example "
                "--nonlinear 'bratu lambda=6', or leave it out");
  if (!command.nonlinear.empty() && !command.scaling.empty() &&
      linalg::scalings.find(command.scaling).traits.changes_system)
    reader.fail(
        "--nonlinear and --scaling " + command.scaling +
        " exclude each other: the term needs the unknowns as they are; leave --scaling out");
}

void check_combinations(const CommandLineReader &reader, const SolveCommand &command)
{
  if (!command.matrix_file.empty() && !command.generator.empty())
    reader.fail("'" + command.matrix_file + "' and --generate " + command.generator +
                " exclude each other; keep one of them");
  if (command.system().empty() && !command.list && !command.version)
    reader.fail("no matrix is given; name a Matrix Market file, or write for example "
                "'femgpu-solve --generate poisson2d-p1:256'");
  exclude(reader, "-b", {"--rhs"});
  check_nonlinear(reader, command);
  if (command.copies && !command.nonlinear.empty())
    reader.fail("--copies and --nonlinear exclude each other: only linear systems are solved "
                "together; keep one of them");
  exclude(reader, "--fixed-iterations",
          {"--relative-tolerance", "--absolute-tolerance", "--max-iterations"});
  exclude(reader, "--energy-tolerance",
          {"--nonlinear", "--fixed-iterations", "--relative-tolerance", "--absolute-tolerance",
           "--relative-to"});
  if (command.energy_tolerance && !(*command.energy_tolerance > 0.))
    reader.fail("--energy-tolerance 0 is never reached; give a number above 0");
  const std::vector<std::string> outputs = {command.json, command.history, command.solution};
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (!outputs[i].empty() && outputs[i] == outputs[j])
        reader.fail("'" + outputs[i] + "' is to be two files; give them different names");
}

void check_rhs(const CommandLineReader &reader, const std::string &rhs)
{
  const std::string random = "random:";
  if (rhs.rfind(random, 0) == 0)
    reader.positive(rhs.substr(random.size()), "--rhs random: with the seed");
  else if (rhs == "random")
    reader.fail("--rhs random has no seed; write --rhs random:1");
  else if (!rhs.empty() && rhs != "ones" && rhs != "row-sums")
    reader.fail("--rhs " + rhs + ": choose ones, row-sums or random:SEED, or give a file with -b");
}

void check_values(const CommandLineReader &reader, SolveCommand &command)
{
  const std::vector<std::string> &files = reader.values("A.mtx[.gz]");
  if (files.size() > 1)
    reader.fail("two matrices, '" + files[0] + "' and '" + files[1] +
                "'; give one, and right-hand sides with -b");
  if (!files.empty())
    command.matrix_file = files[0];
  check_rhs(reader, command.rhs);
  linalg::check_communicator(command.communicator);
}
} // namespace

linalg::SolveControl SolveCommand::control() const
{
  using Reference = linalg::SolveControl::Reference;
  linalg::SolveControl control;
  control.reference = relative_to == "rhs" ? Reference::rhs : Reference::initial_residual;
  control.relative_tolerance = fixed_iterations ? 0. : relative_tolerance;
  control.absolute_tolerance = fixed_iterations ? 0. : absolute_tolerance;
  control.energy_tolerance.relative = energy_tolerance.value_or(0.);
  control.max_iterations = fixed_iterations.value_or(max_iterations.value_or(20000));
  control.execution = linalg::execution_of(execution);
  return control;
}

SolveCommand parse_solve_command(const int argc, const char *const *argv)
{
  SolveCommand command;
  CommandLineReader reader("femgpu-solve", "A.mtx[.gz] [OPTIONS]", description,
                           std::string(notes) + exit_code_help);
  declare_system(reader, command);
  declare_method(reader, command);
  declare_run(reader, command);
  command.help = reader.parse(argc, argv);
  if (!command.help.empty())
    return command;
  check_values(reader, command);
  check_combinations(reader, command);
  return command;
}
} // namespace femgpu
