#include "physics/time/time_scheme.h"

#include <algorithm>
#include <cmath>

namespace femgpu
{
namespace
{
/// TR-BDF2 of Bank et al. (1985) in the form of Hosea and Shampine (1996), with their embedded
/// method of order 3.
TimeScheme tr_bdf2()
{
  const double gamma = 2. - std::sqrt(2.), w = std::sqrt(2.) / 4.;
  return {"tr-bdf2",
          2,
          gamma / 2.,
          {{gamma, {gamma / 2.}}, {1., {w, w}}},
          {(4. * w - 1.) / 3., -1. / 3., gamma / 3.}};
}

const std::vector<TimeScheme> &schemes()
{
  static const std::vector<TimeScheme> all = {tr_bdf2(),
                                              {"crank-nicolson", 2, 0.5, {{1., {0.5}}}, {}},
                                              {"backward-euler", 1, 1., {{1., {0.}}}, {-0.5, 0.5}}};
  return all;
}
} // namespace

const TimeScheme &time_scheme(const std::string &name)
{
  return *std::find_if(schemes().begin(), schemes().end(),
                       [&](const TimeScheme &scheme) { return scheme.name == name; });
}

std::vector<Choice> time_scheme_choices()
{
  return {{"tr-bdf2", "order 2, damps fast modes; the default. Each step has two stages"},
          {"crank-nicolson", "order 2, one stage; fast modes oscillate instead of decaying"},
          {"backward-euler", "order 1, one stage, damps most"}};
}
} // namespace femgpu
