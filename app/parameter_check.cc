#include "app/parameter_check.h"

#include "app/pattern_text.h"
#include "common/spelling.h"

#include <algorithm>

namespace femgpu
{
namespace
{
std::string quoted_list(const std::vector<std::string> &names)
{
  constexpr std::size_t most = 12;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
    text += (i == 0 ? "'" : ", '") + names[i] + "'";
  return names.size() > most ? text + ", ..." : text;
}

/// "'Newton', 'Solver'": the sections other than @p here that have a parameter named @p key.
void sections_with_key(const DeclaredSection &section, const std::string &key,
                       const DeclaredSection &here, std::vector<std::string> &found)
{
  if (&section != &here && section.find_parameter(key) != nullptr)
    found.push_back(section.path.empty() ? "the top level" : "'" + section.path_text() + "'");
  for (const DeclaredSection &below : section.sections)
    sections_with_key(below, key, here, found);
}

void sections_of_name(const DeclaredSection &section, const std::string &name,
                      std::vector<std::string> &found)
{
  for (const DeclaredSection &below : section.sections) {
    if (below.name == name)
      found.push_back("'" + below.path_text() + "'");
    sections_of_name(below, name, found);
  }
}

std::string comma_list(const std::vector<std::string> &items)
{
  std::string text;
  for (const std::string &item : items)
    text += (text.empty() ? "" : ", ") + item;
  return text;
}

/// What to do about @p key, which @p here does not declare.
std::string unknown_key(const DeclaredSection &root, const DeclaredSection &here,
                        const std::string &key)
{
  std::string text = "unknown key '" + key + "' " + here.place_text();
  const std::string near_key = nearest(key, here.keys());
  const std::string near_section = nearest(key, here.section_names());
  if (here.find_section(key) != nullptr)
    text += "; '" + key + "' is a section: write 'subsection " + key + "'";
  else if (!near_key.empty()) {
    const std::string valid = valid_values(here.find_parameter(near_key)->pattern);
    text += "; nearest valid key: '" + near_key + "' (" + valid + ")";
  }
  else if (!here.keys().empty())
    text += "; valid keys: " + quoted_list(here.keys());
  else
    text += "; it has no keys, only sections: " + quoted_list(here.section_names());
  std::vector<std::string> elsewhere;
  sections_with_key(root, key, here, elsewhere);
  if (!elsewhere.empty())
    text += "; this key is valid in " + comma_list(elsewhere);
  return text;
}

std::string unknown_section(const DeclaredSection &root, const DeclaredSection &here,
                            const std::string &name)
{
  std::string text = "unknown subsection '" + name + "' " + here.place_text();
  const std::string near_name = nearest(name, here.section_names());
  if (here.find_parameter(name) != nullptr)
    text += "; '" + name + "' is a key: write 'set " + name + " = VALUE'";
  else if (!near_name.empty())
    text += "; nearest valid subsection: '" + near_name + "'";
  else if (!here.sections.empty())
    text += "; valid subsections: " + quoted_list(here.section_names());
  else
    text += "; there are no subsections in it";
  std::vector<std::string> elsewhere;
  sections_of_name(root, name, elsewhere);
  if (!elsewhere.empty())
    text += "; a section of this name is " + comma_list(elsewhere);
  return text;
}

/// Length of the UTF-8 sequence that begins with @p lead; 0 if no sequence begins with it.
std::size_t sequence_length(unsigned char lead)
{
  if (lead < 0x80)
    return 1;
  if (lead >= 0xC2 && lead < 0xE0)
    return 2;
  if (lead >= 0xE0 && lead < 0xF0)
    return 3;
  return lead >= 0xF0 && lead < 0xF5 ? 4 : 0;
}

/// Values go into JSON and XML files, which must be UTF-8.
bool is_utf8(const std::string &text)
{
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = sequence_length(static_cast<unsigned char>(text[i]));
    if (length == 0 || i + length > text.size())
      return false;
    for (std::size_t k = 1; k < length; ++k)
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0u) != 0x80u)
        return false;
    i += length;
  }
  return true;
}

