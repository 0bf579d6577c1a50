#ifndef femgpu_physics_stress_output_h
#define femgpu_physics_stress_output_h

#include "physics/derived_fields.h"
#include "physics/elasticity/elastic_materials.h"

namespace femgpu
{
/**
 * Strain, stress, principal stresses (1 is the largest), von Mises stress and, with a yield
 * stress, the safety factor in output files. Tensors have the components in the space of the mesh;
 * in 2D those out of the plane are fields of their own, strain_zz and stress_zz.
 */
template <int dim>
class StressOutput final : public DerivedFields<dim>
{
public:
  /// @param materials outlives this object
  explicit StressOutput(const ElasticMaterials<dim> &materials);

  void evaluate(const PointBatch<dim> &at, PointRows &rows) const override;

private:
  const ElasticMaterials<dim> &materials;
};

/// Where the stress is zero the safety factor is infinite; it is reported as this.
constexpr double largest_safety_factor = 1e6;

/// Yield stress over von Mises stress.
double safety_factor(double yield_stress, double von_mises_stress);
} // namespace femgpu

#endif
