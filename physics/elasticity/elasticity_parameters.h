#ifndef femgpu_physics_elasticity_parameters_h
#define femgpu_physics_elasticity_parameters_h

#include "physics/physics.h"

#include <deal.II/base/parameter_acceptor.h>

#include <string>
#include <vector>

namespace femgpu
{
/// The parameters in section "Elasticity". The equation is −div σ = b + ρ (g − a_b), in a transient
/// analysis ρ ü − div σ = b + ρ (g − a_b), with the stress σ = λ tr(ε − ε_T) I + 2μ (ε − ε_T) and
/// the thermal strain ε_T = α ΔT I.
class ElasticityParameters : public dealii::ParameterAcceptor
{
public:
  ElasticityParameters();

  std::vector<RequiredDatum> required() const;

  std::string young, poisson, lambda, mu;      ///< expressions by material
  std::string hypothesis = "auto";             ///< used in 2D only
  std::string thermal_expansion, yield_stress; ///< expressions by material
  std::string temperature_rise;
  std::string body_force; ///< expressions by material
  std::string density;    ///< expressions by material
  std::string gravity, base_acceleration;
  std::string initial_displacement, initial_velocity;
  std::string displacement, rotation, symmetry_planes; ///< entries by boundary id
  std::string traction, pressure;                      ///< entries by boundary id
  bool reports_reactions = false;
  std::string moment_point;
  std::string exact_solution;

private:
  void declare_materials();
  void declare_supports();
  void declare_loads();
  void declare_motion();
};
} // namespace femgpu

#endif
