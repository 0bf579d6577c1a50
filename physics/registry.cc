#include "physics/physics.h"

namespace femgpu
{
constexpr decltype(all_physics)::Entry physics_table[] = {
    {"poisson", "-div(k grad u) = f", make_physics<class PoissonEquation>},
    {"elasticity",
     "linear elasticity of isotropic materials with small strains; in 2D, plane strain or plane "
     "stress",
     make_physics<class ElasticityEquation>},
    {"bratu", "-div(grad u) = lambda exp(u) + f", make_physics<class BratuEquation>},
    {"heat",
     "steady heat conduction with a reaction phi(u), -div(k grad u) + c phi(u) = f; boundary "
     "conditions include convection and radiation",
     make_physics<class HeatEquation>},
    {"convection_diffusion",
     "convection, diffusion and reaction, -div(k grad u) + b.grad u + c u = f or "
     "-div(k grad u - b u) + c u = f, stabilised by SUPG",
     make_physics<class ConvectionDiffusionEquation>}};

constexpr decltype(all_physics) all_physics("physics", physics_table);

std::map<std::string, std::unique_ptr<Physics>> make_all_physics()
{
  std::map<std::string, std::unique_ptr<Physics>> physics;
  for (const auto &entry : all_physics)
    physics[entry.name] = entry.make();
  return physics;
}
} // namespace femgpu
