#include "app/study.h"

#include "app/convergence.h"
#include "app/vtu_output.h"
#include "linalg/base/error.h"
#include "linalg/base/timing.h"
#include "physics/error_norms.h"
#include "physics/refinement.h"
#include "physics/solve.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/utilities.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/numerics/vector_tools_interpolate.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

namespace femgpu
{
using namespace dealii;

namespace
{
/// @throws ParameterError if a parameter of @p problem names a boundary id that @p mesh lacks.
template <int dim>
void check_boundary_ids(const Problem<dim> &problem, const Mesh<dim> &mesh)
{
  std::string present;
  for (const auto id : mesh.boundary_ids)
    present += (present.empty() ? "" : ", ") + std::to_string(id);
  for (const auto &[path, ids] : problem.named_boundaries())
    for (const auto id : ids)
      if (mesh.boundary_ids.count(id) == 0)
        throw ParameterError("The mesh has no boundary id " + std::to_string(id) + ", which " +
                                 path + " names; it has " + present + ".",
                             path);
}

/// One study in one dimension.
template <int dim>
class Study
{
public:
  Study(const Parameters &parameters, MPI_Comm communicator, Console &console)
      : parameters(parameters), comm(communicator), console(console),
        problem(parameters.physics.at(parameters.run.physics)->template make<dim>()),
        mesh(make_mesh<dim>(parameters.mesh, communicator)),
        discretization(mesh, parameters.discretization, problem->n_components())
  {
    problem->check(mesh, parameters.discretization);
    check_boundary_ids(*problem, mesh);
    if (parameters.study.is_adaptive() && mesh.is_simplex)
      throw ParameterError("Triangles and tetrahedra can be refined globally only. Set "
                           "Study/Refinement to global, or use quadrilaterals or hexahedra.",
                           "Study/Refinement");
    if (parameters.study.refine_fraction + parameters.study.coarsen_fraction > 1.)
      throw ParameterError(
          "Study/Refine fraction and Study/Coarsen fraction add up to more than 1.",
          "Study/Refine fraction");
  }

  void validate()
  {
    const auto cells = static_cast<double>(mesh.triangulation->n_global_active_cells()) *
                       std::pow(1 << dim, parameters.mesh.initial_refinements);
    std::ostringstream text;
    text << "Valid: " << parameters.run.physics << " in " << dim << "D, "
         << discretization.element().get_name() << " on " << std::setprecision(10) << cells
         << " cells in the first of " << parameters.study.cycles << " cycles; boundary ids";
    for (const auto id : mesh.boundary_ids)
      text << ' ' << id;
    console.print(text.str());
  }

  StudyRecord run(const SolutionObserver &observer);

private:
  void run_cycle(linalg::NodeSystem &system, ProblemSolver<dim> &solver, VtuOutput<dim> &output);
  void make_grid();
  void estimate(CycleRecord &record);
  void print(const CycleRecord &record);

