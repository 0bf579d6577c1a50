#ifndef femgpu_physics_abaqus_elements_h
#define femgpu_physics_abaqus_elements_h

#include "physics/mesh/abaqus_text.h"
#include "physics/mesh/mesh_table.h"

#include <array>
#include <cstddef>
#include <string>
#include <unordered_map>

namespace femgpu
{
/// Returns whether elements of type @p type, in upper case, have neither volume nor sides, such as
/// masses, springs and connectors.
bool is_special_type(const std::string &type);

/// Returns the element type with Abaqus' name @p type, in upper case.
/// @throws InputError for the keyword line of @p text if femgpu does not support it
const ElementType &find_element_type(const std::string &type, const AbaqusText &text);

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
  std::string name; ///< empty for the assembly
  AbaqusMotion motion = {};
  std::unordered_map<long long, std::size_t> nodes = {}, elements = {}; ///< indices by number

  /// Returns the key of the set @p name in AbaqusModel: "INSTANCE.NAME" or "NAME".
  std::string key(std::string_view set) const
  {
    return upper(name.empty() ? std::string(set) : name + "." + std::string(set));
  }
};

/// Returns AbaqusSet::Side::side for the side in the second field of a line of *SURFACE: "S3",
/// "E1", "SPOS" or "".
/// @param shape of the element, for messages
/// @param is_shell whether the element is a shell or membrane
std::size_t side_number(const AbaqusText &text, const std::string &shape, bool is_shell);
} // namespace femgpu

#endif
