#include "linalg/base/error.h"
#include "linalg/batch_solver.h"
#include "linalg/direct_fallback.h"
#include "linalg/execution/backends.h"
#include "linalg/execution/make_executor.h"
#include "linalg/linear_solver.h"
#include "linalg/method_plan.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/registry.h"
#include "linalg/sparse/symmetry.h"
#include "linalg/transformations/registry.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/**
 * @file
 * The module femgpu._core: LinearSolver for arrays of any library that supports DLPack. The package
 * femgpu (python/femgpu/) converts matrices and vectors to what this module takes.
 */
namespace nb = nanobind;
using namespace nb::literals;

namespace femgpu::linalg
{
namespace
{
using Indices = nb::ndarray<const int, nb::ndim<1>, nb::c_contig>;
using Values = nb::ndarray<const double, nb::ndim<1>, nb::c_contig>;
using Result = nb::ndarray<double, nb::ndim<1>, nb::c_contig>;

/// Returns whether the host cannot read @p array. Throws if it is in the memory of another device
/// than the executor's.
template <class Array>
bool is_on_device(const Executor &executor, const Array &array)
{
  const int type = array.device_type();
  if (type == nb::device::cpu::value || type == nb::device::cuda_host::value)
    return false;
  const std::string place = "cuda:" + std::to_string(array.device_id());
  if (type != nb::device::cuda::value && type != nb::device::cuda_managed::value)
    throw InputError("An array is in memory of an unknown kind. Use arrays in host memory or on a "
                     "CUDA device.");
  if (executor.name() != place)
    throw InputError("An array is on " + place + ", but the solver runs on " + executor.name() +
                     ". Use backend='" + place + "', or copy the array.");
  return true;
}

/// The arrays of a CSR matrix, which this object keeps alive.
struct Arrays
{
  Indices row_starts, columns;
  Values values;
};

void check_sizes(const Indices &row_starts, const Indices &columns, const Values &values)
{
  if (row_starts.size() == 0 || columns.size() != values.size())
    throw InputError(
        "A CSR matrix needs n + 1 row starts, and as many columns as values, but has " +
        std::to_string(row_starts.size()) + ", " + std::to_string(columns.size()) + " and " +
        std::to_string(values.size()) + ".");
}

/// Returns the members of a report as a dictionary.
template <class Report>
nb::dict members_of(const Report &report)
{
  nb::dict members;
  Report::for_each_member(
      [&](const char *const name, const auto &value) {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, Outcome>)
          members[name] = to_string(value);
        else if constexpr (std::is_arithmetic_v<Value> || std::is_same_v<Value, std::string>)
          members[name] = value;
        else {
          nb::list list;
          for (const auto &element : value)
            list.append(members_of(element));
          members[name] = list;
        }
      },
      report);
  return members;
}

/// A matrix of arrays, in host memory or in the memory of the executor's device, and a solver for
/// it and for matrices with its pattern.
class ArraySolver
{
public:
  ArraySolver(const std::string &backend, const unsigned int threads, const std::size_t memory)
      : executor(make_executor(backend, {threads, memory}))
  {}

  /// @param coordinates n × dimension numbers in host memory, row by row
  /// @param near_null n × n_near_null numbers in host memory, row by row
  void set_unknowns(const int per_node, const int dimension, const Values &coordinates,
                    const int n_near_null, const Values &near_null)
  {
    auto properties = std::make_shared<Unknowns>();
    properties->per_node = per_node;
    properties->dimension = dimension;
    properties->coordinates.assign(coordinates.data(), coordinates.data() + coordinates.size());
    properties->n_near_null = n_near_null;
    properties->near_null.assign(near_null.data(), near_null.data() + near_null.size());
    unknowns = std::move(properties);
  }

  void set_matrix(Indices row_starts, Indices columns, Values values)
  {
    check_sizes(row_starts, columns, values);
    on_device = is_on_device(*executor, values);
    if (is_on_device(*executor, row_starts) != on_device ||
        is_on_device(*executor, columns) != on_device)
      throw InputError("The three arrays of a CSR matrix must be in the same memory.");
    arrays = {std::move(row_starts), std::move(columns), std::move(values)};
    const nb::gil_scoped_release release;
    if (on_device)
      check_csr(*executor, device_csr());
    else
      check_csr(host_csr());
  }

