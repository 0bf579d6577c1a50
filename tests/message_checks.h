#ifndef femgpu_tests_message_checks_h
#define femgpu_tests_message_checks_h

#include "linalg/base/error.h"

#include <gtest/gtest.h>

#include <string>

namespace femgpu
{
inline bool contains(const std::string &text, const std::string &substring)
{
  return text.find(substring) != std::string::npos;
}

/// Returns the message of the @p ErrorType with @p code that @p action must throw.
template <class ErrorType, class Action>
std::string text_of_error(const ExitCode code, const Action &action)
{
  try {
    action();
  }
  catch (const ErrorType &error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}
} // namespace femgpu

#endif
