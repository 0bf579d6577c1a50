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
  declare_motion();
  add_parameter("Reactions", reports_reactions,
                "true: femgpu reports the force, in N, and the moment, in N m, of all loads "
                "together and of each support. It also reports the defect of their balance. In 2D, "
                "forces and moments are per 1 m of length or thickness.");
  add_parameter(
      "Moment point", moment_point,
      "The point to which the moments of reactions and loads refer: its coordinates in m, "
      "separated by ','. Empty: the origin.");
  add_parameter(
      "Exact solution", exact_solution,
      "Exact displacement, one expression for each direction, separated by ','. If given, femgpu "
      "computes the errors in L2, H1 and Linf.");
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
  add_parameter(
      "Young's modulus", young,
      "Young's modulus E > 0, in Pa (or any unit of stress): an expression of x, y, z. Values by "
      "material id or name: 'E; ids: E', for example '210e9; aluminium: 70e9'. The entry without "
      "ids applies to all other materials. Must be given unless lambda and mu are given.");
  add_parameter("Poisson's ratio", poisson,
                "Poisson's ratio nu, -1 < nu < 0.5, without unit. Values by material as for "
                "Young's modulus. Must be given unless lambda and mu are given.");
  add_parameter(
      "Lame's lambda", lambda,
      "Lame's first parameter lambda = E nu/((1 + nu)(1 - 2 nu)), in Pa. It must exceed -2/3 mu. "
      "Values by material as for Young's modulus. Give either lambda and mu or E and nu.");
  add_parameter("Lame's mu", mu,
                "Lame's second parameter, the shear modulus mu = E/(2 (1 + nu)) > 0, in Pa. Values "
                "by material as for Young's modulus. Give either lambda and mu or E and nu.");
  add_parameter("2D hypothesis", hypothesis,
                "Hypothesis of two-dimensional problems; it has no effect in 3D. plane strain: a "
                "long body that cannot extend (eps_zz = 0). plane stress: a thin plate (sigma_zz = "
                "0). auto: plane stress for an .inp file with CPS, S or M3D elements, otherwise "
                "plane strain. In 2D, forces are per 1 m of length or thickness.",
                prm, Patterns::Selection("auto|plane strain|plane stress"));
  add_parameter(
      "Thermal expansion", thermal_expansion,
      "Coefficient of thermal expansion alpha, in 1/K. Values by material as for Young's modulus. "
      "The thermal strain is alpha dT I, with dT = Temperature rise and the unit tensor I.");
  add_parameter("Temperature rise", temperature_rise,
                "Temperature rise dT relative to the strain-free temperature, in K: an expression "
                "of x, y, z.");
  add_parameter(
      "Yield stress", yield_stress,
      "Yield stress, in Pa. Values by material as for Young's modulus. If it is given, the output "
      "includes the safety factor, which is the yield stress divided by the von Mises stress.");
}

void ElasticityParameters::declare_supports()
{
  add_parameter("Displacement", displacement,
                "Prescribed displacement on parts of the boundary, in m: 'ids: u_x, u_y, u_z; "
                "...', for example '0: 0, 0, 0; 1: free, 0.1, free'. Each component is an "
                "expression, or the word free if it is not prescribed. Names of points of a mesh "
                "file, and in 3D names of curves, may also serve as ids.");
  add_parameter("Rotation", rotation,
                "Prescribed rigid rotation of parts of the boundary: 'ids: c_x, c_y, angle' in 2D, "
                "'ids: c_x, c_y, c_z, a_x, a_y, a_z, angle' in 3D. c, in m, is a point of the "
                "axis, and a is the direction of the axis; both are constant. The angle, in "
                "radians, is an expression of x, y, z; it is positive by the right-hand rule. The "
                "displacement is (R - I)(x - c) with the full rotation matrix R, not its linear "
                "part. Keep angles small, because strains are linear in u.");
  add_parameter("Symmetry planes", symmetry_planes,
                "Planes on which the body slides freely (u.n = 0): boundary ids or names, "
                "separated by ','. The planes may be oblique.");
}

void ElasticityParameters::declare_loads()
{
  add_parameter("Body force", body_force,
                "Force per volume, in N/m^3: one expression of x, y, z for each direction, "
                "separated by ','. Values by material: '0, 0; ids: b_x, b_y'. Empty: none.");
  add_parameter("Traction", traction,
                "Force per area on parts of the boundary, in Pa: 'ids: t_x, t_y, t_z; ...'. "
                "Boundary ids without a condition are free of traction. For a name of points of a "
                "mesh file, 'name: F_x, F_y, F_z' is the force at each point, in N; in 2D, it is "
                "in N per 1 m of length or thickness. For a name of curves of a 3D mesh file, the "
                "value is a force per length, in N/m.");
  add_parameter("Pressure", pressure,
                "Pressure p on parts of the boundary, in Pa: 'ids: p; ...'. It adds -p n to the "
                "traction, with the outer normal n.");
  add_parameter("Density", density,
                "Density rho > 0, in kg/m^3: an expression of x, y, z. Values by material as for "
                "Young's modulus. Must be given for Analysis = transient, Gravity and Base "
                "acceleration.");
  add_parameter("Gravity", gravity,
                "Acceleration of gravity g, in m/s^2: one expression for each direction, for "
                "example '0, 0, -9.81'. It adds the weight rho g to the body force. Empty: none.");
}

void ElasticityParameters::declare_motion()
{
  add_parameter("Base acceleration", base_acceleration,
                "Acceleration a_b of the base, in m/s^2: one expression of t for each direction. "
                "It adds -rho a_b to the body force. Displacement, velocity and acceleration of "
                "the solution are then relative to the base. Empty: none.");
  add_parameter("Initial displacement", initial_displacement,
                "Displacement at t = 0 of a transient analysis, in m: one expression of x, y, z "
                "for each direction. Empty: zero.");
  add_parameter("Initial velocity", initial_velocity,
                "Velocity at t = 0 of a transient analysis, in m/s: one expression of x, y, z for "
                "each direction. Empty: zero.");
}
} // namespace femgpu
