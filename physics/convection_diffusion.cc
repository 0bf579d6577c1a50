#include "linalg/base/error.h"
#include "physics/base/collective.h"
#include "physics/diffusion_reaction.h"
#include "physics/extrema.h"
#include "physics/physics.h"
#include "physics/residual.h"
#include "physics/supg.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/patterns.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Section "Convection diffusion": C ∂u/∂t − ∇·(k∇u) + b·∇u + c u = f or, in the conservative
/// form, C ∂u/∂t − ∇·(k∇u − b u) + c u = f.
class ConvectionDiffusionParameters : public DiffusionReactionParameters
{
public:
  ConvectionDiffusionParameters() : DiffusionReactionParameters("Convection diffusion")
  {
    declare(conductivity, "Diffusivity",
            "k > 0 in -div(k grad u) + b.grad u + c u = f: an expression of x, y, z and u. Values "
            "by direction: 'k_x, k_y' in 2D, 'k_x, k_y, k_z' in 3D. Values by material id or name: "
            "'k; ids: k; ids: k_x, k_y'. The entry without ids applies to all other materials. "
            "Must be given.");
    declare(velocity, "Velocity",
            "Velocity b: an expression of x, y, z for each direction, separated by ','. Values by "
            "material id or name: 'b_x, b_y; ids: b_x, b_y'. Must be given.");
    add_parameter(
        "Form", form,
        "convective: -div(k grad u) + b.grad u + c u = f; the reported fluxes are diffusive. "
        "conservative: -div(k grad u - b u) + c u = f, in which the divergence of b counts; the "
        "reported fluxes contain diffusion and convection, -k grad u + b u.",
        prm, Patterns::Selection("convective|conservative"));
    declare(reaction_coefficient, "Reaction",
            "c >= 0: an expression of x, y, z. Values by material id or name: 'c; ids: c'.", "0");
    declare(source, "Source",
            "f: an expression of x, y, z and u. Values by material id or name: 'f; ids: f'.", "0");
    declare_transient("Capacity",
                      "C > 0 of the term C du/dt on the left-hand side, for a transient analysis: "
                      "an expression of x, y, z, u and t. Values by material id or name: 'C; ids: "
                      "C'.",
                      "1");
    declare_dirichlet(
        " Needed where the flow enters, unless Robin or Total flux gives the inflow.");
    declare(neumann, "Neumann",
            "Diffusive flux k du/dn = q into the body, in both forms, on parts of the boundary: "
            "'ids: q; ...', with expressions q of x, y, z and u. On boundary ids without a "
            "condition, k du/dn = 0, so that the flow carries u out.");
    declare(total_flux, "Total flux",
            "Flux of diffusion and convection (k grad u - b u).n = q into the body, in both forms, "
            "on parts of the boundary: 'ids: q; ...', with expressions q of x, y, z. 'walls: 0' "
            "lets nothing through; 'inlet: v*u0' supplies fluid of value u0 at normal speed v.");
    declare(robin, "Robin",
            "k du/dn + a u = g on parts of the boundary: 'ids: a, g; ...', with a >= 0. "
            "'inlet: v, v*u0' supplies fluid of value u0 at normal speed v.");
    declare_periodic();
    add_parameter(
        "Stabilisation", stabilisation,
        "supg: streamline upwind Petrov-Galerkin. The test functions v + tau b.grad v multiply "
        "the residual of the equation inside cells, with 1/tau = 4 p^2 k/d^2 + 2 p |b|/h + c; p is "
        "the degree, h the length of a cell along the flow, d its thickness. The exact solution "
        "satisfies the equations. none: Galerkin's method, whose solution oscillates if "
        "|b| h/(2 p k) > 1.",
        prm, Patterns::Selection("supg|none"));
    add_parameter("Initial guess", initial_guess,
                  "Initial guess of the solver, or of the nonlinear iteration if the diffusivity, "
                  "source or Neumann data depend on u, in the first cycle: an expression of x, y, "
                  "z.");
    declare_exact_solution();
  }

  std::vector<RequiredDatum> required() const
  {
    return {{conductivity.path, conductivity.text, "1e-3"}, {velocity.path, velocity.text, "1, 0"}};
  }
  bool is_conservative() const
  {
    return form == "conservative";
  }

  TextParameter velocity, total_flux;
  std::string form = "convective", stabilisation = "supg", initial_guess = "0";
};

