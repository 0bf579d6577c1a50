#include "physics/elasticity/reactions.h"

#include "physics/constraints/face_dofs.h"
#include "physics/lower_parts.h"

#include <deal.II/fe/fe_values.h>

#include <algorithm>
#include <cmath>

namespace femgpu
{
using namespace dealii;

namespace
{
using Index = types::global_dof_index;

/// A component of a node that is held.
template <int dim>
struct HeldDof
{
  types::boundary_id id;
  unsigned int component;
  Point<dim> place;
};

/// Those that this rank owns; their faces may be those of ghost cells.
template <int dim>
std::map<Index, HeldDof<dim>> held_dofs(const ElasticSupports<dim> &supports,
                                        const Discretization<dim> &discretization)
{
  const FiniteElement<dim> &element = discretization.dofs().get_fe();
  FEValues<dim> nodes(discretization.mapping(), element,
                      Quadrature<dim>(element.base_element(0).get_unit_support_points()),
                      update_quadrature_points);
  FEFaceValues<dim> values(discretization.mapping(), element, discretization.face_quadrature(),
                           update_normal_vectors);
  const auto ids = supports.ids();
  std::map<Index, HeldDof<dim>> result;
  for_each_boundary_face(
      discretization, ids,
      [&](const auto &cell, const unsigned int face, const auto &dofs, const auto &on_face) {
        nodes.reinit(cell);
        values.reinit(cell, face);
        const auto id = cell->face(face)->boundary_id();
        for (const unsigned int i : on_face) {
          const auto [component, node] = element.system_to_component_index(i);
          if (!supports.holds(id, component, values.normal_vector(0)) ||
              !discretization.owned().is_element(dofs[i]))
            continue;
          const HeldDof<dim> held = {id, component, nodes.quadrature_point(node)};
          const auto [known, is_new] = result.emplace(dofs[i], held);
          if (!is_new)
            known->second.id = std::min(known->second.id, id);
        }
      });
  for (const auto id : ids)
    if (const LowerPart *const part = discretization.mesh().regions.lower_part(id))
      for (const auto &[dof, node] : dofs_on(*part, discretization))
        if (supports.holds(id, node.component, {}) && discretization.owned().is_element(dof))
          result.emplace(dof, HeldDof<dim>{id, node.component, node.place});
  return result;
}
} // namespace

Wrench sum_of(const Wrench &wrench, MPI_Comm communicator)
{
  return {Utilities::MPI::sum(wrench.force, communicator),
          Utilities::MPI::sum(wrench.moment, communicator)};
}

template <int dim>
Reactions compute_reactions(const ElasticSupports<dim> &supports,
                            const Discretization<dim> &discretization, const FeVector &residual,
                            const Point<dim> &moment_point)
{
  Reactions reactions;
  for (const auto id : supports.ids())
    reactions.by_id[id] = {};
  for (const auto &[dof, held] : held_dofs(supports, discretization)) {
    reactions.by_id[held.id].template add<dim>(held.place - moment_point, held.component,
                                               -residual(dof));
    reactions.sum_of_magnitudes += std::abs(residual(dof));
  }
  const MPI_Comm comm = discretization.communicator();
  for (auto &entry : reactions.by_id)
    entry.second = sum_of(entry.second, comm);
  reactions.sum_of_magnitudes = Utilities::MPI::sum(reactions.sum_of_magnitudes, comm);
  return reactions;
}

template Reactions compute_reactions(const ElasticSupports<2> &, const Discretization<2> &,
                                     const FeVector &, const Point<2> &);
template Reactions compute_reactions(const ElasticSupports<3> &, const Discretization<3> &,
                                     const FeVector &, const Point<3> &);
} // namespace femgpu
