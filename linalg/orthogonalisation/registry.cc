#include "linalg/orthogonalisation/orthogonalisation.h"

namespace femgpu::linalg
{
template <class Name>
constexpr auto *tsqr = make_on_any<Name, Tsqr, const ExecutorPtr &, const Communicator *>;

constexpr decltype(tsqr_methods)::Entry tsqr_table[] = {
    {"mgs", "modified Gram-Schmidt, |I-Q'Q| = O(eps kappa); passes=1|2", tsqr<class TsqrMethod>},
    {"cgs", "classical Gram-Schmidt, O(eps kappa^(p-1)); passes=1|2 for each column",
     tsqr<class TsqrMethod>},
    {"cholqr", "Cholesky QR of V'V, O(eps kappa^2); passes=1|2, safer=yes|no",
     tsqr<class TsqrMethod>},
    {"svqr", "eigenvalue decomposition of V'V, O(eps kappa^2); passes=1|2, safer=yes|no",
     tsqr<class TsqrMethod>},
    {"caqr", "tree of Householder QR factorisations, O(eps); passes=1|2", tsqr<class TsqrMethod>}};

constexpr decltype(tsqr_methods) tsqr_methods("QR factorisation of blocks", tsqr_table);

template <class Name>
constexpr auto *blocks =
    make_on_any<Name, BlockOrthogonalisation, const ExecutorPtr &, const Communicator *>;

constexpr decltype(block_methods)::Entry block_table[] = {
    {"cgs", "classical Gram-Schmidt, against all columns of Q at once; passes=1|2",
     blocks<class GramSchmidtMethod>},
    {"mgs", "modified Gram-Schmidt, against one column of Q after another; passes=1|2",
     blocks<class GramSchmidtMethod>}};

constexpr decltype(block_methods) block_methods("orthogonalisation of blocks", block_table);
} // namespace femgpu::linalg
