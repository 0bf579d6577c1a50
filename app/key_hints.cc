#include "app/key_hints.h"

#include "linalg/base/text.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace femgpu
{
namespace
{
struct KeyHint
{
  std::string_view terms;   ///< terms in lower case, separated by '|'
  std::string_view section; ///< section it applies to; empty: sections without a hint for the term
  std::string_view key;     ///< path of the key to use; empty: there is none
  std::string_view advice;  ///< text that follows the key; the whole clause if there is no key
};

constexpr KeyHint hints[] = {
    // loads
    {"gravity|weight|self weight|inertia", "", "Elasticity/Gravity",
     ", for example '0, 0, -9.81', and 'Elasticity/Density'"},
    {"acceleration|ground acceleration|earthquake", "", "Elasticity/Base acceleration",
     " and 'Elasticity/Density'"},
    {"density|mass density|rho|mass", "", "Elasticity/Density", ""},
    {"density|mass density|rho|specific heat|cp", "Heat", "Heat/Heat capacity",
     ", the product of density and specific heat, with 'Analysis = transient'"},
    {"heat capacity|specific heat|cp", "", "Heat/Heat capacity", " with 'Analysis = transient'"},
    {"centrifugal load|centrifugal force|angular velocity|rotational speed", "",
     "Elasticity/Body force", " with density times omega^2 times the distance from the axis"},
    {"neumann", "Elasticity", "Elasticity/Traction", ": force per area on boundary ids"},
    {"force|point force|point load|load|nodal force|surface load", "", "Elasticity/Traction",
     ": force per area on boundary ids, or a force at named points"},
    {"moment|torque", "", "Elasticity/Traction",
     " that varies over the surface, or 'Elasticity/Rotation' for a prescribed angle"},
    // supports
    {"robin", "Elasticity", "",
     "elasticity has no springs: mesh a thin layer of a soft material instead (docs/limits.md)"},
    {"spring", "Poisson", "Poisson/Robin", ""},
    {"spring", "Heat", "Heat/Neumann", ", for example 'ids: c*(g - u)'"},
    {"spring|elastic support|foundation|elastic foundation|bedding", "", "",
     "elasticity has no springs: mesh a thin layer of a soft material instead (docs/limits.md)"},
    {"dirichlet|constraint", "Elasticity", "Elasticity/Displacement",
     ", for example 'ids: 0, 0, 0' or 'ids: free, 0, free'"},
    {"support|fixed|fixed support|clamp|clamped|encastre|roller|spc", "", "Elasticity/Displacement",
     ", for example 'ids: 0, 0, 0' or 'ids: free, 0, free'"},
    {"symmetry|symmetry plane|symmetry condition", "", "Elasticity/Symmetry planes",
     "; scalar problems need no condition there"},
    {"contact|friction|gap|tie", "", "",
     "femgpu has no contact: bodies that share nodes are bonded (docs/limits.md)"},
    // thermal
    {"temperature|temperature change|delta t", "Elasticity", "Elasticity/Temperature rise",
     " and 'Elasticity/Thermal expansion'"},
    {"temperature|fixed temperature|prescribed temperature|boundary temperature", "",
     "Heat/Dirichlet", ", for example 'ids: 293'"},
    {"convection|film|film coefficient|heat transfer|heat transfer coefficient|robin", "Poisson",
     "Poisson/Robin", ""},
    {"convection|film|film coefficient|heat transfer|heat transfer coefficient|robin", "",
     "Heat/Neumann", ", for example 'ids: h*(u_air - u)'"},
    {"heat flux|flux|surface flux", "", "Heat/Neumann", ", for example 'ids: 500'"},
    {"radiation|emissivity", "", "Heat/Neumann", ", for example 'ids: 0.8*5.67e-8*(293^4 - u^4)'"},
    {"right hand side|body force|heat source|heat generation|source term|power", "Heat",
     "Heat/Source", ""},
    {"source|source term|load|body force|f", "Poisson", "Poisson/Right-hand side", ""},
    {"source|source term|load|body force|f", "Bratu", "Bratu/Right-hand side", ""},
    {"heat source|heat generation|power", "", "Heat/Source", ""},
    // materials
    {"coefficient|diffusivity|k", "Heat", "Heat/Conductivity", ""},
    {"thermal conductivity", "", "Heat/Conductivity", ""},
    {"conductivity|thermal conductivity|k", "Poisson", "Poisson/Coefficient", ""},
    {"diffusivity|diffusion|diffusion coefficient|permittivity|permeability", "",
     "Poisson/Coefficient", ""},
    {"e|young|young modulus|youngs modulus|elastic modulus|modulus of elasticity|modulus|stiffness",
     "", "Elasticity/Young's modulus", ""},
    {"poisson", "Elasticity", "Elasticity/Poisson's ratio", ""},
    {"nu|poisson ratio|poissons ratio|poisson number", "", "Elasticity/Poisson's ratio", ""},
    {"g|mu", "Elasticity", "Elasticity/Lame's mu", ""},
    {"shear modulus", "", "Elasticity/Lame's mu", ""},
    {"material", "", "",
     "give values by material id or name in the section of the physics, as 'value; ids: value'"},
    {"thickness", "", "",
     "plane problems have a thickness of 1: give loads per unit of thickness (docs/limits.md)"},
    {"plane stress|plane strain|hypothesis|stress state", "", "Elasticity/2D hypothesis", ""},
    {"plasticity|hardening|creep|damage", "", "",
     "femgpu is linear elastic; 'Elasticity/Yield stress' reports a safety factor "
     "(docs/limits.md)"},
    // time
    {"time|times|transient|time integration|time stepping|time dependent", "", "",
     "set 'Analysis = transient', and use section 'Time'"},
    {"time step|timestep|step size|dt|delta t", "", "Time/Step", " with 'Analysis = transient'"},
    {"end time|final time|t end", "", "Time/End time", " with 'Analysis = transient'"},
    {"initial condition|initial value|initial temperature", "Poisson", "Poisson/Initial value",
     " with 'Analysis = transient'"},
    {"initial condition|initial value|initial temperature", "", "Heat/Initial value",
     " with 'Analysis = transient'"},
    {"damping|rayleigh damping", "", "Time/Rayleigh mass", " and 'Time/Rayleigh stiffness'"},
    {"initial displacement|initial velocity", "", "Elasticity/Initial velocity",
     " and 'Elasticity/Initial displacement' with 'Analysis = transient'"},
    {"dynamics|wave|vibration|impact|shock", "", "",
     "set 'Analysis = transient' with 'Physics = elasticity' (docs/tutorial_dynamics.md)"},
    {"frequency|mode|modal analysis|eigenvalue|number of eigenvalues", "", "",
     "femgpu computes no eigenvalues; docs/limits.md names other programs"},
    {"buckling", "", "", "femgpu computes no buckling loads; docs/limits.md names other programs"},
    {"velocity|advection|wind|convection velocity", "", "Convection diffusion/Velocity",
     " with 'Physics = convection_diffusion'"},
    {"flow|viscosity", "", "",
     "femgpu computes no flow; 'Convection diffusion/Velocity' gives a known one, and "
     "docs/limits.md names other programs"},
    // mesh, solver, output
    {"boundary|boundary condition|boundary conditions|bc", "", "",
     "conditions are keys of the section of the physics, such as 'Dirichlet' and 'Neumann' of "
     "'Heat'"},
    {"cell size|refinement|global refinement", "Mesh", "Mesh/Initial refinements",
     "; 'Study/Cell size' refines adaptively"},
    {"mesh size|element size", "", "Mesh/Initial refinements",
     "; 'Study/Cell size' refines adaptively"},
    {"order|p", "Discretization", "Discretization/Degree", ""},
    {"element order|polynomial degree|fe degree", "", "Discretization/Degree", ""},
    {"tolerance|tol", "", "Solver/Relative tolerance", ""},
    {"gpu|cuda|device", "", "Solver/Backend", ", for example cuda or host"},
};

/// Returns @p name in lower case, without apostrophes and with '_' and '-' replaced by blanks.
std::string normalised(const std::string &name)
{
  std::string result;
  for (const char c : trimmed(name))
    if (c == '_' || c == '-')
      result += ' ';
    else if (c != '\'')
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

bool has_term(const KeyHint &hint, const std::string &term)
{
  std::size_t begin = 0;
  while (begin <= hint.terms.size()) {
    const std::size_t end = std::min(hint.terms.find('|', begin), hint.terms.size());
    const std::string_view known = hint.terms.substr(begin, end - begin);
    if (term == known || term == std::string(known) + 's')
      return true;
    begin = end + 1;
  }
  return false;
}

std::string text_of(const KeyHint &hint)
{
  return (hint.key.empty() ? "" : "use '" + std::string(hint.key) + "'") + std::string(hint.advice);
}
} // namespace

std::string key_hint(const std::string &section, const std::string &name)
{
  const std::string term = normalised(name);
  const std::string physics = section.substr(0, section.find('/'));
  for (const KeyHint &hint : hints)
    if (!hint.section.empty() && hint.section == physics && has_term(hint, term))
      return text_of(hint);
  for (const KeyHint &hint : hints)
    if (hint.section.empty() && has_term(hint, term))
      return text_of(hint);
  return "";
}

std::vector<std::string> keys_of_hints()
{
  std::vector<std::string> keys;
  for (const KeyHint &hint : hints)
    if (!hint.key.empty())
      keys.emplace_back(hint.key);
  return keys;
}
} // namespace femgpu
