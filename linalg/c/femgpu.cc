#include "linalg/c/femgpu.h"

#include "linalg/base/error.h"
#include "linalg/direct_fallback.h"
#include "linalg/execution/make_executor.h"
#include "linalg/linear_solver.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

using namespace femgpu;
using namespace femgpu::linalg;

struct femgpu_solver
{
  std::string backend = "auto";
  Resources resources;
  LinearSolverOptions options;
  UnknownsPtr unknowns = default_unknowns;

  ExecutorPtr executor, next_executor; ///< next_executor: nullptr after a change of its options
  std::unique_ptr<LinearSolver> solver;
  HostCsr host_matrix;
  DeviceCsr device_matrix;
  bool is_on_device = false;

  SolveReport report;
  std::string error;
  mutable std::string text; ///< the last result of femgpu_report_text()
};

namespace
{
/// Runs @p work and stores the message of an error.
template <class Work>
femgpu_status run(femgpu_solver *const solver, const Work &work) noexcept
{
  if (solver == nullptr)
    return FEMGPU_PARAMETER_ERROR;
  try {
    try {
      solver->error.clear();
      work(*solver);
      return solver->error.empty() ? FEMGPU_OK : FEMGPU_NOT_CONVERGED;
    }
    catch (const Error &error) {
      solver->error = error.what();
      return static_cast<femgpu_status>(error.code());
    }
    catch (const std::bad_alloc &) {
      solver->error = "The host does not have enough memory.";
      return FEMGPU_DEVICE_ERROR;
    }
    catch (const std::exception &error) {
      solver->error = error.what();
      return FEMGPU_OTHER_ERROR;
    }
  }
  catch (...) { // no memory for the message, or an exception of another library
    return FEMGPU_OTHER_ERROR;
  }
}

void require_vectors(const femgpu_solver &s, const void *const first, const void *const second)
{
  if ((first == nullptr || second == nullptr) && s.solver && s.solver->n() > 0)
    throw InputError("A vector is NULL.");
}

/// Returns the executor for the next matrix.
const ExecutorPtr &executor_for_matrix(femgpu_solver &s)
{
  if (!s.next_executor)
    s.next_executor = make_executor(backend_for(s.options.solver, s.backend), s.resources);
  return s.next_executor;
}

LinearSolver &solver_of(const femgpu_solver &s)
{
  if (!s.solver)
    throw SolverError("The solver has no matrix. Call femgpu_set_matrix() first.");
  return *s.solver;
}

double number_of(const std::string &name, const std::string &value)
{
  std::size_t length = 0;
  double number = std::numeric_limits<double>::quiet_NaN();
  try {
    number = std::stod(value, &length);
  }
  catch (const std::exception &) { // NOLINT(bugprone-empty-catch): the number remains NaN
  }
  if (length != value.size() || !(number >= 0.) || std::isinf(number))
    throw ParameterError("Option '" + name + "' needs a non-negative number, not '" + value + "'.");
  return number;
}

/// The functions that set each option.
using Setter = std::function<void(femgpu_solver &, const std::string &value)>;

const std::map<std::string, Setter> &setters()
{
  static const auto number = [](const std::string &name, auto &&assign) -> Setter {
    return [name, assign](femgpu_solver &s, const std::string &value) {
      assign(s, number_of(name, value));
    };
  };
  static const std::map<std::string, Setter> all = {
      {"backend",
       [](auto &s, const auto &value) {
         s.backend = value;
         s.next_executor.reset();
       }},
      {"solver",
       [](auto &s, const auto &value) {
         s.options.solver = value;
         s.next_executor.reset();
       }},
      {"preconditioner", [](auto &s, const auto &value) { s.options.preconditioner = value; }},
      {"format", [](auto &s, const auto &value) { s.options.format = value; }},
      {"scaling", [](auto &s, const auto &value) { s.options.scaling = value; }},
      {"ordering", [](auto &s, const auto &value) { s.options.ordering = value; }},
      {"threads", number("threads",
                         [](auto &s, const double value) {
                           s.resources.threads = static_cast<unsigned int>(value);
                           s.next_executor.reset();
                         })},
      {"memory", number("memory",
                        [](auto &s, const double value) {
                          s.resources.memory = static_cast<std::size_t>(value);
                          s.next_executor.reset();
                        })},
      {"relative-tolerance",
       number("relative-tolerance",
              [](auto &s, const double value) { s.options.control.relative_tolerance = value; })},
      {"absolute-tolerance",
       number("absolute-tolerance",
              [](auto &s, const double value) { s.options.control.absolute_tolerance = value; })},
      {"max-iterations", number("max-iterations", [](auto &s, const double value) {
         s.options.control.max_iterations = static_cast<int>(
             std::min(value, static_cast<double>(std::numeric_limits<int>::max())));
       })}};
  return all;
}

void set_option(femgpu_solver &s, const std::string &name, const std::string &value)
{
  const auto setter = setters().find(name);
  if (setter == setters().end()) {
    std::string names;
    for (const auto &option : setters())
      names += (names.empty() ? "" : ", ") + option.first;
    throw ParameterError("Unknown option '" + name + "'; use one of " + names + ".");
  }
  setter->second(s, value);
  if (s.solver)
    s.solver->control() = s.options.control;
}

void set_matrix(femgpu_solver &s, const int n, const int *const row_starts,
                const int *const columns, const double *const values)
{
  s.solver.reset();
  s.executor = executor_for_matrix(s);
  if (n < 0 || row_starts == nullptr || (n > 0 && (columns == nullptr || values == nullptr)))
    throw InputError("A matrix needs a non-negative number of rows and three arrays.");
  auto solver = std::make_unique<LinearSolver>(s.executor, s.options);
  s.is_on_device = s.executor->is_device_memory(row_starts);
  int n_nonzeros = 0;
  if (s.is_on_device)
    s.executor->copy_to_host(&n_nonzeros, row_starts + n, sizeof(int));
  else
    n_nonzeros = row_starts[n];
  if (n_nonzeros < 0)
    throw InputError("The row starts of a matrix end at " + std::to_string(n_nonzeros) +
                     ". A matrix may have up to 2147483647 entries.");
  const auto size = static_cast<std::size_t>(n_nonzeros);
  if (s.is_on_device) {
    s.device_matrix = {n, size, row_starts, columns, values, s.unknowns};
    check_csr(*s.executor, s.device_matrix);
    solver->set_matrix(s.device_matrix, false);
  }
  else {
    s.host_matrix = {n, size, row_starts, columns, values, s.unknowns};
    check_csr(s.host_matrix);
    solver->set_matrix(s.host_matrix, false);
  }
  s.solver = std::move(solver);
}

/// Calls @p f with the name and the value of each member of the report.
template <class Function>
void for_each_report_member(const femgpu_solver &s, const Function &f)
{
  SolveReport::for_each_member(f, s.report);
}
} // namespace

