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
 * The block holds the vectors of its system; all vectors but x are zero at first. A block has
 *
 * - state(), the State of the system;
 * - run(StepList<...>), which runs vector steps (vector_steps.h) once if state().running is true;
 * - residual<Formulas>(), which computes r = b − A x whether state().running is true or not;
 * - change_state(action), in which one thread calls action(state);
 * - clear_vectors(keeps_x), which sets all vectors to zero except r, and x if keeps_x is true;
 * - end_run(keeps_x), which stores x in the system's memory if keeps_x is true, and otherwise
 *   restores x from there;
 * - magnitudes<Formulas>(), which passes each entry of |A||x| + |b|, with x from the system's
 *   memory, to Formulas::row_sums().
 *
 * BatchRunner<Backend> (host/batch.h, cuda/on_chip/batch.cuh) runs a program for all systems of a
 * batch.
 */
namespace femgpu::linalg
{
/// A list of vector steps, each given by its formulas.
template <class... Formulas>
struct StepList
{};

/// A linear system in the memory of an executor.
struct BatchSystem
{
  CsrView<double> A;
  const double *b; ///< n numbers
  double *x;       ///< n numbers: first the initial guess, then the solution
};

/// Consecutive systems that run in blocks of the same shape.
struct BatchGroup
{
  BatchShape shape;
  int first, size;
  std::size_t shared_bytes; ///< shared memory of a block, enough for the matrix of each system
};

/// The systems that are solved together, in the order of their groups.
struct SystemBatch
{
  const Executor *executor;
  const Buffer<BatchSystem> *systems;
  const std::vector<BatchGroup> *groups;
  bool uses_diagonal; ///< the preconditioner is M = diag(A); false: M = I
};

template <class Backend>
class BatchRunner;
} // namespace femgpu::linalg

#endif
