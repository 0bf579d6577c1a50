#ifndef femgpu_app_pattern_text_h
#define femgpu_app_pattern_text_h

#include <string>
#include <vector>

namespace femgpu
{
/**
 * What a deal.II pattern description means, in words: "[Integer range 1...4 (inclusive)]" becomes
 * "an integer from 1 to 4", "[Selection cg|gmres ]" becomes "one of: cg, gmres". A description of
 * an unknown kind is returned as it is.
 */
std::string valid_values(const std::string &description);

/// The names a selection allows; empty for every other pattern.
std::vector<std::string> selection_choices(const std::string &description);

/**
 * Whether @p value fits the pattern with this deal.II description. A pattern that deal.II 9.4
 * cannot rebuild from its description (tuples, an application's own pattern) fits everything here;
 * ParameterHandler::set() still checks it.
 */
bool fits_pattern(const std::string &description, const std::string &value);
} // namespace femgpu

#endif
