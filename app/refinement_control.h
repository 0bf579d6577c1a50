#ifndef femgpu_app_refinement_control_h
#define femgpu_app_refinement_control_h

#include "app/cycle_record.h"
#include "app/parameters.h"
#include "physics/estimators.h"

#include <memory>
#include <optional>
#include <string>

namespace femgpu
{
/// Why a study has no further cycle.
struct Stop
{
  std::string by;   ///< a word for machines: target_error, nothing_to_refine, maximum_dofs
  std::string text; ///< a sentence for the user
};

/// Decides by the section "Study" which cells are refined from cycle to cycle, and when to stop.
template <int dim>
class RefinementControl
{
public:
  /**
   * All that is given outlives this object.
   * @throws ParameterError for what cannot be done: triangles refined adaptively, a target
   *         without exact solution, nothing that chooses cells
   */
  RefinementControl(const Parameters &parameters, const Mesh<dim> &mesh,
                    const Problem<dim> &problem);

  /// Collective. Nothing if neither the refinement nor the user wants to know.
  std::optional<ErrorEstimate> estimate(const Discretization<dim> &discretization,
                                        const FeVector &u, dealii::Vector<float> &indicators) const;

  /// Does the study end with this cycle, because the target is reached?
  std::optional<Stop> reached_target(const CycleRecord &record) const;

  /**
   * Collective. Flags cells for the next cycle.
   * @param indicators of the last estimate; empty if there was none
   * @param n_refinements steps of global refinement so far, with the initial ones
   * @return is there no further cycle, because no cell may be refined?
   */
  std::optional<Stop> flag(Mesh<dim> &mesh, const dealii::Vector<float> &indicators,
                           unsigned int n_refinements) const;

  /// Is a mesh with so many dofs or more not solved?
  std::optional<Stop> too_many(std::size_t n_dofs) const;

private:
  void check(const Mesh<dim> &mesh) const;
  void check_target() const;

  const StudyParameters &study;
  const Problem<dim> &problem;
  bool wants_estimate;
  std::unique_ptr<dealii::Function<dim>> where, size;
};
} // namespace femgpu

#endif
