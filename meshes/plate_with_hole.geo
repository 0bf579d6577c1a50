// A quarter of a plate of half-width 4 with a hole of radius 1, in quadrilaterals.
//   gmsh -2 plate_with_hole.geo -format msh41 -o plate_with_hole.msh
a = 1;          // radius of the hole
w = 4;          // half-width of the plate
n_around = 4;   // elements along an eighth of the hole
n_out = 6;      // elements from the hole to the outer boundary
growth = 1.35;  // of their lengths
s = a * Sqrt(0.5);
Point(1) = {0, 0, 0};
Point(2) = {a, 0, 0};
Point(3) = {s, s, 0};
Point(4) = {0, a, 0};
Point(5) = {w, 0, 0};
Point(6) = {w, w, 0};
Point(7) = {0, w, 0};
Circle(1) = {2, 1, 3};
Circle(2) = {3, 1, 4};
Line(3) = {2, 5};
Line(4) = {3, 6};
Line(5) = {4, 7};
Line(6) = {5, 6};
Line(7) = {6, 7};
Curve Loop(1) = {3, 6, -4, -1};
Curve Loop(2) = {4, 7, -5, -2};
Plane Surface(1) = {1};
Plane Surface(2) = {2};
Transfinite Curve {1, 2, 6, 7} = n_around + 1;
Transfinite Curve {3, 4, 5} = n_out + 1 Using Progression growth;
Transfinite Surface {1, 2};
Recombine Surface {1, 2};
Physical Curve("symmetry_x", 1) = {5}; // x = 0
Physical Curve("symmetry_y", 2) = {3}; // y = 0
Physical Curve("hole", 3) = {1, 2};
Physical Curve("outer", 4) = {6, 7};
Physical Surface("plate", 1) = {1, 2};
