#ifndef femgpu_linalg_base_registry_h
#define femgpu_linalg_base_registry_h

#include "linalg/base/choice.h"
#include "linalg/base/error.h"
#include "linalg/base/method.h"

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
/// Of entries that are known by their names alone.
struct NoTraits
{};

/// One line of a registry.
template <class Traits, class Function>
struct RegistryEntry
{
  const char *name;    ///< as users write it
  const char *meaning; ///< for listings and the documentation of parameters
  Function *make;
  Traits traits = {}; ///< what other parts must know of it before it is made
};

/**
 * All methods of one kind: a table of entries, which is a constant, with one entry for each. Names
 * are compared here and nowhere else: whoever must know more of a method asks for its traits.
 *
 * A function that makes a method needs no declaration: it is the specialisation of a template for a
 * class that the table names, as in make_physics<class PoissonEquation>, and the file of the method
 * names again where it defines it. Being named declares the class, which nobody defines; so neither
 * place may be inside an unnamed namespace. Methods that are compiled for each backend specialise
 * make_on() (execution/backends.h).
 */
template <class Traits, class Function>
class Registry
{
public:
  using Entry = RegistryEntry<Traits, Function>;

  /// @param what the entries are, for messages: "solver". @param table outlives the registry
  template <std::size_t size>
  constexpr Registry(const char *what, const Entry (&table)[size])
      : what(what), first(table), last(table + size)
  {}

  const Entry *begin() const
  {
    return first;
  }
  const Entry *end() const
  {
    return last;
  }

  std::vector<Choice> choices() const
  {
    return choices_with([](const Traits & /* any */) { return true; });
  }

  /// Names of the entries that have a trait: a member of Traits, or a predicate.
  template <class Trait>
  std::string names_with(const Trait &trait) const
  {
    return names_of(choices_with(trait));
  }

  /// @throws ParameterError naming the valid ones if there is none of that @p name
  const Entry &find(const std::string &name) const
  {
    for (const Entry &entry : *this)
      if (entry.name == name)
        return entry;
    throw ParameterError("There is no " + std::string(what) + " '" + name + "'; use " +
                         names_of(choices()) + ".");
  }

  /// The same for a text with options behind the name, which are not looked at.
  const Entry &entry_of(const std::string &text) const
  {
    return find(Method(what, text).name());
  }
  const Traits &traits(const std::string &text) const
  {
    return entry_of(text).traits;
  }

  /**
   * What @p text names, with its options: "gmres restart=50".
   * @throws ParameterError naming the valid ones for unknown names and options
   */
  template <class... Arguments>
  auto make(const std::string &text, Arguments &&...arguments) const
  {
    Method method(what, text);
    auto made = find(method.name()).make(method, std::forward<Arguments>(arguments)...);
    method.finish();
    return made;
  }

private:
  template <class Trait>
  std::vector<Choice> choices_with(const Trait &trait) const
  {
    std::vector<Choice> choices;
    for (const Entry &entry : *this)
      if (std::invoke(trait, entry.traits))
        choices.push_back({entry.name, entry.meaning});
    return choices;
  }

  const char *what;
  const Entry *first, *last;
};
} // namespace femgpu

#endif
