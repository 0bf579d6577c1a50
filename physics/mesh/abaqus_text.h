#ifndef femgpu_physics_abaqus_text_h
#define femgpu_physics_abaqus_text_h

#include "physics/mesh/mesh_text.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace femgpu
{
std::string upper(std::string_view text);
std::string_view without_quotes(std::string_view text);

/// "*NAME, OPTION=VALUE, OPTION"
struct Keyword
{
  std::string name; ///< in capitals, without '*'
  std::size_t line;
  std::map<std::string, std::string> options; ///< names in capitals

  bool has(const std::string &option) const
  {
    return options.count(option) > 0;
  }
};

/// The blocks of an input file of Abaqus: keywords and lines of data. Comments are passed over.
class AbaqusText : public MeshText
{
public:
  using MeshText::MeshText;

  /// Moves to the next line; false at a keyword and at the end.
  bool next_data();
  /// Is the current line one of data?
  bool has_data() const
  {
    return !at_end() && line()[0] != '*';
  }
  /// Moves to the next keyword, or the end.
  void skip_data();
  bool at_end() const
  {
    return line().empty();
  }

  /// The keyword of the current line, and of those that continue it.
  Keyword read_keyword();
  /// Moves to the first line of data of a keyword. @throws InputError if there is none
  void begin_data(const Keyword &keyword);
  /// The value of an option of a keyword. @throws InputError if it is not there
  std::string option(const Keyword &keyword, const std::string &option) const;

  /// What stands between the commas of the line; nothing after one at the end.
  std::vector<std::string_view> fields() const;
};
} // namespace femgpu

#endif
