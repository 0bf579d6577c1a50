#ifndef femgpu_physics_derived_fields_h
#define femgpu_physics_derived_fields_h

#include "physics/point_batch.h"

#include <deal.II/fe/fe_update_flags.h>
#include <deal.II/numerics/data_postprocessor.h>

#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
/// Functions of the solution and its gradient at points, which output files and measurements have.
template <int dim>
class DerivedFields : public dealii::DataPostprocessor<dim>
{
public:
  using Kind = dealii::DataComponentInterpretation::DataComponentInterpretation;

  /// Writes a row for each of get_names(); @p at has no normals.
  virtual void evaluate(const PointBatch<dim> &at, PointRows &rows) const = 0;

  std::vector<std::string> get_names() const final
  {
    return names;
  }
  std::vector<Kind> get_data_component_interpretation() const final
  {
    return kinds;
  }
  dealii::UpdateFlags get_needed_update_flags() const final
  {
    return dealii::update_values | dealii::update_gradients | dealii::update_quadrature_points;
  }
  void evaluate_scalar_field(const dealii::DataPostprocessorInputs::Scalar<dim> &input,
                             std::vector<dealii::Vector<double>> &computed) const final;
  void evaluate_vector_field(const dealii::DataPostprocessorInputs::Vector<dim> &input,
                             std::vector<dealii::Vector<double>> &computed) const final;

protected:
  /// Adds a field with one number, or those of a vector or a tensor.
  void add(const std::string &name, Kind kind);

private:
  std::vector<std::string> names;
  std::vector<Kind> kinds;
};
} // namespace femgpu

#endif
