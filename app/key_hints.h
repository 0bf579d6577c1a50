#ifndef femgpu_app_key_hints_h
#define femgpu_app_key_hints_h

#include <string>
#include <vector>

/**
 * @file
 * Terms of the field that users try as keys or sections of a parameter file, with the key that does
 * the job, or with the reason why there is none.
 */
namespace femgpu
{
/**
 * Returns a clause that says what to use instead of the unknown key or section @p name in @p
 * section: "use 'Elasticity/Body force', for example '0, 0, -7850*9.81'". Returns an empty string
 * if @p name is not a known term. Upper and lower case, '_', '-' and a plural s do not matter.
 */
std::string key_hint(const std::string &section, const std::string &name);

/// Returns the path of each key that a hint names first.
std::vector<std::string> keys_of_hints();
} // namespace femgpu

#endif
