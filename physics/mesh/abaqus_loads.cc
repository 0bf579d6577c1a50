#include "physics/mesh/abaqus_loads.h"

#include "linalg/base/text.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace femgpu
{
std::optional<std::size_t> AbaqusLoads::side(const AbaqusText &text)
{
  static const std::map<std::string, char> letters = {
      {"DLOAD", 'P'}, {"DFLUX", 'S'}, {"FILM", 'F'}, {"RADIATE", 'R'}};
  const std::string label = upper(text.field(1));
  if (label.empty() || label[0] != letters.at(text.keyword()))
    return {};
  if (label.size() > 1 && label[1] >= '1' && label[1] <= '6')
    return static_cast<std::size_t>(label[1] - '1');
  const std::string rest = label.substr(1, 3);
  if (rest == "POS" || rest == "NEG" || label == "P" || label == "PNU")
    return AbaqusSet::element_itself;
  return {};
}

AbaqusSet &AbaqusLoads::surface(const AbaqusText &text, AbaqusModel &model)
{
  FaceLoad load = {text.keyword(), "", text.main_line(), {}, upper(text.field(1))};
  load.label.erase(1, *side(text) == AbaqusSet::element_itself ? 0 : 1);
  std::pair<std::string, std::vector<double>> kind = {load.keyword + "," + load.label, {}};
  for (std::size_t i = 2; i < text.fields().size(); ++i) {
    load.values.emplace_back(text.field(i));
    if (const auto number = finite_number(text.field(i)))
      kind.second.push_back(*number);
    else
      kind.first += "," + load.values.back();
  }
  const auto [known, is_new] = keys.try_emplace(kind, "");
  std::string &key = known->second;
  if (is_new) {
    do
      key = load.keyword + "_" + std::to_string(++n_surfaces[load.keyword]);
    while (model.surfaces.count(key) + model.node_sets.count(key) + model.element_sets.count(key) >
           0);
    load.name = key;
    std::transform(key.begin(), key.end(), load.name.begin(),
                   [](const unsigned char c) { return std::tolower(c); });
    model.surfaces.emplace(key, AbaqusSet{load.name, load.line, AbaqusOrigin::load});
    model.face_loads.push_back(std::move(load));
  }
  return model.surfaces.at(key);
}

void add_conditions(AbaqusText text, AbaqusModel &model, const FindTarget &find)
{
  const auto type = text.options().find("TYPE");
  if (text.has("USER") || text.has("SUBMODEL") ||
      (text.keyword() == "INITIAL CONDITIONS" &&
       (type == text.options().end() || upper(type->second) != "TEMPERATURE")))
    return;
  const bool of_elements = is_on_elements(text.keyword());
  const auto &sets = of_elements ? model.element_sets : model.node_sets;
  while (text.next_data()) {
    const auto [key, member] = find(text.field(0), of_elements);
    AbaqusCondition condition = {text.keyword(), key, text.main_line(), {}, {}};
    for (std::size_t i = 1; i < text.fields().size(); ++i)
      condition.values.emplace_back(text.field(i));
    if (const auto set = sets.find(key); set != sets.end())
      condition.members = set->second.members;
    else if (member != static_cast<std::size_t>(-1))
      condition.members = {member};
    model.conditions.push_back(std::move(condition));
  }
}

void add_section(AbaqusText text, const std::string &key, AbaqusModel &model)
{
  const auto set = model.element_sets.find(key);
  const auto material = text.options().find("MATERIAL");
  const std::string name = material == text.options().end() ? "" : material->second;
  const std::size_t line = text.main_line_of_keyword();
  text.next_data();
  model.conditions.push_back(
      {text.keyword(),
       key,
       line,
       {name, std::string(text.field(0))},
       set == model.element_sets.end() ? std::vector<std::size_t>() : set->second.members});
}
} // namespace femgpu
