#include "physics/mesh/p4est_errors.h"

#include <cstdio>
#include <new>
#include <p4est_base.h>
#include <sc.h>
#include <stdexcept>
#include <string>

namespace femgpu
{
namespace
{
std::string &words()
{
  static std::string text;
  return text;
}

/// What p4est says comes in lines, the reason first.
void keep_words(FILE * /* stream */, const char * /* file */, int /* line */, int /* package */,
                int /* category */, int /* priority */, const char *const message)
{
  words() += message;
}

/// At its end p4est counts what it has allocated, and aborts where something was lost.
void accept_losses()
{
  for (const int package : {-1, sc_package_id, p4est_package_id}) // -1: without one
    if (package < 0 || sc_package_is_registered(package) != 0)
      sc_package_set_abort_alloc_mismatch(package, 0);
}

/// p4est is C and knows no other way than abort(). Its functions can be unwound, as all code on 64
/// bits; what they hold is lost.
void throw_words()
{
  accept_losses();
  const std::string text = std::move(words());
  words().clear();
  if (text.find("alloc") != std::string::npos) // "Returned NULL from malloc", "Reallocation"
    throw std::bad_alloc();
  throw std::runtime_error("p4est gives up: " + text);
}
} // namespace

void throw_errors_of_p4est()
{
  sc_set_log_defaults(stderr, keep_words, SC_LP_ERROR);
  sc_set_abort_handler(throw_words);
}
} // namespace femgpu
