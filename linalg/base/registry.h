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
/// An empty Traits type, for registries whose entries need no traits.
struct NoTraits
{};

/// One entry of a registry.
template <class Traits, class Function>
struct RegistryEntry
{
  const char *name;    ///< the name that users write
  const char *meaning; ///< description for listings and for parameters
  Function *make;
  Traits traits = {}; ///< what other code needs to know before the method is made
};

/**
 * All methods of one kind: a constant table with one entry per method. Names are compared only
 * here; other code queries the traits of a method.
 *
 * A function that makes a method needs no header. It is the specialisation of a template for a tag
 * class, for example make_physics<class PoissonEquation>. The table and the source file of the
 * specialisation both write "class PoissonEquation", which declares the class; it is never defined.
 * Do not write this in an unnamed namespace, where it would declare a different class. Methods that
 * are compiled for each backend specialise make_on() (execution/backends.h).
 */
template <class Traits, class Function>
class Registry
{
public:
  using Entry = RegistryEntry<Traits, Function>;

  /// @param what the kind of the entries, for messages, such as "solver"
  /// @param table must outlive the registry
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

  /// Returns the names of the entries that have a trait, for a message: "a, b or c".
  /// @param trait a member of Traits, or a predicate of Traits
  template <class Trait>
  std::string names_with(const Trait &trait) const
  {
    return names_of(choices_with(trait));
  }

  /// Returns the entry whose name is @p name.
  /// @throws ParameterError if there is no such entry; the message lists the valid names
  const Entry &find(const std::string &name) const
  {
    for (const Entry &entry : *this)
      if (entry.name == name)
        return entry;
    throw ParameterError("There is no " + std::string(what) + " '" + name + "'; use " +
                         names_of(choices()) + ".");
  }

  /// Returns the entry of the method that @p text names; options in @p text are ignored.
  const Entry &entry_of(const std::string &text) const
  {
    return find(Method(what, text).name());
  }
  const Traits &traits(const std::string &text) const
  {
    return entry_of(text).traits;
  }

  /**
   * Makes the method that @p text names, with its options: "gmres restart=50".
   * @throws ParameterError for unknown names and options; the message lists the valid ones
   */
  template <class... Arguments>
  auto make(const std::string &text, Arguments &&...arguments) const
  {
    Method method(what, text);
    auto result = find(method.name()).make(method, std::forward<Arguments>(arguments)...);
    method.finish();
    return result;
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