std::string unquoted(const std::string &value)
{
  const bool quoted = value.size() >= 2 && value.front() == value.back() &&
                      (value.front() == '"' || value.front() == '\'');
  return quoted ? value.substr(1, value.size() - 2) : value;
}

/// Walks through the statements of one file, with the stack of open sections.
class StatementChecker
{
public:
  StatementChecker(const DeclaredSection &declared, const std::string &file_name,
                   std::vector<ParameterProblem> &found)
      : root(declared), source_name(file_name), problems(found)
  {
    open.push_back({&root, "", 0});
  }

  void enter(const ParameterStatement &statement);
  void leave(const ParameterStatement &statement);
  void assign(const ParameterStatement &statement);
  void finish();

  std::vector<ParameterAssignment> assignments;

private:
  struct OpenSection
  {
    const DeclaredSection *section; // nullptr inside a section that was not recognised
    std::string name;
    unsigned line;
  };

  bool enter_after_missing_end(const ParameterStatement &statement);

  const DeclaredSection &root;
  const std::string &source_name;
  std::vector<ParameterProblem> &problems;
  std::vector<OpenSection> open;
  std::map<const DeclaredParameter *, unsigned> set_in_line;
  unsigned ends_forgiven = 0; // surplus ends that follow from a problem already reported
};

/**
 * A subsection that is unknown here but declared in an enclosing section: most likely an 'end' is
 * missing above. Go on from there, so that one missing 'end' is one problem.
 */
bool StatementChecker::enter_after_missing_end(const ParameterStatement &statement)
{
  for (std::size_t depth = open.size() - 1; depth-- > 0;) {
    const DeclaredSection *found = open[depth].section->find_section(statement.name);
    if (found == nullptr)
      continue;
    const OpenSection &inside = open.back();
    problems.push_back({statement.line,
                        "unknown subsection '" + statement.name + "' " +
                            inside.section->place_text() + "; it is valid " +
                            open[depth].section->place_text() + ": is the 'end' of 'subsection " +
                            inside.name + "' (line " + std::to_string(inside.line) + ") missing?"});
    ends_forgiven += static_cast<unsigned>(open.size() - 1 - depth);
    open.resize(depth + 1);
    open.push_back({found, statement.name, statement.line});
    return true;
  }
  return false;
}

void StatementChecker::enter(const ParameterStatement &statement)
{
  const DeclaredSection *here = open.back().section;
  const DeclaredSection *found = here == nullptr ? nullptr : here->find_section(statement.name);
  if (found == nullptr && here != nullptr && !statement.name.empty()) {
    if (enter_after_missing_end(statement))
      return;
    problems.push_back({statement.line, unknown_section(root, *here, statement.name)});
  }
  open.push_back({found, statement.name, statement.line});
}

void StatementChecker::leave(const ParameterStatement &statement)
{
  if (open.size() > 1)
    open.pop_back();
  else if (ends_forgiven > 0)
    --ends_forgiven;
  else
    problems.push_back({statement.line, "'end' without a 'subsection' that is open; remove it"});
}

void StatementChecker::assign(const ParameterStatement &statement)
{
  const DeclaredSection *here = open.back().section;
  if (here == nullptr) // the unknown section itself is the problem
    return;
  const DeclaredParameter *parameter = here->resolve(statement.name);
  if (parameter == nullptr) {
    problems.push_back({statement.line, unknown_key(root, *here, statement.name)});
    return;
  }
  const auto [first, is_new] = set_in_line.emplace(parameter, statement.line);
  if (!is_new) {
    problems.push_back({statement.line, "'" + here->path_of(parameter->key) +
                                            "' is set a second time, first at " + source_name +
                                            ":" + std::to_string(first->second) +
                                            "; remove one of the two lines"});
    return;
  }
  const std::string problem = value_problem(*here, *parameter, statement.value);
  if (problem.empty())
    assignments.push_back(
        {here, parameter, statement.value, source_name + ":" + std::to_string(statement.line)});
  else
    problems.push_back({statement.line, problem});
}

