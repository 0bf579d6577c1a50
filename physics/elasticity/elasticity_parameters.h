#ifndef femgpu_physics_elasticity_parameters_h
#define femgpu_physics_elasticity_parameters_h

#include "physics/physics.h"

#include <deal.II/base/parameter_acceptor.h>

#include <string>
#include <vector>

namespace femgpu
{
/// Section "Elasticity": −div σ = b, σ = λ tr(ε − ε_T) I + 2μ (ε − ε_T), ε_T = α ΔT I.
class ElasticityParameters : public dealii::ParameterAcceptor
{
public:
  ElasticityParameters();

  std::vector<RequiredDatum> required() const;

  std::string young, poisson, lambda, mu;      ///< by material
  std::string hypothesis = "auto";             ///< in 2D
  std::string thermal_expansion, yield_stress; ///< by material
  std::string temperature_rise;
  std::string body_force;
  std::string displacement, rotation, symmetry_planes; ///< by boundary id
  std::string traction, pressure;                      ///< by boundary id
  bool reports_reactions = false;
  std::string moment_point;
  std::string exact_solution;

private:
  void declare_materials();
  void declare_supports();
  void declare_loads();
};
} // namespace femgpu

#endif