/// The reaction −c u.
Reaction linear_reaction()
{
  const auto u = linalg::make_expression_reaction("u", "", {}, {-1., 1.});
  return {{u, -1.}, linalg::affine_form(u.phi)};
}

template <int dim>
class ConvectionDiffusion final : public DiffusionReaction<dim>
{
public:
  ConvectionDiffusion(const ConvectionDiffusionParameters &p, const MeshRegions &regions)
      : DiffusionReaction<dim>(p, regions, linear_reaction()), p(p),
        b(make_material_fields<dim>(p.velocity.path, p.velocity.text, dim, regions)),
        total_flux(make_boundary_fields<dim>(p.total_flux.path, p.total_flux.text, 1, regions)),
        guess(section_path("Initial guess"), {p.initial_guess}, Variables::position,
              regions.definitions)
  {
    for (const auto *const others : {&this->dirichlet, &this->neumann, &this->robin})
      reject_overlap(p.total_flux.path, total_flux, *others);
    reject_conditions_on(p.periodic.path, this->periodic, p.total_flux.path, ids_of(total_flux));
    without_flux = ids_of(this->dirichlet);
    without_flux.merge(ids_of(this->periodic));
    this->problem_traits.has_symmetric_matrix = false;
    this->problem_traits.has_convection = true;
    this->problem_traits.is_stabilized = p.stabilisation == "supg";
  }

  std::vector<std::pair<std::string, std::set<types::boundary_id>>>
  named_boundaries() const override
  {
    auto result = DiffusionReaction<dim>::named_boundaries();
    result.emplace_back(p.total_flux.path, ids_of(total_flux));
    return result;
  }

  void check(const Mesh<dim> &mesh, const unsigned int degree) const override
  {
    const DeterminingRegions regions = determining_regions();
    if (regions.boundary_ids.empty() && regions.material_ids.empty())
      throw ParameterError("Without Dirichlet data, Robin data, total flux and reaction, u is "
                           "known only up to a constant. Set " +
                               p.dirichlet.path + " where the flow enters.",
                           p.dirichlet.path);
    std::set<types::boundary_id> closed = ids_of(this->periodic);
    closed.merge(ids_of(total_flux));
    const auto &all = mesh.regions.boundaries.ids;
    if (!total_flux.empty() && regions.material_ids.empty() &&
        std::includes(closed.begin(), closed.end(), all.begin(), all.end()))
      throw ParameterError(p.total_flux.path +
                               " prescribes the flux through the whole boundary, so that u is not "
                               "determined. Leave the outlet without a condition, or set " +
                               section_path("Reaction") + ".",
                           p.total_flux.path);
    DiffusionReaction<dim>::check(mesh, degree);
  }

  std::vector<std::string> warnings(const Discretization<dim> &discretization,
                                    unsigned int refinements) const override;

  const Function<dim> *initial_guess() const override
  {
    return &guess;
  }

  /// σ = k∇u, or k∇u − b u in the conservative form.
  void flux(const PointBatch<dim> &at, PointTerms &sigma) const override;
  /// s = f − c u − b·∇u; without b·∇u in the conservative form.
  void source(const PointBatch<dim> &at, PointTerms &s) const override;
  void stabilize(const PointBatch<dim> &at, const PointTerms &rate,
                 PointTerms &sigma) const override;
  TimeDependence time_dependence() const override;

  bool has_boundary_flux(const types::boundary_id id) const override
  {
    return DiffusionReaction<dim>::has_boundary_flux(id) || total_flux.count(id) > 0 ||
           (p.is_conservative() && without_flux.count(id) == 0);
  }
  void boundary_flux(const PointBatch<dim> &at, PointTerms &g) const override;

  std::vector<Quantity> quantities(DiscreteSolution<dim> &solution) const override
  {
    const auto [smallest, largest] = extrema(solution.discretization(), solution.u());
    std::vector<Quantity> result = {{"min u", smallest}, {"max u", largest}};
    for (const Quantity &quantity : solution.flux_quantities())
      result.push_back(quantity);
    return result;
  }

  std::string advice_without_solution() const override
  {
    return "No solution was found. Start from a better " + section_path("Initial guess") +
           " or on a finer mesh, or let the diffusivity and the source vary less with u.";
  }

protected:
  DeterminingRegions determining_regions() const override
  {
    DeterminingRegions result = DiffusionReaction<dim>::determining_regions();
    result.boundary_ids.merge(ids_of(total_flux));
    result.parameters += " or " + p.total_flux.path;
    return result;
  }

private:
  using Rows = DirectionRows<dim>;

