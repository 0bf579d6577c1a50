#ifndef femgpu_physics_conductivity_h
#define femgpu_physics_conductivity_h

#include "physics/problem.h"
#include "physics/problem_tools.h"

#include <deal.II/base/tensor.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/lac/full_matrix.h>
#include <deal.II/numerics/data_postprocessor.h>

#include <map>
#include <memory>
#include <string>

namespace femgpu
{
/**
 * k of −∇·(k∇u): for each material a positive function of position, or a diagonal tensor of such
 * functions.
 */
template <int dim>
class Conductivity
{
public:
  /**
   * Reads "k; ids: k; ids: k_x, k_y(, k_z)".
   * @param path "Section/Key" of the parameter, for messages
   * @throws ParameterError as parse_material_expressions()
   */
  Conductivity(std::string path, const std::string &text, const MeshRegions &regions);

  /// Collective. @throws ParameterError with the place where k is not positive at a quadrature
  /// point.
  void check(const Discretization<dim> &discretization) const;

  /// k∇u
  dealii::Tensor<1, dim> flux(const Place<dim> &place,
                              const dealii::Tensor<1, dim> &gradient) const;

  /// K_ij += (k∇φ_j, ∇φ_i) on a cell
  void add_cell_terms(const dealii::FEValues<dim> &fe, dealii::FullMatrix<double> &K) const;

private:
  struct Material
  {
    std::shared_ptr<Field<dim>> k; ///< of dim components
    bool is_isotropic;             ///< all are the same
    bool is_constant;
  };

  std::string path;
  std::map<dealii::types::material_id, Material> materials;
};

/// The field "flux", −k∇u, of output files; @p k outlives it.
template <int dim>
std::shared_ptr<dealii::DataPostprocessor<dim>> make_flux_output(const Conductivity<dim> &k);

/// f_i += (f, φ_i) on a cell of the material that @p fields has.
template <int dim>
void add_source(const dealii::FEValues<dim> &fe, const MaterialFields<dim> &fields,
                dealii::Vector<double> &f);
} // namespace femgpu

#endif
