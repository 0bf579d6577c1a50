#include "linalg/transformations/registry.h"

#include "linalg/transformations/matching.h"

#include <limits>

namespace femgpu::linalg
{
constexpr decltype(scalings)::Entry scaling_table[] = {
    {"none",
     "no scaling",
     [](const HostCsr & /* A */, const RowSpace & /* rows */) { return Scaling(); },
     {.changes_system = false}},
    {"symmetric",
     "divides rows and columns by the square roots of the columns' 2-norms, which keeps A "
     "symmetric",
     symmetric_scaling},
    {"balance",
     "divides rows by their 2-norms, then columns by their 2-norms; for unsymmetric solvers only",
     balancing,
     {.preserves_symmetry = false}},
    {"matching",
     "permutes and scales rows, and scales columns, so that diagonal entries are 1 and no entry is "
     "larger (Duff and Koster). It helps if the diagonal has zeros, or if entries have very "
     "different magnitudes. For unsymmetric solvers only",
     matching_scaling,
     {.preserves_symmetry = false, .permutes_rows = true, .uses_int_offsets = true}}};

constexpr decltype(scalings) scalings("scaling", scaling_table);

namespace
{
OrderingFunction by_parts(Method &method)
{
  const int parts = method.integer_or("parts", "auto", 0, 1, std::numeric_limits<int>::max());
  const bool is_rcm = method.word("within", "rcm", {"rcm", "none"}) == "rcm";
  const bool is_kway = method.name() == "kway";
  if (is_kway)
    require_metis("ordering kway", "ordering rcm");
  return [=](const HostCsr &A) {
    return ordering_by_parts(is_kway ? "metis" : "geometry", A, parts,
                             is_rcm ? LocalOrdering::rcm : LocalOrdering::none);
  };
}
} // namespace

constexpr decltype(orderings)::Entry ordering_table[] = {
    {"none",
     "no reordering",
     [](Method & /* method */) -> OrderingFunction {
       return [](const HostCsr & /* A */) { return Partition(); };
     },
     {.preserves_order = true}},
    {"rcm",
     "reverse Cuthill-McKee, for a small bandwidth",
     [](Method & /* method */) -> OrderingFunction {
       return [](const HostCsr &A) { return Partition{{}, reverse_cuthill_mckee(A)}; };
     },
     {.uses_int_offsets = true}},
    {"kway",
     "METIS k-way partitioning into subdomains with few entries between them. Options: "
     "parts=P|auto, the number of subdomains; within=rcm|none, the order of the rows in each "
     "subdomain",
     by_parts,
     {.uses_int_offsets = true}},
    {"geometry",
     "partitioning into subdomains by recursive bisection of the mesh nodes, if their coordinates "
     "are known. It has the options of kway",
     by_parts,
     {.uses_int_offsets = true}}};

constexpr decltype(orderings) orderings("ordering", ordering_table);
} // namespace femgpu::linalg
