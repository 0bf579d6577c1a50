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
/// How a hierarchy is made.
struct HierarchyOptions
{
  bool takes_given = true; ///< the prolongations of Unknowns, before aggregates
  double theta = 0.; ///< of strong connections of the first nodes; half of it on each further level
  int block = 0;     ///< unknowns of a node; 0: those that the matrix knows of, or 1
  std::string near_null = "auto";
  int coarsest = 256;      ///< rows that are factored
  SmootherChoice smoother; ///< of the finest level; its degree is one higher on each further
};

/// From a level to the next.
template <class Backend>
struct Transition
{
  std::shared_ptr<const CsrMatrix> tentative;
  std::unique_ptr<SmoothedProlongation<Backend>> smoothed; ///< nullptr: P is P̂
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
  std::unique_ptr<Smoother<Backend>> smoother; ///< nullptr where A is factored
  std::unique_ptr<Transition<Backend>> next;   ///< nullptr on the coarsest level
  LevelReport report;
};

/**
 * Matrices A_{l+1} = Pᵀ A_l P on fewer and fewer unknowns: by prolongations that are known, from
 * lower degrees and coarser meshes, and from there on by smoothed aggregation (Vaněk, Mandel and
 * Brezina 1996), for unsymmetric A by aggregation alone. Coarser levels are smoothed more (the
 * variable V-cycle, Bramble and Pasciak 1987): what growth of iterations is left comes from them,
 * and they are small. All else is made where the matrix is; sums and the ends of spectra visit the
 * host.
 *
 * Of a matrix in parts an aggregate is one part's; P and the coarser matrices are those of all
 * rows, as products take the rows of others that they need. Prolongations that are known are not
 * taken.
 */
template <class Backend>
class Hierarchy
{
public:
  /// Is called by all parts. @param A outlives the hierarchy. @throws SolverError unless its
  /// diagonal is positive, and beyond most_indices entries for aggregates of its rows;
  /// ParameterError for a block that does not divide its rows
  Hierarchy(const Matrix &A, const HierarchyOptions &options);

  /// Takes over new values of A; aggregates and patterns stay.
  void update();

  const std::vector<Level<Backend>> &levels() const
  {
    return all_levels;
  }
  /// Of the coarsest level; nullptr: it has too many rows, and is only smoothed.
  const DenseInverse<Backend> *inverse() const
  {
    return coarsest_inverse.get();
  }
  bool is_symmetric() const
  {
    return symmetric;
  }
  /// Entries of the matrices of all levels but the finest, and of P.
  std::size_t n_nonzeros() const;
  /// In words. @param levels of reports()
  std::string description(const std::vector<LevelReport> &levels) const;
  /// Of all parts. Is called by all.
  std::vector<LevelReport> reports() const;

private:
  void add_level(const Matrix &A);
  UnknownsPtr add_given_levels();
  bool coarsen(Nodes &nodes, NearNullVectors &near_null);
  Aggregates choose_aggregates(const Nodes &nodes, const RowPattern &graph,
                               const DerivedPattern &filtered, int n_near_null);
  std::unique_ptr<Transition<Backend>>
  make_transition(const std::shared_ptr<const CsrMatrix> &tentative, DerivedPattern filtered,
                  NearNullVectors near_null);
  double complexity(double entries_of_next = 0.) const;
  void finish_coarsest();

  HierarchyOptions options;
  bool symmetric = true, has_parts = false, is_scaled = false;
  int n_near_null = 0;
  int n_given = 0; ///< levels whose prolongations were known
  std::vector<Level<Backend>> all_levels;
  std::unique_ptr<DenseInverse<Backend>> coarsest_inverse;
};
} // namespace femgpu::linalg

#endif
