// A bar of 4 x 1 x 1 along x, of hexahedra: its ends, the edge at the top of its tip, and the corners of the tip
lc = 1; Point(1) = {0,0,0,lc}; Point(2) = {0,1,0,lc}; Line(1) = {1,2}; Transfinite Curve{1} = 3;
a[] = Extrude {4,0,0} { Line{1}; Layers{8}; Recombine; };
b[] = Extrude {0,0,1} { Surface{a[1]}; Layers{2}; Recombine; };
Physical Volume("bar") = {b[1]};
eps = 1e-3;
Physical Surface("clamped") = Surface In BoundingBox{-eps,-eps,-eps, eps,1+eps,1+eps};
Physical Surface("tip") = Surface In BoundingBox{4-eps,-eps,-eps, 4+eps,1+eps,1+eps};
Physical Surface("sides") = {Surface In BoundingBox{-eps,-eps,-eps, 4+eps,eps,1+eps}, Surface In BoundingBox{-eps,1-eps,-eps, 4+eps,1+eps,1+eps}, Surface In BoundingBox{-eps,-eps,-eps, 4+eps,1+eps,eps}, Surface In BoundingBox{-eps,-eps,1-eps, 4+eps,1+eps,1+eps}};
Physical Curve("top edge") = Curve In BoundingBox{4-eps,-eps,1-eps, 4+eps,1+eps,1+eps};
Physical Curve("base edge") = Curve In BoundingBox{-eps,-eps,-eps, eps,1+eps,eps};
Physical Point("corners") = Point In BoundingBox{4-eps,-eps,-eps, 4+eps,1+eps,1+eps};
Physical Point("origin") = {1};