  std::string section_path(const std::string &key) const
  {
    return p.section + "/" + key;
  }
  Rows velocity_at(const PointBatch<dim> &at) const;
  void add_residual(const PointBatch<dim> &at, const Rows &b_q, const PointTerms &rate,
                    PointTerms &R) const;
  double cell_peclet_number(const Discretization<dim> &discretization) const;

  const ConvectionDiffusionParameters &p;
  MaterialFields<dim> b;
  BoundaryFields<dim> total_flux;
  std::set<types::boundary_id> without_flux; ///< Dirichlet data or periodic
  Field<dim> guess;
};

template <int dim>
auto ConvectionDiffusion<dim>::velocity_at(const PointBatch<dim> &at) const -> Rows
{
  const Field<dim> &field = *b.at(at.material);
  Rows result;
  for (unsigned int d = 0; d < dim; ++d) {
    result[d].resize(at.size());
    field.evaluate(at, result[d].data(), d);
  }
  return result;
}

template <int dim>
TimeDependence ConvectionDiffusion<dim>::time_dependence() const
{
  TimeDependence result = DiffusionReaction<dim>::time_dependence();
  for (const auto &entry : b)
    for (unsigned int d = 0; d < dim; ++d)
      result.matrix = result.matrix || entry.second->depends_on_time(d);
  for (const auto &[id, field] : total_flux)
    if (field->depends_on_time())
      result.fluxes.insert(id);
  return result;
}

template <int dim>
void ConvectionDiffusion<dim>::flux(const PointBatch<dim> &at, PointTerms &sigma) const
{
  DiffusionReaction<dim>::flux(at, sigma);
  if (!p.is_conservative())
    return;
  const Rows b_q = velocity_at(at);
  for (unsigned int d = 0; d < dim; ++d)
    for (unsigned int q = 0; q < at.size(); ++q) {
      sigma.value(d)[q] -= b_q[d][q] * at.u[0][q];
      sigma.u_derivative(d, 0)[q] -= b_q[d][q];
    }
}

template <int dim>
void ConvectionDiffusion<dim>::source(const PointBatch<dim> &at, PointTerms &s) const
{
  DiffusionReaction<dim>::source(at, s);
  if (p.is_conservative())
    return;
  const Rows b_q = velocity_at(at);
  for (unsigned int d = 0; d < dim; ++d)
    for (unsigned int q = 0; q < at.size(); ++q) {
      s.value(0)[q] -= b_q[d][q] * at.gradient(0, d)[q];
      s.gradient_derivative(0, 0, d)[q] = -b_q[d][q];
    }
}

template <int dim>
void ConvectionDiffusion<dim>::boundary_flux(const PointBatch<dim> &at, PointTerms &g) const
{
  DiffusionReaction<dim>::boundary_flux(at, g);
  const auto data = total_flux.find(at.boundary);
  const bool has_total_flux = data != total_flux.end();
  if (has_total_flux) {
    std::vector<double> values(at.size());
    data->second->evaluate(at, values.data());
    for (unsigned int q = 0; q < at.size(); ++q)
      g.value(0)[q] += values[q];
  }
  // the equations contain the total flux in the conservative form, else the diffusive flux
  if (has_total_flux == p.is_conservative() || !at.is_at_boundary)
    return;
  const double sign = has_total_flux ? 1. : -1.;
  const Rows b_q = velocity_at(at);
  for (unsigned int q = 0; q < at.size(); ++q) {
    double b_n = 0.;
    for (unsigned int d = 0; d < dim; ++d)
      b_n += b_q[d][q] * (*at.normals)[q][d];
    g.value(0)[q] += sign * b_n * at.u[0][q];
    g.u_derivative(0, 0)[q] += sign * b_n;
  }
}

/**
 * Computes the residual R = C ∂u/∂t − ∇·(k∇u) + b·∇u + c u − f, with (∇·b) u in the conservative
 * form, and its derivatives. Omits second derivatives of u if they are not available: they vanish
 * for linear triangles, tetrahedra and bilinear parallelograms, and are neglected in other cells of
 * degree 1. Also omits, in the derivative with respect to u, the second derivatives of k.
 */