  bool is_symmetric() const
  {
    const nb::gil_scoped_release release;
    return equals_own_transpose(stored_matrix());
  }

  /// Returns the methods with which to try to solve systems with the matrix, best first, each as
  /// (solver, preconditioner, scaling, iteration limit or 0).
  nb::list plan() const
  {
    std::vector<Methods> attempts;
    {
      const nb::gil_scoped_release release;
      attempts = plan_methods(traits(), n());
    }
    nb::list result;
    for (const Methods &methods : attempts)
      result.append(nb::make_tuple(
          methods.solver, methods.preconditioner.empty() ? "identity" : methods.preconditioner,
          methods.scaling, methods.max_iterations));
    return result;
  }

  /// Sets up methods for the matrix.
  void set_up(LinearSolverOptions options)
  {
    const nb::gil_scoped_release release;
    solver.reset(); // frees memory first
    auto new_solver = std::make_unique<LinearSolver>(executor, std::move(options));
    if (on_device)
      new_solver->set_matrix(device_csr(), false);
    else
      new_solver->set_matrix(host_csr(), false);
    solver = std::move(new_solver);
  }

  void update(Values values)
  {
    if (values.size() != arrays.values.size())
      throw InputError("The matrix has " + std::to_string(arrays.values.size()) +
                       " entries, but there are " + std::to_string(values.size()) + " new values.");
    if (is_on_device(*executor, values) != on_device)
      throw InputError("New values must be in the same memory as the matrix.");
    require_solver();
    arrays.values = std::move(values);
    const nb::gil_scoped_release release;
    if (on_device)
      solver->set_matrix(device_csr(), true);
    else
      solver->set_matrix(host_csr(), true);
  }

  /// Solves for @p n_columns right-hand sides, which follow each other in b. Returns for each
  /// whether the solve was a success, the members of its report, and its history.
  nb::list solve(const Values &b, Result &x, const int n_columns, const double relative_tolerance,
                 const double absolute_tolerance, const int max_iterations)
  {
    require_size(b, x, n_columns);
    require_solver();
    solver->control().relative_tolerance = relative_tolerance;
    solver->control().absolute_tolerance = absolute_tolerance;
    solver->control().max_iterations = max_iterations;
    std::vector<SolveReport> reports;
    {
      const nb::gil_scoped_release release;
      reports = solver->solve(b.data(), x.data(), n_columns);
    }
    nb::list result;
    for (const SolveReport &report : reports)
      result.append(nb::make_tuple(report.converged(), members_of(report), report.history));
    return result;
  }

  void multiply(const Values &x, Result &y)
  {
    require_size(x, y, 1);
    require_solver();
    const nb::gil_scoped_release release;
    solver->multiply(x.data(), y.data());
  }

  void precondition(const Values &r, Result &z)
  {
    require_size(r, z, 1);
    require_solver();
    const nb::gil_scoped_release release;
    solver->precondition(r.data(), z.data());
  }

  const Executor &device() const
  {
    return *executor;
  }

private:
  int n() const
  {
    return static_cast<int>(arrays.row_starts.size()) - 1;
  }
  void require_solver() const
  {
    if (!solver)
      throw SolverError("The last set-up of the solver has failed. Make a new one.");
  }
  void require_size(const Values &from, const Result &to, const int n_columns) const
  {
    is_on_device(*executor, from);
    is_on_device(*executor, to);
    if (n_columns < 1 || static_cast<std::size_t>(n()) * n_columns != from.size() ||
        from.size() != to.size())
      throw InputError("The matrix has " + std::to_string(n()) + " rows, but " +
                       std::to_string(n_columns) + " vectors have " + std::to_string(from.size()) +
                       " and " + std::to_string(to.size()) + " numbers.");
  }
  HostCsr host_csr() const
  {
    HostCsr A;
    A.n = n();
    A.n_nonzeros = arrays.values.size();
    A.row_starts = arrays.row_starts.data();
    A.columns = arrays.columns.data();
    A.values = arrays.values.data();
    A.unknowns = unknowns;
    return A;
  }
  DeviceCsr device_csr() const
  {
    return {n(),
            arrays.values.size(),
            arrays.row_starts.data(),
            arrays.columns.data(),
            arrays.values.data(),
            unknowns};
  }

