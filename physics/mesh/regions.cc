#include "physics/mesh/regions.h"

#include "linalg/base/error.h"

#include <algorithm>
#include <cctype>

namespace femgpu
{
namespace
{
bool is_number(const std::string &word)
{
  return !word.empty() && std::all_of(word.begin(), word.end(),
                                      [](const unsigned char c) { return std::isdigit(c) != 0; });
}

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
  if (!is_number(word))
    throw ParameterError("'" + word + "' in " + path + " is no " + kind +
                             " and no name of the mesh" + present,
                         path);
  // ids have 32 bits; what is longer is in no mesh
  if (word.size() <= 9)
    if (const auto id = static_cast<Id>(std::stoul(word)); ids.count(id) > 0)
      return id;
  throw ParameterError(
      "The mesh has no " + kind + " " + word + ", which " + path + " names" + present, path);
}
} // namespace

MeshRegions::BoundaryId MeshRegions::boundary(const std::string &path,
                                              const std::string &word) const
{
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
