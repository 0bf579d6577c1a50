#ifndef femgpu_physics_problem_h
#define femgpu_physics_problem_h

#include "linalg/nonlinear/nonlinearity.h"
#include "physics/base/expressions.h"
#include "physics/base/point_batch.h"
#include "physics/base/unit.h"
#include "physics/discretization.h"
#include "physics/mesh/periodicity.h"
#include "physics/results.h"

#include <deal.II/base/function.h>
#include <deal.II/base/types.h>
#include <deal.II/fe/component_mask.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
template <int dim>
class DiscreteSolution;
template <int dim>
class CellObserver;

/// The solution on a part of the boundary, a curve or points: values for components of the mask.
template <int dim>
struct DirichletCondition
{
  dealii::types::boundary_id id;
  const dealii::Function<dim> *values;
  dealii::ComponentMask mask;
};

/// A function of the finite element space that belongs to a solution.
struct NodalField
{
  std::string name;
  FeVector values; ///< with ghost values
};

/// A field that follows from a solution and its gradient at each point: a scalar, a vector or a
/// tensor, of dim^rank numbers, a tensor's by rows.
struct DerivedField
{
  std::string name;
  unsigned int rank;
  bool is_nonnegative = false; ///< of a scalar

  unsigned int n_numbers(const unsigned int dim) const
  {
    return rank == 0 ? 1 : rank == 1 ? dim : dim * dim;
  }
};

/// Properties of a problem's terms by which solvers are chosen.
struct ProblemTraits
{
  /// Are σ, s and g such functions of u that a matrix and a vector do not say all of them? Then
  /// each step of Newton's method assembles both anew.
  bool has_nonlinear_terms = false;
  /// Is the matrix, of each step, symmetric? Not where σ depends on u, or s on ∇u.
  bool has_symmetric_matrix = true;
  /// May boundary data that grow with u make the matrix indefinite? There is no stable state then,
  /// so a direct solver does not take over from an iterative one that finds it indefinite.
  bool may_be_unstable = false;
  /// Is λ of nonlinearity() a number of the problem, along which branches may be followed?
  bool has_branches = false;
};

/**
 * A boundary value problem, −∇·σ(x, u, ∇u) = s(x, u, ∇u) + λ c(x) φ(u) with σ·n = g(x, u) on parts
 * of the boundary and u given on others. What makes matrices, residuals, estimates, fluxes and
 * reactions of it asks for these functions at the points of cells and faces. The reaction with the
 * law φ, which is the same for all unknowns, is integrated by nodal quadrature, so that solvers on
 * a GPU see a diagonal matrix of weights; all else by Gauss quadrature.
 *
 * A physics is one file: a ParameterAcceptor with its parameters, this class for 2D and 3D, and a
 * line in registry.cc.
 */
template <int dim>
class Problem
{
public:
  virtual ~Problem() = default;

  /// One, or dim for a vector.
  virtual unsigned int n_components() const
  {
    return 1;
  }
  /// The name of the solution in output files.
  virtual std::string solution_name() const
  {
    return "u";
  }
  /// The hypothesis by which a problem in 2D stands for a body in 3D; empty if there is none.
  virtual std::string hypothesis() const
  {
    return "";
  }

  /// What the units are of that others are made of; length is the first.
  virtual std::vector<std::string> base_units() const
  {
    return {"length", solution_name(), "the flow (as W of heat)"};
  }
  /// Units of the fields that output files get, by name; @p base has one for each of base_units().
  virtual std::map<std::string, Unit> field_units(const std::vector<Unit> &base) const
  {
    return {{solution_name(), base[1]}, {"flux", base[2] / (base[0] * base[0])}};
  }

  virtual ProblemTraits traits() const
  {
    return {};
  }
  /// λ φ; empty: there is no reaction.
  virtual std::optional<linalg::Nonlinearity> nonlinearity() const
  {
    return {};
  }

  /// Boundary ids that parameters of this problem name; "Section/Key" and the ids.
  virtual std::vector<std::pair<std::string, std::set<dealii::types::boundary_id>>>
  named_boundaries() const = 0;

  /// The highest degree of elements on which this problem can be solved.
  virtual unsigned int highest_degree(const bool is_simplex) const
  {
    return is_simplex ? 2 : 4;
  }
  /// @throws ParameterError if this problem cannot be solved so, as without any support.
  virtual void check(const Mesh<dim> & /* mesh */, unsigned int /* degree */) const
  {}

  /// What may make results wrong on this mesh, which is not refined yet, with the cure.
  /// @p refinements of all cells will follow until the last cycle.
  virtual std::vector<std::string> warnings(const Discretization<dim> & /* discretization */,
                                            unsigned int /* refinements */) const
  {
    return {};
  }

  /// Collective; called before each solve. @throws ParameterError for data that this problem
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

  /// σ, and its derivatives; row dim c + d of @p sigma, which is zero, is for σ_cd. All that is
  /// done at the points of @p at is done for one material.
  virtual void flux(const PointBatch<dim> &at, PointTerms &sigma) const = 0;
  /// s, and its derivatives; a row of @p s, which is zero, for each component.
  virtual void source(const PointBatch<dim> & /* at */, PointTerms & /* s */) const
  {}
  /// Is there a g, or a reaction λ c φ(u), other than 0 on this part of the boundary?
  virtual bool has_boundary_flux(dealii::types::boundary_id /* id */) const
  {
    return false;
  }
  /// g, and its derivatives; where u is given g has no effect. @p g is zero.
  virtual void boundary_flux(const PointBatch<dim> & /* at */, PointTerms & /* g */) const
  {}

  /// Loads at curves, per length, and at points, by the ids of LowerPart; one value a component.
  virtual std::map<dealii::types::boundary_id, const dealii::Function<dim> *>
  loads_of_lower_parts() const
  {
    return {};
  }

  /// c of the reaction, in cells and on parts of the boundary with has_boundary_flux(); @p c is 0.
  virtual void reaction_weight(const PointBatch<dim> & /* at */,
                               std::vector<double> & /* c */) const
  {}

  /// Where the iteration for a solution begins in the first cycle; nullptr for zero.
  virtual const dealii::Function<dim> *initial_guess() const
  {
    return nullptr;
  }

  /// nullptr if it is not known.
  virtual const Field<dim> *exact_solution() const
  {
    return nullptr;
  }

  /// Fields that output files get besides the solution: of a scalar problem "flux", −σ.
  virtual std::vector<DerivedField> derived_fields() const;
  /// Their numbers at the points of @p at, a row of @p numbers each, one field after the other.
  virtual void derive(const PointBatch<dim> &at, PointRows &numbers) const;

  /// Collective. Functions of the space that output files get besides the solution.
  virtual std::vector<NodalField> nodal_fields(DiscreteSolution<dim> & /* solution */) const
  {
    return {};
  }

  /// Gathers what quantities() reports in the pass over the cells that evaluates a solution, see
  /// DiscreteSolution::observed(). nullptr if the evaluation has all of it.
  virtual std::unique_ptr<CellObserver<dim>>
  observer(const Discretization<dim> &discretization) const;

  /// Collective. Numbers of interest: of a scalar problem the fluxes through the boundary.
  virtual std::vector<Quantity> quantities(DiscreteSolution<dim> &solution) const;

  /// What to tell a user for whose nonlinear problem no solution was found.
  virtual std::string cure_without_solution() const
  {
    return "Change the data, or start from a finer or coarser mesh.";
  }
};
} // namespace femgpu

#endif
