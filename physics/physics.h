#ifndef femgpu_physics_physics_h
#define femgpu_physics_physics_h

#include "linalg/base/registry.h"
#include "physics/base/regions.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace femgpu
{
template <int dim>
class Problem;

/// A datum without default that the user must provide.
struct RequiredDatum
{
  std::string path;    ///< "Section/Key" of its parameter, which is empty by default
  std::string value;   ///< blank if not provided
  std::string example; ///< an example of a value
};

/// A physics. The constructor declares its parameters; make_2d() and make_3d() make its problem.
class Physics
{
public:
  virtual ~Physics() = default;

  virtual std::vector<RequiredDatum> required_data() const = 0;

  /// Returns the problem that the parameters describe on a 2D mesh with the @p regions.
  /// @throws ParameterError if a parameter has a syntax error or names a region that does not exist
  virtual std::unique_ptr<Problem<2>> make_2d(const MeshRegions &regions) const = 0;
  virtual std::unique_ptr<Problem<3>> make_3d(const MeshRegions &regions) const = 0;

  template <int dim>
  std::unique_ptr<Problem<dim>> make(const MeshRegions &regions) const
  {
    if constexpr (dim == 2)
      return make_2d(regions);
    else
      return make_3d(regions);
  }
};

/// A physics with the parameters @p Parameters, a ParameterAcceptor with a function required(), and
/// the problem class @p ProblemType, which is constructed from them.
template <class Parameters, template <int> class ProblemType>
class PhysicsOf final : public Physics, public Parameters
{
public:
  std::vector<RequiredDatum> required_data() const override
  {
    return Parameters::required();
  }
  std::unique_ptr<Problem<2>> make_2d(const MeshRegions &regions) const override
  {
    return std::make_unique<ProblemType<2>>(*this, regions);
  }
  std::unique_ptr<Problem<3>> make_3d(const MeshRegions &regions) const override
  {
    return std::make_unique<ProblemType<3>>(*this, regions);
  }
};

/// The functions that create each physics, by name.
extern const Registry<NoTraits, std::unique_ptr<Physics>()> all_physics;

/// Creates a physics. The source file of each physics specialises this function (see Registry).
template <class Equation>
std::unique_ptr<Physics> make_physics();

/// Creates all physics, whose constructors declare parameters, and returns them by name.
std::map<std::string, std::unique_ptr<Physics>> make_all_physics();
} // namespace femgpu

#endif
