#include "app/study.h"

#include "app/branch_report.h"
#include "app/convergence.h"
#include "app/vtu_output.h"
#include "linalg/base/error.h"
#include "linalg/base/timing.h"
#include "physics/branch.h"
#include "physics/error_norms.h"
#include "physics/mean_value.h"
#include "physics/periodicity.h"
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
/// One study in one dimension.
template <int dim>
class Study
{
public:
  Study(const Parameters &parameters, MPI_Comm communicator, Console &console)
      : parameters(parameters), comm(communicator), console(console),
        mesh(make_mesh<dim>(parameters.mesh, communicator)),
        problem(parameters.physics.at(parameters.run.physics)->template make<dim>(mesh.regions)),
        discretization(mesh, parameters.discretization, problem->n_components())
  {
    problem->check(mesh, parameters.discretization);
    make_periodic(mesh, problem->periodic_sides());
    if (parameters.study.is_adaptive() && mesh.is_simplex)
      throw ParameterError("Triangles and tetrahedra can be refined globally only. Set "
                           "Study/Refinement to global, or use quadrilaterals or hexahedra.",
                           "Study/Refinement");
    if (parameters.study.refine_fraction + parameters.study.coarsen_fraction > 1.)
      throw ParameterError(
          "Study/Refine fraction and Study/Coarsen fraction add up to more than 1.",
          "Study/Refine fraction");
    if (parameters.continuation.enabled)
      check_continuation();
  }

  void validate()
  {
    const auto cells = static_cast<double>(mesh.triangulation->n_global_active_cells()) *
                       std::pow(1 << dim, parameters.mesh.initial_refinements);
    std::ostringstream text;
    text << "Valid: " << parameters.run.physics << " in " << dim << "D, "
         << discretization.element().get_name() << " on " << std::setprecision(10) << cells
         << " cells in the first of " << parameters.study.cycles << " cycles; boundary ids "
         << mesh.regions.boundary_list() << "; material ids " << mesh.regions.material_list();
    console.print(text.str());
  }

  StudyRecord run(const SolutionObserver &observer);

private:
  void check_continuation() const;
  void describe(const linalg::NodeSolver &solver, const std::string &method);
  void run_cycles(linalg::NodeSystem &system, VtuOutput<dim> &output,
                  const SolutionObserver &observer);
  void run_cycle(linalg::NodeSystem &system, ProblemSolver<dim> &solver, VtuOutput<dim> &output);
  void trace_branch(linalg::NodeSystem &system, VtuOutput<dim> &output);
  CycleRecord begin_cycle(linalg::NodeSystem &system);
  void end_cycle(const CycleRecord &record);
  void make_grid();
  void estimate(CycleRecord &record);
  void print(const CycleRecord &record);

  const Parameters &parameters;
  MPI_Comm comm;
  Console &console;
  Mesh<dim> mesh;
  std::unique_ptr<Problem<dim>> problem;
  Discretization<dim> discretization;
  FeVector u;
  Vector<float> indicators;
  Stopwatch watch;       ///< of the phases
  Stopwatch cycle_watch; ///< of the cycle
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
    record.errors =
        compute_errors(discretization, u, ComparableSolution<dim>(*problem, discretization));
  indicators.reinit(0);
  if (parameters.study.is_adaptive() || (parameters.output.error_indicator && !mesh.is_simplex))
    indicators = kelly_indicators(discretization, u);
  record.quantities = problem->quantities(discretization, u);
}

template <int dim>
CycleRecord Study<dim>::begin_cycle(linalg::NodeSystem &system)
{
  cycle_watch.lap();
  CycleRecord record;
  record.cycle = static_cast<unsigned int>(study.cycles.size());
  make_grid();
  record.seconds["grid"] = watch.lap();
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
  record.seconds["dofs"] = watch.lap();
  console.begin_phase("pattern");
  make_pattern(discretization, parameters.solver.needs_coordinates(), system);
  record.cells = mesh.triangulation->n_global_active_cells();
  record.dofs = discretization.dofs().n_dofs();
  record.nonzeros = system.n_nonzeros();
  for (const auto &cell : discretization.dofs().active_cell_iterators())
    if (cell->is_locally_owned())
      record.h = std::max(record.h, cell->diameter());
  record.h = Utilities::MPI::max(record.h, comm);
  record.seconds["pattern"] = watch.lap();
  console.begin_phase("solve");
  return record;
}

template <int dim>
void Study<dim>::end_cycle(const CycleRecord &record)
{
  study.cycles.push_back(record);
  study.cycles.back().total_seconds = cycle_watch.lap();
  print(study.cycles.back());
}

