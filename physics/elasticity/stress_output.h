#ifndef femgpu_physics_stress_output_h
#define femgpu_physics_stress_output_h

#include "physics/elasticity/elastic_materials.h"

#include <deal.II/numerics/data_postprocessor.h>

#include <string>
#include <vector>

namespace femgpu
{
/**
 * Strain, stress, principal stresses (1 is the largest), von Mises stress and, with a yield
 * stress, the safety factor in output files. Tensors have the components in the space of the mesh;
 * in 2D those out of the plane are fields of their own, strain_zz and stress_zz.
 */
template <int dim>
class StressOutput final : public dealii::DataPostprocessor<dim>
{
public:
  /// @param materials outlives this object
  explicit StressOutput(const ElasticMaterials<dim> &materials);

  std::vector<std::string> get_names() const override
  {
    return names;
  }
  std::vector<dealii::DataComponentInterpretation::DataComponentInterpretation>
  get_data_component_interpretation() const override
  {
    return kinds;
  }
  dealii::UpdateFlags get_needed_update_flags() const override
  {
    return dealii::update_gradients | dealii::update_quadrature_points;
  }
  void evaluate_vector_field(const dealii::DataPostprocessorInputs::Vector<dim> &input,
                             std::vector<dealii::Vector<double>> &computed) const override;

private:
  const ElasticMaterials<dim> &materials;
  std::vector<std::string> names;
  std::vector<dealii::DataComponentInterpretation::DataComponentInterpretation> kinds;
};

/// Where the stress is zero the safety factor is infinite; it is reported as this.
constexpr double largest_safety_factor = 1e6;

/// Yield stress over von Mises stress.
double safety_factor(double yield_stress, double von_mises_stress);
} // namespace femgpu

#endif
