#include "physics/mesh/regions.h"

#include "linalg/base/error.h"
#include "linalg/base/text.h"

#include <algorithm>

namespace femgpu
{
namespace
{
template <class Id>
std::string list(const std::set<Id> &ids, const std::map<std::string, Id> &names)
{
  std::string text;
  for (const Id id : ids) {
    text += (text.empty() ? "" : ", ") + std::to_string(id);
    for (const auto &[name, named] : names)
      if (named == id)
        text += " (" + name + ")";
  }
  return text;
}

/// @param kind "boundary id" or "material id"
template <class Id>
Id find(const std::string &kind, const std::string &path, const std::string &word,
        const std::set<Id> &ids, const std::map<std::string, Id> &names,
        const std::map<std::string, std::string> &unusable)
{
  if (const auto named = names.find(word); named != names.end())
    return named->second;
  if (const auto reason = unusable.find(word); reason != unusable.end())
    throw ParameterError(path + " names '" + word + "'. " + reason->second, path);
  const std::string present = "; it has " + list(ids, names) + ".";
  if (!is_digits(word))
    throw ParameterError("'" + word + "' in " + path + " is no " + kind +
                             " and no name of the mesh" + present,
                         path);
  if (Id id = 0; read_number(word, id) && ids.count(id) > 0)
    return id;
  throw ParameterError(
      "The mesh has no " + kind + " " + word + ", which " + path + " names" + present, path);
}
} // namespace

bool MeshRegions::has_name_of_boundary(const std::string &name) const
{
  return boundary_names.count(name) > 0 ||
         std::any_of(lower_parts.begin(), lower_parts.end(),
                     [&](const LowerPart &part) { return part.name == name; });
}

const LowerPart *MeshRegions::lower_part(const BoundaryId id) const
{
  for (const LowerPart &part : lower_parts)
    if (part.id == id)
      return &part;
  return nullptr;
}

MeshRegions::BoundaryId MeshRegions::boundary_or_lower(const std::string &path,
                                                       const std::string &word) const
{
  for (const LowerPart &part : lower_parts)
    if (part.name == word)
      return part.id;
  return boundary(path, word);
}

std::string MeshRegions::lower_list() const
{
  std::string curves, points;
  for (const LowerPart &part : lower_parts) {
    std::string &list = part.dimension == 1 ? curves : points;
    list += (list.empty() ? "" : ", ") + part.name;
  }
  return (curves.empty() ? "" : "; curves " + curves) +
         (points.empty() ? "" : "; points " + points);
}

std::string MeshRegions::name_of(const BoundaryId id) const
{
  if (const LowerPart *const part = lower_part(id))
    return part->name;
  for (const auto &[name, named] : boundary_names)
    if (named == id)
      return name;
  return std::to_string(id);
}

MeshRegions::BoundaryId MeshRegions::boundary(const std::string &path,
                                              const std::string &word) const
{
  for (const LowerPart &part : lower_parts)
    if (part.name == word)
      throw ParameterError(
          "'" + word + "' in " + path + " is " +
              (part.dimension == 1 ? "a curve" : "a set of points") +
              " of the mesh and no part of the boundary; the solution of this condition would "
              "depend "
              "on the mesh. It can be used in Elasticity/Displacement, Elasticity/Rotation and "
              "Elasticity/Traction.",
          path);
  return find("boundary id", path, word, boundary_ids, boundary_names, unusable_boundary_names);
}

MeshRegions::MaterialId MeshRegions::material(const std::string &path,
                                              const std::string &word) const
{
  return find("material id", path, word, material_ids, material_names, unusable_material_names);
}

std::string MeshRegions::boundary_list() const
{
  return list(boundary_ids, boundary_names);
}

std::string MeshRegions::material_list() const
{
  return list(material_ids, material_names);
}
} // namespace femgpu
