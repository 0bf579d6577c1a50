#include "physics/elasticity/elastic_quantities.h"

#include "physics/curves_and_point_sets.h"
#include "physics/extrema.h"
#include "physics/residual.h"

#include <deal.II/base/bounding_box.h>
#include <deal.II/base/mpi.h>
#include <deal.II/base/tensor.h>
#include <deal.II/fe/fe_values.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <sstream>
#include <string>

namespace femgpu
{
using namespace dealii;

namespace
{
/// A force and its moment about a common reference point. In 2D, force_z, moment_x and moment_y are
/// zero.
struct Wrench
{
  Tensor<1, 3> force, moment;

  /// Adds the force @p value in direction @p c, which acts at the reference point plus @p arm.
  template <int dim>
  void add(const Tensor<1, dim> &arm, const unsigned int c, const double value)
  {
    Tensor<1, 3> f, x;
    f[c] = value;
    for (unsigned int a = 0; a < dim; ++a)
      x[a] = arm[a];
    force += f;
    moment += cross_product_3d(x, f);
  }
  /// Collective. Returns the sum over all ranks.
  Wrench sum(const MPI_Comm communicator) const
  {
    return {Utilities::MPI::sum(force, communicator), Utilities::MPI::sum(moment, communicator)};
  }
};

/// Appends the components of @p wrench that exist in dim dimensions, with names such as "load x"
/// and "reaction y of left".
template <int dim>
void add_components(const std::string &force, const std::string &moment, const std::string &where,
                    const Wrench &wrench, std::vector<Quantity> &result)
{
  for (unsigned int c = 0; c < dim; ++c)
    result.push_back({force + ' ' + "xyz"[c] + where, wrench.force[c]});
  for (unsigned int c = dim == 2 ? 2 : 0; c < 3; ++c)
    result.push_back({moment + ' ' + "xyz"[c] + where, wrench.moment[c]});
}

/// A supported component of a node.
template <int dim>
struct SupportedDof
{
  types::boundary_id id; ///< the smallest boundary id that supports the dof
  unsigned int component;
  Point<dim> position;
};

/// Returns the supported dofs that this rank owns; their faces may belong to ghost cells.
template <int dim>
std::map<types::global_dof_index, SupportedDof<dim>>
supported_dofs(const ElasticSupports<dim> &supports, const Discretization<dim> &discretization)
{
  const FiniteElement<dim> &element = discretization.dofs().get_fe();
  FEValues<dim> nodes(discretization.mapping(), element,
                      Quadrature<dim>(element.base_element(0).get_unit_support_points()),
                      update_quadrature_points);
  FEFaceValues<dim> values(discretization.mapping(), element, discretization.face_quadrature(),
                           update_normal_vectors);
  const auto ids = supports.ids();
  std::map<types::global_dof_index, SupportedDof<dim>> result;
  for_each_face_with_id(
      discretization, ids,
      [&](const auto &cell, const unsigned int face, const auto &dofs, const auto &on_face) {
        nodes.reinit(cell);
        values.reinit(cell, face);
        const auto id = discretization.side_id(cell, face);
        for (const unsigned int i : on_face) {
          const auto [component, node] = element.system_to_component_index(i);
          if (!supports.prescribes(id, component, values.normal_vector(0)) ||
              !discretization.owned().is_element(dofs[i]))
            continue;
          const SupportedDof<dim> supported = {id, component, nodes.quadrature_point(node)};
          const auto [existing, is_new] = result.emplace(dofs[i], supported);
          if (!is_new)
            existing->second.id = std::min(existing->second.id, id);
        }
      });
  for (const auto id : ids)
    if (const CurveOrPointSet *const region = discretization.mesh().regions.curve_or_point_set(id))
      for (const auto &[dof, node] : dofs_on(*region, discretization))
        if (supports.prescribes(id, node.component, {}) && discretization.owned().is_element(dof))
          result.emplace(dof, SupportedDof<dim>{id, node.component, node.position});
  return result;
}

/// Accumulates all quantities in one loop over the cells.
template <int dim>
class ElasticObserver final : public CellObserver<dim>
{
public:
  ElasticObserver(const ElasticBody<dim> &body, const Discretization<dim> &discretization)
      : body(body), discretization(discretization), comm(discretization.communicator()),
        nodes(discretization, discretization.nodal_quadrature())
  {}

