// A beam of 10 x 1 x 1 along x, in tetrahedra.
//   gmsh -3 cantilever.geo -format msh41 -o cantilever.msh
L = 10; // length
w = 1;  // width and height
h = 0.5; // size of elements
Point(1) = {0, 0, 0, h};
Point(2) = {0, w, 0, h};
Point(3) = {0, w, w, h};
Point(4) = {0, 0, w, h};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
beam[] = Extrude {L, 0, 0} { Surface{1}; };
Physical Surface("clamped", 1) = {1};                            // x = 0
Physical Surface("end", 2) = {beam[0]};                          // x = L
Physical Surface("sides", 3) = {beam[2], beam[3], beam[4], beam[5]};
Physical Volume("beam", 1) = {beam[1]};