  CsrMatrix stored_matrix() const
  {
    const auto rows = std::make_shared<RowSpace>(executor, n());
    const HostCsr view{n(), arrays.values.size(), arrays.row_starts.data(), arrays.columns.data(),
                       arrays.values.data()};
    return {rows, rows, view,
            on_device || executor->backend() == BackendKind::host ? MemoryLocation::source
                                                                  : MemoryLocation::executor};
  }
  bool equals_own_transpose(const CsrMatrix &A) const
  {
    return on_backend(executor->backend(), [&](const auto on) {
      return equals_transpose<typename decltype(on)::Backend>(A);
    });
  }
  MatrixTraits traits() const
  {
    const CsrMatrix A = stored_matrix();
    MatrixTraits result;
    result.is_symmetric = equals_own_transpose(A);
    Vector<double> diagonal(A.range());
    A.get_diagonal(diagonal);
    for (const double a_ii : diagonal.rows_on_host()) {
      result.diagonal.n_zeros += a_ii == 0. ? 1 : 0;
      result.diagonal.n_negative += a_ii < 0. ? 1 : 0;
    }
    if (result.diagonal.n_zeros > 0) {
      HostMatrix copy;
      copy.n = A.n();
      copy.row_starts = A.host_row_starts();
      copy.columns = A.host_columns();
      copy.values = A.host_values();
      result.has_zero_row = has_zero_row(copy.csr());
    }
    return result;
  }

  ExecutorPtr executor;
  UnknownsPtr unknowns = default_unknowns;
  Arrays arrays;
  bool on_device = false;               ///< the arrays are in memory of the executor's device
  std::unique_ptr<LinearSolver> solver; ///< nullptr before set_up()
};

/// Solves many systems together. The arrays are in host memory; b and x contain the vectors of the
/// systems one after the other. Returns for each system what ArraySolver::solve() returns.
nb::list solve_batch(const std::string &backend, const unsigned int threads,
                     const std::size_t memory, const LinearSolverOptions &options,
                     const std::vector<Indices> &row_starts, const std::vector<Indices> &columns,
                     const std::vector<Values> &values, const Values &b, Result &x)
{
  const ExecutorPtr executor = make_executor(backend, {threads, memory});
  std::vector<HostCsr> matrices;
  std::size_t n_rows = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    check_sizes(row_starts[k], columns[k], values[k]);
    const int n = static_cast<int>(row_starts[k].size()) - 1;
    const HostCsr &A = matrices.emplace_back(
        HostCsr{n, values[k].size(), row_starts[k].data(), columns[k].data(), values[k].data()});
    if (k == 0 || row_starts[k].data() != row_starts[k - 1].data() ||
        columns[k].data() != columns[k - 1].data())
      check_csr(A);
    n_rows += static_cast<std::size_t>(n);
  }
  if (b.size() != n_rows || x.size() != n_rows)
    throw InputError("The systems have " + std::to_string(n_rows) + " rows together, but b has " +
                     std::to_string(b.size()) + ".");
  BatchReport report;
  {
    const nb::gil_scoped_release release;
    BatchSolver solver(executor, options);
    solver.set_matrices(matrices);
    report = solver.solve(b.data(), x.data());
  }
  nb::list result;
  for (const SystemReport &system : report.systems) {
    nb::dict members = members_of<SolveResult>(system);
    members.update(members_of(report.method));
    result.append(nb::make_tuple(system.converged(), members, std::vector<double>()));
  }
  return result;
}

/// Makes Python exceptions of our own: each class of errors is one of the module.
void translate_errors(nb::module_ &module)
{
  static nb::handle base, parameter, input, solver, device;
  const auto make = [&](const char *const name, const nb::handle parent) {
    const std::string full = std::string("femgpu.") + name;
    const nb::object type = nb::steal(PyErr_NewException(full.c_str(), parent.ptr(), nullptr));
    module.attr(name) = type;
    return nb::handle(module.attr(name).ptr());
  };
  base = make("Error", PyExc_RuntimeError);
  parameter = make("ParameterError", base);
  input = make("InputError", base);
  solver = make("SolverError", base);
  device = make("DeviceError", base);
  nb::register_exception_translator([](const std::exception_ptr &pointer, void *) {
    try {
      std::rethrow_exception(pointer);
    }
    catch (const Error &error) {
      const ExitCode code = error.code();
      const nb::handle type = code == ExitCode::parameter       ? parameter
                              : code == ExitCode::input         ? input
                              : code == ExitCode::not_converged ? solver
                              : code == ExitCode::device        ? device
                                                                : base;
      PyErr_SetString(type.ptr(), error.what());
    }
  });
}
} // namespace
} // namespace femgpu::linalg

