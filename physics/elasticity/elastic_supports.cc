#include "physics/elasticity/elastic_supports.h"

#include "linalg/base/error.h"
#include "physics/curves_and_point_sets.h"
#include "physics/mesh/mesh_mapping.h"

#include <deal.II/fe/fe_nothing.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/grid/reference_cell.h>
#include <deal.II/physics/transformations.h>

#include <boost/algorithm/string/join.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

namespace femgpu
{
using namespace dealii;

namespace
{
const std::string displacement_path = "Elasticity/Displacement",
                  rotation_path = "Elasticity/Rotation", planes_path = "Elasticity/Symmetry planes";

/// Evaluates u = (R − I)(x − c), where R is the matrix of a rotation about an axis through c.
template <int dim>
class RigidRotation final : public Function<dim>
{
public:
  /// @param expressions a point on the axis, its direction (in 3D only), and the angle
  RigidRotation(const std::vector<std::string> &expressions, const MeshRegions &regions)
      : Function<dim>(dim), angle(rotation_path, {expressions.back()}, Variables::position,
                                  regions.definitions, regions.clock)
  {
    const Field<dim> axis(rotation_path, {expressions.begin(), expressions.end() - 1},
                          Variables::position, regions.definitions);
    bool is_constant = true;
    for (unsigned int c = 0; c < axis.n_components; ++c)
      is_constant = is_constant && axis.is_constant(c);
    if (!is_constant)
      throw ParameterError("The axis of a rotation in " + rotation_path +
                               " depends on x, y or z, but must be constant. Give its point and "
                               "direction as numbers; only the angle may vary.",
                           rotation_path);
    for (unsigned int a = 0; a < dim; ++a)
      centre[a] = axis.value(Point<dim>(), a);
    if constexpr (dim == 3) {
      for (unsigned int a = 0; a < dim; ++a)
        direction[a] = axis.value(Point<dim>(), dim + a);
      if (direction.norm() == 0.)
        throw ParameterError(
            "The direction a_x, a_y, a_z of the axis of a rotation in " + rotation_path +
                " is zero. Set it, for example, to 0, 0, 1 for an axis parallel to z.",
            rotation_path);
      direction /= direction.norm();
    }
  }

  double value(const Point<dim> &p, const unsigned int component) const override
  {
    namespace Rotations = dealii::Physics::Transformations::Rotations;
    const Tensor<1, dim> x = p - centre;
    if constexpr (dim == 2)
      return (Rotations::rotation_matrix_2d(angle.value(p)) * x - x)[component];
    else
      return (Rotations::rotation_matrix_3d(direction, angle.value(p)) * x - x)[component];
  }

