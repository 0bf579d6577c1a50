#ifndef femgpu_common_listing_h
#define femgpu_common_listing_h

#include "linalg/base/choice.h"

#include <string>
#include <vector>

/// Parts of what `--list` prints.
namespace femgpu
{
/// A title, and a line for each choice with its meaning.
std::string listing_of(const std::string &title, const std::vector<Choice> &choices);

/// A title, and a line for the host and each CUDA device, with free memory.
std::string listing_of_backends(const std::string &title);
} // namespace femgpu

#endif
