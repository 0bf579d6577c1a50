#ifndef femgpu_physics_registry_h
#define femgpu_physics_registry_h

#include "linalg/base/choice.h"
#include "physics/physics.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

/// Every physics: X(name in parameter files, function in physics/, meaning).
#define FEMGPU_PHYSICS(X)                                                                          \
  X("poisson", make_poisson, "-div(k grad u) = f")                                                 \
  X("elasticity", make_elasticity,                                                                 \
    "linear elasticity, small strain, isotropic; 3D, plane strain or stress")                      \
  X("bratu", make_bratu, "-div(grad u) = lambda exp(u) + f")                                       \
  X("heat", make_heat, "-div(k grad u) + c phi(u) = f, and radiation at the boundary")

namespace femgpu
{
#define FEMGPU_DECLARE(name, make, meaning) std::unique_ptr<Physics> make();
FEMGPU_PHYSICS(FEMGPU_DECLARE)
#undef FEMGPU_DECLARE

std::vector<Choice> physics_choices();

/// All physics by name; making them declares their parameters.
std::map<std::string, std::unique_ptr<Physics>> make_all_physics();
} // namespace femgpu

#endif
