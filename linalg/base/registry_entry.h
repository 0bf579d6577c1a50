#ifndef femgpu_linalg_base_registry_entry_h
#define femgpu_linalg_base_registry_entry_h

#include "linalg/base/choice.h"
#include "linalg/base/error.h"

#include <string>
#include <vector>

/**
 * @file
 * What registries share. An entry is any struct with a `choice`.
 */
namespace femgpu
{
template <class Entry>
std::vector<Choice> choices_of(const std::vector<Entry> &entries)
{
  std::vector<Choice> choices;
  for (const Entry &entry : entries)
    choices.push_back(entry.choice);
  return choices;
}

/**
 * The entry of that @p name.
 * @param what the entries are, for the message: "solver"
 * @throws ParameterError naming the valid ones if there is none
 */
template <class Entry>
const Entry &find_entry(const std::vector<Entry> &entries, const std::string &what,
                        const std::string &name)
{
  for (const Entry &entry : entries)
    if (entry.choice.name == name)
      return entry;
  throw ParameterError("There is no " + what + " '" + name + "'; use " +
                       names_of(choices_of(entries)) + ".");
}
} // namespace femgpu

#endif
