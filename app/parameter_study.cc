#include "app/parameter_study.h"

#include "app/convergence.h"
#include "app/study_report.h"
#include "linalg/base/text.h"

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>

namespace femgpu
{
namespace
{
constexpr long max_runs = 1000;

[[noreturn]] void fail(const std::string &text, const std::string &problem)
{
  throw ParameterError("command line: --study '" + text + "' " + problem);
}

/// Splits @p list at commas outside parentheses and quotes.
std::vector<std::string> split(const std::string &text, const std::string &list)
{
  std::vector<std::string> items(1);
  int depth = 0;
  char quote = 0;
  for (const char c : list) {
    if (quote != 0)
      quote = c == quote ? 0 : quote;
    else if (c == '"' || c == '\'')
      quote = c;
    else
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0 && quote == 0)
      items.emplace_back();
    else
      items.back() += c;
    if (depth < 0)
      fail(text, "has a ')' without a '('; remove it");
  }
  if (quote != 0)
    fail(text,
         std::string("has an opening quotation mark without a closing one; add the closing ") +
             quote);
  if (depth != 0)
    fail(text, "has a '(' without a ')'; add it");
  return items;
}

bool is_quoted(const std::string &value)
{
  return value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
         value.find(value.front(), 1) == value.size() - 1;
}

/// Appends the values of an item of the list: the item itself or, for a range, all of its integers.
void append_values(const std::string &text, const std::string &item,
                   std::vector<std::string> &values)
{
  const std::string value = trimmed(item);
  static const std::regex range(R"((-?\d{1,9})\.\.(-?\d{1,9}))");
  std::smatch ends;
  if (is_quoted(value))
    values.push_back(value.substr(1, value.size() - 2));
  else if (value.empty())
    fail(text, "has an empty value; remove it, or write '' if it is intended");
  else if (std::regex_match(value, ends, range)) {
    const long first = std::stol(ends[1]), last = std::stol(ends[2]);
    const long step = first <= last ? 1 : -1;
    if (std::abs(last - first) >= max_runs)
      fail(text, "has a range of more than " + std::to_string(max_runs) +
                     " numbers; use a shorter range");
    for (long i = first; i != last + step; i += step)
      values.push_back(std::to_string(i));
  }
  else
    values.push_back(value);
}

/// Returns @p text with each run of characters that are unsafe in file names replaced by '_'.
std::string sanitize_file_name(const std::string &text)
{
  std::string result;
  for (const char c : text) {
    const bool is_allowed = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                            std::string("._+-=").find(c) != std::string::npos;
    if (is_allowed)
      result += c;
    else if (result.empty() || result.back() != '_') // one '_' for a run of unsafe characters
      result += '_';
  }
  return result;
}
} // namespace

std::string comma_hint(const std::string &path)
{
  return "Commas separate values; put each value that contains commas in quotes: --study \"" +
         path + "='...','...'\"";
}

