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
/// Properties of a preconditioner. An option may decide whether M is symmetric: see
/// Preconditioner::is_symmetric().
struct PreconditionerTraits
{
  bool is_fused = false;            ///< M⁻¹ is diagonal and fused into the kernels of solvers
  bool divides_by_diagonal = false; ///< M⁻¹ is the inverse of the diagonal
  bool uses_int_offsets = false;    ///< indexes the entries of A by int, see check_countable()
  bool supports_ghosts = false;     ///< uses ghost columns; if false, it is given a LocalBlock
  bool uses_coordinates = false;    ///< uses the coordinates of nodes, if known
  bool uses_coarser_spaces = false; ///< uses lower degrees and coarser meshes, if known
  bool is_automatic = false;        ///< PreconditionedSolver chooses a preconditioner
  bool has_factors = false;         ///< M⁻¹ has factors; option `values` selects their type
};

extern const BackendRegistry<PreconditionerTraits, Preconditioner> preconditioners;

/// Returns the name of each preconditioner, and its meaning, which lists its options.
std::vector<Choice> preconditioner_choices();

/// Makes the preconditioner that @p text specifies with its options, such as "sai tau=0.8".
/// @throws ParameterError for unknown names and options
std::unique_ptr<Preconditioner> make_preconditioner(const std::string &text, BackendKind backend);

template <class Backend>
void apply_on(const Preconditioner &M, const Executor &executor, Buffer<double> &r,
              Buffer<double> &z);

/// Starts kernels that compute z = M⁻¹r on the executor on which M was set up, and returns without
/// waiting for them. Solvers fuse the action of M into their own kernels instead.
void apply(const Preconditioner &M, const Executor &executor, Buffer<double> &r, Buffer<double> &z);
} // namespace femgpu::linalg

#endif
