#include "physics/mesh/connected_components.h"

#include "linalg/base/error.h"
#include "physics/mesh/disjoint_sets.h"
#include "physics/mesh/periodicity.h"

#include <algorithm>
#include <map>
#include <sstream>

namespace femgpu
{
using namespace dealii;

namespace
{
template <class Ids>
bool have_common(const Ids &a, const Ids &b)
{
  return std::any_of(a.begin(), a.end(), [&](const auto id) { return b.count(id) > 0; });
}
} // namespace

template <int dim>
std::string ConnectedComponent<dim>::text() const
{
  std::ostringstream text;
  text << "around (" << location << "), with the boundary ids " << NamedIds().list(boundary_ids);
  return text.str();
}

template <int dim>
std::vector<ConnectedComponent<dim>> connected_components(const Mesh<dim> &mesh,
                                                          const std::vector<PeriodicSides> &sides)
{
  DisjointSets vertices(mesh.coarse().n_vertices());
  for (const auto &cell : mesh.coarse().cell_iterators_on_level(0))
    for (const auto v : cell->vertex_indices())
      vertices.unite(cell->vertex_index(0), cell->vertex_index(v));
  for (const auto &[first, second] : periodic_vertices(mesh, sides))
    vertices.unite(first, second);
  std::vector<ConnectedComponent<dim>> parts;
  std::map<unsigned int, std::size_t> part_of_root;
  for (const auto &cell : mesh.coarse().cell_iterators_on_level(0)) {
    const unsigned int root = vertices.root(cell->vertex_index(0));
    const auto [entry, is_new] = part_of_root.try_emplace(root, parts.size());
    if (is_new)
      parts.push_back({cell->center(), {}, {}, {}});
    ConnectedComponent<dim> &part = parts[entry->second];
    part.cells.push_back(cell);
    part.material_ids.insert(cell->material_id());
    for (const auto f : cell->face_indices())
      if (cell->face(f)->at_boundary())
        part.boundary_ids.insert(cell->face(f)->boundary_id());
  }
  return parts;
}

template <int dim>
void require_constrained_components(const Mesh<dim> &mesh, const std::vector<PeriodicSides> &sides,
                                    const DeterminingRegions &determining, const std::string &path)
{
  const std::vector<ConnectedComponent<dim>> parts = connected_components(mesh, sides);
  if (parts.size() < 2)
    return;
  for (const ConnectedComponent<dim> &part : parts) {
    if (have_common(part.boundary_ids, determining.boundary_ids) ||
        have_common(part.material_ids, determining.material_ids))
      continue;
    throw ParameterError("The mesh has " + std::to_string(parts.size()) +
                             " parts that do not touch, and in the part " + part.text() +
                             " u is known only up to a constant. Name one of these ids in " +
                             determining.parameters +
                             ", join the parts, or compute each part separately.",
                         path);
  }
}

template struct ConnectedComponent<2>;
template struct ConnectedComponent<3>;
template std::vector<ConnectedComponent<2>>
connected_components(const Mesh<2> &, const std::vector<PeriodicSides> &);
template std::vector<ConnectedComponent<3>>
connected_components(const Mesh<3> &, const std::vector<PeriodicSides> &);
template void require_constrained_components(const Mesh<2> &, const std::vector<PeriodicSides> &,
                                             const DeterminingRegions &, const std::string &);
template void require_constrained_components(const Mesh<3> &, const std::vector<PeriodicSides> &,
                                             const DeterminingRegions &, const std::string &);
} // namespace femgpu
