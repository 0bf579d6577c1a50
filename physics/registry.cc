#include "physics/registry.h"

namespace femgpu
{
std::vector<Choice> physics_choices()
{
#define FEMGPU_CHOICE(name, make, meaning) {name, meaning},
  return {FEMGPU_PHYSICS(FEMGPU_CHOICE)};
#undef FEMGPU_CHOICE
}

std::map<std::string, std::unique_ptr<Physics>> make_all_physics()
{
  std::map<std::string, std::unique_ptr<Physics>> physics;
#define FEMGPU_ADD(name, make, meaning) physics[name] = make();
  FEMGPU_PHYSICS(FEMGPU_ADD)
#undef FEMGPU_ADD
  return physics;
}
} // namespace femgpu
