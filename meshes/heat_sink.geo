// A quarter of a heat sink with six fins, and of the chip below it; x = 0 and y = 0 are its planes of
// symmetry. The whole base is 36 x 40 x 4 mm, each fin 2 x 40 x 20 mm, the chip 12 x 12 x 1 mm.
// Lengths in metres. In hexahedra.
//   gmsh -3 heat_sink.geo -format msh41 -o heat_sink.msh
SetFactory("OpenCASCADE");
mm = 0.001;
eps = 1e-6;

// Boxes that meet face to face: x in steps of 2 mm, y in [0, 6] and [6, 20] mm.
For i In {0:8}
  x = 2 * i * mm;
  Box(newv) = {x, 0, 0, 2 * mm, 6 * mm, 4 * mm};
  Box(newv) = {x, 6 * mm, 0, 2 * mm, 14 * mm, 4 * mm};
  If (i < 3)
    Box(newv) = {x, 0, -1 * mm, 2 * mm, 6 * mm, 1 * mm};
  EndIf
  If (i % 3 == 1)
    Box(newv) = {x, 0, 4 * mm, 2 * mm, 6 * mm, 20 * mm};
    Box(newv) = {x, 6 * mm, 4 * mm, 2 * mm, 14 * mm, 20 * mm};
  EndIf
EndFor
Coherence;

chip[] = Volume In BoundingBox {-1, -1, -1, 1, 1, eps};
sink[] = Volume{:};
sink[] -= chip[];
outer[] = Abs(CombinedBoundary{ Volume{:}; });
symmetry[] = Surface In BoundingBox {-eps, -1, -1, eps, 1, 1};
symmetry[] += Surface In BoundingBox {-1, -eps, -1, 1, eps, 1};
outer[] -= symmetry[];
below_fins[] = Surface In BoundingBox {-1, -1, -1, 1, 1, 4 * mm + eps};
fins[] = outer[];
fins[] -= below_fins[];
below_base[] = Surface In BoundingBox {-1, -1, -1, 1, 1, eps};
base[] = outer[];
base[] -= {fins[], below_base[]};
insulated[] = outer[];
insulated[] -= {fins[], base[]};
Physical Volume("chip", 1) = {chip[]};
Physical Volume("sink", 2) = {sink[]};
Physical Surface("fins", 1) = {fins[]};
Physical Surface("base", 2) = {base[]};
Physical Surface("insulated", 3) = {insulated[]};
Physical Surface("symmetry", 4) = {symmetry[]};

// Cells of at most 5 mm along each edge.
curves[] = Curve{:};
For i In {0:#curves[] - 1}
  b[] = BoundingBox Curve{curves[i]};
  Transfinite Curve{curves[i]} = 1 + Ceil((b[3] - b[0] + b[4] - b[1] + b[5] - b[2]) / (5 * mm));
EndFor
Transfinite Surface{:};
Recombine Surface{:};
Transfinite Volume{:};
