#include "physics/base/regions.h"

#include "linalg/base/error.h"
#include "linalg/base/text.h"

#include <algorithm>

namespace femgpu
{
namespace
{
/// Returns the ids that @p word, a number or a name, denotes.
/// @throws ParameterError if @p word denotes none of the ids in @p of
/// @param kind "boundary id" or "material id"
MeshRegions::Ids find(const std::string &kind, const std::string &path, const std::string &word,
                      const NamedIds &of)
{
  if (const auto named = of.names.find(word); named != of.names.end())
    return named->second;
  if (const auto reason = of.unusable.find(word); reason != of.unusable.end())
    throw ParameterError(path + " names '" + word + "'. " + reason->second, path);
  const std::string present = "; it has " + of.list() + ".";
  if (!is_digits(word))
    throw ParameterError("'" + word + "' in " + path + " is neither a " + kind +
                             " nor a name of the mesh" + present,
                         path);
  if (NamedIds::Id id = 0; read_number(word, id) && of.ids.count(id) + of.inner.count(id) > 0)
    return {id};
  throw ParameterError(
      "The mesh has no " + kind + " " + word + ", which " + path + " names" + present, path);
}
} // namespace

std::string NamedIds::list(const std::set<Id> &of) const
{
  std::string text;
  for (const Id id : of) {
    text += (text.empty() ? "" : ", ") + std::to_string(id);
    std::string names_of_id;
    for (const auto &[name, named] : names)
      if (named.count(id) > 0 && name != std::to_string(id))
        names_of_id +=
            std::string(names_of_id.empty() ? "" : ", ") + (is_digits(name) ? "group " : "") + name;
    text += names_of_id.empty() ? "" : " (" + names_of_id + ")";
  }
  return text;
}

NamedIds::Id NamedIds::unused() const
{
  Id result = 0;
  for (const auto *const of : {&ids, &inner})
    if (!of->empty())
      result = std::max(result, *of->rbegin() + 1);
  return result;
}

const CurveOrPointSet *MeshRegions::curve_or_point_set(const BoundaryId id) const
{
  for (const CurveOrPointSet &region : curves_and_point_sets)
    if (region.id == id)
      return &region;
  return nullptr;
}

const CurveOrPointSet *MeshRegions::curve_or_point_set(const std::string &name) const
{
  for (const CurveOrPointSet &region : curves_and_point_sets)
    if (region.name == name)
      return &region;
  return nullptr;
}

std::string MeshRegions::list_of_curves_and_point_sets() const
{
  std::string curves, points;
  for (const CurveOrPointSet &region : curves_and_point_sets) {
    std::string &list = region.dimension == 1 ? curves : points;
    list += (list.empty() ? "" : ", ") + region.name;
  }
  return (curves.empty() ? "" : "; curves " + curves) +
         (points.empty() ? "" : "; points " + points);
}

std::string MeshRegions::name_of(const BoundaryId id) const
{
  if (const CurveOrPointSet *const region = curve_or_point_set(id))
    return region->name;
  for (const auto &[name, named] : boundaries.names)
    if (named == Ids{id})
      return name;
  const std::string number = std::to_string(id); // may also be the number of a group
  return (boundaries.names.count(number) > 0 ? "id " : "") + number;
}

MeshRegions::Ids MeshRegions::places(const std::string &path, const std::string &word,
                                     const Places allowed) const
{
  if (const CurveOrPointSet *const region = curve_or_point_set(word)) {
    if (allowed == Places::sides_curves_and_points)
      return {region->id};
    throw ParameterError(
        "'" + word + "' in " + path + " is " +
            (region->dimension == 1 ? "a curve" : "a set of points") +
            " of the mesh, but this condition needs a surface: on curves and points, the solution "
            "would depend on the mesh. Curves and points are available in Elasticity/Displacement, "
            "Elasticity/Rotation and Elasticity/Traction.",
        path);
  }
  Ids result = find("boundary id", path, word, boundaries);
  for (const NamedIds::Id id : result)
    if (allowed == Places::boundary && boundaries.inner.count(id) > 0)
      throw ParameterError("'" + word + "' in " + path +
                               " has sides inside the body, but this parameter needs sides on the "
                               "boundary. Name a group that lies on the boundary.",
                           path);
  return result;
}

MeshRegions::Ids MeshRegions::material(const std::string &path, const std::string &word) const
{
  return find("material id", path, word, materials);
}
} // namespace femgpu