void StatementChecker::finish()
{
  for (std::size_t depth = 1; depth < open.size(); ++depth)
    problems.push_back(
        {open[depth].line, "'subsection " + open[depth].name + "' is never closed; add its 'end'"});
}

/// The section or key at which the path "A/B/key" leaves the declared tree.
std::string unknown_path(const DeclaredSection &root, const std::string &path)
{
  const DeclaredSection *here = &root;
  std::size_t at = 0;
  for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', at)) {
    const std::string name = trimmed(path.substr(at, slash - at));
    const DeclaredSection *below = here->find_section(name);
    if (below == nullptr)
      return unknown_section(root, *here, name);
    here = below;
    at = slash + 1;
  }
  return unknown_key(root, *here, trimmed(path.substr(at)));
}

/// The section that declares "A/B/key", and in @p key the last part; a name may contain '/'.
const DeclaredSection *find_path(const DeclaredSection &section, const std::string &path,
                                 std::string &key)
{
  if (section.find_parameter(path) != nullptr) {
    key = path;
    return &section;
  }
  for (const DeclaredSection &below : section.sections)
    if (path.compare(0, below.name.size() + 1, below.name + "/") == 0)
      if (const DeclaredSection *found = find_path(below, path.substr(below.name.size() + 1), key))
        return found;
  return nullptr;
}
} // namespace

std::string value_problem(const DeclaredSection &section, const DeclaredParameter &parameter,
                          const std::string &value)
{
  const std::string path = section.path_of(parameter.key);
  if (!is_utf8(value))
    return "the value of '" + path + "' is not UTF-8 text; save the file as UTF-8";
  if (fits_pattern(parameter.pattern, value))
    return {};
  std::string text = "value '" + value + "' of '" + path +
                     "' is not valid; valid: " + valid_values(parameter.pattern) +
                     "; default: " + parameter.default_value;
  const std::string bare = unquoted(value);
  const std::string choice = nearest(bare, selection_choices(parameter.pattern));
  if (bare != value && fits_pattern(parameter.pattern, bare))
    text += "; did you mean " + bare + " (without quotation marks)?";
  else if (!choice.empty())
    text += "; did you mean '" + choice + "'?";
  return text;
}

std::vector<ParameterAssignment> check_statements(const DeclaredSection &root,
                                                  const std::vector<ParameterStatement> &statements,
                                                  const std::string &source_name,
                                                  std::vector<ParameterProblem> &problems)
{
  StatementChecker checker(root, source_name, problems);
  for (const ParameterStatement &statement : statements)
    switch (statement.kind) {
    case ParameterStatement::Kind::open:
      checker.enter(statement);
      break;
    case ParameterStatement::Kind::close:
      checker.leave(statement);
      break;
    case ParameterStatement::Kind::assign:
      checker.assign(statement);
      break;
    }
  checker.finish();
  return checker.assignments;
}

std::string check_override(const DeclaredSection &root, const std::string &text,
                           ParameterAssignment &assignment)
{
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos)
    return "there is no '=' in it; write --set 'Section/Key=value'";
  const std::string path = trimmed(text.substr(0, equals));
  const std::string value = trimmed(text.substr(equals + 1));
  if (path.empty())
    return "there is no key before '='; write --set 'Section/Key=value'";
  if (value.find_first_of("#\n") != std::string::npos)
    return "a value cannot contain '#' or a line break, because no parameter file could hold it";
  std::string key;
  const DeclaredSection *section = find_path(root, path, key);
  if (section == nullptr)
    return unknown_path(root, path);
  const DeclaredParameter *parameter = section->resolve(key);
  assignment = {section, parameter, value, "--set '" + text + "'"};
  return value_problem(*section, *parameter, value);
}
} // namespace femgpu