template <int dim>
void ConvectionDiffusion<dim>::add_residual(const PointBatch<dim> &at, const Rows &b_q,
                                            const PointTerms &rate, PointTerms &R) const
{
  const unsigned int n = at.size();
  PointTerms s;
  s.reinit(1, 1, dim, n);
  DiffusionReaction<dim>::source(at, s);
  for (unsigned int q = 0; q < n; ++q) {
    R.value(0)[q] = -s.value(0)[q];
    R.u_derivative(0, 0)[q] = -s.u_derivative(0, 0)[q];
  }
  if (!rate.values.written().empty())
    for (unsigned int q = 0; q < n; ++q) {
      R.value(0)[q] -= rate.values[0][q];
      R.u_derivative(0, 0)[q] -= rate.derivatives[0][q];
    }
  const Field<dim> &k = *this->k.at(at.material), &velocity = *b.at(at.material);
  std::vector<double> k_rows, b_rows, k_u(n, 0.);
  for (unsigned int d = 0; d < dim; ++d) {
    const unsigned int component = k.n_components == 1 ? 0 : d;
    if (d == 0 || component > 0) {
      k.value_and_gradient_rows(at.points(), n, k_rows, component, at.u[0]);
      k.evaluate_u_derivative(at, k_u.data(), component);
    }
    const double *const gradient = at.gradient(0, d), *const k_d =
                                                          k_rows.data() + std::size_t(1 + d) * n;
    double *const value = R.value(0), *const u_derivative = R.u_derivative(0, 0),
                  *const gradient_derivative = R.gradient_derivative(0, 0, d);
    for (unsigned int q = 0; q < n; ++q) {
      value[q] += (b_q[d][q] - k_d[q] - k_u[q] * gradient[q]) * gradient[q];
      gradient_derivative[q] = b_q[d][q] - k_d[q] - 2. * k_u[q] * gradient[q];
    }
    if (at.has_second_derivatives())
      for (unsigned int q = 0; q < n; ++q) {
        value[q] -= k_rows[q] * at.second_derivative(0, d)[q];
        u_derivative[q] -= k_u[q] * at.second_derivative(0, d)[q];
        R.second_derivative(0, 0, d)[q] = -k_rows[q];
      }
    if (!p.is_conservative() || velocity.is_constant(d))
      continue;
    velocity.value_and_gradient_rows(at.points(), n, b_rows, d);
    for (unsigned int q = 0; q < n; ++q) {
      value[q] += b_rows[(1 + d) * n + q] * at.u[0][q];
      u_derivative[q] += b_rows[(1 + d) * n + q];
    }
  }
}

/// Adds the flux τ b R of SUPG. Neglects the derivative of τ with respect to u.
template <int dim>
void ConvectionDiffusion<dim>::stabilize(const PointBatch<dim> &at, const PointTerms &rate,
                                         PointTerms &sigma) const
{
  const unsigned int n = at.size();
  const Field<dim> &k = *this->k.at(at.material);
  const Rows b_q = velocity_at(at);
  Rows k_q;
  std::vector<double> c_q(n);
  this->c.at(at.material)->evaluate(at, c_q.data());
  for (unsigned int d = 0; d < dim; ++d) {
    k_q[d].resize(n);
    k.evaluate(at, k_q[d].data(), k.n_components == 1 ? 0 : d);
  }
  const std::vector<double> tau = supg_tau<dim>(at, b_q, k_q, c_q);
  PointTerms R;
  R.reinit(1, 1, dim, n);
  add_residual(at, b_q, rate, R);
  for (unsigned int d = 0; d < dim; ++d) {
    if (b.at(at.material)->is_zero(d))
      continue;
    const auto add = [&](const double *const from, double *const to) {
      for (unsigned int q = 0; q < n; ++q)
        to[q] += tau[q] * b_q[d][q] * from[q];
    };
    add(R.value(0), sigma.value(d));
    add(R.u_derivative(0, 0), sigma.u_derivative(d, 0));
    for (unsigned int e = 0; e < dim; ++e) {
      add(R.gradient_derivative(0, 0, e), sigma.gradient_derivative(d, 0, e));
      if (at.has_second_derivatives())
        add(R.second_derivative(0, 0, e), sigma.second_derivative(d, 0, e));
    }
  }
}