  std::vector<Quantity> quantities(const Evaluation &evaluation, const FeVector &u) override
  {
    std::vector<Quantity> result = extremes(u);
    if (body.reports_reactions) {
      const std::vector<Quantity> of_forces = forces(evaluation.residual);
      result.insert(result.end(), of_forces.begin(), of_forces.end());
    }
    result.push_back({"balance defect", evaluation.balance.relative_defect(), false});
    return result;
  }

  void visit(const ActiveCell<dim> &cell, CellEquation<dim> &equation,
             const CellTerms & /* terms */) override
  {
    nodes.reinit(cell);
    nodes.set_solution(equation.u_of_cell());
    find_extremes();
    const Vector<double> &f_cell = equation.loads();
    work += 0.5 * (f_cell * equation.u_of_cell());
    const Vector<double> &of_inertia = equation.storage_loads();
    for (unsigned int i = 0; i < f_cell.size(); ++i)
      if (f_cell(i) != 0. || of_inertia(i) != 0.) {
        const auto [component, node] = discretization.element().system_to_component_index(i);
        const Tensor<1, dim> arm = nodes.batch().points()[node] - body.moment_point;
        loads.add<dim>(arm, component, f_cell(i) - of_inertia(i));
        inertia.add<dim>(arm, component, of_inertia(i));
      }
    add_energy(equation);
  }

  std::vector<std::string> warnings() override
  {
    const BoundingBox<dim> box(discretization.mesh().coarse().get_vertices());
    double size = 0.;
    for (unsigned int d = 0; d < dim; ++d)
      size = std::max(size, box.side_length(d));
    const double displacement = Utilities::MPI::max(largest_displacement, comm);
    if (!(displacement > 0.1 * size))
      return {};
    std::ostringstream text;
    text.precision(3);
    text << "the largest displacement, " << displacement << ", is ";
    if (displacement > size)
      text << displacement / size << " times the size of the body, " << size
           << ": the result is meaningless. Check moduli, loads and supports; the units are "
              "probably inconsistent, such as lengths in mm with moduli in Pa.";
    else
      text << 100. * displacement / size << " % of the size of the body, " << size
           << ", but the linear strains of femgpu hold for small displacements only. Check units "
              "and loads, or use the result only qualitatively.";
    return {text.str()};
  }

private:
  void find_extremes()
  {
    const PointBatch<dim> &at = nodes.batch();
    const auto moduli = body.materials.moduli(at.points(), at.material);
    const auto yield = body.materials.yield_stress(at.points(), at.material);
    for (unsigned int node = 0; node < at.size(); ++node) {
      double square = 0.;
      for (unsigned int c = 0; c < dim; ++c)
        square += at.u[c][node] * at.u[c][node];
      largest_displacement = std::max(largest_displacement, std::sqrt(square));
      const ElasticState state = body.materials.state(moduli[node], at, node);
      const double equivalent = von_mises(state.stress), mean = trace(state.stress) / 3.;
      // Principal stresses differ from the mean by at most 2/3 of the von Mises stress.
      const double max_deviation = (2. / 3. + 1e-10) * equivalent;
      if (mean + max_deviation > largest_stress || mean - max_deviation < smallest_stress) {
        const auto principal = principal_stresses(state.stress);
        largest_stress = std::max(largest_stress, principal[0]);
        smallest_stress = std::min(smallest_stress, principal[2]);
      }
      largest_von_mises = std::max(largest_von_mises, equivalent);
      if (!yield.empty())
        smallest_safety = std::min(smallest_safety, safety_factor(yield[node], equivalent));
    }
  }

