#ifndef femgpu_physics_stress_output_h
#define femgpu_physics_stress_output_h

#include "physics/elasticity/elastic_materials.h"

#include <vector>

namespace femgpu
{
/**
 * Strain, stress, principal stresses (1 is the largest), von Mises stress and, with a yield
 * stress, the safety factor in output files. Tensors have the components in the space of the mesh;
 * in 2D those out of the plane are fields of their own, strain_zz and stress_zz.
 */
template <int dim>
std::vector<DerivedField> stress_fields(const ElasticMaterials<dim> &materials);

/// As Problem::derive().
template <int dim>
void derive_stress(const ElasticMaterials<dim> &materials, const PointBatch<dim> &at,
                   PointRows &numbers);

/// Where the stress is zero the safety factor is infinite; it is reported as this.
constexpr double largest_safety_factor = 1e6;

/// Yield stress over von Mises stress.
double safety_factor(double yield_stress, double von_mises_stress);
} // namespace femgpu

#endif
