#ifndef femgpu_linalg_nonlinear_branch_tracer_h
#define femgpu_linalg_nonlinear_branch_tracer_h

#include "linalg/nonlinear/branch_corrector.h"
#include "linalg/nonlinear/continuation_options.h"

#include <functional>
#include <string>
#include <vector>

namespace femgpu::linalg
{
/**
 * Walks along a branch of solutions: predicts along the tangent, corrects, chooses the steps, finds
 * folds and the values of λ that were asked for (Keller 1977; Allgower and Georg 1990, chapters 6,
 * 9 and 10). Knows points only through the corrector, so that it runs on the host for any backend.
 */
class BranchTracer
{
public:
  /// Gets a point and what is known of it, but what depends on x alone; fills that in.
  using Emit = std::function<void(const BranchPoint &, BranchRecord &)>;

  /// @param options checked already
  BranchTracer(BranchCorrector &corrector, const ContinuationOptions &options,
               const RowSpace &space, Emit emit);

  /// Where the initial guess is put.
  BranchPoint &start()
  {
    return here;
  }

  ContinuationReport trace();

private:
  bool begin();
  void take_step();
  Correction try_step();
  Correction find_fold(const BranchPoint *&fold);
  Correction correct_trial(BranchPoint &p, const BranchPoint &left, const BranchPoint &right);
  void pass_targets(const BranchPoint &from, const BranchPoint &to);
  void emit_target(const BranchPoint &from, const BranchPoint &to, double lambda);
  void accept(const Correction &correction);
  void emit(const BranchPoint &p, BranchRecord::Kind kind, const Correction &correction);
  void count(const Correction &correction);
  void end(Outcome outcome, const std::string &message);
  void end_at_limit();
  double lambda_end() const;
  BranchPoint &free_trial(const BranchPoint *left, const BranchPoint *right);

  BranchCorrector &corrector;
  const ContinuationOptions &options;
  Emit emit_point;
  BranchPoint here, next;
  BranchPoint trials[3]; // on the way to a fold
  BranchPoint target;
  double step;
  double arclength = 0.; // of here
  int folds = 0;
  bool is_running = true;
  ContinuationReport report;
};
} // namespace femgpu::linalg

#endif