  /// Adds the cell's strain energy to `energy`, and the thermal load (p_T, div φ_i) to the loads of
  /// @p equation.
  void add_energy(CellEquation<dim> &equation)
  {
    CellPoints<dim> &inside = equation.inside();
    const PointBatch<dim> &at = inside.batch();
    if (!body.materials.has_temperature()) {
      for (const unsigned int r : equation.flux().values.written())
        for (unsigned int q = 0; q < at.size(); ++q)
          energy += 0.5 * equation.flux().values[r][q] * at.gradients[r][q] * inside.JxW(q);
      return;
    }
    const auto moduli = body.materials.moduli(at.points(), at.material);
    thermal.reinit(dim * dim, dim, dim, at.size());
    for (unsigned int q = 0; q < at.size(); ++q) {
      energy += body.materials.state(moduli[q], at, q).energy_density * inside.JxW(q);
      for (unsigned int c = 0; c < dim; ++c)
        thermal.value(c * dim + c)[q] = -moduli[q].thermal_pressure;
    }
    inside.subtract_flux(thermal, equation.loads());
  }

  /// Collective. Returns extreme values and energies. @param u solution with ghost values
  std::vector<Quantity> extremes(const FeVector &u) const
  {
    const auto largest = [&](const double value) { return Utilities::MPI::max(value, comm); };
    const auto smallest = [&](const double value) { return Utilities::MPI::min(value, comm); };
    const double displacement = largest_value(discretization, u, {Objective::length, 1.},
                                              largest_displacement, largest(largest_displacement));
    std::vector<Quantity> result = {
        nonnegative_quantity("max displacement", displacement),
        nonnegative_quantity("max von Mises", largest(largest_von_mises)),
        {"max principal stress", largest(largest_stress)},
        {"min principal stress", smallest(smallest_stress)},
    };
    if (body.materials.has_yield_stress())
      result.push_back(nonnegative_quantity("min safety factor", smallest(smallest_safety)));
    result.push_back(nonnegative_quantity("strain energy", Utilities::MPI::sum(energy, comm)));
    if (!body.is_transient)
      result.push_back({"work of loads", Utilities::MPI::sum(work, comm)});
    return result;
  }

  /// Collective. Returns forces and moments of loads and supports.
  /// @param residual entries of the dofs that this rank owns
  std::vector<Quantity> forces(const FeVector &residual) const
  {
    std::map<types::boundary_id, Wrench> reactions; // by boundary id of the supports
    for (const auto id : body.supports.ids())
      reactions[id] = {};
    for (const auto &[dof, supported] : supported_dofs(body.supports, discretization))
      reactions[supported.id].template add<dim>(supported.position - body.moment_point,
                                                supported.component, -residual(dof));
    std::vector<Quantity> result;
    add_components<dim>("load", "load moment", "", loads.sum(comm), result);
    if (body.is_transient)
      add_components<dim>("inertia", "inertia moment", "", inertia.sum(comm), result);
    for (const auto &[id, of_rank] : reactions)
      add_components<dim>("reaction", "moment", " of " + discretization.mesh().regions.name_of(id),
                          of_rank.sum(comm), result);
    return result;
  }

  const ElasticBody<dim> body;
  const Discretization<dim> &discretization;
  MPI_Comm comm;
  CellPoints<dim> nodes;
  PointTerms thermal;

  double energy = 0., work = 0.;
  double largest_displacement = 0. /* at nodes */, largest_von_mises = 0.,
         smallest_safety = largest_safety_factor;
  double largest_stress = -std::numeric_limits<double>::max();
  double smallest_stress = std::numeric_limits<double>::max();
  Wrench loads, inertia;
};
} // namespace

template <int dim>
std::unique_ptr<CellObserver<dim>> elastic_observer(const ElasticBody<dim> &body,
                                                    const Discretization<dim> &discretization)
{
  return std::make_unique<ElasticObserver<dim>>(body, discretization);
}

template std::unique_ptr<CellObserver<2>> elastic_observer(const ElasticBody<2> &,
                                                           const Discretization<2> &);
template std::unique_ptr<CellObserver<3>> elastic_observer(const ElasticBody<3> &,
                                                           const Discretization<3> &);
} // namespace femgpu
