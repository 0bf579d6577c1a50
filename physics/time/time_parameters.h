#ifndef femgpu_physics_time_time_parameters_h
#define femgpu_physics_time_time_parameters_h

#include <deal.II/base/parameter_acceptor.h>

#include <optional>
#include <string>
#include <vector>

namespace femgpu
{
/// The parameters in section "Time".
class TimeParameters : public dealii::ParameterAcceptor
{
public:
  TimeParameters();

  double end = 0.;
  double initial_step = 0.; ///< 0: a thousandth of `end`
  std::string step = "auto";
  std::string scheme = "auto";
  double tolerance = 1e-3;
  std::string output_times = "all";
  unsigned int adapt_every = 0; ///< steps between changes of the mesh; 0: none

  // The following parameters serve equations of order 2 in time.
  double spectral_radius = 0.8, newmark_beta = 0.25, newmark_gamma = 0.5;
  double mass_damping = 0.;      ///< α in the damping matrix α M + β K
  double stiffness_damping = 0.; ///< β
  std::string mass = "consistent";

  bool has_lumped_mass() const
  {
    return mass == "lumped";
  }
  /// Returns the name of the scheme for an equation of order @p order_in_time in time.
  std::string scheme_for(unsigned int order_in_time) const;
  /// Returns the length of all steps, or nullopt if it follows from the estimated error.
  std::optional<double> fixed_step() const;
  /// Returns the length of the first step.
  double first_step() const;
  /// Returns whether all steps are output.
  bool outputs_all_steps() const;
  /// Returns the times of the output after t = 0, in ascending order; the last one is `end`.
  std::vector<double> stops() const;

  /// Checks the parameters of a transient analysis of an equation of order @p order_in_time in
  /// time.
  /// @throws ParameterError if one is invalid
  void check(unsigned int order_in_time) const;
};
} // namespace femgpu

#endif
