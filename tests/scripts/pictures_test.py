"""Tests render.py, and the fields, units and scales of its pictures, with small runs of femgpu.

    FEMGPU=build/bin/femgpu /usr/bin/python3 tests/scripts/pictures_test.py
"""

import importlib.util
import os
import shutil
import sys

from results_test import InDirectory, can_draw_fields, femgpu, main, script


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


class Films(InDirectory):
    @classmethod
    def prepare(cls):
        femgpu("heat_transient_t3.prm", cls.path("bar"), "--set", "Time/Output times=every 8")

    def setUp(self):
        if not can_draw_fields():
            self.skipTest("VTK or an X server is missing")

    def refused(self, message, *arguments):
        done = script("render.py", *arguments)
        self.assertEqual(done.returncode, 2)
        self.assertIn(message, done.stderr)

    def test_all_times_are_drawn_with_the_same_frame_and_colours(self):
        if not importlib.util.find_spec("PIL"):
            self.skipTest("Pillow is missing")
        import numpy
        from PIL import Image
        said = self.succeeds("render.py", self.path("bar"), "--film", "--size", "320x240", "--stretch",
                             "1", "10", "1", "--fps", "20")
        self.assertEqual(said.strip(), self.path("bar", "u.gif"))
        with Image.open(self.path("bar", "u.gif")) as film:
            self.assertEqual((film.n_frames, film.size, film.info["duration"], film.info["loop"]),
                             (5, (320, 240), 50, 0))
            frames = []
            for i in range(film.n_frames):
                film.seek(i)
                frames.append(numpy.array(film.convert("RGB")).astype(int))
        changes = numpy.array([abs(one - frames[0]).max(axis=2) > 8 for one in frames[1:]])
        self.assertFalse(changes[:, :, 250:].any())  # the bar with its numbers
        outline = [(one == 255).all(axis=2)[20:225, :250].sum() for one in frames]
        self.assertEqual(len(set(outline)), 1)  # the body
        self.assertTrue(changes[:, :20, :120].any(axis=(1, 2)).all())  # the time
        self.assertTrue(changes[:, 20:225, :250].any(axis=(1, 2)).all())  # the field

    def test_the_view_of_a_film_contains_all_times(self):
        from types import SimpleNamespace

        import film
        import vtu
        from picture import View, fields_to_draw
        options = SimpleNamespace(field=None, warp="u", scale=None, stretch=(1., 1., 2.))
        files = vtu.files_of_collection(self.path("bar", "solution.pvd"))
        view = View(map(fields_to_draw, files), options)
        values = [fields_to_draw(name).values("u") for name in files]
        self.assertEqual(view.extrema, (min(map(min, values)), max(map(max, values))))
        self.assertFalse(view.is_plane)  # although u = 0 at t = 0 lifts nothing
        self.assertAlmostEqual(view.box[1][2], 2 * view.scale * view.extrema[1])
        self.assertFalse(View([fields_to_draw(files[-1])], options).is_plane)
        for times, said in (([0., 8., 32.], ["t = 0", "t = 8", "t = 32"]),
                            ([0., 0.05, 0.1], ["t = 0.00", "t = 0.05", "t = 0.10"]),
                            ([0., 1.5e-7], ["t = 0e-9", "t = 150e-9"])):
            self.assertEqual(film.captions("t", times), said)

    def test_ffmpeg_writes_webm(self):
        target = self.path("u.webm")
        arguments = [self.path("bar"), "--film", "--size", "64x64", "--output", target]
        if not shutil.which("ffmpeg"):
            self.refused("needs ffmpeg, which is not in the path; install it", *arguments)
            self.skipTest("ffmpeg is missing")
        self.succeeds("render.py", *arguments)
        with open(target, "rb") as file:
            self.assertEqual(file.read(4), b"\x1aE\xdf\xa3")

    def test_what_cannot_be_a_film_is_refused(self):
        self.refused("--film draws all entries of the .pvd; remove --cycle", self.path("bar"), "--film",
                     "--cycle", "0")
        self.refused("must end in .gif or .webm", self.path("bar"), "--film", "--output", "u.png")
        self.refused("must end in .png without --film", self.path("bar"), "--output", "u.gif")
        self.refused("--fps needs --film", self.path("bar"), "--fps", "5")
        self.refused("--fps must be between", self.path("bar"), "--film", "--fps", "0")
        self.fails("--film needs an output directory, a .pvd", "render.py",
                   self.path("bar", "solution_000.pvtu"), "--film")
        self.fails("no field nothing; choose u, ", "render.py", self.path("bar"), "--film", "--field",
                   "nothing")
        directory = self.path("several")
        shutil.copytree(self.path("bar"), directory)
        pvd = os.path.join(directory, "solution.pvd")
        with open(pvd, encoding="utf-8") as file:
            lines = file.readlines()
        one = [line for line in lines if "DataSet" not in line or "_000" in line]
        with open(os.path.join(directory, "one.pvd"), "w", encoding="utf-8") as file:
            file.writelines(one)
        self.fails(f"give the one to draw: .*one.pvd or {pvd}", "render.py", directory, "--film")
        self.fails("needs at least two entries, but it has 1", "render.py", os.path.join(directory, "one.pvd"), "--film")


if __name__ == "__main__":
    sys.exit(main())
