#ifndef femgpu_physics_registry_h
#define femgpu_physics_registry_h

#include "linalg/base/registry.h"
#include "physics/physics.h"

#include <map>
#include <memory>
#include <string>

namespace femgpu
{
extern const Registry<NoTraits, std::unique_ptr<Physics>()> all_physics;

/// What an entry has; the file of the physics specialises it. See Registry.
template <class Equation>
std::unique_ptr<Physics> make_physics();

/// All physics by name; making them declares their parameters.
std::map<std::string, std::unique_ptr<Physics>> make_all_physics();
} // namespace femgpu

#endif
