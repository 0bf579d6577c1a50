#ifndef femgpu_common_spelling_h
#define femgpu_common_spelling_h

#include <cstddef>
#include <string>
#include <vector>

namespace femgpu
{
/**
 * Number of insertions, deletions, replacements and swaps of neighbours that turn @p a into @p b
 * (Damerau-Levenshtein, optimal string alignment); upper and lower case are the same.
 */
std::size_t edit_distance(const std::string &a, const std::string &b);

/**
 * The entry of @p choices that the writer of @p word most likely meant: the one with the smallest
 * edit distance if that is at most a third of the word (one edit for words up to five letters),
 * otherwise the only choice that begins with the word. Empty if nothing is close.
 */
std::string nearest(const std::string &word, const std::vector<std::string> &choices);

/**
 * @p message as a user can read it: of values in it, which stand in single quotes or are one word,
 * that have more than 300 bytes the first 200 and the last 60 are left.
 */
std::string with_short_values(const std::string &message);
} // namespace femgpu

#endif
