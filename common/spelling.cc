#include "common/spelling.h"

#include <algorithm>
#include <cctype>

namespace femgpu
{
namespace
{
std::string lower_case(std::string text)
{
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Returns the only choice that begins with @p word; empty if there is none or more than one.
std::string completion(const std::string &word, const std::vector<std::string> &choices)
{
  std::string found;
  if (word.size() < 3)
    return found;
  for (const std::string &choice : choices)
    if (lower_case(choice.substr(0, word.size())) == lower_case(word)) {
      if (!found.empty())
        return {};
      found = choice;
    }
  return found;
}
} // namespace

std::size_t edit_distance(const std::string &a, const std::string &b)
{
  const std::string s = lower_case(a), t = lower_case(b);
  std::vector<std::size_t> before_last(t.size() + 1), last(t.size() + 1), row(t.size() + 1);
  for (std::size_t j = 0; j <= t.size(); ++j)
    row[j] = j;
  for (std::size_t i = 1; i <= s.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= t.size(); ++j) {
      const std::size_t replace = last[j - 1] + (s[i - 1] == t[j - 1] ? 0 : 1);
      row[j] = std::min({replace, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && s[i - 1] == t[j - 2] && s[i - 2] == t[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[t.size()];
}

std::string nearest(const std::string &word, const std::vector<std::string> &choices)
{
  // A word much longer than every choice cannot be close, and the table would be large.
  constexpr std::size_t max_word_length = 200;
  if (word.empty() || word.size() > max_word_length)
    return {};
  const std::size_t limit = std::max<std::size_t>(1, word.size() / 3);
  std::size_t best = limit + 1;
  std::string found;
  for (const std::string &choice : choices) {
    const std::size_t distance = edit_distance(word, choice);
    // A choice that shares no letter with the word ("a" for "b") is no suggestion.
    if (distance < best && distance < std::max(word.size(), choice.size())) {
      best = distance;
      found = choice;
    }
  }
  return found.empty() ? completion(word, choices) : found;
}

namespace
{
bool is_letter(const std::string &text, const std::size_t at)
{
  return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
}

/// Returns the end of the value that begins at @p begin: the position after its closing quote, or
/// the next blank if the value is not quoted. An apostrophe, as in "Young's", is not a quote.
std::size_t end_of_value(const std::string &text, const std::size_t begin)
{
  if (text[begin] == '\'' && (begin == 0 || !is_letter(text, begin - 1)))
    for (std::size_t at = begin + 1; (at = text.find('\'', at)) != std::string::npos; ++at)
      if (!is_letter(text, at + 1))
        return at + 1;
  return std::min(text.find_first_of(" \n'", begin + 1), text.size());
}

/// Returns the start of the UTF-8 character that contains byte @p at.
std::size_t begin_of_character(const std::string &text, std::size_t at)
{
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0u) == 0x80u)
    --at;
  return at;
}

std::string shortened(const std::string &value)
{
  constexpr std::size_t longest = 300, first = 200, last = 60;
  if (value.size() <= longest)
    return value;
  return value.substr(0, begin_of_character(value, first)) + "..." +
         value.substr(begin_of_character(value, value.size() - last));
}
} // namespace

std::string with_short_values(const std::string &message)
{
  std::string result;
  for (std::size_t begin = 0; begin < message.size();) {
    const std::size_t end = end_of_value(message, begin);
    result += shortened(message.substr(begin, end - begin));
    begin = end;
  }
  return result;
}
} // namespace femgpu