  bool depends_on_time() const
  {
    return angle.depends_on_time();
  }

private:
  Field<dim> angle;
  Point<dim> centre;
  Tensor<1, dim> direction; ///< direction of the axis; used in 3D only
};

/// Checks that a symmetry plane is plane. @throws ParameterError if its normals @p first and @p n
/// differ
template <int dim>
void require_plane(const types::boundary_id id, const Tensor<1, dim> &first,
                   const Tensor<1, dim> &n)
{
  if (!((n - (n * first) * first).norm() > 1e-4))
    return;
  std::ostringstream text;
  text.precision(4);
  text << "Boundary id " << id << " of " << planes_path
       << " is not plane: it has different normals, (" << first << ") and (" << n
       << "). Give each plane its own boundary id.";
  throw ParameterError(text.str(), planes_path);
}
} // namespace

template <int dim>
ElasticSupports<dim>::ElasticSupports(const ElasticityParameters &parameters,
                                      const MeshRegions &regions)
{
  for (const std::string &word : entries_of(parameters.symmetry_planes, ','))
    for (const BoundaryId id : regions.boundary(planes_path, word))
      if (!planes.insert(id).second)
        throw ParameterError("Boundary id " + word + " is given twice in " + planes_path +
                                 ". Remove one of them.",
                             planes_path);
  for (auto [id, expressions] :
       parse_boundary_expressions(displacement_path, parameters.displacement, dim, regions,
                                  Places::sides_curves_and_points)) {
    std::vector<bool> mask;
    for (std::string &expression : expressions) {
      mask.push_back(expression != "free");
      if (!mask.back())
        expression = "0";
    }
    const auto field = std::make_shared<Field<dim>>(
        displacement_path, expressions, Variables::position, regions.definitions, regions.clock);
    prescribed.push_back(
        {id, displacement_path, field, ComponentMask(mask), field->any_depends_on_time()});
  }
  constexpr unsigned int n_of_rotation = dim == 2 ? 3 : 7;
  for (const auto &[id, expressions] :
       parse_boundary_expressions(rotation_path, parameters.rotation, n_of_rotation, regions,
                                  Places::sides_curves_and_points)) {
    const auto rotation = std::make_shared<RigidRotation<dim>>(expressions, regions);
    prescribed.push_back(
        {id, rotation_path, rotation, ComponentMask(dim, true), rotation->depends_on_time()});
  }
  std::map<BoundaryId, std::string> paths;
  const auto require_new = [&](const BoundaryId id, const std::string &path) {
    if (const auto [known, is_new] = paths.emplace(id, path); !is_new)
      throw ParameterError("Boundary id " + std::to_string(id) + " of " + path + " is in " +
                               known->second + " too. Name it in one of them only.",
                           path);
  };
  for (const Prescribed &data : prescribed)
    require_new(data.id, data.path);
  for (const auto id : planes)
    require_new(id, planes_path);
}

template <int dim>
std::vector<std::vector<SupportedDirection<dim>>>
ElasticSupports<dim>::supported_directions(const Mesh<dim> &mesh,
                                           const std::vector<ConnectedComponent<dim>> &parts) const
{
  const std::unique_ptr<Mapping<dim>> mapping = make_mapping(mesh, 4); // for curved faces
  const ReferenceCell reference = mesh.coarse().get_reference_cells()[0];
  const FE_Nothing<dim> none(reference);
  FEFaceValues<dim> values(
      *mapping, none,
      reference.face_reference_cell(0).template get_gauss_type_quadrature<dim - 1>(2),
      update_quadrature_points | update_normal_vectors);
  std::vector<std::vector<SupportedDirection<dim>>> supports(parts.size());
  std::map<BoundaryId, Tensor<1, dim>> normals;           // one normal of each symmetry plane
  for (std::size_t part = 0; part < parts.size(); ++part) // all ranks have all coarse cells
    for (const auto &cell : parts[part].cells)
      for (const auto face : cell->face_indices()) {
        const BoundaryId id = mesh.side_id(cell, face);
        if (id == numbers::internal_face_boundary_id)
          continue;
        values.reinit(cell, face);
        for (const unsigned int q : values.quadrature_point_indices()) {
          const Tensor<1, dim> n = values.normal_vector(q);
          if (planes.count(id) > 0) {
            require_plane(id, normals.emplace(id, n).first->second, n);
            supports[part].push_back({values.quadrature_point(q), n});
            continue;
          }
          for (unsigned int c = 0; c < dim; ++c)
            if (prescribes(id, c, n))
              supports[part].push_back({values.quadrature_point(q), Point<dim>::unit_vector(c)});
        }
      }
  for (const auto id : ids())
    if (const CurveOrPointSet *const curve_or_points = mesh.regions.curve_or_point_set(id))
      for (std::size_t part = 0; part < parts.size(); ++part)
        for (const auto &cell : parts[part].cells)
          for (const CellSegment<dim> &segment : segments_of<dim>(*curve_or_points, cell))
            for (const Point<dim> &end : segment.ends)
              for (unsigned int c = 0; c < dim; ++c)
                if (prescribes(id, c, {}))
                  supports[part].push_back({end, Point<dim>::unit_vector(c)});
  return supports;
}

template <int dim>
void ElasticSupports<dim>::check(const Mesh<dim> &mesh, const unsigned int degree,
                                 const bool is_transient) const
{
  for (const Prescribed &data : prescribed)
    if (const CurveOrPointSet *const part = mesh.regions.curve_or_point_set(data.id);
        part != nullptr && !part->midpoints.empty() && degree % 2 == 1)
      throw ParameterError("The points '" + part->name + "' of " + data.path +
                               " are mid-side nodes of the mesh file, but elements of degree " +
                               std::to_string(degree) +
                               " have no nodes there. Set Discretization/Degree to auto or 2.",
                           "Discretization/Degree");
  const std::vector<ConnectedComponent<dim>> parts = connected_components(mesh, {});
  const auto supports = supported_directions(mesh, parts);
  for (std::size_t i = 0; i < parts.size() && !is_transient; ++i) {
    const auto modes = free_rigid_body_modes(supports[i]);
    if (modes.empty())
      continue;
    const std::string body = parts.size() < 2
                                 ? "The body"
                                 : "The body " + parts[i].text() + ", which touches no other body,";
    const bool has_displacements = !prescribed.empty() && prescribed[0].path == displacement_path;
    throw ParameterError(body + " is not supported: it can move as a rigid body by " +
                             boost::algorithm::join(modes, "; ") + ". Add supports in " +
                             displacement_path + ", " + rotation_path + " or " + planes_path + ".",
                         !has_displacements && !planes.empty() ? planes_path : displacement_path);
  }
}

template <int dim>
std::vector<DirichletCondition<dim>> ElasticSupports<dim>::conditions() const
{
  std::vector<DirichletCondition<dim>> result;
  for (const Prescribed &data : prescribed)
    if (data.mask.n_selected_components() > 0)
      result.push_back({data.id, data.values.get(), data.mask});
  return result;
}

template <int dim>
auto ElasticSupports<dim>::ids() const -> std::set<BoundaryId>
{
  std::set<BoundaryId> result = planes;
  for (const auto &condition : conditions())
    result.insert(condition.id);
  return result;
}

template <int dim>
auto ElasticSupports<dim>::moving_ids() const -> std::set<BoundaryId>
{
  std::set<BoundaryId> result;
  for (const Prescribed &data : prescribed)
    if (data.depends_on_time)
      result.insert(data.id);
  return result;
}

template <int dim>
bool ElasticSupports<dim>::prescribes(const BoundaryId id, const unsigned int c,
                                      const Tensor<1, dim> &n) const
{
  if (planes.count(id) > 0)
    return std::abs(n[c]) > 1e-6;
  return std::any_of(prescribed.begin(), prescribed.end(),
                     [&](const Prescribed &data) { return data.id == id && data.mask[c]; });
}

template <int dim>
auto ElasticSupports<dim>::named_boundaries() const
    -> std::vector<std::pair<std::string, std::set<BoundaryId>>>
{
  std::vector<std::pair<std::string, std::set<BoundaryId>>> result = {
      {displacement_path, {}}, {rotation_path, {}}, {planes_path, planes}};
  for (const Prescribed &data : prescribed)
    result[data.path == displacement_path ? 0 : 1].second.insert(data.id);
  return result;
}

template class ElasticSupports<2>;
template class ElasticSupports<3>;
} // namespace femgpu
