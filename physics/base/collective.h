#ifndef femgpu_physics_base_collective_h
#define femgpu_physics_base_collective_h

#include "linalg/base/error.h"
#include "linalg/mpi/long_messages.h"

#include <deal.II/base/mpi.h>

#include <cstddef>
#include <functional>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>

#include <boost/serialization/string.hpp>
#include <boost/serialization/utility.hpp>

namespace femgpu
{
/**
 * Collective. Concatenates the values of all ranks, in rank order, on rank 0.
 * @param local this rank's values, trivially copyable, in a std::vector, RawVector or std::string
 * @return all values on rank 0, an empty container on other ranks
 */
template <class Values>
Values gather(Values local, MPI_Comm communicator)
{
  constexpr std::size_t bytes = sizeof(local[0]);
  const auto lengths = dealii::Utilities::MPI::gather(communicator, local.size());
  const auto at = [&](const std::size_t offset) {
    return reinterpret_cast<unsigned char *>(local.data() + offset);
  };
  if (dealii::Utilities::MPI::this_mpi_process(communicator) > 0) {
    linalg::send(at(0), local.size() * bytes, 0, communicator);
    return {};
  }
  std::size_t offset = local.size();
  local.resize(std::accumulate(lengths.begin(), lengths.end(), std::size_t{0}));
  for (std::size_t rank = 1; rank < lengths.size(); offset += lengths[rank++])
    linalg::receive(at(offset), lengths[rank] * bytes, static_cast<int>(rank), communicator);
  return local;
}

/// Collective. Calls @p act on each rank. If the call throws ErrorType on some ranks, all ranks
/// throw the error of the lowest of these ranks.
template <class ErrorType>
void rethrow_on_all_ranks(MPI_Comm communicator, const std::function<void()> &act)
{
  constexpr bool has_parameter = std::is_same_v<ErrorType, ParameterError>;
  std::string error, parameter;
  try {
    act();
  }
  catch (const ErrorType &e) {
    error = e.what();
    if constexpr (has_parameter)
      parameter = e.parameter();
  }
  for (const auto &[text, of_text] :
       dealii::Utilities::MPI::all_gather(communicator, std::make_pair(error, parameter)))
    if (!text.empty()) {
      if constexpr (has_parameter)
        throw ErrorType(text, of_text);
      else
        throw ErrorType(text);
    }
}
} // namespace femgpu

#endif
