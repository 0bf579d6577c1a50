#ifndef femgpu_physics_problem_h
#define femgpu_physics_problem_h

#include "linalg/nonlinear/nonlinearity.h"
#include "physics/base/fields.h"
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

/// A Dirichlet condition on a boundary, a curve or a point set, for the components that the mask
/// selects.
template <int dim>
struct DirichletCondition
{
  dealii::types::boundary_id id;
  const dealii::Function<dim> *values;
  dealii::ComponentMask mask;
};

/// A named finite element function that is derived from a solution, for output files.
struct NodalField
{
  std::string name;
  FeVector values; ///< nodal values, with ghost values
};

/// A field computed pointwise from a solution and its gradient: a scalar, a vector or a tensor of
/// dim^rank numbers. Tensors are stored by rows.
struct DerivedField
{
  std::string name;
  unsigned int rank;
  bool is_nonnegative = false; ///< whether a scalar is never negative

  unsigned int n_numbers(const unsigned int dim) const
  {
    return rank == 0 ? 1 : rank == 1 ? dim : dim * dim;
  }
};

/// Properties of a problem's terms that determine the choice of solvers.
struct ProblemTraits
{
  /// Whether σ, s or g (see Problem) is nonlinear in u. Each step of Newton's method then assembles
  /// a new matrix and a new right-hand side.
  bool has_nonlinear_terms = false;
  /// Whether the matrix (of each step, if the problem is nonlinear) is symmetric. It is unsymmetric
  /// if σ depends on u or s on ∇u.
  bool has_symmetric_matrix = true;
  /// Whether convection may dominate diffusion.
  bool has_convection = false;
  /// Whether Problem::stabilize() adds terms.
  bool is_stabilized = false;
  /// Whether boundary data that grow with u may make the matrix indefinite. An indefinite matrix
  /// means that no stable state exists, so if an iterative solver detects it, there is no fallback
  /// to a direct solver.
  bool may_be_unstable = false;
  /// Whether branches of solutions can be traced as λ of nonlinearity() varies.
  bool has_branches = false;
};

/// The storage term of a step in time: the source −c (u − w)/τ, which stands for −c ∂u/∂t or, in
/// dynamics, for −ρ ∂²u/∂t².
struct Storage
{
  double tau;             ///< τ > 0
  const FeVector *from;   ///< w, with ghost values; nullptr for 0
  bool is_lumped = false; ///< whether the term is integrated by nodal quadrature
  /// Velocity and acceleration in dynamics, with ghost values, for output.
  const FeVector *velocity = nullptr, *acceleration = nullptr;
};

/// The data of a problem that depend on the time t.
struct TimeDependence
{
  bool matrix = false;                            ///< whether the matrix of a linear problem does
  std::set<dealii::types::material_id> sources;   ///< materials whose source does
  std::set<dealii::types::boundary_id> fluxes;    ///< boundaries whose given flux does
  std::set<dealii::types::boundary_id> dirichlet; ///< places whose Dirichlet data do
};

/**
 * A boundary value problem: −∇·σ(x, u, ∇u) = s(x, u, ∇u) + λ c(x) φ(u), with σ·n = g(x, u) on some
 * boundaries and u given on others. Code that computes matrices, residuals, error estimates, fluxes
 * and support reactions evaluates these functions at points of cells and faces. The reaction term
 * λ c φ, with the same φ for all unknowns, is integrated by nodal quadrature, so that solvers on a
 * GPU use a diagonal matrix of weights. All other terms are integrated by Gauss quadrature.
 *
 * In a transient analysis, −c(x, u) ∂u/∂t is added to s, with the capacity c, or −c(x) ∂²u/∂t² if
 * order_in_time() is 2. Data may depend on the time of MeshRegions::clock. A step in time solves
 * the equation with a Storage term.
 *
 * Each physics has one source file, with a ParameterAcceptor for its parameters and a subclass of
 * this class for 2D and 3D, and one line in registry.cc.
 */
