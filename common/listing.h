#ifndef femgpu_common_listing_h
#define femgpu_common_listing_h

#include "linalg/base/choice.h"

#include <string>
#include <vector>

/// @file
/// The output of `--list`.
namespace femgpu
{
/// Returns a title followed by one line per choice with its meaning.
std::string listing_of(const std::string &title, const std::vector<Choice> &choices);

/// Returns a title followed by one line for the host and for each CUDA device, with free memory.
std::string listing_of_backends(const std::string &title);
} // namespace femgpu

#endif
