#ifndef femgpu_physics_local_refinement_h
#define femgpu_physics_local_refinement_h

#include <deal.II/base/parameter_acceptor.h>

#include <string>

namespace femgpu
{
/// What the section "Mesh" says of local refinement before the first cycle.
class LocalRefinementParameters : public dealii::ParameterAcceptor
{
public:
  LocalRefinementParameters();

  std::string where; ///< how often cells are refined besides; empty: not at all
};
} // namespace femgpu

#endif