extern "C" {
const char *femgpu_version()
{
  return FEMGPU_VERSION;
}

femgpu_solver *femgpu_create()
{
  try {
    return new femgpu_solver;
  }
  catch (...) {
    return nullptr;
  }
}

void femgpu_destroy(femgpu_solver *const solver)
{
  delete solver;
}

const char *femgpu_error(const femgpu_solver *const solver)
{
  return solver == nullptr ? "The solver is NULL." : solver->error.c_str();
}

femgpu_status femgpu_set_option(femgpu_solver *const solver, const char *const name,
                                const char *const value)
{
  return run(solver, [&](femgpu_solver &s) {
    if (name == nullptr || value == nullptr)
      throw ParameterError("An option needs a name and a value, but one of them is NULL.");
    set_option(s, name, value);
  });
}

femgpu_status femgpu_set_unknowns(femgpu_solver *const solver, const int per_node,
                                  const int dimension, const int n, const double *const coordinates)
{
  return run(solver, [&](femgpu_solver &s) {
    if (per_node < 0 || dimension < 0 || dimension > 3 || n < 0 ||
        (dimension > 0 && coordinates == nullptr))
      throw ParameterError("Unknowns need a non-negative number of unknowns for each node, up to 3 "
                           "coordinates, and an array of coordinates if there are any.");
    auto unknowns = std::make_shared<Unknowns>(*s.unknowns);
    unknowns->coordinates.clear();
    unknowns->per_node = per_node;
    unknowns->dimension = dimension;
    if (dimension > 0)
      unknowns->coordinates.assign(coordinates,
                                   coordinates + static_cast<std::size_t>(n) * dimension);
    s.unknowns = std::move(unknowns);
  });
}

femgpu_status femgpu_set_near_null(femgpu_solver *const solver, const int n_vectors, const int n,
                                   const double *const vectors)
{
  return run(solver, [&](femgpu_solver &s) {
    if (n_vectors < 0 || n < 0 || (n_vectors > 0 && vectors == nullptr))
      throw ParameterError(
          "Near-null vectors need a non-negative number of vectors and of rows, and "
          "an array if there are any.");
    auto unknowns = std::make_shared<Unknowns>(*s.unknowns);
    unknowns->n_near_null = n_vectors;
    unknowns->near_null.clear();
    if (n_vectors > 0)
      unknowns->near_null.assign(vectors, vectors + static_cast<std::size_t>(n) * n_vectors);
    s.unknowns = std::move(unknowns);
  });
}

femgpu_status femgpu_set_matrix(femgpu_solver *const solver, const int n,
                                const int *const row_starts, const int *const columns,
                                const double *const values)
{
  return run(solver, [&](femgpu_solver &s) { set_matrix(s, n, row_starts, columns, values); });
}

femgpu_status femgpu_update(femgpu_solver *const solver, const double *const values)
{
  return run(solver, [&](femgpu_solver &s) {
    LinearSolver &linear = solver_of(s);
    require_vectors(s, values, values);
    s.device_matrix.values = s.host_matrix.values = values;
    if (s.is_on_device)
      linear.set_matrix(s.device_matrix, true);
    else
      linear.set_matrix(s.host_matrix, true);
  });
}

femgpu_status femgpu_solve(femgpu_solver *const solver, const double *const b, double *const x)
{
  return run(solver, [&](femgpu_solver &s) {
    s.report = {};
    require_vectors(s, b, x);
    s.report = solver_of(s).solve(b, x);
    if (!s.report.converged())
      s.error = s.report.message;
  });
}

femgpu_status femgpu_solve_columns(femgpu_solver *const solver, const int n_columns,
                                   const double *const B, double *const X)
{
  return run(solver, [&](femgpu_solver &s) {
    s.report = {};
    if (n_columns < 1)
      throw ParameterError("There must be at least one right-hand side, but there are " +
                           std::to_string(n_columns) + ".");
    require_vectors(s, B, X);
    for (SolveReport &report : solver_of(s).solve(B, X, n_columns)) {
      s.report = std::move(report);
      if (!s.report.converged()) {
        s.error = s.report.message;
        return;
      }
    }
  });
}

femgpu_status femgpu_multiply(femgpu_solver *const solver, const double *const x, double *const y)
{
  return run(solver, [&](femgpu_solver &s) {
    require_vectors(s, x, y);
    solver_of(s).multiply(x, y);
  });
}

femgpu_status femgpu_precondition(femgpu_solver *const solver, const double *const r,
                                  double *const z)
{
  return run(solver, [&](femgpu_solver &s) {
    require_vectors(s, r, z);
    solver_of(s).precondition(r, z);
  });
}

femgpu_status femgpu_wait_for_stream(femgpu_solver *const solver, void *const stream)
{
  return run(solver, [&](femgpu_solver &s) {
    executor_for_matrix(s)->wait_for(stream);
    if (s.executor && s.executor != s.next_executor)
      s.executor->wait_for(stream);
  });
}

double femgpu_report_number(const femgpu_solver *const solver, const char *const name)
{
  double result = std::numeric_limits<double>::quiet_NaN();
  if (solver != nullptr && name != nullptr)
    for_each_report_member(*solver, [&](const char *const member, const auto &value) {
      if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>)
        if (std::string_view(member) == name)
          result = static_cast<double>(value);
    });
  return result;
}

const char *femgpu_report_text(const femgpu_solver *const solver, const char *const name)
{
  if (solver == nullptr || name == nullptr)
    return "";
  try {
    solver->text.clear();
    for_each_report_member(*solver, [&](const char *const member, const auto &value) {
      using Value = std::decay_t<decltype(value)>;
      if (std::string_view(member) != name)
        return;
      if constexpr (std::is_same_v<Value, Outcome>)
        solver->text = to_string(value);
      else if constexpr (std::is_same_v<Value, std::string>)
        solver->text = value;
    });
    return solver->text.c_str();
  }
  catch (...) {
    return "";
  }
}
} // extern "C"
