#ifndef femgpu_linalg_steps_batch_h
#define femgpu_linalg_steps_batch_h

#include "linalg/memory/buffer.h"
#include "linalg/steps/batch_shape.h"
#include "linalg/steps/vector_steps.h"
#include "linalg/steps/views.h"

#include <vector>

/**
 * @file
 * Batches of many independent systems, each solved entirely by one block of a GPU or one thread of
 * the host.
 *
 * The work for a system is a program, written once:
 *
 *     struct Program {
 *       using State = ...;                    // begins with LoopState
 *       using Sums = ...;
 *       using Result = ...;                   // plain data
 *       static constexpr int n_vectors = 4;   // the first two are x and r
 *       template <class Block> FEMGPU_HD static void run(Block &block);
 *       FEMGPU_HD static Result result(const State &state);
 *     };
 *
 * A block holds the vectors of its system; all but x are zero at first. It has
 *
 * - state();
 * - run(StepList<...>), which runs vector steps (vector_steps.h) once, while the state is running;
 * - residual<Formulas>(), which computes r = b − A x whether the state is running or not;
 * - change_state(action), in which one thread calls action(state);
 * - clear_vectors(keeps_x), which sets all vectors but r, and x if it is kept, to zero;
 * - end_run(keeps_x), which stores x in the system's memory, or restores it from there;
 * - magnitudes<Formulas>(), which passes the rows of |A||x| + |b|, with the system's x, to
 *   Formulas::row_sums().
 *
 * BatchRunner<Backend> (host/batch.h, cuda/on_chip/batch.cuh) runs a program for all systems of a
 * batch.
 */
namespace femgpu::linalg
{
/// A list of steps, given by their formulas.
template <class... Formulas>
struct StepList
{};

/// A linear system in the memory of an executor.
struct BatchSystem
{
  CsrView<double> A;
  const double *b; ///< n
  double *x;       ///< n; initially the initial guess
};

/// Consecutive systems that run in blocks of the same shape.
struct BatchGroup
{
  BatchShape shape;
  int first, size;
  std::size_t shared_bytes; ///< maximum over the systems for their entries
};

/// The systems that are solved together, in the order of their groups.
struct SystemBatch
{
  const Executor *executor;
  const Buffer<BatchSystem> *systems;
  const std::vector<BatchGroup> *groups;
  bool uses_diagonal; ///< M = diag(A), otherwise M = I
};

template <class Backend>
class BatchRunner;
} // namespace femgpu::linalg

#endif
