#ifndef femgpu_physics_problem_h
#define femgpu_physics_problem_h

#include "linalg/nonlinear/nonlinearity.h"
#include "physics/discretization.h"
#include "physics/results.h"
#include "physics/unit.h"

#include <deal.II/base/function.h>
#include <deal.II/base/point.h>
#include <deal.II/base/tensor.h>
#include <deal.II/base/types.h>
#include <deal.II/fe/component_mask.h>
#include <deal.II/fe/fe_update_flags.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/lac/full_matrix.h>
#include <deal.II/lac/vector.h>
#include <deal.II/numerics/data_component_interpretation.h>
#include <deal.II/numerics/data_postprocessor.h>

#include <map>
#include <memory>
#include <optional>
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

/// Two parts of the boundary on which the solution is the same: the second is the first, moved
/// along an axis.
struct PeriodicSides
{
  dealii::types::boundary_id first, second;
  unsigned int direction; ///< 0 for x, 1 for y, 2 for z
};

/// Where data are evaluated.
template <int dim>
struct Place
{
  dealii::Point<dim> point;
  dealii::types::material_id material;
};

/// A function of the finite element space that belongs to a solution.
struct NodalField
{
  std::string name;
  FeVector values; ///< with ghost values
};

/**
 * A boundary value problem: its terms cell by cell, its Dirichlet data, what is computed from its
 * solution. A linear problem contributes K and f of K u = f. A nonlinear one, K u = f + λ W φ(u)
 * with a law φ of the unknowns one by one, contributes the diagonal matrix W of weights as well,
 * once: none of the three depends on u. All const functions are called by several threads.
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

  /// What the units are of that others are made of; length is the first.
  virtual std::vector<std::string> base_units() const
  {
    return {"length", component_names().front(), "the flow (as W of heat)"};
  }
  /// Units of the fields that output files get, by name; @p base has one for each of base_units().
  virtual std::map<std::string, Unit> field_units(const std::vector<Unit> &base) const
  {
    return {{component_names().front(), base[1]}, {"flux", base[2] / (base[0] * base[0])}};
  }

  /// Is λ of nonlinearity() a number of the problem, along which branches may be followed?
  virtual bool has_branches() const
  {
    return false;
  }
  /// λ φ; empty: the problem is linear.
  virtual std::optional<linalg::Nonlinearity> nonlinearity() const
  {
    return {};
  }

  /// Boundary ids that parameters of this problem name; "Section/Key" and the ids.
  virtual std::vector<std::pair<std::string, std::set<dealii::types::boundary_id>>>
  named_boundaries() const = 0;

  /// @throws ParameterError if this problem cannot be solved so, as without any support.
  virtual void check(const Mesh<dim> & /* mesh */,
                     const DiscretizationParameters & /* parameters */) const
  {}

  /// What may make results wrong on this mesh, which is not refined yet, with the cure.
  /// @p refinements of all cells will follow until the last cycle.
  virtual std::vector<std::string> warnings(const Discretization<dim> & /* discretization */,
                                            unsigned int /* refinements */) const
  {
    return {};
  }

  /// Collective; called before each assembly. @throws ParameterError for data that this problem
  /// does not take, as a coefficient that is negative somewhere.
  virtual void check_data(const Discretization<dim> & /* discretization */) const
  {}

  virtual std::vector<DirichletCondition<dim>> dirichlet_conditions() const = 0;

  /// Pairs of sides on which the solution is the same.
  virtual std::vector<PeriodicSides> periodic_sides() const
  {
    return {};
  }
  /// Parts of the boundary on which the normal component of a vector-valued solution is zero.
  virtual std::set<dealii::types::boundary_id> symmetry_planes() const
  {
    return {};
  }
  /// Is the solution known up to a constant only, of which the one with mean value zero is wanted?
  virtual bool fixes_mean() const
  {
    return false;
  }

  /// Adds the terms of a cell's interior; @p fe has Gauss points.
  virtual void add_cell_terms(const dealii::FEValues<dim> &fe, CellMatrix &K,
                              CellVector &f) const = 0;

  /// Adds the weights of a reaction in a cell by the quadrature of @p nodal, whose points are the
  /// nodes.
  virtual void add_cell_weights(const dealii::FEValues<dim> & /* nodal */,
                                CellVector & /* w */) const
  {}

  /// Does add_face_terms() have anything to do on this part of the boundary?
  virtual bool has_face_terms(dealii::types::boundary_id /* id */) const
  {
    return false;
  }
  /// Adds the terms of a face on the boundary; @p face has Gauss points.
  virtual void add_face_terms(const dealii::FEFaceValues<dim> & /* face */,
                              dealii::types::boundary_id /* id */, CellMatrix & /* K */,
                              CellVector & /* f */) const
  {}

  /// Does add_face_weights() have anything to do on this part of the boundary?
  virtual bool has_face_weights(dealii::types::boundary_id /* id */) const
  {
    return false;
  }
  /// Adds the weights of a reaction on a face of the boundary, as add_cell_weights() does.
  virtual void add_face_weights(const dealii::FEFaceValues<dim> & /* nodal */,
                                dealii::types::boundary_id /* id */, CellVector & /* w */) const
  {}

  /// Does the problem know flux() and source(), which residual estimators need?
  virtual bool has_flux() const
  {
    return false;
  }
  /**
   * The flux σ of the equation −∇·σ(∇u) = s(u): k∇u, or the stress.
   * Beside the place come the gradients, one for each component of u, and what gets the flux: a
   * row for each component.
   */
  virtual void flux(const Place<dim> & /* place */,
                    const std::vector<dealii::Tensor<1, dim>> & /* gradients */,
                    std::vector<dealii::Tensor<1, dim>> & /* flux */) const
  {}
  /// s(u), for each component.
  virtual void source(const Place<dim> & /* place */, const dealii::Vector<double> & /* u */,
                      dealii::Vector<double> & /* s */) const
  {}
  /// σ·n as the data prescribe it on the boundary; for components for which they do not, as where u
  /// itself is given, @p normal_flux keeps what it has. Nobody asks on periodic sides.
  virtual void boundary_flux(const Place<dim> & /* place */, dealii::types::boundary_id /* id */,
                             const dealii::Tensor<1, dim> & /* normal */,
                             const dealii::Vector<double> & /* u */,
                             dealii::Vector<double> & /* normal_flux */) const
  {}

  /// Where the iteration for a solution begins in the first cycle; nullptr for zero.
  virtual const dealii::Function<dim> *initial_guess() const
  {
    return nullptr;
  }

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

  /// Collective. Functions of the space that output files get besides the solution; @p u has ghost
  /// values.
  virtual std::vector<NodalField> nodal_fields(const Discretization<dim> & /* discretization */,
                                               const FeVector & /* u */) const
  {
    return {};
  }

  /// Collective. Numbers of interest; @p u has ghost values.
  virtual std::vector<Quantity> quantities(const Discretization<dim> & /* discretization */,
                                           const FeVector & /* u */) const
  {
    return {};
  }

  /// What to tell a user for whose nonlinear problem no solution was found.
  virtual std::string cure_without_solution() const
  {
    return "Change the data, or start from a finer or coarser mesh.";
  }
};
} // namespace femgpu

#endif
