#ifndef femgpu_physics_solution_norms_h
#define femgpu_physics_solution_norms_h

namespace femgpu
{
/// Norms of u.
struct SolutionNorms
{
  double L2 = 0.;
  double H1 = 0.; ///< of the gradient
};
} // namespace femgpu

#endif
