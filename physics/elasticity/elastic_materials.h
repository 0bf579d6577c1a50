#ifndef femgpu_physics_elastic_materials_h
#define femgpu_physics_elastic_materials_h

#include "physics/elasticity/elasticity_parameters.h"
#include "physics/mesh/mesh.h"
#include "physics/problem_tools.h"

#include <deal.II/base/symmetric_tensor.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace femgpu
{
/// Isotropic constants at one place.
struct ElasticModuli
{
  double lambda = 0., mu = 0.; ///< Lamé's, in Pa
  double thermal_strain = 0.;  ///< α ΔT

  // The stress in the space of the mesh is σ = λ tr(ε) I + 2μ ε − p_T I, in Pa.
  double effective_lambda = 0.; ///< this λ: in plane stress 2λμ/(λ+2μ) of the material
  double thermal_pressure = 0.; ///< p_T
};

/// What the displacement does at one place, with the components that a plane problem has out of
/// its plane.
struct ElasticState
{
  dealii::SymmetricTensor<2, 3> strain; ///< with the thermal strain
  dealii::SymmetricTensor<2, 3> stress; ///< in Pa
  double energy_density;                ///< ½ σ : (ε − α ΔT I), in J/m³
};

/// The materials of an elastic body, by material id.
template <int dim>
class ElasticMaterials
{
public:
  /**
   * @throws ParameterError for E and ν together with λ and μ, one of α and ΔT alone, constants out
   *         of range, and what parse_material_expressions() refuses
   */
  ElasticMaterials(const ElasticityParameters &parameters, const MeshRegions &regions);

  /// @throws ParameterError for constants that are out of range somewhere on the coarse mesh.
  void check(const Mesh<dim> &mesh) const;

  /// "material id 1 (steel)"
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
  bool has_yield_stress() const
  {
    return !yield.empty();
  }

  /// At each of @p points, which are in the material.
  std::vector<ElasticModuli> moduli(const std::vector<dealii::Point<dim>> &points,
                                    dealii::types::material_id material) const;
  /// At the point @p q of a batch.
  ElasticState state(const ElasticModuli &moduli, const PointBatch<dim> &at, unsigned int q) const;
  /// At each of @p points, in Pa; empty without has_yield_stress().
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
    std::shared_ptr<Field<dim>> expansion;     ///< nullptr for none
    bool is_uniform;
    ElasticModuli uniform; ///< if it is, without thermal strain
    std::string name;      ///< for messages
  };

  void refuse_bad_constants(const Material &material, const dealii::Point<dim> &point) const;

  bool is_by_young, is_plane_stress;
  std::map<dealii::types::material_id, Material> materials;
  MaterialFields<dim> yield;
  std::unique_ptr<Field<dim>> temperature_rise;
};

/// √(3/2 s : s) with the deviator s of @p stress.
double von_mises(const dealii::SymmetricTensor<2, 3> &stress);

/// Where the stress is zero the safety factor is infinite; it is reported as this.
constexpr double largest_safety_factor = 1e6;

/// Yield stress over von Mises stress.
double safety_factor(double yield_stress, double von_mises_stress);

/// The eigenvalues of @p stress, the largest first, in closed form.
std::array<double, 3> principal_stresses(const dealii::SymmetricTensor<2, 3> &stress);
} // namespace femgpu

#endif
