// A base plate, an upright with a fillet at its root, and a pin in a hole of the upright: three
// bodies that share faces. Lengths in mm.
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 80, 40, 10};      // base plate
Box(2) = {0, 0, 10, 10, 40, 60};     // upright
Box(3) = {10, 0, 10, 8, 40, 8};      // the fillet of radius 8 is a box without a cylinder
Cylinder(4) = {18, 0, 18, 0, 40, 0, 8};
BooleanDifference(5) = { Volume{3}; Delete; }{ Volume{4}; Delete; };
BooleanUnion(6) = { Volume{2}; Delete; }{ Volume{5}; Delete; };
Cylinder(7) = {-10, 20, 50, 30, 0, 0, 8}; // pin
BooleanDifference(8) = { Volume{6}; Delete; }{ Volume{7}; };
BooleanFragments{ Volume{1, 7, 8}; Delete; }{}
