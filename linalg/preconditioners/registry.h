#ifndef femgpu_linalg_preconditioners_registry_h
#define femgpu_linalg_preconditioners_registry_h

#include "linalg/execution/backends.h"
#include "linalg/memory/buffer.h"
#include "linalg/preconditioners/preconditioner.h"

#include <memory>
#include <string>
#include <vector>

namespace femgpu::linalg
{
/// Whether M is symmetric, an option may decide: see Preconditioner::is_symmetric().
struct PreconditionerTraits
{
  bool is_fused = false; ///< a function of the row, which is part of the steps of solvers
  bool divides_by_diagonal = false; ///< and nothing else
  bool counts_by_int = false;       ///< entries of A, see check_countable()
  bool takes_ghosts = false;        ///< of rows in parts; others see a part's own block
  bool takes_coordinates = false;   ///< where nodes with several unknowns are, if known
  bool takes_coarser = false;       ///< unknowns of lower degrees and coarser meshes, if known
  bool is_automatic = false;        ///< the first of those that PreconditionedSolver takes
  bool has_factors = false;         ///< whose values can be stored as any of FactorScalars
};

extern const BackendRegistry<PreconditionerTraits, Preconditioner> preconditioners;

/// Names and meanings for listings, with option `values` where there is one.
std::vector<Choice> preconditioner_choices();

/// The preconditioner that @p text names, with its options: "sai tau=0.8". @throws as the registry
std::unique_ptr<Preconditioner> make_preconditioner(const std::string &text, BackendKind backend);

template <class Backend>
void apply_on(const Preconditioner &M, const Executor &executor, Buffer<double> &r,
              Buffer<double> &z);

/// z = M⁻¹r, by steps of its own, on the executor that M was set up on; waits for nothing.
/// Solvers fuse the action of M into their steps instead.
void apply(const Preconditioner &M, const Executor &executor, Buffer<double> &r, Buffer<double> &z);
} // namespace femgpu::linalg

#endif
