// The square (-1,1)^2 without the quarter at its upper right; the re-entrant corner is the origin.
//   gmsh -2 l_shape.geo -format msh2 -o l_shape.msh
n = 4; // elements along a side of length 1
Point(1) = {-1, -1, 0};
Point(2) = {0, -1, 0};
Point(3) = {1, -1, 0};
Point(4) = {1, 0, 0};
Point(5) = {0, 0, 0};
Point(6) = {0, 1, 0};
Point(7) = {-1, 1, 0};
Point(8) = {-1, 0, 0};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 5};
Line(5) = {5, 6};
Line(6) = {6, 7};
Line(7) = {7, 8};
Line(8) = {8, 1};
Line(9) = {2, 5};
Line(10) = {8, 5};
Curve Loop(1) = {1, 9, -10, 8};
Curve Loop(2) = {2, 3, 4, -9};
Curve Loop(3) = {10, 5, 6, 7};
Plane Surface(1) = {1};
Plane Surface(2) = {2};
Plane Surface(3) = {3};
Transfinite Curve {1:10} = n + 1;
Transfinite Surface {1:3};
Recombine Surface {1:3};
Physical Curve("corner", 1) = {4, 5};
Physical Curve("outer", 2) = {1:3, 6:8};
Physical Surface("domain", 1) = {1:3};