  const Parameters &parameters;
  MPI_Comm comm;
  Console &console;
  std::unique_ptr<Problem<dim>> problem;
  Mesh<dim> mesh;
  Discretization<dim> discretization;
  FeVector u;
  Vector<float> indicators;
  Stopwatch watch; ///< of the phases
  StudyRecord study;
};

template <int dim>
void Study<dim>::make_grid()
{
  const bool is_first = study.cycles.empty();
  console.begin_phase("grid");
  if (is_first) {
    refine_globally(mesh, parameters.mesh.initial_refinements);
    return;
  }
  const bool adaptive = parameters.study.is_adaptive();
  u = refine_and_transfer(mesh, discretization, u, adaptive ? &indicators : nullptr,
                          {parameters.study.refine_fraction, parameters.study.coarsen_fraction});
}

template <int dim>
void Study<dim>::estimate(CycleRecord &record)
{
  console.begin_phase("estimate");
  if (problem->exact_solution() != nullptr)
    record.errors = compute_errors(discretization, u, *problem->exact_solution());
  indicators.reinit(0);
  if (parameters.study.is_adaptive() || (parameters.output.error_indicator && !mesh.is_simplex))
    indicators = kelly_indicators(discretization, u);
  record.quantities = problem->quantities(discretization, u);
}

template <int dim>
void Study<dim>::run_cycle(linalg::NodeSystem &system, ProblemSolver<dim> &solver,
                           VtuOutput<dim> &output)
{
  Stopwatch total;
  CycleRecord record;
  record.cycle = static_cast<unsigned int>(study.cycles.size());
  auto &seconds = record.seconds;
  const auto phase = [&](const std::string &name) { seconds[name] += watch.lap(); };

  make_grid();
  phase("grid");
  console.begin_phase("dofs");
  if (record.cycle == 0) {
    discretization.distribute_dofs();
    u = discretization.make_vector();
    if (problem->initial_guess() != nullptr)
      VectorTools::interpolate(discretization.mapping(), discretization.dofs(),
                               *problem->initial_guess(), u);
  }
  discretization.make_constraints(*problem);
  discretization.constraints().distribute(u);
  phase("dofs");
  console.begin_phase("pattern");
  make_pattern(discretization, solver.needs_coordinates(), system);
  record.cells = mesh.triangulation->n_global_active_cells();
  record.dofs = discretization.dofs().n_dofs();
  record.nonzeros = system.n_nonzeros();
  for (const auto &cell : discretization.dofs().active_cell_iterators())
    if (cell->is_locally_owned())
      record.h = std::max(record.h, cell->diameter());
  record.h = Utilities::MPI::max(record.h, comm);
  phase("pattern");

  console.begin_phase("solve");
  const Progress show = [this](const std::string &text) { console.progress(text); };
  record.solve = solver.solve(discretization, system, u, seconds,
                              console.shows_progress() ? show : Progress());
  watch.lap();
  if (record.solve.report.converged()) {
    estimate(record);
    phase("estimate");
    console.begin_phase("output");
    if (parameters.output.write_vtu)
      output.write(record.cycle, record.cycle, discretization, u, indicators);
    phase("output");
  }
  record.total_seconds = total.lap();
  study.cycles.push_back(record);
  print(record);
}

template <int dim>
void Study<dim>::print(const CycleRecord &record)
{
  const linalg::SolveReport &report = record.solve.report;
  std::ostringstream line;
  line << std::setprecision(3) << "cycle " << record.cycle << ": " << record.cells << " cells, "
       << record.dofs << " dofs, " << linalg::to_string(report.outcome) << ", ";
  if (record.solve.nonlinear_iterations > 0)
    line << record.solve.nonlinear_iterations << " nonlinear iterations, ";
  if (record.solve.linear_iterations > 0 || record.solve.nonlinear_iterations == 0)
    line << record.solve.linear_iterations << " linear iterations, ";
  line << "residual " << std::scientific << report.true_residual;
  if (record.errors)
    line << ", errors L2 " << record.errors->L2 << " H1 " << record.errors->H1 << " Linf "
         << record.errors->Linf;
  for (const Quantity &quantity : record.quantities)
    line << ", " << quantity.name << ' ' << std::defaultfloat << std::setprecision(8)
         << quantity.value;
  line << std::defaultfloat << std::setprecision(3) << ", " << record.total_seconds << " s";
  console.print(line.str());
  console.detail("  " + report.message);
  std::ostringstream phases;
  phases << std::setprecision(3) << "  seconds:";
  for (const std::string &phase : phase_names())
    if (const auto entry = record.seconds.find(phase); entry != record.seconds.end())
      phases << ' ' << phase << ' ' << entry->second;
  console.detail(phases.str());
}

template <int dim>
StudyRecord Study<dim>::run(const SolutionObserver &observer)
{
  Stopwatch total;
  linalg::NodeSystem system(comm);
  ProblemSolver<dim> solver(*problem, parameters.solver, parameters.nonlinear, comm);
  VtuOutput<dim> output(parameters.output, parameters.output.name, *problem);

  study.dimension = dim;
  study.physics = parameters.run.physics;
  study.element = discretization.element().get_name();
  study.is_adaptive = parameters.study.is_adaptive();
  study.degree = discretization.degree();
  study.n_ranks = Utilities::MPI::n_mpi_processes(comm);
  study.backend = solver.node_solver().backend_name();
  study.backend_description = solver.node_solver().backend_description();
  console.print(study.physics + " in " + std::to_string(dim) + "D, " + study.element + ", " +
                std::to_string(study.n_ranks) + (study.n_ranks == 1 ? " rank" : " ranks") +
                "; solving with " + solver.method() + " on " + study.backend + " (" +
                study.backend_description + ")");
  watch.lap();
  while (study.cycles.size() < parameters.study.cycles &&
         (study.cycles.empty() || study.converged())) {
    run_cycle(system, solver, output);
    if (observer && study.converged())
      observer(u);
  }

  Utilities::System::MemoryStats memory;
  Utilities::System::get_memory_stats(memory);
  study.peak_host_bytes = 1024 * Utilities::MPI::sum(static_cast<std::size_t>(memory.VmHWM), comm);
  study.peak_device_bytes = solver.node_solver().peak_device_bytes();
  study.files = output.files();
  study.total_seconds = total.lap();
  return study;
}
} // namespace

void validate(const Parameters &parameters, MPI_Comm communicator, Console &console)
{
  if (parameters.run.dimension == 2)
    Study<2>(parameters, communicator, console).validate();
  else
    Study<3>(parameters, communicator, console).validate();
}

StudyRecord run_study(const Parameters &parameters, MPI_Comm communicator, Console &console,
                      const SolutionObserver &observer)
{
  if (parameters.run.dimension == 2)
    return Study<2>(parameters, communicator, console).run(observer);
  return Study<3>(parameters, communicator, console).run(observer);
}
} // namespace femgpu
