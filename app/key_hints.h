#ifndef femgpu_app_key_hints_h
#define femgpu_app_key_hints_h

#include <string>
#include <vector>

/**
 * @file
 * Hints for terms that users try as keys or sections of a parameter file although femgpu does not
 * declare them. A hint names the key to use or explains why there is none.
 */
namespace femgpu
{
/**
 * Returns a clause that says what to use instead of @p name, an unknown key or subsection of
 * @p section: "use 'Elasticity/Body force', for example '0, 0, -7850*9.81'". Returns an empty
 * string if @p name is not a known term. Upper and lower case, '_', '-' and a plural s do not
 * matter.
 */
std::string key_hint(const std::string &section, const std::string &name);

/// Returns the path of the key that each hint recommends, without hints that recommend no key.
std::vector<std::string> keys_of_hints();
} // namespace femgpu

#endif
