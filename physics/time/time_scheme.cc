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
  return {
      {"auto", "tr-bdf2, for elasticity generalised-alpha"},
      {"tr-bdf2", "order 2, damps fast modes. Each step has two stages"},
      {"crank-nicolson", "order 2, one stage; fast modes oscillate instead of decaying"},
      {"backward-euler", "order 1, one stage, damps most"},
      {"generalised-alpha", "for elasticity: order 2, damps fast modes by Spectral radius"},
      {"newmark", "for elasticity, with Newmark beta and gamma: their defaults keep the energy"}};
}

bool is_second_order(const std::string &name)
{
  return name == "generalised-alpha" || name == "newmark";
}

SecondOrderScheme generalised_alpha(const double radius)
{
  const double alpha_m = (2. * radius - 1.) / (radius + 1.), alpha_f = radius / (radius + 1.);
  const double root = 1. - alpha_m + alpha_f;
  return {alpha_m, alpha_f, root * root / 4., 0.5 - alpha_m + alpha_f};
}
} // namespace femgpu
