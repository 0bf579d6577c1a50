// The unit cube: hexahedra below z = 1/2, tetrahedra above, joined by pyramids. Boundary ids as of
// deal.II's hyper_cube; x = 0 has none. `gmsh -3 -order 2 -format msh41 mixed_cube.geo`
N = 2;
Mesh.CharacteristicLengthMin = 1/N;
Mesh.SecondOrderLinear = 1;
Point(1) = {0, 0, 0};
Point(2) = {1, 0, 0};
Point(3) = {1, 1, 0};
Point(4) = {0, 1, 0};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Transfinite Curve{1:4} = N + 1;
Transfinite Surface{1};
Recombine Surface{1};
below[] = Extrude{0, 0, 0.5}{ Surface{1}; Layers{N/2}; Recombine; };
above[] = Extrude{0, 0, 0.5}{ Surface{below[0]}; };
Physical Volume("hexahedra", 11) = {below[1]};
Physical Volume("tetrahedra", 12) = {above[1]};
Physical Surface("bottom", 4) = {1};
Physical Surface("top", 5) = {above[0]};
Physical Surface("front", 2) = {below[2], above[2]};
Physical Surface("right", 1) = {below[3], above[3]};
Physical Surface("back", 3) = {below[4], above[4]};
