#ifndef femgpu_physics_diffusion_reaction_h
#define femgpu_physics_diffusion_reaction_h

#include "expressions/expression_compiler.h"
#include "physics/mesh/connected_components.h"
#include "physics/parameter_fields.h"
#include "physics/physics.h"
#include "physics/residual.h"

#include <deal.II/base/parameter_acceptor.h>

#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace femgpu
{
/**
 * Parameters of physics of the form −∇·(k∇u) = f + λ c φ(u), with u = g or k ∂u/∂n = q on
 * boundaries. A physics declares the parameters that it has, under its own names.
 */
class DiffusionReactionParameters : public dealii::ParameterAcceptor
{
public:
  explicit DiffusionReactionParameters(const std::string &section);

  /// A parameter: its path "Section/Key", which is empty if the physics does not declare the
  /// parameter, and the text of its value.
  struct TextParameter
  {
    std::string path, text;
  };

  std::string section;
  TextParameter conductivity = {"", "1"};     ///< k, for each material; 1 if not declared
  TextParameter source, reaction_coefficient; ///< f and c, for each material
  TextParameter capacity;                     ///< of a transient analysis, for each material
  TextParameter initial_value;                ///< u at t = 0
  TextParameter dirichlet, neumann;           ///< g and q, for each boundary
  TextParameter robin;                        ///< 'a, g': k ∂u/∂n = g − a u
  /// 'c, g': k ∂u/∂n = λ c (φ(u) − φ(g)), in addition to q.
  TextParameter boundary_reaction;
  TextParameter periodic, exact_solution;

protected:
  void declare(TextParameter &parameter, const std::string &key, const std::string &documentation,
               const std::string &text = "");
  /// Declares Dirichlet data. @p documentation is appended to the description of this parameter.
  void declare_dirichlet(const std::string &documentation);
  /// Declares the capacity and the initial value of a transient analysis.
  void declare_transient(const std::string &key, const std::string &documentation,
                         const std::string &text);
  void declare_periodic();
  void declare_exact_solution();
};

/// The reaction term λ φ(u).
struct Reaction
{
  linalg::Nonlinearity term;
  std::optional<linalg::AffineForm> affine; ///< φ, if it is linear in u
  double zero = 0.;                         ///< for an expression φ: the u where potential() is 0

  /// Returns λ φ(u).
  double value(const double u) const
  {
    return term.lambda *
           std::visit([&](const auto &reaction) { return reaction.value(u); }, term.reaction);
  }
  /// Returns λ φ'(u).
  double derivative(const double u) const
  {
    return term.lambda *
           std::visit([&](const auto &reaction) { return reaction.derivative(u); }, term.reaction);
  }
  bool depends_on_u() const
  {
    return !affine || affine->slope != 0.;
  }
  /// Returns Φ(u) with Φ' = φ. An expression φ is integrated over intervals of equal length by
  /// ExpressionReaction::potential_remainder(), which is exact for polynomials of degree 6 at most.
  double potential(const double u) const
  {
    const auto *const reaction = std::get_if<linalg::ExpressionReaction>(&term.reaction);
    if (reaction == nullptr)
      return std::exp(u);
    constexpr int n_intervals = 8;
    const double width = (u - zero) / n_intervals;
    double sum = 0.;
    for (int i = 0; i < n_intervals; ++i) {
      const double begin = zero + i * width;
      sum += reaction->value(begin) * width + reaction->potential_remainder(begin, width);
    }
    return sum;
  }
};

/**
 * The equation −∇·(k∇u) = f + λ c φ(u), with k ∂u/∂n = q + (g_R − a u) + λ c (φ(u) − φ(g)) on
 * boundaries, where (a, g_R) belong to a Robin condition and (c, g) to a boundary reaction. k is a
 * function of x and u, or a diagonal tensor of such functions. f and q may depend on u.
 *
 * In a transient analysis, the capacity times ∂u/∂t is added to the left-hand side.
 *
 * A reaction that is linear in u contributes to the matrix. A nonlinear reaction is integrated by
 * nodal quadrature if it is the only nonlinear term: A u = b + λ W φ(u) with a diagonal matrix W of
 * weights. If other terms are nonlinear, too, each step of Newton's method assembles all terms.
 */
template <int dim>
class DiffusionReaction : public Problem<dim>
{
public:
  /// @throws ParameterError if a parameter has a syntax error, or a boundary has two conditions
  DiffusionReaction(const DiffusionReactionParameters &parameters, const MeshRegions &regions,
                    const std::optional<Reaction> &reaction = {});

  std::optional<linalg::Nonlinearity> nonlinearity() const override
  {
    return has_nodal_reaction ? std::optional(reaction->term) : std::nullopt;
  }
  ProblemTraits traits() const override
  {
    return problem_traits;
  }
  std::vector<std::pair<std::string, std::set<dealii::types::boundary_id>>>
  named_boundaries() const override;

  unsigned int highest_degree(bool is_simplex) const override;
  void check(const Mesh<dim> &mesh, unsigned int degree) const override;
  std::vector<std::string> warnings(const Discretization<dim> &discretization,
                                    unsigned int refinements) const override;
  void check_data(const Discretization<dim> &discretization) const override;

  std::vector<DirichletCondition<dim>> dirichlet_conditions() const override
  {
    return conditions_of(dirichlet);
  }
  std::vector<PeriodicSides> periodic_sides() const override
  {
    return periodic;
  }
  const Field<dim> *exact_solution() const override
  {
    return exact.get();
  }
  bool has_capacity() const override
  {
    return !storage_capacity.empty();
  }
  const dealii::Function<dim> *initial_value() const override
  {
    return initial.get();
  }
  TimeDependence time_dependence() const override;

  void flux(const PointBatch<dim> &at, PointTerms &sigma) const override;
  void source(const PointBatch<dim> &at, PointTerms &s) const override;
  void capacity(const PointBatch<dim> &at, PointTerms &c) const override;
  bool has_boundary_flux(const dealii::types::boundary_id id) const override
  {
    return neumann.count(id) > 0 || robin.count(id) > 0 || boundary_reaction.count(id) > 0;
  }
  void boundary_flux(const PointBatch<dim> &at, PointTerms &g) const override;
  void reaction_weight(const PointBatch<dim> &at, std::vector<double> &c) const override;

  /// Returns the energy ∫ (k|∇u|²/2 − f u) − ∫ (q u + ...) − λ ∫ c Φ(u) with Φ' = φ, which the
  /// solution minimises, and DiscreteSolution::flux_quantities(). Omits the energy if a term other
  /// than the reaction is nonlinear in u, and in a transient analysis.
  std::vector<Quantity> quantities(DiscreteSolution<dim> &solution) const override;
  /// Returns the residual fields if the physics has a parameter for a reaction, else an empty list.
  std::vector<NodalField> nodal_fields(DiscreteSolution<dim> &solution) const override
  {
    return parameters.reaction_coefficient.path.empty() ? std::vector<NodalField>()
                                                        : solution.residual_fields();
  }

protected:
  /// Returns the regions that determine u completely: boundaries with Dirichlet data, and regions
  /// with terms that depend on u.
  virtual DeterminingRegions determining_regions() const;

  const DiffusionReactionParameters &parameters;
  MaterialFields<dim> k, f, c;
  MaterialFields<dim> storage_capacity; ///< empty if the analysis is not transient
  BoundaryFields<dim> dirichlet, neumann, robin, boundary_reaction;
  std::vector<PeriodicSides> periodic;
  std::unique_ptr<Field<dim>> exact, initial;
  std::optional<Reaction> reaction;
  bool has_nodal_reaction = false;
  ProblemTraits problem_traits;

private:
  void add_reaction(const PointBatch<dim> &at, const Field<dim> &c, PointTerms &s) const;

  /// A boundary flux g that is linear in u and grows with u: the hotter the body, the more heat
  /// enters.
  struct GrowingFlux
  {
    dealii::types::boundary_id id;
    double derivative; ///< the largest ∂g/∂u at the centres of faces of the coarse mesh
    /// Whether the problem is linear, and ∫∂g/∂u over the boundary plus ∫∂s/∂u over the body,
    /// with the source s, is positive.
    bool dominates;
  };
  std::optional<GrowingFlux> find_growing_flux(const Mesh<dim> &mesh) const;
  std::string text_of(const Mesh<dim> &mesh, const GrowingFlux &growing) const;
};
} // namespace femgpu

#endif