template <int dim>
class Problem
{
public:
  virtual ~Problem() = default;

  /// Returns the number of components of the solution: 1, or dim for a vector.
  virtual unsigned int n_components() const
  {
    return 1;
  }
  /// Returns the name of the solution in output files.
  virtual std::string solution_name() const
  {
    return "u";
  }
  /// Returns the hypothesis by which a 2D problem models a 3D body, such as "plane strain"; empty
  /// if there is none.
  virtual std::string hypothesis() const
  {
    return "";
  }

  /// Returns the quantities whose units the user chooses, length first. Units of other quantities
  /// are derived from these base units.
  virtual std::vector<std::string> base_units() const
  {
    return {"length", solution_name(), "the flow (as W of heat)"};
  }
  /// Returns the units of output fields by name. @p base has one unit for each of base_units().
  virtual std::map<std::string, Unit> field_units(const std::vector<Unit> &base) const
  {
    return {{solution_name(), base[1]}, {"flux", base[2] / (base[0] * base[0])}};
  }

  virtual ProblemTraits traits() const
  {
    return {};
  }
  /// Returns the reaction λ φ that is integrated by nodal quadrature; nullopt if there is none.
  virtual std::optional<linalg::Nonlinearity> nonlinearity() const
  {
    return {};
  }

  /// Returns the boundary ids that the problem's parameters refer to, as pairs of "Section/Key" and
  /// ids.
  virtual std::vector<std::pair<std::string, std::set<dealii::types::boundary_id>>>
  named_boundaries() const = 0;

  /// Returns the highest degree of elements that this problem supports.
  virtual unsigned int highest_degree(const bool is_simplex) const
  {
    return is_simplex ? 2 : 4;
  }
  /// Checks that this problem can be solved.
  /// @throws ParameterError if it cannot, for example because a body has no support
  virtual void check(const Mesh<dim> & /* mesh */, unsigned int /* degree */) const
  {}

  /// Returns warnings about properties of the problem and the mesh that may cause wrong results,
  /// with remedies. The second argument is the number of global refinements until the last cycle.
  /// @pre the mesh is not refined yet
  virtual std::vector<std::string> warnings(const Discretization<dim> & /* discretization */,
                                            unsigned int /* refinements */) const
  {
    return {};
  }

  /// Collective. Checks data before each solve.
  /// @throws ParameterError if data are invalid, such as a negative coefficient
  virtual void check_data(const Discretization<dim> & /* discretization */) const
  {}

  virtual std::vector<DirichletCondition<dim>> dirichlet_conditions() const = 0;

  /// Returns pairs of sides on which the solution is equal.
  virtual std::vector<PeriodicSides> periodic_sides() const
  {
    return {};
  }
  /// Returns the boundaries on which the normal component of a vector-valued solution is zero.
  virtual std::set<dealii::types::boundary_id> symmetry_planes() const
  {
    return {};
  }
  /// Returns whether the data determine the solution only up to a constant. The solution with mean
  /// zero is then computed.
  virtual bool fixes_mean() const
  {
    return false;
  }

