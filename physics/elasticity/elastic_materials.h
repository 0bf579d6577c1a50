#ifndef femgpu_physics_elastic_materials_h
#define femgpu_physics_elastic_materials_h

#include "physics/elasticity/elasticity_parameters.h"
#include "physics/mesh/mesh.h"
#include "physics/parameter_fields.h"

#include <deal.II/base/symmetric_tensor.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace femgpu
{
/// Isotropic material constants at a point.
struct ElasticModuli
{
  double lambda = 0., mu = 0.; ///< Lamé's constants, in Pa
  double thermal_strain = 0.;  ///< α ΔT

  // The stress in the dim-dimensional space of the mesh is σ = λ* tr(ε) I + 2μ ε − p_T I, in Pa.
  double effective_lambda = 0.; ///< λ*: λ, but 2λμ/(λ+2μ) in plane stress
  double thermal_pressure = 0.; ///< p_T
};

/// The strain and stress at a point. For plane problems they include the out-of-plane components.
struct ElasticState
{
  dealii::SymmetricTensor<2, 3> strain; ///< total strain, including the thermal strain
  dealii::SymmetricTensor<2, 3> stress; ///< in Pa
  double energy_density;                ///< ½ σ : (ε − α ΔT I), in J/m³
};

/// The materials of an elastic body, by material id.
template <int dim>
class ElasticMaterials
{
public:
  /**
   * @throws ParameterError if E or ν is given together with λ or μ, or if only one of λ and μ or of
   * α and ΔT is given
   * @throws ParameterError if constants that do not depend on position, or yield stresses, are out
   * of range
   * @throws ParameterError if the 2D hypothesis contradicts the element types in the mesh file
   * @throws ParameterError if an expression is invalid or missing for a material of the mesh
   */
  ElasticMaterials(const ElasticityParameters &parameters, const MeshRegions &regions);

  /// Checks the constants that depend on position at sample points of the coarse mesh.
  /// @throws ParameterError if a constant is out of range at a sample point
  void check(const Mesh<dim> &mesh) const;

  /// Returns a description for messages: "material id 1 (steel)".
  const std::string &name(dealii::types::material_id material) const
  {
    return materials.at(material).name;
  }
  bool is_in_plane_stress() const
  {
    return is_plane_stress;
  }
  bool has_temperature() const
  {
    return temperature_rise != nullptr;
  }
  bool has_changing_temperature() const
  {
    return temperature_rise && temperature_rise->depends_on_time();
  }
  bool has_yield_stress() const
  {
    return !yield.empty();
  }

  /// Returns the constants at @p points, which are in material @p material.
  std::vector<ElasticModuli> moduli(const std::vector<dealii::Point<dim>> &points,
                                    dealii::types::material_id material) const;
  /// Returns strain, stress and energy density at point @p q of the batch @p at, computed from the
  /// gradients of the displacement in @p at. @param moduli material constants at this point
  ElasticState state(const ElasticModuli &moduli, const PointBatch<dim> &at, unsigned int q) const;
  /// Returns the yield stress at @p points, in Pa; empty if none is given.
  std::vector<double> yield_stress(const std::vector<dealii::Point<dim>> &points,
                                   dealii::types::material_id material) const
  {
    std::vector<double> result;
    if (has_yield_stress())
      yield.at(material)->value_list(points, result);
    return result;
  }

private:
  ElasticModuli moduli(double first, double second, double thermal_strain) const;

  struct Material
  {
    std::shared_ptr<Field<dim>> first, second; ///< E and ν, or λ and μ
    std::shared_ptr<Field<dim>> expansion;     ///< nullptr if there is no thermal expansion
    bool is_uniform;
    ElasticModuli uniform; ///< moduli without thermal strain; valid if is_uniform
    std::string name;      ///< for messages
  };

  void reject_invalid_constants(const Material &material, const dealii::Point<dim> &point) const;

  bool uses_young_modulus, is_plane_stress;
  std::map<dealii::types::material_id, Material> materials;
  MaterialFields<dim> yield;
  std::unique_ptr<Field<dim>> temperature_rise;
};

/// Returns √(3/2 s : s), where s is the deviator of @p stress.
double von_mises(const dealii::SymmetricTensor<2, 3> &stress);

/// The largest safety factor reported, also where the stress is zero.
constexpr double largest_safety_factor = 1e6;

/// Returns yield stress / von Mises stress, at most largest_safety_factor.
double safety_factor(double yield_stress, double von_mises_stress);

/// Returns the eigenvalues of @p stress in descending order, in closed form.
std::array<double, 3> principal_stresses(const dealii::SymmetricTensor<2, 3> &stress);
} // namespace femgpu

#endif
