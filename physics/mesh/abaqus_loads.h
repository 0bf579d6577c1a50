#ifndef femgpu_physics_abaqus_loads_h
#define femgpu_physics_abaqus_loads_h

#include "physics/mesh/abaqus_sets.h"
#include "physics/mesh/abaqus_text.h"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace femgpu
{
/// Makes surfaces of the faces of *DLOAD, *DFLUX, *FILM and *RADIATE: one surface for each keyword
/// and values of a load, with a name such as dload_1.
class AbaqusLoads
{
public:
  /// Returns AbaqusSet::Side::side for the load in the current line of @p text: the number of the
  /// face for labels such as P2 or F3NU, element_itself for P, SPOS and SNEG of shells; nullopt for
  /// loads that do not act on faces.
  static std::optional<std::size_t> side(const AbaqusText &text);

  /// Returns the surface for the load in the current line of @p text. Creates it, and a FaceLoad,
  /// for the first load with these values.
  AbaqusSet &surface(const AbaqusText &text, AbaqusModel &model);

private:
  /// Keys of surfaces, by keyword, label without the number of the face, and values.
  std::map<std::pair<std::string, std::vector<double>>, std::string> keys;
  std::map<std::string, std::size_t> n_surfaces; ///< by keyword
};

/// Returns the key of the set that a word in the current block denotes, and the index of the node
/// or element with this number; an index of -1 if it denotes none.
using FindTarget =
    std::function<std::pair<std::string, std::size_t>(std::string_view word, bool of_elements)>;

/// Adds an AbaqusCondition for each data line of the block at which @p text stands to @p model.
void add_conditions(AbaqusText text, AbaqusModel &model, const FindTarget &find);

/// Adds the AbaqusCondition of the *SOLID SECTION at which @p text stands to @p model.
/// @param key of its element set
void add_section(AbaqusText text, const std::string &key, AbaqusModel &model);
} // namespace femgpu

#endif
