#include "app/parameters.h"

#include "app/declared_parameters.h"
#include "linalg/base/choice.h"
#include "linalg/base/error.h"
#include "linalg/base/text.h"
#include "physics/base/collective.h"

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace femgpu
{
using namespace dealii;

RunParameters::RunParameters() : ParameterAcceptor("/")
{
  add_parameter("Dimension", dimension, "Dimension of the problem, 2 or 3.", prm,
                Patterns::Integer(2, 3));
  add_parameter("Physics", physics,
                "The equation to solve. Its data are in the section of the same name. " +
                    meanings_of(all_physics.choices()),
                prm, Patterns::Selection(selection_of(all_physics.choices())));
  add_parameter("Analysis", analysis,
                "stationary: femgpu solves for the steady state. transient: it integrates from t = "
                "0 to Time/End time, for the physics heat, poisson, convection_diffusion and "
                "elasticity. branch: it follows a branch of solutions, for the physics bratu "
                "(section Continuation).",
                prm, Patterns::Selection("stationary|transient|branch"));
}

StudyParameters::StudyParameters() : ParameterAcceptor("/Study")
{
  add_parameter("Cycles", cycles,
                "Maximum number of cycles. Each cycle solves the problem; the mesh is refined "
                "between cycles.",
                prm, Patterns::Integer(1, max_cycles));
  add_parameter("Refinement", refinement,
                "Cells that are refined between cycles. global: all cells. adaptive: the cells "
                "that Estimator, Refine where and Cell size select. remesh: for each cycle, gmsh "
                "meshes the geometry of Mesh/File with cells of half the size, which follow its "
                "curved boundaries.",
                prm, Patterns::Selection("global|adaptive|remesh"));
  add_parameter("Estimator", estimator,
                "Error estimator for adaptive refinement. kelly: the jumps of the flux across "
                "faces, or of the gradient if the physics has no flux. residual: the residual of "
                "the equation inside cells and the jumps of the flux. Both are weighted by powers "
                "of h/p so that they bound the error; h is the cell size, p the degree. "
                "expression: no estimator; only Refine where and Cell size select cells.",
                prm, Patterns::Selection("kelly|residual|expression"));
  add_parameter(
      "Strategy", strategy,
      "Meaning of Refine fraction and Coarsen fraction. fixed_number: they are fractions of the "
      "number of cells. fixed_fraction: they are fractions of the estimated error (Doerfler "
      "marking). Let eta be the indicator of a cell and t = Refine fraction. Then the sum of eta^2 "
      "over the refined cells is at least t^2 times its sum over all cells.",
      prm, Patterns::Selection("fixed_number|fixed_fraction"));
  add_parameter("Refine fraction", refine_fraction,
                "Fraction of the cells, or of the estimated error, that an adaptive step refines. "
                "Strategy selects one of the two.",
                prm, Patterns::Double(0., 1.));
  add_parameter("Coarsen fraction", coarsen_fraction,
                "Fraction of the cells, or of the estimated error, that an adaptive step coarsens. "
                "Strategy selects one of the two.",
                prm, Patterns::Double(0., 1.));
  add_parameter("Refine where", refine_where,
                "An expression of x, y, z, for example 'x < 0.5 && y < 0.5'. An adaptive step "
                "refines each cell at whose centre the expression is not zero.");
  add_parameter(
      "Cell size", cell_size,
      "Target size h > 0 of cells: an expression of x, y, z, for example '0.01 + 0.1*x'. An "
      "adaptive step refines each cell whose diameter exceeds the value of h at its centre.");
  add_parameter("Maximum level", maximum_level,
                "Maximum refinement level of a cell. Cells of the coarse mesh have level 0, so the "
                "initial refinements count.",
                prm, Patterns::Integer(0, 30));
  add_parameter("Maximum dofs", maximum_dofs,
                "Maximum number of dofs. The study ends before a cycle that would have more dofs. "
                "0: no limit.");
  add_parameter("Target error", target_error,
                "Tolerance of the relative error. The study ends with the first cycle whose "
                "relative error, in the norm Target norm, is at most this value. 0: no target.",
                prm, Patterns::Double(0.));
  add_parameter(
      "Target norm", target_norm,
      "Norm in which Target error is measured. L2: the L2 norm of the error of u, relative to the "
      "L2 norm of the exact u. H1: the L2 norm of the error of grad u, relative to the L2 norm of "
      "the exact gradient. estimate: the estimated error, relative to the L2 norm of the flux.",
      prm, Patterns::Selection("L2|H1|estimate"));
}

OutputParameters::OutputParameters() : ParameterAcceptor("/Output")
{
  add_parameter(
      "Directory", directory,
      "Directory of all result files. femgpu creates it if it does not exist. Only one run at a "
      "time can write to it. A run replaces or removes files of earlier runs with the same Name.");
  add_parameter("Name", name, "Prefix of the names of the files for ParaView.", prm,
                Patterns::FileName());
  add_parameter("Write VTU", write_vtu,
                "true: femgpu writes the files for ParaView. false: it writes none.");
  add_parameter("Format", format,
                "Format of the files for ParaView. vtu: VTK's XML files, with separate nodes for "
                "each cell. vtkhdf: VTK's HDF5 files, for ParaView 5.11 and newer. These files are "
                "smaller, and femgpu writes them faster. Their cells share nodes. Where values "
                "jump between cells, a node holds their mean.",
                prm, Patterns::Selection("vtu|vtkhdf"));
  add_parameter("Precision", precision, "Precision of the numbers in the files for ParaView.", prm,
                Patterns::Selection("float|double"));
  add_parameter(
      "Error indicator", error_indicator,
      "true: femgpu estimates the error (Study/Estimator) even if the refinement does not need the "
      "estimate, and writes the indicator of each cell to the files for ParaView.");
  add_parameter(
      "Files per cycle", files_per_cycle,
      "Number of .vtu files that all ranks together write in a cycle. 0: one per rank, at most 64.",
      prm, Patterns::Integer(0, 4096));
  add_parameter(
      "Units", units,
      "Symbols of the units of all data, for pictures and reports; femgpu does not convert values. "
      "For elasticity, give the units of length and force, and of time in a transient analysis, "
      "for "
      "example 'm, N' or 'm, N, s'. For other physics, give the units of length, solution and flow "
      "of the conserved quantity, for example 'm, K, W'. Empty: no units.");
  add_parameter(
      "Checkpoint every", checkpoint_every,
      "When femgpu writes a checkpoint to Directory, from which femgpu FILE.prm --continue "
      "goes on after the run has ended or was killed. N steps: after N steps in time or "
      "along a branch. S seconds: after the first step that ends S seconds of wall time after the "
      "last checkpoint. Both: also after each cycle of a study. none: never. "
      "femgpu keeps the last two.");
}

Parameters::Parameters() : physics(make_all_physics())
{
  ParameterAcceptor::declare_all_parameters();
}

// Only the first rank reads the file, because only it has standard input. All ranks receive the
// text, or throw the error.
ParameterSource read_source(const CommandLine &command_line)
{
  ParameterSource source;
  rethrow_on_all_ranks<InputError>(MPI_COMM_WORLD, [&] {
    if (Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0)
      source = read_parameter_source(command_line.parameter_file);
  });
  source.name = Utilities::MPI::broadcast(MPI_COMM_WORLD, source.name, 0);
  source.text = Utilities::MPI::broadcast(MPI_COMM_WORLD, source.text, 0);
  return source;
}

namespace
{
/// Returns the name of the section that holds the data of @p physics.
std::string section_of(std::string physics)
{
  physics[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(physics[0])));
  std::replace(physics.begin(), physics.end(), '_', ' ');
  return physics;
}

/// Appends a problem for each section with data of a physics that is not used.
void find_unused_data(const Parameters &parameters, const std::vector<std::string> &used,
                      std::vector<std::string> &problems)
{
  const DeclaredParameters declared(ParameterAcceptor::prm);
  const ParameterLocations &locations = parameters.locations;
  const std::string &chosen = parameters.run.physics;
  for (const auto &entry : parameters.physics) {
    const std::string &name = entry.first;
    if (std::count(used.begin(), used.end(), name) > 0)
      continue;
    std::vector<std::string> specified;
    for (const DeclaredParameter &parameter : declared.parameters)
      if (parameter.section == section_of(name) && parameter.value != parameter.default_value)
        specified.push_back(parameter.path());
    if (!specified.empty())
      problems.push_back(locations.location_of(specified.front()) + ": '" + specified.front() +
                         "'" + (specified.size() > 1 ? " and other keys of its section" : "") +
                         " would have no effect, because Physics is " + chosen + " (" +
                         locations.location_of("Physics") + "), whose data are in section '" +
                         section_of(chosen) + "'. Remove these data, or set Physics = " + name);
  }
}

/// Appends a problem for each required datum of the chosen physics that is missing.
void find_missing_data(const Parameters &parameters, const ParameterSource &source,
                       std::vector<std::string> &problems)
{
  const ParameterLocations &locations = parameters.locations;
  const std::string &chosen = parameters.run.physics;
  for (const RequiredDatum &datum : parameters.physics.at(chosen)->required_data()) {
    const std::string key = datum.path.substr(datum.path.find('/') + 1);
    if (trimmed(datum.value).empty())
      problems.push_back(
          (locations.is_set(datum.path) ? locations.location_of(datum.path) : source.name) + ": '" +
          datum.path + "' is not given, and there is no default; write for example 'set " + key +
          " = " + datum.example + "' in section '" + section_of(chosen) + "'");
  }
}
} // namespace

void Parameters::apply(const ParameterSource &source, const std::vector<std::string> &overrides,
                       const std::vector<std::string> &other_physics)
{
  locations = apply_parameters(ParameterAcceptor::prm, source, overrides); // sets all members
  ParameterAcceptor::parse_all_parameters(); // for classes that override parse_parameters()
  mesh.directory = expressions.directory =
      std::filesystem::path(source.name).parent_path().string();
  mesh.made_in = output.directory;
  std::vector<std::string> used = other_physics, problems;
  used.push_back(run.physics);
  find_unused_data(*this, used, problems);
  find_missing_data(*this, source, problems);
  if (continuation.enabled && run.analysis == "transient")
    problems.push_back(locations.location_of("Continuation/Enabled") +
                       ": 'Continuation/Enabled' contradicts Analysis = transient (" +
                       locations.location_of("Analysis") + "). Remove one of them");
  if (continuation.enabled && run.analysis == "stationary")
    run.analysis = "branch";
  continuation.enabled = run.analysis == "branch";
  throw_problems(problems);
}
} // namespace femgpu
