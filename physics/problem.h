#ifndef femgpu_physics_problem_h
#define femgpu_physics_problem_h

#include "physics/discretization.h"
#include "physics/results.h"

#include <deal.II/base/function.h>
#include <deal.II/base/types.h>
#include <deal.II/fe/component_mask.h>
#include <deal.II/fe/fe_update_flags.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/lac/full_matrix.h>
#include <deal.II/lac/vector.h>
#include <deal.II/numerics/data_component_interpretation.h>
#include <deal.II/numerics/data_postprocessor.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
/// The solution on one part of the boundary: values for the components of the mask.
template <int dim>
struct DirichletCondition
{
  std::set<dealii::types::boundary_id> ids;
  const dealii::Function<dim> *values;
  dealii::ComponentMask mask;
};

/// What the terms of one cell are computed from.
template <int dim>
struct CellView
{
  const dealii::FEValues<dim> &fe;    ///< Gauss points
  const dealii::FEValues<dim> *nodal; ///< nodes with their weights; only if uses_nodal_quadrature()
  const std::vector<double> &u;       ///< the state, by local dof; zero for linear problems
};

/**
 * A boundary value problem: its terms cell by cell, its Dirichlet data, what is computed from its
 * solution. A linear problem contributes K and f of K u = f; a nonlinear one, with residual
 * R(u) = 0, contributes K = R'(u) and f = −R(u). All const functions are called by several threads.
 *
 * A physics is one file: a ParameterAcceptor with its parameters, this class for 2D and 3D, and a
 * line in registry.h.
 */
template <int dim>
class Problem
{
public:
  using CellMatrix = dealii::FullMatrix<double>;
  using CellVector = dealii::Vector<double>;

  virtual ~Problem() = default;

  /// One, or dim for a vector.
  virtual unsigned int n_components() const = 0;
  /// The name of each component in output files; dim times the same for a vector.
  virtual std::vector<std::string> component_names() const = 0;

  virtual bool is_linear() const
  {
    return true;
  }
  virtual bool uses_nodal_quadrature() const
  {
    return false;
  }

  /// Boundary ids that parameters of this problem name; "Section/Key" and the ids.
  virtual std::vector<std::pair<std::string, std::set<dealii::types::boundary_id>>>
  named_boundaries() const = 0;

  /// @throws ParameterError if this problem cannot be solved so, as without any support.
  virtual void check(const Mesh<dim> & /* mesh */,
                     const DiscretizationParameters & /* parameters */) const
  {}

  virtual std::vector<DirichletCondition<dim>> dirichlet_conditions() const = 0;

  /// Adds the terms of a cell's interior to @p K (unless nullptr) and @p f.
  virtual void add_cell_terms(const CellView<dim> &cell, CellMatrix *K, CellVector &f) const = 0;

  /// Does add_face_terms() have anything to do on this part of the boundary?
  virtual bool has_face_terms(dealii::types::boundary_id /* id */) const
  {
    return false;
  }
  /// Adds the terms of a face on the boundary; @p u as in CellView.
  virtual void add_face_terms(const dealii::FEFaceValues<dim> & /* face */,
                              dealii::types::boundary_id /* id */,
                              const std::vector<double> & /* u */, CellMatrix * /* K */,
                              CellVector & /* f */) const
  {}

  /// nullptr if it is not known.
  virtual const dealii::Function<dim> *exact_solution() const
  {
    return nullptr;
  }

  /// Fields that output files get besides the solution.
  virtual std::vector<std::shared_ptr<dealii::DataPostprocessor<dim>>> postprocessors() const
  {
    return {};
  }

  /// Collective. Numbers of interest; @p u has ghost values.
  virtual std::vector<Quantity> quantities(const Discretization<dim> & /* discretization */,
                                           const FeVector & /* u */) const
  {
    return {};
  }

  /// What to tell a user whose nonlinear problem has no solution that Newton's method finds.
  virtual std::string cure_without_solution() const
  {
    return "Change the data, or start from a finer or coarser mesh.";
  }
};
} // namespace femgpu

#endif
