"""Tests render.py, and the fields, units and scales of its pictures, with small runs of femgpu.

    FEMGPU=build/bin/femgpu /usr/bin/python3 tests/scripts/pictures_test.py
"""

import os
import shutil
import sys

from results_test import InDirectory, can_draw_fields, femgpu, main


class Pictures(InDirectory):
    @classmethod
    def prepare(cls):
        femgpu("elasticity_cantilever.prm", cls.path("cantilever"), "--refinements", "2", "--set",
               "Output/Units=mm, N")
        femgpu("poisson.prm", cls.path("poisson"), "--refinements", "2")

    def setUp(self):
        if not can_draw_fields():
            self.skipTest("VTK or an X server is missing")

    def colours(self, *arguments):
        """Returns the different colours of the picture that render.py draws."""
        target = self.path("picture.png")
        if os.path.exists(target):
            os.remove(target)
        self.assertEqual(self.succeeds("render.py", *arguments, "--size", "320x240", "--output",
                                       target), target + "\n")
        from vtkmodules.util.numpy_support import vtk_to_numpy
        from vtkmodules.vtkIOImage import vtkPNGReader
        reader = vtkPNGReader()
        reader.SetFileName(target)
        reader.Update()
        image = reader.GetOutput()
        self.assertEqual(image.GetDimensions(), (320, 240, 1))
        pixels = vtk_to_numpy(image.GetPointData().GetScalars()).astype(int)
        return len(set(map(tuple, pixels)))

    def test_a_body_is_drawn_warped_with_edges(self):
        self.assertGreater(self.colours(self.path("cantilever"), "--warp", "displacement", "--edges"),
                           200)

    def test_a_plane_solution_is_drawn_and_lifted(self):
        self.assertGreater(self.colours(self.path("poisson"), "--cycle", "0", "--contours", "5"), 100)
        self.assertGreater(self.colours(self.path("poisson", "solution.pvd"), "--warp", "u"), 100)

    def test_a_component_of_one_piece_is_drawn(self):
        self.assertGreater(self.colours(self.path("cantilever", "solution_001.000.vtu"), "--field",
                                        "displacement_z", "--camera", "y", "--axes"), 50)

    def test_sides_are_drawn_with_their_ids(self):
        femgpu("elasticity_cantilever.prm", self.path("sides"), "--validate", "--picture")
        sides = self.path("sides", "sides.vtu")
        self.assertNotEqual(self.colours(sides, "--labels"), self.colours(sides))

    def test_fields_have_the_names_of_the_output(self):
        import fields
        import vtu
        of_body = fields.Fields(vtu.Result(self.path("cantilever", "solution_001.pvtu")))
        arrays = of_body.result.point_arrays
        self.assertTrue((of_body.values("stress_yz") == arrays["stress"][:, 4]).all())
        self.assertTrue((of_body.values("displacement_y") == arrays["displacement"][:, 1]).all())
        self.assertTrue((of_body.values("displacement") == of_body.values("displacement_magnitude")).all())
        self.assertNotIn("stress", of_body.names)
        self.assertEqual([of_body.unit(name) for name in ("stress_yz", "displacement", "strain_xx")],
                         ["N/mm²", "mm", ""])
        self.assertEqual(of_body.unit_of_length(), "mm")
        of_plane = fields.Fields(vtu.Result(self.path("poisson", "solution_001.pvtu")))
        self.assertEqual(list(of_plane.names)[:4], ["u", "exact_u", "error_u", "flux"])
        self.assertEqual(of_plane.default(), "u")
        self.assertEqual(of_plane.unit("u"), "")

    def test_quantities_that_are_values_of_fields_have_their_units(self):
        import results
        run = results.Run(self.path("cantilever"))
        self.assertEqual([run.with_unit(name) for name in run.quantities()[:3]],
                         ["end displacement_z [mm]", "max displacement [mm]", "max von Mises"])
        self.assertEqual(run.with_unit("von_mises_stress"), "von_mises_stress [N/mm²]")
        self.assertEqual(run.with_unit("reaction x of displacement"), "reaction x of displacement")

    def test_numbers_are_round_and_plain(self):
        import scale
        self.assertEqual(scale.ticks(0.1, 2.9), ([0.5, 1., 1.5, 2., 2.5], 1))
        self.assertEqual(scale.ticks(-30., 60.), ([-20., 0., 20., 40., 60.], 0))
        self.assertEqual([scale.plain(value) for value in (1.23, 0.000451, 210000., -5., 2.5e11)],
                         ["1.23", "0.000451", "210000", "-5", "2.5e11"])
        self.assertEqual([scale.exponent_for(size) for size in (0., 3., 2.1e8, 4e-5)], [0, 0, 6, -6])

    def test_what_did_not_converge_says_so_in_the_picture(self):
        directory = self.path("last_iterate")
        shutil.copytree(self.path("poisson"), directory)
        piece = os.path.join(directory, "solution_001.000.vtu")
        with open(piece, "rb") as file:
            head, start, rest = file.read().partition(b"<Piece")
        texts = []
        for said in 1, 0:
            field = (f'<FieldData><DataArray type="Int32" Name="converged" NumberOfTuples="1" '
                     f'format="ascii">{said}</DataArray></FieldData>\n')
            with open(piece, "wb") as file:
                file.write(head + field.encode() + start + rest)
            picture = self.path(f"converged_{said}.png")
            self.succeeds("render.py", directory, "--size", "320x240", "--output", picture)
            with open(picture, "rb") as file:
                texts.append(file.read())
        self.assertNotEqual(texts[0], texts[1])
        self.fails("'converged' is .0., but the outcome of the solve was converged", "check_vtu.py",
                   os.path.join(directory, "solution.pvd"), "--summary",
                   os.path.join(directory, "summary.json"))

    def test_the_default_name_is_of_field_and_cycle(self):
        said = self.succeeds("render.py", self.path("poisson"), "--size", "64x64")
        self.assertEqual(said.strip(), self.path("poisson", "u_001.png"))

    def test_wrong_questions_say_what_there_is(self):
        self.fails("no field nothing; choose displacement, displacement_x, ", "render.py",
                   self.path("cantilever"), "--field", "nothing")
        self.fails("has 2 entries", "render.py", self.path("poisson"), "--cycle", "7")
        self.fails("no such file", "render.py", self.path("nowhere"))


if __name__ == "__main__":
    sys.exit(main())
