#include "physics/elasticity/elasticity_parameters.h"

#include "physics/base/fields.h"

namespace femgpu
{
using namespace dealii;

ElasticityParameters::ElasticityParameters() : ParameterAcceptor("/Elasticity")
{
  declare_materials();
  declare_supports();
  declare_loads();
  add_parameter("Reactions", reports_reactions,
                "Report forces and moments of all loads, and of the supports by boundary id, in N "
                "and N m (in 2D per 1 m of length or thickness), and the defect of their sum.");
  add_parameter("Moment point", moment_point,
                "The point about which moments of reactions and loads are reported, in m: its "
                "coordinates, separated by ','. Empty: the origin.");
  add_parameter("Exact solution", exact_solution,
                "If given, errors in L2, H1 and Linf are computed: the displacement, one "
                "expression for each direction, separated by ','.");
}

std::vector<RequiredDatum> ElasticityParameters::required() const
{
  if (!is_blank(lambda) || !is_blank(mu))
    return {};
  return {{"Elasticity/Young's modulus", young, "210e9"},
          {"Elasticity/Poisson's ratio", poisson, "0.3"}};
}

void ElasticityParameters::declare_materials()
{
  add_parameter("Young's modulus", young,
                "E > 0, in Pa (or any unit of stress): an expression of x, y, z for all materials, "
                "or by material id or name, for example '210e9; aluminium: 70e9'. Must be given "
                "unless lambda and mu are.");
  add_parameter("Poisson's ratio", poisson,
                "nu, -1 < nu < 0.5, without unit; by material, as Young's modulus. Must be given "
                "unless lambda and mu are.");
  add_parameter(
      "Lame's lambda", lambda,
      "lambda = E nu/((1 + nu)(1 - 2 nu)), in Pa, lambda > -2/3 mu; by material. Together "
      "with mu, instead of E and nu.");
  add_parameter("Lame's mu", mu,
                "mu = E/(2 (1 + nu)) > 0, the shear modulus, in Pa; by material. Together with "
                "lambda, instead of E and nu.");
  add_parameter(
      "2D hypothesis", hypothesis,
      "Hypothesis of two-dimensional problems: plane strain, for a long body that cannot extend "
      "(eps_zz = 0), or plane stress, for a thin plate (sigma_zz = 0). auto: chosen by the "
      "elements of an .inp file, plane stress for CPS, S and M3D elements and plane strain for CPE "
      "elements; otherwise plane strain. Forces are per 1 m of length or thickness. Ignored in 3D.",
      prm, Patterns::Selection("auto|plane strain|plane stress"));
  add_parameter("Thermal expansion", thermal_expansion,
                "alpha, in 1/K; by material. The thermal strain is alpha dT I.");
  add_parameter("Temperature rise", temperature_rise,
                "dT, in K, relative to the strain-free temperature; expression of x, y, z.");
  add_parameter("Yield stress", yield_stress,
                "Yield stress in Pa, by material. If given, the output includes the safety factor, "
                "yield stress over von Mises stress.");
}

void ElasticityParameters::declare_supports()
{
  add_parameter(
      "Displacement", displacement,
      "Prescribed displacement on parts of the boundary, in m: 'ids: u_x, u_y, u_z; "
      "...', one expression for each direction, or the word free, for example '0: 0, 0, 0; 1: "
      "free, 0.1, free'. Names of curves (in 3D) and points of a mesh file are valid, too.");
  add_parameter("Rotation", rotation,
                "Prescribed rigid rotation of parts of the boundary: 'ids: c_x, c_y, angle' in 2D, "
                "'ids: c_x, c_y, c_z, a_x, a_y, a_z, angle' in 3D, c is a point of the axis, in m, "
                "and a its direction; both must be constant. The angle, in radians, is an "
                "expression of x, y, z; it is positive by the right-hand rule. u = (R - I)(x - "
                "c) with the full rotation matrix R, not its linear part; strains are linear in u, "
                "so keep angles small.");
  add_parameter("Symmetry planes", symmetry_planes,
                "Boundary ids or names of planes, separated by ',', on which the body slides "
                "freely: u.n = 0. The planes may be oblique.");
}

void ElasticityParameters::declare_loads()
{
  add_parameter("Body force", body_force,
                "Force per volume, in N/m^3: one expression of x, y, z for each direction, "
                "separated by ','. Empty: none.");
  add_parameter("Traction", traction,
                "Force per area on parts of the boundary, in Pa: 'ids: t_x, t_y, t_z; ...'. "
                "Boundary ids without a condition are free of traction. Names of curves in a mesh "
                "file (in 3D) take a force per length, in N/m, and names of points take the "
                "force at each point, in N (in 2D per 1 m of length or thickness).");
  add_parameter("Pressure", pressure,
                "Pressure p on parts of the boundary, in Pa: 'ids: p; ...'; the traction -p n with "
                "the outer normal n, in addition to Traction.");
}
} // namespace femgpu
