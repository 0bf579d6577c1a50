#include "app/run_checks.h"

#include "linalg/base/error.h"
#include "linalg/base/host_memory.h"
#include "linalg/continuation.h"
#include "physics/base/fields.h"
#include "physics/base/regions.h"
#include "physics/mesh/mesh_check.h"
#include "physics/mesh/sides_file.h"
#include "physics/solve.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/utilities.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <sstream>

#include <boost/algorithm/string/join.hpp>

namespace femgpu
{
using namespace dealii;

void check_output_name(const OutputParameters &parameters)
{
  if (parameters.name.empty() || parameters.name.find('/') != std::string::npos)
    throw ParameterError("'" + parameters.name +
                             "' of Output/Name is not a prefix of file names. Set a name without "
                             "'/', and set Output/Directory to the directory.",
                         "Output/Name");
}

template <int dim>
std::map<std::string, std::string> field_units(const std::string &text, const Problem<dim> &problem)
{
  if (text.empty())
    return {};
  const std::vector<std::string> symbols = dealii::Utilities::split_string_list(text, ',');
  const std::vector<std::string> required_symbols = problem.base_units();
  if (symbols.size() != required_symbols.size() ||
      std::find(symbols.begin(), symbols.end(), "") != symbols.end())
    throw ParameterError("'" + text + "' of Output/Units has " + std::to_string(symbols.size()) +
                             " units, but the problem needs units of " +
                             boost::algorithm::join(required_symbols, ", ") +
                             ". Set them in this order, separated by commas.",
                         "Output/Units");
  std::map<std::string, std::string> units = {{"length", symbols.front()}};
  for (const auto &[field, unit] :
       problem.field_units(std::vector<Unit>(symbols.begin(), symbols.end())))
    units[field] = unit.text();
  return units;
}

template std::map<std::string, std::string> field_units(const std::string &, const Problem<2> &);
template std::map<std::string, std::string> field_units(const std::string &, const Problem<3> &);

double SystemSize::n_dofs() const
{
  // An interior vertex belongs to 6 triangles or about 24 tetrahedra.
  const double vertices_per_cell = !is_simplex ? 1. : dimension == 2 ? 1. / 2. : 1. / 6.;
  return n_cells * vertices_per_cell * std::pow(degree, dimension) * n_components;
}

double SystemSize::min_bytes() const
{
  // The average number of entries per row for Q_p, (p + 2)^dim; for simplices a lower bound, the
  // average for P1: 7 in 2D and 15 in 3D. Rows of P2 are longer.
  const double entries_per_component = !is_simplex      ? std::pow(degree + 2, dimension)
                                       : dimension == 2 ? 7.
                                                        : 15.;
  const double entries_per_row = entries_per_component * n_components;
  constexpr double bytes_per_entry = 12.; // a value and a column
  // Measured: 425 bytes per quadrilateral, 650 per hexahedron, 480 per triangle and 860 per
  // tetrahedron; the bounds are a little lower. Cells in blocks need only dofs and some vectors.
  const double bytes_per_cell = uses_cell_blocks ? 40.
                                : is_simplex     ? (dimension == 2 ? 400. : 700.)
                                                 : (dimension == 2 ? 350. : 550.);
  return n_dofs() * entries_per_row * bytes_per_entry + n_cells * bytes_per_cell;
}

double SystemSize::max_cells() const
{
  return n_nodes * host_memory(n_ranks / n_nodes).bytes / (min_bytes() / n_cells);
}

void check_size(const SystemSize &size, const std::string &path)
{
  std::ostringstream text;
  text.precision(3);
  const double dofs = size.n_dofs();
  if (dofs > std::numeric_limits<int>::max()) {
    text << "A mesh of " << size.n_cells << " cells has about " << dofs
         << " unknowns, more than the maximum of " << std::numeric_limits<int>::max()
         << ". Refine less, or lower the degree.";
    throw ParameterError(text.str(), path);
  }
  const HostMemory memory = host_memory(size.n_ranks / size.n_nodes);
  const double needed = size.min_bytes() / size.n_nodes;
  if (needed > memory.bytes) {
    text << "A mesh of " << size.n_cells << " cells has about " << dofs
         << " unknowns; mesh and matrix need more than " << gigabytes(needed)
         << (size.n_nodes > 1 ? " on each node, but " : ", but ") << memory.bound
         << ". Refine less (" << path << "), lower the degree, or use a machine with more memory.";
    throw DeviceError(text.str());
  }
}

template <int dim>
SystemSize system_size(const Discretization<dim> &discretization, const double n_cells,
                       const bool uses_cell_blocks)
{
  MPI_Comm communicator = discretization.communicator();
  return {dim,
          n_cells,
          discretization.mesh().is_simplex,
          uses_cell_blocks,
          discretization.degree(),
          discretization.element().n_components(),
          Utilities::MPI::n_mpi_processes(communicator),
          static_cast<unsigned int>(linalg::SolverGroups(communicator).n_groups())};
}

std::optional<std::string> text_if_too_many(const std::size_t n_dofs, const StudyParameters &study,
                                            const bool is_first)
{
  const std::size_t limit = study.maximum_dofs;
  if (limit == 0 || n_dofs <= limit)
    return {};
  if (is_first)
    throw ParameterError("The first mesh has " + std::to_string(n_dofs) +
                             " dofs, more than Study/Maximum dofs. Lower Mesh/Initial "
                             "refinements, or raise Study/Maximum dofs.",
                         "Study/Maximum dofs");
  return "Stopped: the next cycle would have at least " + std::to_string(n_dofs) +
         " dofs, more than Study/Maximum dofs = " + std::to_string(limit) + ".";
}

std::string nothing_to_refine_text(const StudyParameters &study)
{
  return "Stopped: no cell can be refined further: Study/Maximum level is " +
         std::to_string(study.maximum_level) +
         (study.refinement != "global"
              ? ", and Study/Estimator, Refine where and Cell size select no other cells."
              : ".");
}

template <int dim>
void describe_study(const Parameters &parameters, const Discretization<dim> &discretization,
                    const Problem<dim> &problem, StudyRecord &study)
{
  const Mesh<dim> &mesh = discretization.mesh();
  study.dimension = dim;
  study.physics = parameters.run.physics;
  study.hypothesis = problem.hypothesis();
  study.element = discretization.element().get_name();
  study.boundary_ids = mesh.regions.boundaries.list();
  study.material_ids = mesh.regions.materials.list();
  study.mesh_origin = mesh.origin;
  study.is_adaptive = parameters.study.refinement != "global";
  study.degree = discretization.degree();
  study.n_ranks = Utilities::MPI::n_mpi_processes(discretization.communicator());
  study.units = field_units(parameters.output.units, problem);
}

double max_dofs(const Parameters &parameters, SystemSize size)
{
  const StudyParameters &study = parameters.study;
  if (!parameters.mesh.refinement_where.empty() || (study.is_adaptive() && study.cycles > 1))
    return study.maximum_dofs > 0 ? static_cast<double>(study.maximum_dofs)
                                  : std::numeric_limits<double>::infinity();
  size.n_cells *= std::pow(1 << size.dimension, study.cycles - 1);
  return size.n_dofs();
}

template <int dim>
void check_refinement(const StudyParameters &study, const Mesh<dim> &mesh,
                      const Problem<dim> &problem)
{
  const bool has_where = !is_blank(study.refine_where),
             has_expression = has_where || !is_blank(study.cell_size);
  if (study.is_adaptive() && mesh.is_simplex)
    throw ParameterError("Triangles and tetrahedra can only be refined globally. Set "
                         "Study/Refinement to global, or use quadrilaterals or hexahedra.",
                         "Study/Refinement");
  if (study.is_by_remeshing() && !mesh.is_of_geometry)
    throw ParameterError("Study/Refinement = remesh needs a geometry, which gmsh can mesh again. "
                         "Set Mesh/File to a .step, .iges, .brep or .geo file, or "
                         "Study/Refinement to global.",
                         "Study/Refinement");
  if (study.refine_fraction + study.coarsen_fraction > 1.)
    throw ParameterError("Study/Refine fraction and Study/Coarsen fraction add up to more than 1. "
                         "Lower one of them.",
                         "Study/Refine fraction");
  if (study.is_adaptive() && study.estimator == "expression" && !has_expression)
    throw ParameterError("Study/Estimator = expression needs an expression. Set Study/Refine where "
                         "or Study/Cell size.",
                         "Study/Estimator");
  if (!study.is_adaptive() && has_expression)
    throw ParameterError("Study/Refine where and Study/Cell size need adaptive refinement, but "
                         "Study/Refinement is " +
                             study.refinement + ". Set Study/Refinement to adaptive.",
                         has_where ? "Study/Refine where" : "Study/Cell size");
  if (!(study.target_error > 0.))
    return;
  const bool is_estimated = study.target_norm == "estimate";
  if (is_estimated && study.estimator == "expression")
    throw ParameterError("Study/Target norm = estimate needs an error estimator, but "
                         "Study/Estimator is expression. Set Study/Estimator to kelly.",
                         "Study/Target norm");
  if (!is_estimated && problem.exact_solution() == nullptr)
    throw ParameterError(
        "Study/Target norm = " + study.target_norm +
            " needs an exact solution. Set the exact solution, or Study/Target norm to estimate.",
        "Study/Target norm");
}

namespace
{
/// Returns a warning if the degree is lower than the order of the cells in the mesh file, because
/// results are then less accurate than users expect; returns an empty string otherwise.
template <int dim>
std::string warning_of_degree(const Parameters &parameters,
                              const Discretization<dim> &discretization)
{
  const unsigned int order = discretization.mesh().order, degree = discretization.degree();
  if (degree >= order)
    return "";
  const std::string cells = "the cells of the mesh file '" + parameters.mesh.file +
                            "' are of order " + std::to_string(order);
  if (parameters.discretization.degree == "auto")
    return "Discretization/Degree = auto: " + cells + ", but physics " + parameters.run.physics +
           " supports only elements of degree " + std::to_string(degree) +
           " on triangles and tetrahedra. Use quadrilaterals or hexahedra for degree " +
           std::to_string(order) + ", or refine.";
  return "Discretization/Degree is " + std::to_string(degree) + ", but " + cells +
         ": the solution is less accurate than that mesh allows. Set Discretization/Degree to auto "
         "or " +
         std::to_string(order) + ".";
}
} // namespace

template <int dim>
void warn(const Parameters &parameters, const Discretization<dim> &discretization,
          const Problem<dim> &problem, Console &console)
{
  const unsigned int before = parameters.mesh.initial_refinements;
  const unsigned int cycles = parameters.study.is_by_remeshing() ? 1 : parameters.study.cycles;
  const Mesh<dim> &mesh = discretization.mesh();
  for (const std::string &text : mesh.warnings)
    console.warn(text);
  if (const std::string text = warning_of_degree(parameters, discretization); !text.empty())
    console.warn(text);
  const bool is_refined = before > 0 || cycles > 1 || !parameters.mesh.refinement_where.empty();
  if (!parameters.mesh.file.empty() && is_refined)
    if (const std::string text = warning_of_faceted_sides(mesh); !text.empty())
      console.warn(text);
  const unsigned int n_global_refinements =
      parameters.study.is_adaptive() ? before : before + cycles - 1;
  for (const std::string &text : problem.warnings(discretization, n_global_refinements))
    console.warn(text);
}

template <int dim>
void check_cells(const Discretization<dim> &discretization, Console &console)
{
  if (const std::string text = discretization.check_cells(); !text.empty())
    console.warn(text);
}

template <int dim>
std::string dimension_text(const Problem<dim> &problem)
{
  const std::string hypothesis = problem.hypothesis();
  return std::to_string(dim) + "D" + (hypothesis.empty() ? "" : " (" + hypothesis + ")");
}

template <int dim>
std::string validation_text(const Parameters &parameters, const Discretization<dim> &discretization,
                            const Problem<dim> &problem, const double n_cells, const bool draws)
{
  const MeshRegions &regions = discretization.mesh().regions;
  std::ostringstream text;
  text << "Valid: " << parameters.run.physics << " in " << dimension_text(problem) << ", "
       << discretization.element().get_name() << " on " << std::setprecision(10) << n_cells
       << (parameters.mesh.refinement_where.empty() ? "" : " or more") << " cells in the first of "
       << parameters.study.cycles << " cycles; boundary ids " << regions.boundaries.list()
       << "; material ids " << regions.materials.list() << regions.list_of_curves_and_point_sets();
  if (draws)
    text << '\n' << write_sides(discretization.mesh(), parameters.output.directory);
  return text.str();
}

namespace
{
/// Returns the parameter that selects continuation.
std::string branch_key(const Parameters &parameters)
{
  return parameters.locations.is_set("Analysis") ? "Analysis" : "Continuation/Enabled";
}

template <int dim>
void check_transient(const Parameters &parameters, const Problem<dim> &problem,
                     const Discretization<dim> &discretization)
{
  if (!problem.has_capacity())
    throw ParameterError("Physics " + parameters.run.physics +
                             " has no transient analysis. Set Analysis to stationary, or Physics "
                             "to heat, poisson, convection_diffusion or elasticity.",
                         "Analysis");
  parameters.time.check(problem.order_in_time());
  if (parameters.time.has_lumped_mass() && discretization.mesh().is_simplex &&
      discretization.degree() > 1)
    throw ParameterError("Time/Mass = lumped needs positive weights of the nodes, which triangles "
                         "and tetrahedra of degree 2 do not have. Set it to consistent, or "
                         "Discretization/Degree to 1.",
                         "Time/Mass");
  if (parameters.time.has_lumped_mass() && problem.traits().is_stabilized)
    throw ParameterError("Time/Mass = lumped is not available with stabilised convection. Set it "
                         "to consistent.",
                         "Time/Mass");
  if (parameters.solver.stops_at_energy_error())
    throw ParameterError("Steps in time end their solves by the residual, but Solver/Stop at = " +
                             parameters.solver.stop_at + ". Set 'Stop at' to auto.",
                         "Solver/Stop at");
  const StudyParameters &study = parameters.study;
  if (parameters.time.adapt_every > 0 && !study.is_adaptive())
    throw ParameterError("Time/Adapt every needs an adaptive mesh, but Study/Refinement is " +
                             study.refinement + ". Set Study/Refinement to adaptive.",
                         "Time/Adapt every");
  if (parameters.time.adapt_every > 0 && study.cycles > 1)
    throw ParameterError("Time/Adapt every changes the mesh within a cycle, but Study/Cycles is " +
                             std::to_string(study.cycles) + ". Set Study/Cycles to 1.",
                         "Study/Cycles");
  if (parameters.needs_estimate() && study.estimator == "residual")
    throw ParameterError("Study/Estimator = residual is for stationary problems. Set it to kelly.",
                         "Study/Estimator");
}
} // namespace

template <int dim>
SolverSettings chosen_settings(const Parameters &parameters, const Problem<dim> &problem)
{
  const ProblemTraits traits = problem.traits();
  return parameters.solver.chosen_for(traits.has_symmetric_matrix, traits.has_convection);
}

template <int dim>
void check_solution_methods(const Parameters &parameters, const Problem<dim> &problem,
                            const Discretization<dim> &discretization)
{
  if (parameters.run.analysis == "transient")
    check_transient(parameters, problem, discretization);
  if (parameters.run.analysis != "branch")
    return check_methods(problem, chosen_settings(parameters, problem), parameters.nonlinear);
  if (!problem.traits().has_branches)
    throw ParameterError("Physics " + parameters.run.physics +
                             " has no parameter lambda, which continuation needs. Set Analysis to "
                             "stationary, or Physics to bratu.",
                         branch_key(parameters));
  if (parameters.study.cycles > 1)
    throw ParameterError("Continuation uses a single mesh, but Study/Cycles is " +
                             std::to_string(parameters.study.cycles) +
                             ". Set Study/Cycles to 1, and refine the mesh with "
                             "Mesh/Initial refinements.",
                         "Study/Cycles");
  if (parameters.solver.stops_at_energy_error())
    throw ParameterError(
        "Continuation stops its nonlinear solves by the residual only. Set Solver/Stop at to auto.",
        "Solver/Stop at");
  if (const std::string key = parameters.measurements.used_key(); !key.empty())
    throw ParameterError("Measurements are not available along a branch. Remove the section "
                         "Measurements, or set Continuation/Enabled to false.",
                         key);
  linalg::check(parameters.continuation.options(parameters.solver));
}

template SystemSize system_size(const Discretization<2> &, double, bool);
template void describe_study(const Parameters &, const Discretization<2> &, const Problem<2> &,
                             StudyRecord &);
template void check_refinement(const StudyParameters &, const Mesh<2> &, const Problem<2> &);
template SystemSize system_size(const Discretization<3> &, double, bool);
template void describe_study(const Parameters &, const Discretization<3> &, const Problem<3> &,
                             StudyRecord &);
template void check_refinement(const StudyParameters &, const Mesh<3> &, const Problem<3> &);
template void warn(const Parameters &, const Discretization<2> &, const Problem<2> &, Console &);
template void warn(const Parameters &, const Discretization<3> &, const Problem<3> &, Console &);
template void check_cells(const Discretization<2> &, Console &);
template void check_cells(const Discretization<3> &, Console &);
template std::string dimension_text(const Problem<2> &);
template std::string dimension_text(const Problem<3> &);
template std::string validation_text(const Parameters &, const Discretization<2> &,
                                     const Problem<2> &, double, bool);
template std::string validation_text(const Parameters &, const Discretization<3> &,
                                     const Problem<3> &, double, bool);
template SolverSettings chosen_settings(const Parameters &, const Problem<2> &);
template SolverSettings chosen_settings(const Parameters &, const Problem<3> &);
template void check_solution_methods(const Parameters &, const Problem<2> &,
                                     const Discretization<2> &);
template void check_solution_methods(const Parameters &, const Problem<3> &,
                                     const Discretization<3> &);
} // namespace femgpu
