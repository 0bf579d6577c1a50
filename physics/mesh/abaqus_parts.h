#ifndef femgpu_physics_abaqus_parts_h
#define femgpu_physics_abaqus_parts_h

#include "physics/mesh/abaqus_text.h"

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace femgpu
{
/// A translation, followed by a rotation about an axis.
class AbaqusMotion
{
public:
  AbaqusMotion() = default;
  /// Reads the data lines of *INSTANCE: a translation; two points of the axis and the angle in
  /// degrees. Both lines may be missing.
  explicit AbaqusMotion(AbaqusText &text);

  std::array<double, 3> operator()(const std::array<double, 3> &point) const;

private:
  std::array<double, 3> shift = {}, origin = {}, axis = {}; ///< axis: has length 1
  double cosine = 1., sine = 0.;
};

/// An instance of a part, or the assembly: the scope of numbers of nodes and elements and of names.
struct AbaqusInstance
{
  using Numbers = std::unordered_map<long long, std::size_t>; ///< indices by number

  std::string name; ///< empty for the assembly
  AbaqusMotion motion = {};
  Numbers nodes = {}, elements = {};

  /// Returns the key of the set @p name in AbaqusModel: "INSTANCE.NAME" or "NAME".
  std::string key(std::string_view set) const
  {
    return upper(name.empty() ? std::string(set) : name + "." + std::string(set));
  }
};

/**
 * The blocks of an input file in the order in which instances use them: the blocks of a part occur
 * once for each of its instances, or, if there is no assembly, once.
 */
class AbaqusParts
{
public:
  /// @param text stands at the beginning of the file
  /// @throws InputError "FILE:LINE: …" if the file does not begin with a keyword, if a part or an
  /// instance is incomplete, or if a keyword generates nodes or elements
  explicit AbaqusParts(AbaqusText text);
  AbaqusParts(const AbaqusParts &) = delete; // `blocks` points to `instances`
  AbaqusParts &operator=(const AbaqusParts &) = delete;

  static inline const std::string explicit_nodes_advice =
      " Write all nodes and elements explicitly, with *NODE and *ELEMENT.";

  std::map<std::string, AbaqusInstance> instances = {{"", {}}}; ///< by names in upper case
  /// Each block as a text that stands at its keyword, and the instance to which it belongs.
  std::vector<std::pair<AbaqusText, AbaqusInstance *>> blocks;

private:
  void add_block();
  void walk_to_end(const AbaqusText &begin, bool adds);
  void add_part(const AbaqusText &part);
  void add_instance();
  void begin_instance(const std::string &name);

  AbaqusText text;
  std::map<std::string, AbaqusText> parts;      ///< where they begin, by names in upper case
  AbaqusInstance *instance = &instances.at(""); ///< of the current block
};
} // namespace femgpu

#endif
