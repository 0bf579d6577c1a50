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
 * Traces a branch of solutions: predicts along the tangent, corrects, chooses step lengths, and
 * finds folds and requested values of λ (Keller 1977; Allgower and Georg 1990, chapters 6, 9 and
 * 10). Accesses points through the corrector only, so that it runs on the host for any backend.
 */
class BranchTracer
{
public:
  /// Receives a point and its record, and fills in the members of the record that depend on x
  /// alone.
  using Emit = std::function<void(const BranchPoint &, BranchRecord &)>;

  /// Receives the present point and the state after each step.
  using EmitState = std::function<void(const BranchPoint &, const BranchState &)>;

  /// @param options must have passed check(), and must outlive the tracer
  BranchTracer(BranchCorrector &corrector, const ContinuationOptions &options,
               const RowSpace &space, Emit emit, EmitState emit_state = {});

  /// Returns the first point, whose x the caller sets to the initial guess before trace().
  BranchPoint &start()
  {
    return current;
  }

  ContinuationReport trace();

  /// Continues a branch from the point start(), whose x and ẋ the caller sets.
  ContinuationReport trace_on(const BranchState &state);

private:
  bool begin();
  void take_step();
  void take_steps();
  CorrectorResult try_step();
  CorrectorResult find_fold(const BranchPoint *&fold);
  CorrectorResult correct_trial(BranchPoint &p, const BranchPoint &left, const BranchPoint &right);
  void pass_targets(const BranchPoint &from, const BranchPoint &to);
  void emit_target(const BranchPoint &from, const BranchPoint &to, double lambda);
  void accept(const CorrectorResult &correction);
  void emit(const BranchPoint &p, BranchRecord::Kind kind, const CorrectorResult &correction);
  void count(const CorrectorResult &correction);
  void end(Outcome outcome, const std::string &message);
  void end_at_limit();
  double lambda_end() const;
  BranchPoint &unused_trial(const BranchPoint *left, const BranchPoint *right);

  BranchCorrector &corrector;
  const ContinuationOptions &options;
  Emit emit_point;
  EmitState emit_state;
  BranchPoint current, next;
  BranchPoint trials[3]; // for finding a fold
  BranchPoint target;
  double step;
  double arclength = 0.; // arclength of `current`
  int folds = 0;
  bool is_running = true;
  ContinuationReport report;
};
} // namespace femgpu::linalg

#endif
