// NAFEMS LE1: the quarter between the ellipses (x/2)^2 + y^2 = 1 and (x/3.25)^2 + (y/2.75)^2 = 1,
// with the edges of its cells curved by nodes in their middle:
//   gmsh -2 le1.geo -order 2 -format msh41 -o le1.msh
// and first-order cells, for Mesh/Manifolds:
//   gmsh -2 le1.geo -order 1 -format msh41 -o le1_straight.msh
n_around = 16;
n_across = 6;
Point(1) = {0, 0, 0};
Point(2) = {2, 0, 0};    // D
Point(3) = {3.25, 0, 0}; // C
Point(4) = {0, 2.75, 0}; // B
Point(5) = {0, 1, 0};    // A
Line(1) = {2, 3};
Ellipse(2) = {3, 1, 3, 4};
Line(3) = {4, 5};
Ellipse(4) = {5, 1, 2, 2};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Transfinite Curve {1} = n_across + 1 Using Progression 1.2;
Transfinite Curve {3} = n_across + 1 Using Progression 1 / 1.2;
Transfinite Curve {2} = n_around + 1;
Transfinite Curve {4} = n_around + 1 Using Progression 1 / 1.15;
Transfinite Surface {1};
Recombine Surface {1};
Physical Curve("symmetry_y", 1) = {1};
Physical Curve("outer", 2) = {2};
Physical Curve("symmetry_x", 3) = {3};
Physical Curve("inner", 4) = {4};
Physical Surface("membrane", 1) = {1};
