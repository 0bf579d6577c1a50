#include "app/study.h"

#include "app/cell_selection.h"
#include "app/driver.h"
#include "app/run_checkpoints.h"
#include "app/run_checks.h"
#include "app/solution_output.h"
#include "app/study_report.h"
#include "linalg/base/error.h"
#include "linalg/base/timing.h"
#include "physics/measurements/measurements.h"
#include "physics/mesh/mesh_check.h"
#include "physics/mesh/periodicity.h"
#include "physics/pattern.h"
#include "physics/refinement.h"
#include "physics/residual.h"
#include "physics/solve.h"
#include "physics/unknowns.h"

#include <deal.II/base/function.h>
#include <deal.II/base/mpi.h>
#include <deal.II/base/utilities.h>
#include <deal.II/numerics/vector_tools_interpolate.h>

#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace femgpu
{
using namespace dealii;

namespace
{
/// The cycles of a study on a mesh and its refinements: all cycles, or one if each has a new mesh.
template <int dim>
class Study
{
public:
  /// Makes the mesh for the next cycle of the study with this @p state.
  Study(const Parameters &parameters, MPI_Comm communicator, Console &console,
        StudyState<dim> &state)
      : parameters(parameters), comm(communicator), console(console), study(state.record),
        output(state.output), study_watch(state.watch), seconds_before(state.seconds_before),
        checkpoints(state.checkpoints), saved(state.saved),
        mesh(make_mesh<dim>(parameters.mesh, communicator, parameters.expressions.definitions(),
                            static_cast<unsigned int>(study.cycles.size()))),
        problem(make_problem()), solver_settings(chosen_settings(parameters, *problem)),
        discretization(mesh, degree_of(parameters.discretization, mesh, *problem),
                       problem->n_components()),
        selection(parameters.study, mesh.regions),
        measurements(parameters.measurements, discretization, *problem)
  {}

  /// Collective. Checks the parameters and the memory for the meshes; matches periodic boundaries.
  void check()
  {
    check_refinement(parameters.study, mesh, *problem);
    check_named_boundaries(parameters.mesh, mesh, problem->named_boundaries());
    problem->check(mesh, discretization.degree());
    check_output_name(parameters.output);
    describe_study(parameters, discretization, *problem, study);
    if (!parameters.study.is_adaptive() && parameters.mesh.refinement_where.empty())
      per_block = cells_per_block(discretization, *problem, parameters.mesh.initial_refinements);
    check_size(initial_size(), "Mesh/Initial refinements");
    if (!parameters.mesh.refinement_where.empty())
      check_size(
          size_for(predict_n_cells(mesh, parameters.mesh.initial_refinements,
                                   parameters.mesh.refinement_where, size_for(1.).max_cells())),
          "Mesh/Initial refinement where");
    make_periodic(mesh, problem->periodic_sides());
    check_solution_methods(parameters, *problem, discretization);
    if (!mesh.origin.empty())
      console.print("Mesh: " + mesh.origin + ".");
    if (study.cycles.empty()) // later meshes would repeat the warnings
      warn(parameters, discretization, *problem, console);
  }

  /// Collective. Checks that the solver's methods suit the problem and are compatible.
  void check_solver() const
  {
    problem_solver(solver_groups());
  }

  void validate(const bool draws)
  {
    if (!measurements.empty()) { // the coarse mesh suffices to find points and fields
      discretization.distribute_dofs();
      discretization.make_constraints(*problem);
      u = discretization.make_vector();
      check_measurements();
    }
    const double n_cells = cells_after(parameters.mesh.initial_refinements); // before refining
    if (mesh.is_curved || mesh.has_inverted_vertices)
      refine_globally(mesh, parameters.mesh.initial_refinements);
    check_cells(discretization, console);
    console.print(validation_text(parameters, discretization, *problem, n_cells, draws));
  }

  /// Runs the cycles on this mesh. The record is finished unless further cycles need a new mesh.
  void run(const StudyObserver &observer)
  {
    if (study.cycles.empty())
      study_watch.lap();
    const linalg::SolverGroups groups = solver_groups();
    watch.lap();
    checkpoints.begin_mesh(mesh);
    if (saved)
      restore();
    run_cycles(groups, observer);
    if (study.stop_reason.empty() && study.cycles.size() < parameters.study.cycles &&
        parameters.study.is_by_remeshing())
      return;
    if (study.stop_reason.empty())
      study.stop_reason = "cycles";
    output.finish(comm);
    study.is_finished = true;
    update_record();
    console.take_warnings(); // discards them, so that the next study does not report them
  }

private:
  std::unique_ptr<Problem<dim>> make_problem()
  {
    if (parameters.run.analysis == "transient")
      mesh.regions.clock = clock = std::make_shared<double>(0.);
    return parameters.physics.at(parameters.run.physics)->template make<dim>(mesh.regions);
  }

  /// Collective. Updates those data in `study` that do not belong to a single cycle.
  void update_record()
  {
    Utilities::System::MemoryStats memory;
    Utilities::System::get_memory_stats(memory);
    study.peak_host_bytes =
        1024 * Utilities::MPI::sum(static_cast<std::size_t>(memory.VmHWM), comm);
    study.files = output.files();
    study.warnings = console.current_warnings();
    study.total_seconds = seconds_before + study_watch.elapsed();
  }

  /// Collective. Finds points and fields of the measurements.
  void check_measurements()
  {
    u.update_ghost_values();
    DiscreteSolution<dim> solution(*problem, discretization, u);
    measurements.check(solution);
  }

  linalg::SolverGroups solver_groups() const
  {
    return {comm, solver_settings.groups_backend(max_dofs(parameters, initial_size())),
            solver_settings.devices, solver_settings.communicator};
  }
  ProblemSolver<dim> problem_solver(const linalg::SolverGroups &groups) const
  {
    return {*problem, solver_settings, parameters.nonlinear, parameters.continuation, groups};
  }
  double cells_after(const unsigned int refinements) const
  {
    return mesh.n_cells() * std::pow(1 << dim, refinements);
  }
  SystemSize initial_size() const
  {
    return size_for(cells_after(parameters.mesh.initial_refinements));
  }
  SystemSize size_for(const double n_cells) const
  {
    return system_size(discretization, n_cells, per_block > 1);
  }

  /// Stops the study. @param by the value of `stopped_by` in summary.json
  void stop(const std::string &by, const std::string &text)
  {
    study.stop_reason = by;
    console.print(text);
  }

  /// Does the study stop before a cycle with at least @p n_dofs dofs?
  /// @throws ParameterError if this is the first cycle
  bool exceeds_max_dofs(const std::size_t n_dofs)
  {
    if (const auto text = text_if_too_many(n_dofs, parameters.study, study.cycles.empty()))
      stop("maximum_dofs", *text);
    return !study.stop_reason.empty();
  }

  /// Refines the mesh, simplices globally. @return false if the study stops before the next cycle
  bool refine()
  {
    const bool is_flagged = mesh.is_simplex
                                ? parameters.mesh.initial_refinements + study.cycles.size() - 1 <
                                      parameters.study.maximum_level
                                : selection.flag(mesh, indicators);
    if (!is_flagged) {
      stop("nothing_to_refine", nothing_to_refine_text(parameters.study));
      return false;
    }
    if (exceeds_max_dofs(min_dofs_after_flags(discretization)))
      return false; // before the mesh is created
    check_size(size_for(mesh.is_simplex ? cells_after(1) : cells_after_flags(mesh)),
               "Study/Cycles");
    refine_and_transfer(mesh, discretization, {&u});
    checkpoints.change_mesh();
    check_cells(discretization, console);
    return !exceeds_max_dofs(discretization.dofs().n_dofs());
  }

  /// Returns false if the study stops before this cycle.
  bool initialize_solution()
  {
    discretization.distribute_dofs();
    if (exceeds_max_dofs(discretization.dofs().n_dofs()))
      return false;
    u = discretization.make_vector();
    if (problem->initial_guess() != nullptr)
      VectorTools::interpolate(discretization.mapping(), discretization.dofs(),
                               *problem->initial_guess(), u);
    return true;
  }

  /// Creates mesh, dofs and sparsity pattern. @return false if the study stops before this cycle
  bool begin_cycle(linalg::GroupSystem &system, CycleRecord &record)
  {
    cycle_watch.lap();
    record.cycle = static_cast<unsigned int>(study.cycles.size());
    console.begin_phase("grid");
    const bool is_new_mesh = u.size() == 0;
    if (is_new_mesh) {
      refine_initially(mesh, parameters.mesh.initial_refinements, parameters.mesh.refinement_where,
                       per_block);
      checkpoints.number_cells(mesh);
      check_cells(discretization, console);
    }
    else if (!restored && !refine())
      return false;
    record.seconds["grid"] += watch.lap();
    console.begin_phase("dofs");
    if (is_new_mesh && !initialize_solution())
      return false;
    discretization.make_constraints(*problem);
    discretization.constraints().distribute(u);
    if (!std::exchange(has_checked_measurements, true) && !measurements.empty())
      check_measurements();
    record.seconds["dofs"] += watch.lap();
    begin_system(system, record);
    console.begin_phase("solve");
    return true;
  }

  /// Collective. Writes a checkpoint within the cycle of @p record or, if it is nullptr, between
  /// cycles. @return whether the mesh was made anew, see Cycle::checkpoint
  bool write_checkpoint(const CycleRecord *const record, DriverState &driver)
  {
    console.begin_phase("checkpoint");
    output.finish(comm);
    update_record();
    SavedRun run = {study, output.state(), {}, driver.scalars};
    if (record != nullptr)
      run.cycle = *record;
    else
      run.has_mesh = !parameters.study.is_by_remeshing();
    if (record != nullptr || !parameters.study.is_adaptive())
      indicators.reinit(0); // not needed later
    return checkpoints.write(std::move(run), mesh, discretization, driver.functions, indicators);
  }

  /// Collective. Continues the run of the last checkpoint.
  void restore()
  {
    SavedRun run = std::move(*std::exchange(saved, {}));
    if (!run.has_mesh)
      return;
    mesh.cells_per_block = per_block;
    std::vector<FeVector> functions = checkpoints.restore(run, mesh, discretization, indicators);
    u = discretization.make_vector();
    if (!run.cycle)
      u.swap(functions[0]);
    restored_cycle = std::move(run.cycle);
    if (restored_cycle)
      restored = {std::move(run.driver), std::move(functions)};
    else
      stop_at_target();
  }

  /// Stops the study if the last cycle has reached the target error.
  void stop_at_target()
  {
    const StudyParameters &by = parameters.study;
    if (study.converged() && by.target_error > 0. &&
        study.cycles.back().relative_error(by.target_norm) <= by.target_error)
      stop("target_error", target_reached_text(study.cycles.back(), by));
  }

  /// Makes the pattern of @p system for the present mesh, which @p record describes.
  void begin_system(linalg::GroupSystem &system, CycleRecord &record)
  {
    console.begin_phase("pattern");
    make_pattern(discretization, system);
    describe_unknowns(*problem, discretization,
                      solver_settings.required_dof_data(problem->n_components()), system);
    record.cells = static_cast<std::size_t>(mesh.n_cells());
    record.dofs = discretization.dofs().n_dofs();
    record.nonzeros = system.n_nonzeros();
    study.rows_of_groups = system.rows_of_groups();
    record.h = discretization.largest_diameter();
    record.seconds["pattern"] += watch.lap();
  }

  /// Refines and coarsens the mesh by the indicators within a cycle, see Cycle::adapt. Above
  /// Study/Maximum dofs, only coarsens.
  void adapt(const std::vector<FeVector *> &functions, linalg::GroupSystem &system,
             CycleRecord &record)
  {
    watch.lap();
    console.begin_phase("grid");
    selection.flag(mesh, indicators);
    const std::size_t limit = parameters.study.maximum_dofs;
    if (limit > 0 && min_dofs_after_flags(discretization) > limit)
      for (const auto &cell : mesh.triangulation->active_cell_iterators())
        cell->clear_refine_flag();
    check_size(size_for(cells_after_flags(mesh)), "Time/Adapt every");
    refine_and_transfer(mesh, discretization, functions);
    checkpoints.change_mesh();
    indicators.reinit(0);
    record.seconds["grid"] += watch.lap();
    discretization.make_constraints(*problem);
    record.seconds["dofs"] += watch.lap();
    begin_system(system, record);
  }

  void end_cycle(const CycleRecord &record)
  {
    study.cycles.push_back(record);
    study.cycles.back().total_seconds = cycle_watch.lap();
    if (!study.converged())
      study.stop_reason = "not_converged";
    console.print(cycle_line(study.cycles.back()));
    console.detail(cycle_details(study.cycles.back()));
  }

  /// Makes the mesh of the next cycle and runs the driver of the analysis on it.
  /// @return whether there was another cycle
  bool run_cycle(const linalg::SolverGroups &groups, ProblemSolver<dim> &solver,
                 const StudyObserver &observer)
  {
    CycleRecord record = restored_cycle ? *std::exchange(restored_cycle, {}) : CycleRecord();
    auto system = std::make_unique<linalg::GroupSystem>(groups);
    if (!begin_cycle(*system, record))
      return false;
    if (study.groups.empty()) { // the first cycle of this run
      study.groups = solver.group_solver().locations();
      console.print(study.physics + " in " + dimension_text(*problem) + ", " + study.element +
                    ", " + method_text(study, solver.method()));
    }
    output.finish(comm); // ends the output of the previous cycle: the solve can use all cores
    Cycle<dim> cycle = {
        parameters,        comm, console,      *problem, discretization, clock,  solver,
        std::move(system), u,    measurements, output,   study,          record, watch,
        indicators};
    cycle.restored = std::exchange(restored, {});
    cycle.save = [&] {
      if (!observer)
        return;
      study.cycles.push_back(record);
      update_record();
      observer(study, u);
      study.cycles.pop_back();
    };
    cycle.adapt = [&](const auto &functions) { adapt(functions, *cycle.system, record); };
    cycle.is_checkpoint_due = [&] { return checkpoints.are_due_after_step(); };
    cycle.checkpoint = [&](DriverState &driver) {
      if (!write_checkpoint(&record, driver))
        return;
      discretization.make_constraints(*problem);
      begin_system(*cycle.system, record);
    };
    const std::string &analysis = parameters.run.analysis;
    (analysis == "branch"      ? trace_branch<dim>
     : analysis == "transient" ? integrate_in_time<dim>
                               : solve_stationary<dim>)(cycle);
    end_cycle(record);
    // From the last step, but not from the end of its cycle, a run can continue to a later end.
    const bool is_last = study.cycles.size() >= parameters.study.cycles;
    if (study.converged() && checkpoints.are_enabled() && !(is_last && analysis != "stationary")) {
      DriverState between = {{}, {u}};
      write_checkpoint(nullptr, between);
      solver.group_solver().start_anew();
      u.swap(between.functions[0]);
    }
    stop_at_target();
    return true;
  }

  void run_cycles(const linalg::SolverGroups &groups, const StudyObserver &observer)
  {
    ProblemSolver<dim> solver = problem_solver(groups);
    const std::size_t end =
        parameters.study.is_by_remeshing() ? study.cycles.size() + 1 : parameters.study.cycles;
    while (study.stop_reason.empty() && study.cycles.size() < end) {
      const bool has_run = run_cycle(groups, solver, observer);
      study.peak_device_bytes = solver.group_solver().peak_device_bytes();
      if (observer && has_run) {
        update_record();
        observer(study, u);
      }
    }
    if (study.groups.empty()) // the continued run had finished all cycles
      study.groups = solver.group_solver().locations();
  }

  const Parameters &parameters;
  MPI_Comm comm;
  Console &console;
  StudyRecord &study;
  SolutionOutput<dim> &output;
  Stopwatch &study_watch;
  double seconds_before; ///< that the continued run took
  RunCheckpoints<dim> &checkpoints;
  std::optional<SavedRun> &saved;
  Mesh<dim> mesh;
  WritableClock clock; ///< nullptr unless the analysis is transient
  std::unique_ptr<Problem<dim>> problem;
  SolverSettings solver_settings;
  Discretization<dim> discretization;
  CellSelection<dim> selection;
  Measurements<dim> measurements;
  unsigned int per_block = 1; ///< cells of a block in each direction, in the first mesh
  FeVector u;
  Vector<float> indicators;
  bool has_checked_measurements = false;
  std::optional<DriverState> restored; ///< the state from which the next cycle continues
  std::optional<CycleRecord> restored_cycle;
  Stopwatch watch;       ///< measures the phases of a cycle
  Stopwatch cycle_watch; ///< measures each cycle
};

/// Calls use(study) with the study on its first mesh, and, as long as @p use runs cycles without
/// finishing the record, on the next one. Checks each before. Returns the record.
template <int dim, class Use>
StudyRecord with_study_in(const Parameters &parameters, MPI_Comm communicator, Console &console,
                          const Use &use, const bool continues)
{
  StudyState<dim> state = {{},
                           {parameters.output, parameters.run.analysis != "branch"},
                           {},
                           {parameters, communicator},
                           {}};
  if (continues) {
    state.saved = state.checkpoints.read(console);
    state.record = state.saved->study;
    state.output.restore(state.saved->output);
    state.seconds_before = state.record.total_seconds;
  }
  std::size_t n_cycles = 0;
  do {
    n_cycles = state.record.cycles.size();
    Study<dim> study(parameters, communicator, console, state);
    study.check();
    use(study);
  } while (!state.record.is_finished && state.record.cycles.size() > n_cycles);
  return state.record;
}

template <class Use>
StudyRecord with_study(const Parameters &parameters, MPI_Comm communicator, Console &console,
                       const Use &use, const bool continues = false)
{
  return (parameters.run.dimension == 2
              ? with_study_in<2, Use>
              : with_study_in<3, Use>)(parameters, communicator, console, use, continues);
}
} // namespace

void validate(const Parameters &parameters, MPI_Comm comm, Console &console, const bool draws)
{
  with_study(parameters, comm, console, [&](auto &study) { study.validate(draws); });
}

void check_study(const Parameters &parameters, MPI_Comm communicator, Console &console)
{
  with_study(parameters, communicator, console, [](auto &study) { study.check_solver(); });
}

StudyRecord run_study(const Parameters &parameters, MPI_Comm communicator, Console &console,
                      const StudyObserver &observer, const bool continues)
{
  console.begin_phase("mesh");
  return with_study(
      parameters, communicator, console, [&](auto &study) { study.run(observer); }, continues);
}
} // namespace femgpu