  /// Adds σ and its derivatives to @p sigma, which is zero on entry. Row dim c + d is σ_cd, for
  /// component c and direction d. The points of @p at belong to one material. For heat, σ = k∇u is
  /// the negative of the heat flux.
  virtual void flux(const PointBatch<dim> &at, PointTerms &sigma) const = 0;
  /// Adds s and its derivatives to @p s, which is zero on entry and has one row for each component.
  virtual void source(const PointBatch<dim> & /* at */, PointTerms & /* s */) const
  {}
  /// Adds the flux of a stabilisation and its derivatives to @p sigma, which contains σ on entry.
  /// This flux vanishes for the exact solution. It is a part of the equations, but not of fluxes in
  /// reports and output files. @p at has second derivatives of u if the degree is at least 2.
  /// @p rate is the source of the storage term, zero outside of steps in time.
  virtual void stabilize(const PointBatch<dim> & /* at */, const PointTerms & /* rate */,
                         PointTerms & /* sigma */) const
  {}
  /// Returns whether the problem has a capacity, so that it has transient solutions.
  virtual bool has_capacity() const
  {
    return false;
  }
  /// Returns the order of the time derivative, 1 or 2. Problems of order 2 are linear, and their
  /// matrices do not depend on t.
  virtual unsigned int order_in_time() const
  {
    return 1;
  }
  /// Adds the capacity c > 0 and its derivatives to @p c, which is zero on entry and has one row.
  /// @pre has_capacity()
  virtual void capacity(const PointBatch<dim> & /* at */, PointTerms & /* c */) const
  {}
  virtual TimeDependence time_dependence() const
  {
    return {};
  }
  /// Returns the storage term of the current step in time; nullptr outside of steps.
  const Storage *storage() const
  {
    return the_storage ? &*the_storage : nullptr;
  }
  void set_storage(const std::optional<Storage> &storage)
  {
    the_storage = storage;
  }
  /// Returns whether g or a reaction λ c φ(u) may be nonzero on this boundary.
  virtual bool has_boundary_flux(dealii::types::boundary_id /* id */) const
  {
    return false;
  }
  /// Adds g and its derivatives to @p g, which is zero on entry. Where u is given, g has no effect.
  virtual void boundary_flux(const PointBatch<dim> & /* at */, PointTerms & /* g */) const
  {}

  /// Returns loads per length on curves, and loads at points, by the ids of CurveOrPointSet. Each
  /// function has one value for each component.
  virtual std::map<dealii::types::boundary_id, const dealii::Function<dim> *>
  curve_and_point_loads() const
  {
    return {};
  }

  /// Adds the reaction's coefficient c, in cells and on boundaries with has_boundary_flux(), to
  /// @p c, which is zero on entry.
  virtual void reaction_weight(const PointBatch<dim> & /* at */,
                               std::vector<double> & /* c */) const
  {}

  /// Returns the initial guess of the iteration in the first cycle; nullptr for zero.
  virtual const dealii::Function<dim> *initial_guess() const
  {
    return nullptr;
  }
  /// Returns the solution at the beginning of a transient analysis; nullptr for zero.
  /// @pre has_capacity()
  virtual const dealii::Function<dim> *initial_value() const
  {
    return nullptr;
  }

  /// Returns ∂u/∂t at the beginning of a transient analysis; nullptr for zero.
  /// @pre order_in_time() is 2
  virtual const dealii::Function<dim> *initial_velocity() const
  {
    return nullptr;
  }

  /// Returns the exact solution; nullptr if it is unknown.
  virtual const Field<dim> *exact_solution() const
  {
    return nullptr;
  }

  /// Returns the derived fields of output files. By default: "flux", −σ, for scalar problems only.
  virtual std::vector<DerivedField> derived_fields() const;
  /// Computes the derived_fields() at the points of @p at. @p numbers has one row for each number
  /// of each field, field by field.
  virtual void evaluate_derived_fields(const PointBatch<dim> &at, PointRows &numbers) const;

  /// Collective. Returns finite element functions for output files, besides the solution.
  virtual std::vector<NodalField> nodal_fields(DiscreteSolution<dim> & /* solution */) const
  {
    return {};
  }

  /// Returns an observer that accumulates the data for quantities() during the loop over cells that
  /// evaluates a solution, see DiscreteSolution::observer_quantities(). Returns nullptr if
  /// quantities() needs only the Evaluation.
  virtual std::unique_ptr<CellObserver<dim>>
  observer(const Discretization<dim> &discretization) const;

  /// Collective. Returns quantities of interest. By default: DiscreteSolution::flux_quantities().
  virtual std::vector<Quantity> quantities(DiscreteSolution<dim> &solution) const;

  /// Returns advice for users if a nonlinear problem's solution was not found.
  virtual std::string advice_without_solution() const
  {
    return "Change the data, or start from a finer or coarser mesh.";
  }

private:
  std::optional<Storage> the_storage;
};
} // namespace femgpu

#endif