std::vector<StudiedParameter> parse_studies(const std::vector<std::string> &texts)
{
  std::vector<StudiedParameter> parameters;
  for (const std::string &text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos)
      fail(text, "has no '='; write --study 'Section/Key=value,value'");
    StudiedParameter parameter;
    parameter.path = trimmed(text.substr(0, equals));
    if (parameter.path == "Output/Directory")
      fail(text, "cannot vary the directory: each combination gets its own subdirectory; use "
                 "--output for their parent");
    for (const StudiedParameter &other : parameters)
      if (other.path == parameter.path)
        fail(text, "repeats a parameter; give all its values in one --study");
    for (const std::string &item : split(text, text.substr(equals + 1)))
      append_values(text, item, parameter.values);
    for (auto value = parameter.values.begin(); value != parameter.values.end(); ++value)
      if (std::count(parameter.values.begin(), value, *value) > 0)
        fail(text, "has the value '" + *value + "' twice. " + comma_hint(parameter.path));
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

std::vector<std::string> short_names(const std::vector<StudiedParameter> &parameters)
{
  std::vector<std::string> keys;
  keys.reserve(parameters.size());
  for (const StudiedParameter &parameter : parameters)
    keys.push_back(parameter.path.substr(parameter.path.rfind('/') + 1));
  std::vector<std::string> names = keys;
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (std::count(keys.begin(), keys.end(), keys[i]) > 1)
      names[i] = parameters[i].path;
  return names;
}

std::vector<Combination> combinations(const std::vector<StudiedParameter> &parameters)
{
  std::vector<Combination> all(1);
  for (const StudiedParameter &parameter : parameters) {
    std::vector<Combination> extended;
    for (const Combination &begin : all)
      for (const std::string &value : parameter.values) {
        extended.push_back(begin);
        extended.back().values.push_back(value);
      }
    if (extended.size() > static_cast<std::size_t>(max_runs))
      throw ParameterError("command line: --study gives more than " + std::to_string(max_runs) +
                           " combinations; use fewer values");
    all = std::move(extended);
  }
  const std::vector<std::string> names = short_names(parameters);
  std::set<std::string> used_names;
  for (Combination &combination : all) {
    std::string name;
    for (std::size_t i = 0; i < names.size(); ++i) {
      name += (i == 0 ? "" : ",") + sanitize_file_name(names[i] + "=" + combination.values[i]);
      combination.text += (i == 0 ? "" : ", ") + names[i] + " = " + combination.values[i];
    }
    name.resize(std::min<std::size_t>(name.size(), 112)); // a number may follow
    combination.directory = name;
    for (int k = 2; !used_names.insert(combination.directory).second; ++k)
      combination.directory = name + "," + std::to_string(k);
  }
  return all;
}

namespace
{
/// The outcome that tables show for a combination whose run ended with an error.
constexpr char failed[] = "failed";

// Version of the layout of study.json; incremented by changes that could break a reader.
constexpr int study_schema = 1;

/// Returns the row of a combination's last cycle.
Row last_row(const StudyRecord &study)
{
  const CycleRecord &cycle = study.cycles.back();
  Row row = solve_row(cycle);
  for (const Quantity &quantity : cycle.quantities)
    row.push_back({quantity.name, general(quantity.value, 8)});
  for (const auto &[name, norm] : error_norms)
    if (cycle.errors) {
      row.push_back({std::string(name) + " error", scientific((*cycle.errors).*norm, 3)});
      row.push_back(
          {std::string(name) + " order", fixed(observed_order(study, cycle.cycle, norm), 2)});
    }
  if (cycle.estimate)
    row.push_back({"estimated error", scientific(cycle.estimate->error, 3)});
  row.push_back({"solve seconds", fixed(cycle.seconds_of("solve"), 3)});
  row.push_back({"seconds", fixed(study.total_seconds, 3)});
  return row;
}

/// Returns a row with the columns of a cycle, which are empty except for the outcome "failed".
Row failed_row()
{
  Row row = csv_row(StudyRecord(), CycleRecord());
  for (Cell &cell : row)
    if (cell.text)
      cell.text = cell.column == "outcome" ? failed : "";
  return row;
}
} // namespace

TableTexts study_table(const ParameterStudy &study)
{
  const std::vector<std::string> names = short_names(study.parameters);
  Table table;
  for (const Combination &combination : study.combinations) {
    Row row;
    for (std::size_t i = 0; i < names.size(); ++i)
      row.push_back({names[i], combination.values[i]});
    const Row more = combination.study.cycles.empty()
                         ? Row{{"cycle", ""}, {"cells", ""}, {"dofs", ""}, {"outcome", failed}}
                         : last_row(combination.study);
    row.insert(row.end(), more.begin(), more.end());
    table.push_back(std::move(row));
  }
  return format_table(table);
}

std::string study_csv(const ParameterStudy &study)
{
  Table table;
  for (const Combination &combination : study.combinations) {
    const auto add = [&](const Row &cycle) {
      Row &row = table.emplace_back();
      for (std::size_t i = 0; i < study.parameters.size(); ++i)
        row.push_back({study.parameters[i].path, combination.values[i]});
      row.insert(row.end(), cycle.begin(), cycle.end());
      row.push_back({"directory", combination.directory});
    };
    for (const CycleRecord &cycle : combination.study.cycles)
      add(csv_row(combination.study, cycle));
    if (combination.study.cycles.empty())
      add(failed_row());
  }
  return csv_of(table);
}

std::string study_json(const ParameterStudy &study)
{
  using Json = nlohmann::ordered_json;
  Json values = {{"schema", study_schema},
                 {"version", version_values(library_versions)},
                 {"remaining", study.n_remaining},
                 {"parameters", Json::array()},
                 {"combinations", Json::array()}};
  for (const StudiedParameter &parameter : study.parameters)
    values["parameters"].push_back(parameter.path);
  for (const Combination &combination : study.combinations) {
    Json entry = {{"parameters", Json::object()}, {"directory", combination.directory}};
    for (std::size_t i = 0; i < study.parameters.size(); ++i)
      entry["parameters"][study.parameters[i].path] = combination.values[i];
    const auto &cycles = combination.study.cycles;
    entry["outcome"] =
        cycles.empty() ? failed : linalg::to_string(cycles.back().solve.report.outcome);
    entry["failure"] = Json();
    if (const auto &failure = combination.failure)
      entry["failure"] = {{"exit_code", static_cast<int>(failure->code())},
                          {"message", failure->what()}};
    entry["ranks"] = combination.study.n_ranks;
    entry["total_seconds"] = combination.study.total_seconds;
    entry.update(results_of(combination.study));
    values["combinations"].push_back(std::move(entry));
  }
  return values.dump(2) + "\n";
}
} // namespace femgpu
