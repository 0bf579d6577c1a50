#include "physics/periodic_constraints.h"

#include "physics/mesh/disjoint_sets.h"
#include "physics/mesh/near_points.h"

#include <deal.II/base/index_set.h>
#include <deal.II/base/mpi.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/grid/grid_tools.h>

#include <boost/serialization/map.hpp>
#include <boost/serialization/vector.hpp>

#include <string>
#include <utility>

namespace femgpu
{
using namespace dealii;

namespace
{
using Index = types::global_dof_index;

/// Collective. Returns, for each component, the positions of the nodes on side @p id by dof number.
/// The result includes the dofs of all ranks.
template <int dim>
std::vector<NumberedPoints<dim, Index>> dofs_of_side(const Discretization<dim> &discretization,
                                                     const types::boundary_id id)
{
  const auto &element = discretization.element();
  FEValues<dim> nodes(discretization.mapping(), element,
                      Quadrature<dim>(element.get_unit_support_points()), update_quadrature_points);
  std::vector<NumberedPoints<dim, Index>> local(element.n_components());
  for_each_face_with_id(discretization, {id},
                        [&](const auto &cell, unsigned int, const auto &dofs, const auto &on_face) {
                          nodes.reinit(cell);
                          for (const unsigned int i : on_face)
                            if (discretization.owned().is_element(dofs[i]))
                              local[element.system_to_component_index(i).first][dofs[i]] =
                                  nodes.quadrature_point(i);
                        });
  std::vector<NumberedPoints<dim, Index>> all(element.n_components());
  for (auto &of_rank : Utilities::MPI::all_gather(discretization.communicator(), local))
    for (unsigned int c = 0; c < all.size(); ++c)
      all[c].merge(of_rank[c]);
  return all;
}

/// Collective. Appends the pairs of matching dofs of two sides.
template <int dim>
void add_pairs_of_dofs(const Discretization<dim> &discretization, const PeriodicSides &sides,
                       std::vector<std::pair<Index, Index>> &pairs)
{
  const auto first = dofs_of_side(discretization, sides.first);
  const auto second = dofs_of_side(discretization, sides.second);
  for (unsigned int c = 0; c < first.size(); ++c) {
    const auto of_component = pairs_of(first[c], second[c], sides.direction);
    AssertThrow(of_component.size() == first[c].size(),
                ExcMessage("The refined periodic sides " + std::to_string(sides.first) + " and " +
                           std::to_string(sides.second) + " do not match."));
    pairs.insert(pairs.end(), of_component.begin(), of_component.end());
  }
}
} // namespace

template <int dim>
void add_periodic_constraints(const Discretization<dim> &discretization,
                              const std::vector<PeriodicSides> &sides,
                              AffineConstraints<double> &constraints)
{
  if (!discretization.mesh().is_simplex) {
    std::vector<GridTools::PeriodicFacePair<typename DoFHandler<dim>::cell_iterator>> pairs;
    for (const PeriodicSides &pair : sides)
      GridTools::collect_periodic_faces(discretization.dofs(), pair.first, pair.second,
                                        pair.direction, pairs);
    DoFTools::make_periodicity_constraints<dim, dim>(pairs, constraints);
    return;
  }
  std::vector<std::pair<Index, Index>> pairs;
  for (const PeriodicSides &pair : sides)
    add_pairs_of_dofs(discretization, pair, pairs);
  std::vector<Index> numbers;
  for (const auto &[first, second] : pairs)
    numbers.insert(numbers.end(), {first, second});
  IndexSet dofs(discretization.dofs().n_dofs());
  dofs.add_indices(numbers.begin(), numbers.end());
  const auto index_of = [&](const Index dof) {
    return static_cast<unsigned int>(dofs.index_within_set(dof));
  };
  DisjointSets same(static_cast<unsigned int>(dofs.n_elements()));
  for (const auto &[first, second] : pairs)
    same.unite(index_of(first), index_of(second));
  for (const Index dof : dofs)
    if (const Index root = dofs.nth_index_in_set(same.root(index_of(dof)));
        root != dof && constraints.can_store_line(dof)) {
      constraints.add_line(dof);
      constraints.add_entry(dof, root, 1.);
    }
}

template void add_periodic_constraints(const Discretization<2> &,
                                       const std::vector<PeriodicSides> &,
                                       AffineConstraints<double> &);
template void add_periodic_constraints(const Discretization<3> &,
                                       const std::vector<PeriodicSides> &,
                                       AffineConstraints<double> &);
} // namespace femgpu
