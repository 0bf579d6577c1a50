#ifndef femgpu_app_cell_selection_h
#define femgpu_app_cell_selection_h

#include "app/parameters.h"
#include "physics/mesh/mesh.h"

#include <deal.II/base/function.h>
#include <deal.II/lac/vector.h>

#include <memory>

namespace femgpu
{
/// Selects the quadrilaterals or hexahedra that are refined between cycles, by section "Study".
template <int dim>
class CellSelection
{
public:
  /// @param parameters must outlive this object
  /// @throws ParameterError if Refine where or Cell size is not an expression
  CellSelection(const StudyParameters &parameters, const MeshRegions &regions);

  /// Flags cells of @p mesh. Returns whether any cell will be refined.
  /// @param indicators the estimated error of each active cell; unused without an estimator
  bool flag(Mesh<dim> &mesh, const dealii::Vector<float> &indicators) const;

private:
  const StudyParameters &parameters;
  std::unique_ptr<dealii::Function<dim>> where, size; ///< nullptr if the parameter is not set
};
} // namespace femgpu

#endif
