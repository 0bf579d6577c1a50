#ifndef femgpu_linalg_steps_batch_h
#define femgpu_linalg_steps_batch_h

#include "linalg/memory/buffer.h"
#include "linalg/steps/batch_shape.h"
#include "linalg/steps/vector_steps.h"
#include "linalg/steps/views.h"

#include <vector>

/**
 * @file
 * Many independent systems, each solved from the first step to the last by one block of a GPU or by
 * one thread of the host.
 *
 * What is done for a system is a program, written once:
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
 * A block has the vectors of its system, zero at first but for x; state(); run(StepList<...>),
 * which runs vector steps (vector_steps.h) once, as long as the state says running;
 * residual<Formulas>(), which makes r = b − A x whatever the state says; change_state(action), in
 * which one thread calls action(state); forget(keeps_x), which sets all vectors to zero, but
 * perhaps not x, and never r; end_run(keeps_x), which makes x that of the system, or takes that one
 * back; and magnitudes<Formulas>(), which gives the rows of |A||x| + |b|, with the x of the system,
 * to Formulas::of_row().
 *
 * BatchRunner<Backend> (host/batch.h, cuda/on_chip/batch.cuh) runs a program for all systems of a
 * batch.
 */
namespace femgpu::linalg
{
/// Steps by their formulas.
template <class... Formulas>
struct StepList
{};

/// One system, in the memory of an executor.
struct BatchSystem
{
  CsrView<double> A;
  const double *b; ///< n
  double *x;       ///< n; the initial guess
};

/// Neighbours in the list of systems that run in blocks of the same shape.
struct BatchGroup
{
  BatchShape shape;
  int first, size;
  std::size_t shared_bytes; ///< that the entries of each of these systems need, or more
};

/// All systems that are solved together, in the order of their groups.
struct SystemBatch
{
  const Executor *executor;
  const Buffer<BatchSystem> *systems;
  const std::vector<BatchGroup> *groups;
  bool uses_diagonal; ///< M = diag(A), or else M = I
};

template <class Backend>
class BatchRunner;
} // namespace femgpu::linalg

#endif
