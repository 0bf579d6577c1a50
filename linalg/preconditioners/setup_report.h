#ifndef femgpu_linalg_preconditioners_setup_report_h
#define femgpu_linalg_preconditioners_setup_report_h

#include <cstddef>
#include <string>
#include <vector>

namespace femgpu::linalg
{
/// A level of a multigrid hierarchy and the way to the next. Seconds are those of the last set-up,
/// or of new values in the old pattern.
struct LevelReport
{
  long long rows = 0;
  std::size_t nonzeros = 0;
  double eigenvalue =
      -1.; ///< the largest of M⁻¹A, M of the smoother, estimated; negative where A is inverted
  double smoother_seconds = 0.; ///< or those of the inverse
  int aggregates = 0;
  std::size_t prolongation_nonzeros = 0;
  double strength_seconds = 0., aggregation_seconds = 0., prolongation_seconds = 0.;
  double product_seconds = 0.; ///< of Pᵀ A P
  double cycle_seconds = -1.;  ///< of its part in a cycle; negative where nobody asked

  template <class F, class... Self>
  static void for_each_member(const F &f, Self &...levels)
  {
    f("rows", levels.rows...);
    f("nonzeros", levels.nonzeros...);
    f("eigenvalue", levels.eigenvalue...);
    f("smoother_seconds", levels.smoother_seconds...);
    f("aggregates", levels.aggregates...);
    f("prolongation_nonzeros", levels.prolongation_nonzeros...);
    f("strength_seconds", levels.strength_seconds...);
    f("aggregation_seconds", levels.aggregation_seconds...);
    f("prolongation_seconds", levels.prolongation_seconds...);
    f("product_seconds", levels.product_seconds...);
    f("cycle_seconds", levels.cycle_seconds...);
  }

  template <class Archive>
  void serialize(Archive &archive, const unsigned int /* version */)
  {
    for_each_member([&](const char *, auto &member) { archive &member; }, *this);
  }
};

/// What the setup of a preconditioner did, for the report.
struct SetupReport
{
  std::size_t n_nonzeros = 0; ///< of M⁻¹, of G where M⁻¹ = Gᵀ G, or of two factors that differ
  std::string remarks;        ///< what was dropped, regularised or found; empty if nothing
  std::vector<LevelReport> levels = {}; ///< the finest first; empty if there are none

  template <class F, class... Self>
  static void for_each_member(const F &f, Self &...setups)
  {
    f("preconditioner_nonzeros", setups.n_nonzeros...);
    f("preconditioner_remarks", setups.remarks...);
    f("preconditioner_levels", setups.levels...);
  }
};
} // namespace femgpu::linalg

#endif
