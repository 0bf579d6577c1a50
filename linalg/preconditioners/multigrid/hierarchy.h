#ifndef femgpu_linalg_preconditioners_multigrid_hierarchy_h
#define femgpu_linalg_preconditioners_multigrid_hierarchy_h

#include "linalg/preconditioners/multigrid/dense_inverse.h"
#include "linalg/preconditioners/multigrid/prolongation.h"
#include "linalg/preconditioners/multigrid/smoother.h"
#include "linalg/preconditioners/setup_report.h"
#include "linalg/sparse/galerkin_product.h"

#include <memory>
#include <string>
#include <vector>

namespace femgpu::linalg
{
/// Options of a hierarchy.
struct HierarchyOptions
{
  bool uses_supplied_levels = true; ///< whether the first levels use the prolongations in Unknowns
  double theta = 0.; ///< strength threshold of the first aggregated level; halved level by level
  int block = 0;     ///< unknowns of a node; 0: as the matrix specifies, or 1 if it does not
  std::string near_null = "auto";
  int coarsest = 256;      ///< number of rows at which coarsening stops
  SmootherChoice smoother; ///< smoother of the finest level; the degree grows by one per level
};

/// The transition from a level to the next.
template <class Backend>
struct Transition
{
  std::shared_ptr<const CsrMatrix> tentative;
  std::unique_ptr<SmoothedProlongation<Backend>> smoothed; ///< nullptr: P is `tentative`
  std::unique_ptr<GalerkinProduct<Backend>> coarse;

  const CsrMatrix &P() const
  {
    return smoothed ? *smoothed->matrix() : *tentative;
  }
};

template <class Backend>
struct Level
{
  const Matrix *A;
  std::unique_ptr<Smoother<Backend>> smoother; ///< nullptr if A is inverted
  std::unique_ptr<Transition<Backend>> next;   ///< nullptr on the coarsest level
  LevelReport report;
};

/**
 * A multigrid hierarchy of Galerkin matrices A_{l+1} = Pᵀ A_l P. The first levels use the
 * prolongations that Unknowns supply (lower polynomial degrees, coarser meshes); the remaining
 * levels use smoothed aggregation (Vaněk, Mandel and Brezina 1996), or plain aggregation if A is
 * unsymmetric. Coarse levels get more smoothing steps (the variable V-cycle, Bramble and Pasciak
 * 1987), because these levels cause most of the remaining growth in iteration counts and cost
 * little. Set-up runs on the executor that holds A; only reductions and spectral bounds are copied
 * to the host.
 *
 * In a distributed matrix, an aggregate belongs to one rank; P and the coarser matrices are
 * distributed too, and products import the rows of other ranks that they need. Supplied
 * prolongations are used if all ranks have them.
 */
template <class Backend>
class Hierarchy
{
public:
  /**
   * Sets up all levels. Collective over all ranks.
   * @param A must outlive the hierarchy
   * @throws SolverError if the diagonal of A is not positive, or if rows are aggregated and A has
   *         more than max_indices entries
   * @throws ParameterError if the number of rows is not a multiple of the block size
   */
  Hierarchy(const Matrix &A, const HierarchyOptions &options);

  /// Recomputes the hierarchy for new values of A; aggregates and patterns do not change.
  void update();

  const std::vector<Level<Backend>> &levels() const
  {
    return all_levels;
  }
  /// Returns the inverse on the coarsest level; nullptr if this level has too many rows and is only
  /// smoothed.
  const DenseInverse<Backend> *inverse() const
  {
    return coarsest_inverse.get();
  }
  bool is_symmetric() const
  {
    return symmetric;
  }
  /// Returns the number of entries of all P and of the matrices of all levels but the finest.
  std::size_t n_nonzeros() const;
  /// Describes the hierarchy.
  /// @param levels the result of reports()
  std::string description(const std::vector<LevelReport> &levels) const;
  /// Returns reports on the levels, with numbers of rows and entries summed over all ranks.
  /// Collective over all ranks.
  std::vector<LevelReport> reports() const;

private:
  void add_level(const Matrix &A);
  UnknownsPtr add_supplied_levels();
  bool coarsen(Nodes &nodes, NearNullVectors &near_null);
  Aggregates choose_aggregates(const Nodes &nodes, const RowPattern &graph,
                               const DerivedPattern &filtered, int n_near_null);
  std::unique_ptr<Transition<Backend>>
  make_transition(const std::shared_ptr<const CsrMatrix> &tentative, DerivedPattern filtered,
                  NearNullVectors near_null);
  double complexity(double entries_of_next = 0.) const;
  void finish_coarsest();

  HierarchyOptions options;
  bool symmetric = true, is_distributed = false, is_scaled = false;
  int n_near_null = 0;
  int n_supplied = 0; ///< levels with supplied prolongations
  std::vector<Level<Backend>> all_levels;
  std::unique_ptr<DenseInverse<Backend>> coarsest_inverse;
};
} // namespace femgpu::linalg

#endif
