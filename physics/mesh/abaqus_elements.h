#ifndef femgpu_physics_abaqus_elements_h
#define femgpu_physics_abaqus_elements_h

#include "physics/mesh/abaqus_text.h"
#include "physics/mesh/mesh_table.h"

#include <cstddef>
#include <optional>
#include <string>

namespace femgpu
{
/// Returns whether elements of type @p type, in upper case, have neither volume nor sides, such as
/// masses, springs and connectors.
bool is_special_type(const std::string &type);

/// Returns the element type with Abaqus' name @p type, in upper case.
/// @throws InputError for the keyword line of @p text if femgpu does not support it
const ElementType &find_element_type(const std::string &type, const AbaqusText &text);

/// Returns AbaqusSet::Side::side for the side in the second field of a line of *SURFACE: "S3",
/// "E1", "SPOS" or "".
/// @param shape of the element, for messages
/// @param is_shell whether the element is a shell or membrane
std::size_t side_number(const AbaqusText &text, const std::string &shape, bool is_shell);

/// Returns AbaqusSet::Side::side for the label @p label, in upper case, of a load with the keyword
/// @p keyword: the number of the face for labels such as P2 or F3NU, element_itself for P, FPOS and
/// FNEG of shells; nullopt for loads that do not act on faces.
std::optional<std::size_t> side_of_load(const std::string &keyword, const std::string &label);
} // namespace femgpu

#endif