NB_MODULE(_core, module)
{
  using namespace femgpu;
  using namespace femgpu::linalg;
  module.doc() = "The compiled part of femgpu.";
  module.attr("version") = FEMGPU_VERSION;
  translate_errors(module);
  module.def("n_cuda_devices", &n_cuda_devices);
  module.def(
      "solve_batch",
      [](const std::string &backend, const unsigned int threads, const std::size_t memory,
         std::string solver, std::string preconditioner, const double relative_tolerance,
         const double absolute_tolerance, const int max_iterations,
         const std::vector<Indices> &row_starts, const std::vector<Indices> &columns,
         const std::vector<Values> &values, const Values &b, Result &x) {
        LinearSolverOptions options;
        options.solver = std::move(solver);
        options.preconditioner = std::move(preconditioner);
        options.control.relative_tolerance = relative_tolerance;
        options.control.absolute_tolerance = absolute_tolerance;
        options.control.max_iterations = max_iterations;
        return solve_batch(backend, threads, memory, options, row_starts, columns, values, b, x);
      },
      "backend"_a, "threads"_a, "memory"_a, "solver"_a, "preconditioner"_a, "relative_tolerance"_a,
      "absolute_tolerance"_a, "max_iterations"_a, "row_starts"_a, "columns"_a, "values"_a, "b"_a,
      "x"_a);
  module.def("backend_for", &backend_for, "solver"_a, "backend"_a);
  module.def(
      "preserves_symmetry",
      [](const std::string &scaling) { return scalings.find(scaling).traits.preserves_symmetry; },
      "scaling"_a);
  module.def(
      "needs_symmetry",
      [](const std::string &solver) { return solvers.traits(solver).needs_symmetry; }, "solver"_a);
  nb::class_<ArraySolver>(module, "Solver")
      .def(nb::init<const std::string &, unsigned int, std::size_t>(), "backend"_a, "threads"_a,
           "memory"_a)
      .def("set_unknowns", &ArraySolver::set_unknowns, "per_node"_a, "dimension"_a, "coordinates"_a,
           "n_near_null"_a, "near_null"_a)
      .def("set_matrix", &ArraySolver::set_matrix, "row_starts"_a, "columns"_a, "values"_a)
      .def("is_symmetric", &ArraySolver::is_symmetric)
      .def("plan", &ArraySolver::plan)
      .def(
          "set_up",
          [](ArraySolver &array_solver, std::string solver, std::string preconditioner,
             std::string scaling, std::string ordering, std::string format) {
            LinearSolverOptions options;
            options.solver = std::move(solver);
            options.preconditioner = std::move(preconditioner);
            options.scaling = std::move(scaling);
            options.ordering = std::move(ordering);
            options.format = std::move(format);
            array_solver.set_up(std::move(options));
          },
          "solver"_a, "preconditioner"_a, "scaling"_a, "ordering"_a, "format"_a)
      .def("update", &ArraySolver::update, "values"_a)
      .def("solve", &ArraySolver::solve, "b"_a, "x"_a, "n_columns"_a, "relative_tolerance"_a,
           "absolute_tolerance"_a, "max_iterations"_a)
      .def("multiply", &ArraySolver::multiply, "x"_a, "y"_a)
      .def("precondition", &ArraySolver::precondition, "r"_a, "z"_a)
      .def(
          "wait_for",
          [](const ArraySolver &solver, const std::uintptr_t stream) {
            // Python passes the handle of a stream as a number.
            // NOLINTNEXTLINE(performance-no-int-to-ptr)
            solver.device().wait_for(reinterpret_cast<void *>(stream));
          },
          "stream"_a)
      .def_prop_ro("stream",
                   [](const ArraySolver &solver) {
                     return reinterpret_cast<std::uintptr_t>(solver.device().stream_handle());
                   })
      .def_prop_ro("backend", [](const ArraySolver &solver) { return solver.device().name(); })
      .def_prop_ro("peak_bytes",
                   [](const ArraySolver &solver) { return solver.device().peak_bytes(); })
      .def_prop_ro("bytes_to_host",
                   [](const ArraySolver &solver) { return solver.device().bytes_to_host(); });
}
