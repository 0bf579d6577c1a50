#include "physics/base/regions.h"

#include "linalg/base/error.h"
#include "linalg/base/text.h"

namespace femgpu
{
namespace
{
/// @param kind "boundary id" or "material id"
NamedIds::Id find(const std::string &kind, const std::string &path, const std::string &word,
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
  if (NamedIds::Id id = 0; read_number(word, id) && of.ids.count(id) > 0)
    return id;
  throw ParameterError(
      "The mesh has no " + kind + " " + word + ", which " + path + " names" + present, path);
}
} // namespace

std::string NamedIds::list(const std::set<Id> &of) const
{
  std::string text;
  for (const Id id : of) {
    text += (text.empty() ? "" : ", ") + std::to_string(id);
    for (const auto &[name, named] : names)
      if (named == id)
        text += " (" + name + ")";
  }
  return text;
}

const LowerPart *MeshRegions::lower_part(const BoundaryId id) const
{
  for (const LowerPart &part : lower_parts)
    if (part.id == id)
      return &part;
  return nullptr;
}

const LowerPart *MeshRegions::lower_part(const std::string &name) const
{
  for (const LowerPart &part : lower_parts)
    if (part.name == name)
      return &part;
  return nullptr;
}

MeshRegions::BoundaryId MeshRegions::boundary_or_lower(const std::string &path,
                                                       const std::string &word) const
{
  const LowerPart *const part = lower_part(word);
  return part != nullptr ? part->id : boundary(path, word);
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
  for (const auto &[name, named] : boundaries.names)
    if (named == id)
      return name;
  return std::to_string(id);
}

MeshRegions::BoundaryId MeshRegions::boundary(const std::string &path,
                                              const std::string &word) const
{
  if (const LowerPart *const part = lower_part(word))
    throw ParameterError(
        "'" + word + "' in " + path + " is " +
            (part->dimension == 1 ? "a curve" : "a set of points") +
            " of the mesh, but this condition needs a surface: otherwise its solution would depend "
            "on the mesh. Curves and points are available in Elasticity/Displacement, "
            "Elasticity/Rotation and Elasticity/Traction.",
        path);
  return find("boundary id", path, word, boundaries);
}

MeshRegions::MaterialId MeshRegions::material(const std::string &path,
                                              const std::string &word) const
{
  return find("material id", path, word, materials);
}
} // namespace femgpu
