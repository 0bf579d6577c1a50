#ifndef femgpu_linalg_solvers_registry_h
#define femgpu_linalg_solvers_registry_h

#include "linalg/execution/backends.h"
#include "linalg/solvers/linear_solver_options.h"
#include "linalg/solvers/solver.h"

#include <memory>
#include <string>

namespace femgpu::linalg
{
struct SolverTraits
{
  bool needs_symmetry = false; ///< A and M must be symmetric
  bool supports_batch = false; ///< Solver::batch() is implemented
  bool supports_resident_loop =
      false; ///< can keep its vectors on the chip of a GPU if M is fused and they fit
  bool supports_block = false; ///< Solver::block() is implemented
  bool estimates_energy_error =
      false;              ///< estimates its error in the energy norm, and can stop at a given error
  bool is_direct = false; ///< factorises A, which must be on one rank, and does not iterate
  const char *preconditioner = nullptr; ///< the only supported preconditioner; nullptr: any
};

extern const BackendRegistry<SolverTraits, Solver> solvers;

/// Checks that @p solver, a name with options, can stop at the energy error.
/// @throws ParameterError if it cannot
inline void require_energy_error(const std::string &solver)
{
  const auto &entry = solvers.entry_of(solver);
  if (!entry.traits.estimates_energy_error)
    throw ParameterError(
        "Solver '" + std::string(entry.name) +
            "' cannot stop at the energy error, because it does not estimate this error. Use " +
            solvers.names_with(&SolverTraits::estimates_energy_error) +
            ", or stop at the residual.",
        "energy tolerance");
}

inline std::unique_ptr<Solver> make_solver(const std::string &text, const BackendKind backend)
{
  return solvers.make(text, backend);
}

/// Returns options.preconditioner or, if this is `auto` and the solver supports only one
/// preconditioner, the supported one. For a direct solver, returns `identity`.
/// @throws ParameterError if the solver does not support options.preconditioner
std::string preconditioner_of(const LinearSolverOptions &options);

/// Checks that M is symmetric if @p solver needs a symmetric M.
/// @throws ParameterError if it is not
inline void check_symmetry(const std::string &solver, const Preconditioner &M)
{
  if (solvers.traits(solver).needs_symmetry)
    require_symmetric(solver, M);
}
} // namespace femgpu::linalg

#endif
