#ifndef femgpu_linalg_preconditioners_setup_report_h
#define femgpu_linalg_preconditioners_setup_report_h

#include <cstddef>
#include <string>
#include <vector>

namespace femgpu::linalg
{
/// Statistics of a level of a multigrid hierarchy and of its transition to the next level. Times of
/// set-up are from the last set-up or update.
struct LevelReport
{
  long long rows = 0;
  std::size_t nonzeros = 0;
  /// Estimated largest eigenvalue of M⁻¹A, with the M of the smoother; negative if the level is
  /// solved by an inverse of A.
  double eigenvalue = -1.;
  double smoother_seconds = 0.; ///< set-up of the smoother or, if A is inverted, of its inverse
  int aggregates = 0;
  std::size_t prolongation_nonzeros = 0;
  double strength_seconds = 0., aggregation_seconds = 0., prolongation_seconds = 0.;
  double product_seconds = 0.; ///< computation of Pᵀ A P
  double cycle_seconds = -1.;  ///< the level's time in one cycle; negative: not measured

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

/// The report on the set-up of a preconditioner.
struct SetupReport
{
  std::size_t n_nonzeros = 0; ///< stored entries; for M⁻¹ = Gᵀ G, only the entries of G are counted
  std::string remarks;        ///< description of the result; may be empty
  std::vector<LevelReport> levels = {}; ///< the finest first; empty without multigrid

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