template <int dim>
void Study<dim>::run_cycle(linalg::NodeSystem &system, ProblemSolver<dim> &solver,
                           VtuOutput<dim> &output)
{
  CycleRecord record = begin_cycle(system);
  const Progress show = [this](const std::string &text) { console.progress(text); };
  record.solve = solver.solve(discretization, system, u, record.seconds,
                              console.shows_progress() ? show : Progress());
  watch.lap();
  if (record.solve.report.converged()) {
    estimate(record);
    record.seconds["estimate"] = watch.lap();
    console.begin_phase("output");
    if (parameters.output.write_vtu)
      output.write(record.cycle, record.cycle, discretization, u, indicators);
    record.seconds["output"] = watch.lap();
  }
  end_cycle(record);
}

template <int dim>
void Study<dim>::check_continuation() const
{
  if (!problem->has_branches())
    throw ParameterError("Physics " + parameters.run.physics +
                             " has no lambda along which a branch of solutions could be followed. "
                             "Set Continuation/Enabled to false, or Physics to bratu.",
                         "Continuation/Enabled");
  if (parameters.study.cycles > 1)
    throw ParameterError("A branch is traced on one mesh, and Study/Cycles is " +
                             std::to_string(parameters.study.cycles) +
                             ". Set it to 1, and choose the mesh by Mesh/Initial refinements.",
                         "Study/Cycles");
}

template <int dim>
void Study<dim>::trace_branch(linalg::NodeSystem &system, VtuOutput<dim> &output)
{
  BranchTracer<dim> tracer(*problem, parameters.solver, parameters.continuation, comm);
  const std::string method = "continuation, " + parameters.continuation.solver;
  output.leave_out_nodal_fields();
  describe(tracer.node_solver(), method);
  CycleRecord record = begin_cycle(system);
  const unsigned int every = parameters.output.write_vtu ? parameters.continuation.vtu_every : 0;
  const auto on_point = [&](const linalg::BranchRecord &point, const FeVector &solution) {
    const auto index = static_cast<unsigned int>(point.index);
    const bool is_special = point.kind != linalg::BranchRecord::Kind::point;
    if (is_special)
      console.print(to_string(point));
    else
      console.detail(to_string(point));
    if (every > 0 && (is_special || index % every == 0))
      output.write(index, point.arclength, discretization, solution, indicators);
  };
  study.branch = tracer.trace(discretization, system, u, record.seconds, on_point);
  record.solve = branch_summary(*study.branch, method);
  record.quantities = branch_quantities(*study.branch);
  end_cycle(record);
  study.peak_device_bytes = tracer.node_solver().peak_device_bytes();
}

std::string transfer_text(const linalg::Transfer &transfer)
{
  std::ostringstream text;
  text << std::setprecision(3) << "  transfer: " << 1e-6 * static_cast<double>(transfer.bytes)
       << " MB at " << transfer.gigabytes_per_second() << " GB/s, " << transfer.overlapped_seconds
       << " s of it during the assembly";
  return text.str();
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
  console.detail(transfer_text(report.transfer));
}

template <int dim>
void Study<dim>::describe(const linalg::NodeSolver &solver, const std::string &method)
{
  study.backend = solver.backend_name();
  study.backend_description = solver.backend_description();
  console.print(study.physics + " in " + std::to_string(dim) + "D, " + study.element + ", " +
                std::to_string(study.n_ranks) + (study.n_ranks == 1 ? " rank" : " ranks") +
                "; solving with " + method + " on " + study.backend + " (" +
                study.backend_description + ")");
}

template <int dim>
void Study<dim>::run_cycles(linalg::NodeSystem &system, VtuOutput<dim> &output,
                            const SolutionObserver &observer)
{
  ProblemSolver<dim> solver(*problem, parameters.solver, parameters.nonlinear, comm);
  describe(solver.node_solver(), solver.method());
  while (study.cycles.size() < parameters.study.cycles &&
         (study.cycles.empty() || study.converged())) {
    run_cycle(system, solver, output);
    if (observer && study.converged())
      observer(u);
  }
  study.peak_device_bytes = solver.node_solver().peak_device_bytes();
}

template <int dim>
StudyRecord Study<dim>::run(const SolutionObserver &observer)
{
  Stopwatch total;
  linalg::NodeSystem system(comm);
  VtuOutput<dim> output(parameters.output, parameters.output.name, *problem);
  study.dimension = dim;
  study.physics = parameters.run.physics;
  study.element = discretization.element().get_name();
  study.boundary_ids = mesh.regions.boundary_list();
  study.material_ids = mesh.regions.material_list();
  study.is_adaptive = parameters.study.is_adaptive();
  study.degree = discretization.degree();
  study.n_ranks = Utilities::MPI::n_mpi_processes(comm);
  watch.lap();
  if (parameters.continuation.enabled)
    trace_branch(system, output);
  else
    run_cycles(system, output, observer);

  Utilities::System::MemoryStats memory;
  Utilities::System::get_memory_stats(memory);
  study.peak_host_bytes = 1024 * Utilities::MPI::sum(static_cast<std::size_t>(memory.VmHWM), comm);
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
