// An angle: a steel plate with two bolt holes, lying, and an aluminium plate that stands on it.
// Lengths in metres. In tetrahedra.
//   gmsh -3 bracket.geo -format msh41 -o bracket.msh
SetFactory("OpenCASCADE");
l = 0.10;  // length of the steel plate, along x
w = 0.08;  // width of both, along y
t = 0.012; // thickness of both
H = 0.08;  // height of the aluminium plate, along z
r = 0.008; // radius of the bolt holes
eps = 1e-5;
Box(1) = {0, 0, 0, l, w, t};
Cylinder(2) = {0.07, 0.02, -t, 0, 0, 3 * t, r};
Cylinder(3) = {0.07, 0.06, -t, 0, 0, 3 * t, r};
BooleanDifference(4) = { Volume{1}; Delete; }{ Volume{2, 3}; Delete; };
Box(5) = {0, 0, t, t, w, H};
BooleanFragments{ Volume{4}; Delete; }{ Volume{5}; Delete; }
steel[] = Volume In BoundingBox {-eps, -eps, -eps, l + eps, w + eps, t + eps};
aluminium[] = Volume In BoundingBox {-eps, -eps, t - eps, t + eps, w + eps, t + H + eps};
bolts[] = Surface In BoundingBox {0.07 - r - eps, 0, -eps, 0.07 + r + eps, w, t / 2 + t};
bolts[] -= Surface In BoundingBox {-eps, -eps, -eps, l + eps, w + eps, eps};
bolts[] -= Surface In BoundingBox {-eps, -eps, t - eps, l + eps, w + eps, t + eps};
load[] = Surface In BoundingBox {-eps, -eps, t + H - eps, t + eps, w + eps, t + H + eps};
all[] = CombinedBoundary{ Volume{steel[], aluminium[]}; };
free[] = Abs(all[]);
free[] -= {bolts[], load[]};
Physical Volume("steel", 1) = {steel[]};
Physical Volume("aluminium", 2) = {aluminium[]};
Physical Surface("bolts", 1) = {bolts[]};
Physical Surface("load", 2) = {load[]};
Physical Surface("free", 3) = {free[]};
Mesh.MeshSizeMax = 0.012;
Mesh.MeshSizeFromCurvature = 12;