/// Collective. Returns the largest |b| h/(2 p k) in the cells; 0 if k depends on u. h is measured
/// along the flow.
template <int dim>
double ConvectionDiffusion<dim>::cell_peclet_number(const Discretization<dim> &discretization) const
{
  CellPoints<dim> inside(discretization, discretization.cell_quadrature());
  double largest = 0.;
  rethrow_on_all_ranks<ParameterError>(discretization.communicator(), [&] {
    for (const auto &cell : discretization.owned_cells()) {
      const Field<dim> &k = *this->k.at(cell->material_id());
      inside.reinit(cell);
      const PointBatch<dim> &at = inside.batch();
      const Rows b_q = velocity_at(at);
      std::vector<double> k_q(at.size());
      for (unsigned int d = 0; d < dim; ++d) {
        const unsigned int component = k.n_components == 1 ? 0 : d;
        if (k.degree_in_u(component) > 0)
          continue;
        k.evaluate(at, k_q.data(), component);
        for (unsigned int q = 0; q < at.size(); ++q) {
          double inverse_length = 0.; // along direction d
          for (unsigned int i = 0; i < dim; ++i)
            inverse_length = std::max(inverse_length, std::abs(at.inverse_jacobian(i, d)[q]));
          largest =
              std::max(largest, std::abs(b_q[d][q]) / (2. * at.degree * k_q[q] * inverse_length));
        }
      }
    }
  });
  return Utilities::MPI::max(largest, discretization.communicator());
}

/// Collective. Warns of flow into the body through boundaries without condition and, without
/// stabilisation, of cells in which convection dominates.
template <int dim>
std::vector<std::string>
ConvectionDiffusion<dim>::warnings(const Discretization<dim> &discretization,
                                   const unsigned int refinements) const
{
  struct Flow
  {
    double inward = 0., magnitude = 0.; ///< ∫ max(0, −b·n) and ∫ |b|
  };
  std::map<types::boundary_id, Flow> flows;
  CellPoints<dim> on_face(discretization, discretization.face_quadrature());
  std::set<types::boundary_id> given = without_flux;
  for (const auto *const fields : {&this->neumann, &this->robin, &total_flux})
    given.merge(ids_of(*fields));
  rethrow_on_all_ranks<ParameterError>(discretization.communicator(), [&] {
    for (const auto &cell : discretization.owned_cells())
      cell->for_each_side([&](const unsigned int face, const types::boundary_id id) {
        if (given.count(id) > 0 || !cell->face(face)->at_boundary())
          return;
        on_face.reinit(cell, face);
        const PointBatch<dim> &at = on_face.batch();
        const Rows b_q = velocity_at(at);
        for (unsigned int q = 0; q < at.size(); ++q) {
          double normal = 0., square = 0.;
          for (unsigned int d = 0; d < dim; ++d) {
            normal += b_q[d][q] * (*at.normals)[q][d];
            square += b_q[d][q] * b_q[d][q];
          }
          flows[id].inward += std::max(0., -normal) * on_face.JxW(q);
          flows[id].magnitude += std::sqrt(square) * on_face.JxW(q);
        }
      });
  });
  auto result = DiffusionReaction<dim>::warnings(discretization, refinements);
  const MeshRegions &regions = discretization.mesh().regions;
  constexpr double small =
      0.01; // faces of a coarse mesh are not parallel to flow along curved walls
  for (const auto id : regions.boundaries.ids) {
    const Flow &flow = flows[id];
    const double inward = Utilities::MPI::sum(flow.inward, discretization.communicator());
    if (inward > small * Utilities::MPI::sum(flow.magnitude, discretization.communicator()))
      result.push_back("The flow enters through boundary '" + regions.name_of(id) +
                       "', which has no condition, so that the value of u that enters is not "
                       "given. Name the boundary in " +
                       p.dirichlet.path + ", or give the inflow in " + p.total_flux.path + ".");
  }
  if (p.stabilisation != "none")
    return result;
  const double peclet = std::ldexp(cell_peclet_number(discretization), -int(refinements));
  if (peclet > 1.) {
    std::ostringstream text;
    text.precision(3);
    text << "The cell Péclet number |b| h/(2 p k) is up to " << peclet
         << " after the last global refinement: the solution may oscillate. Set "
         << section_path("Stabilisation") << " = supg, or refine.";
    result.push_back(text.str());
  }
  return result;
}
} // namespace

template <>
std::unique_ptr<Physics> make_physics<class ConvectionDiffusionEquation>()
{
  return std::make_unique<PhysicsOf<ConvectionDiffusionParameters, ConvectionDiffusion>>();
}
} // namespace femgpu
