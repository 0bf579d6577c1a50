#ifndef femgpu_tests_app_message_checks_h
#define femgpu_tests_app_message_checks_h

#include "linalg/base/error.h"

#include <gtest/gtest.h>

#include <string>

namespace femgpu
{
inline bool holds(const std::string &text, const std::string &part)
{
  return text.find(part) != std::string::npos;
}

/// The text of the ParameterError that @p action must throw.
template <class Action>
std::string parameter_error(const Action &action)
{
  try {
    action();
  }
  catch (const ParameterError &error) {
    EXPECT_EQ(error.code(), ExitCode::parameter);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}
} // namespace femgpu

#endif
