#include "physics/mesh/mesh_parts.h"

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
std::string MeshPart<dim>::text() const
{
  std::ostringstream text;
  text << "around (" << place << "), with the boundary ids " << NamedIds().list(boundary_ids);
  return text.str();
}

template <int dim>
std::vector<MeshPart<dim>> parts_of(const Mesh<dim> &mesh, const std::vector<PeriodicSides> &sides)
{
  DisjointSets vertices(mesh.coarse().n_vertices());
  for (const auto &cell : mesh.coarse().cell_iterators_on_level(0))
    for (const auto v : cell->vertex_indices())
      vertices.unite(cell->vertex_index(0), cell->vertex_index(v));
  for (const auto &[first, second] : periodic_vertices(mesh, sides))
    vertices.unite(first, second);
  std::vector<MeshPart<dim>> parts;
  std::map<unsigned int, std::size_t> part_of_root;
  for (const auto &cell : mesh.coarse().cell_iterators_on_level(0)) {
    const unsigned int root = vertices.root(cell->vertex_index(0));
    const auto [entry, is_new] = part_of_root.try_emplace(root, parts.size());
    if (is_new)
      parts.push_back({cell->center(), {}, {}, {}});
    MeshPart<dim> &part = parts[entry->second];
    part.cells.push_back(cell);
    part.material_ids.insert(cell->material_id());
    for (const auto f : cell->face_indices())
      if (cell->face(f)->at_boundary())
        part.boundary_ids.insert(cell->face(f)->boundary_id());
  }
  return parts;
}

template <int dim>
void require_held_parts(const Mesh<dim> &mesh, const std::vector<PeriodicSides> &sides,
                        const Holds &holds, const std::string &path)
{
  const std::vector<MeshPart<dim>> parts = parts_of(mesh, sides);
  if (parts.size() < 2)
    return;
  for (const MeshPart<dim> &part : parts) {
    if (have_common(part.boundary_ids, holds.boundary_ids) ||
        have_common(part.material_ids, holds.material_ids))
      continue;
    throw ParameterError("The mesh has " + std::to_string(parts.size()) +
                             " parts that do not touch, and in the part " + part.text() +
                             " u is known only up to a constant. Name one of these ids in " +
                             holds.parameters +
                             ", join the parts, or compute each part separately.",
                         path);
  }
}

template struct MeshPart<2>;
template struct MeshPart<3>;
template std::vector<MeshPart<2>> parts_of(const Mesh<2> &, const std::vector<PeriodicSides> &);
template std::vector<MeshPart<3>> parts_of(const Mesh<3> &, const std::vector<PeriodicSides> &);
template void require_held_parts(const Mesh<2> &, const std::vector<PeriodicSides> &, const Holds &,
                                 const std::string &);
template void require_held_parts(const Mesh<3> &, const std::vector<PeriodicSides> &, const Holds &,
                                 const std::string &);
} // namespace femgpu
