#ifndef femgpu_linalg_solvers_method_report_h
#define femgpu_linalg_solvers_method_report_h

#include "linalg/operators/matrix.h"
#include "linalg/preconditioners/preconditioner.h"
#include "linalg/solvers/report.h"

#include <cstddef>
#include <string>

/**
 * @file
 * The part of a solver's report that is known before the solve.
 */
namespace femgpu::linalg
{
/// How often an iteration reads or writes A, any vector, and M⁻¹.
struct IterationCost
{
  std::size_t products, vectors, applications;
};

/// Costs of a method with a fused preconditioner, and with any other one.
struct IterationCosts
{
  IterationCost fused, general;
};

/// Returns a report with the names of the methods and the sizes of their data.
/// @param vector_bytes size of a vector
inline SolveReport report_of_method(const Matrix &A, const Preconditioner &M,
                                    const std::string &solver, const IterationCost &cost,
                                    const std::size_t vector_bytes)
{
  SolveReport report;
  MethodReport &method = report.method;
  method.solver = solver;
  method.preconditioner = M.name();
  method.format = A.format();
  method.backend = A.executor()->name();
  method.matrix_stored = A.n_stored();
  method.matrix_bytes = A.bytes();
  method.setup = M.setup_report();
  method.preconditioner_bytes = M.bytes();
  method.bytes_per_iteration =
      cost.products * A.bytes() + cost.vectors * vector_bytes + cost.applications * M.bytes();
  return report;
}

/// Returns a text for reports that names the residual norm and the norm to which it is relative.
inline std::string name_of_norm(const SolveControl &control)
{
  return control.reference == SolveControl::Reference::rhs ? "‖b − A x‖ relative to ‖b‖"
                                                           : "‖b − A x‖ relative to ‖b − A x₀‖";
}
} // namespace femgpu::linalg

#endif
