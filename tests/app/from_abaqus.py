#!/usr/bin/env python3
"""Translates decks of Abaqus by `femgpu --from`, runs the results and compares with known values.

    from_abaqus.py build/bin/femgpu [TEST …]
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
PROGRAM = os.path.abspath(sys.argv.pop(1))

# A column of four cubes along z, with the element set ALL, the bottom BOTTOM and the top element 4.
COLUMN = "*NODE\n" + "".join(
    f"{4 * k + i + 1}, {x}, {y}, {k}\n" for k in range(5) for i, (x, y) in enumerate([(0, 0), (1, 0), (1, 1), (0, 1)])
) + "*ELEMENT, TYPE=C3D8, ELSET=ALL\n" + "".join(
    f"{k}, " + ", ".join(str(4 * k - 3 + i) for i in range(8)) + "\n" for k in range(1, 5)
) + "*NSET, NSET=BOTTOM\n1, 2, 3, 4\n*SOLID SECTION, ELSET=ALL, MATERIAL=STEEL\n"
STEEL = "*MATERIAL, NAME=STEEL\n*ELASTIC\n1000., 0.\n*DENSITY\n2.\n"


def plate(kind, ratio, thickness=""):
    """A plate of two elements from x = 0 to 2 and y = 0 to 1."""
    return (f"*NODE\n1, 0., 0.\n2, 1., 0.\n3, 2., 0.\n4, 0., 1.\n5, 1., 1.\n6, 2., 1.\n"
            f"*ELEMENT, TYPE={kind}, ELSET=ALL\n1, 1, 2, 5, 4\n2, 2, 3, 6, 5\n*NSET, NSET=LEFT\n1, 4\n"
            f"*MATERIAL, NAME=M\n*ELASTIC\n1000., {ratio}\n*EXPANSION, ZERO=5.\n1e-5\n*CONDUCTIVITY\n50.\n"
            f"*SOLID SECTION, ELSET=ALL, MATERIAL=M\n{thickness}\n")


SUPPORTS = "*BOUNDARY\nLEFT, 1\n1, 2, 2\n"


class FromAbaqus(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def femgpu(self, *words, ranks=1):
        command = [*(MPIRUN + ["-n", str(ranks)] if ranks > 1 else []), PROGRAM, *words]
        return subprocess.run(command, cwd=self.folder.name, capture_output=True, text=True, check=False)

    def write(self, name, text):
        with open(os.path.join(self.folder.name, name), "w", encoding="utf-8") as file:
            file.write(text)

    def translate(self, deck, ranks=1):
        self.write("deck.inp", deck)
        return self.femgpu("--from", "deck.inp", ranks=ranks)

    def quantities(self, deck, *words, ranks=1):
        """Returns the quantities of a run with the translated deck."""
        translation = self.translate(deck, ranks)
        self.assertEqual((translation.returncode, translation.stderr), (0, ""))
        self.assertNotIn("Not translated", translation.stdout)
        self.write("deck.prm", translation.stdout)
        run = self.femgpu("deck.prm", *words, ranks=ranks)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        with open(os.path.join(self.folder.name, "output", "summary.json"), encoding="utf-8") as file:
            return json.load(file)["cycles"][0]["quantities"]

    def test_pressure_and_gravity_shorten_a_column(self):
        deck = COLUMN + STEEL + ("*BOUNDARY\nBOTTOM, ENCASTRE\n*STEP\n*STATIC\n*DLOAD\n4, P2, 5.\n"
                                 "ALL, GRAV, 10., 0., 0., -2.\n*END STEP\n")  # a direction of any length
        for ranks in 1, 2:  # p L / E + rho g L^2 / (2 E)
            self.assertAlmostEqual(self.quantities(deck, ranks=ranks)["max displacement"], 0.02 + 0.16, 7)

    def test_body_force_on_some_elements_acts_there_only(self):
        deck = COLUMN + STEEL + "*BOUNDARY\nBOTTOM, 1, 3\n*STEP\n*STATIC\n*DLOAD\n4, BZ, -10.\n1, BX, 0.\n*END STEP\n"
        self.assertAlmostEqual(self.quantities(deck)["reaction z of BOTTOM"], 10., 6)

    def test_forces_at_nodes_are_divided_by_the_thickness_of_plane_stress(self):
        deck = plate("CPS4", 0.3, "0.5") + SUPPORTS + "*STEP\n*STATIC\n*CLOAD\n3, 1, 5.\n6, 1, 2.\n6, 1, 3.\n*END STEP\n"
        for ranks in 1, 2:  # 20 of stress
            self.assertAlmostEqual(self.quantities(deck, ranks=ranks)["max displacement"], math.hypot(0.04, 0.006), 8)

    def test_amplitudes_scale_loads_by_their_value_at_the_end_of_the_step(self):
        deck = COLUMN + STEEL + ("*AMPLITUDE, NAME=A\n0., 1., 1., 2., 2., 3.\n*BOUNDARY\nBOTTOM, 1, 3\n*STEP\n*STATIC\n"
                                 "1.5, 1.5\n*DLOAD, AMPLITUDE=A, TIME DELAY=1.\n4, P2, -4.\n*END STEP\n")
        self.assertAlmostEqual(self.quantities(deck)["max displacement"], 1.5 * 4. * 4. / 1000., 7)

    def test_supports_of_a_step_replace_earlier_ones(self):
        deck = COLUMN + STEEL + ("*NSET, NSET=TOP\n17, 18, 19, 20\n*BOUNDARY\nBOTTOM, 1, 3\nTOP, 3\n*STEP\n*STATIC\n"
                                 "*BOUNDARY, OP=NEW\nBOTTOM, 1, 3\n*DLOAD\n4, P2, -4.\n*END STEP\n")
        self.assertAlmostEqual(self.quantities(deck)["max displacement"], 4. * 4 / 1000, 9)

    def test_weight_needs_a_density(self):
        deck = COLUMN + STEEL.replace("*DENSITY\n2.\n", "") + (
            "*BOUNDARY\nBOTTOM, 1, 3\n*STEP\n*STATIC\n*DLOAD\nALL, GRAV, 10., 0., 0., -1.\n*END STEP\n")
        self.assertIn("GRAV: a material without *DENSITY has no weight", self.translate(deck).stdout)

    def test_films_have_two_amplitudes(self):
        deck = plate("CPE4", 0.) + ("*AMPLITUDE, NAME=H\n0., 0.5, 1., 0.5\n*AMPLITUDE, NAME=T\n0., 2., 1., 2.\n"
                                    "*STEP\n*HEAT TRANSFER, STEADY STATE\n*BOUNDARY\nLEFT, 11, 11, 100.\n"
                                    "*FILM, AMPLITUDE=T, FILM AMPLITUDE=H\n2, F2, 10., 20.\n*END STEP\n")
        self.assertIn("10*(20 - u)", self.translate(deck).stdout)

    def test_ties_of_coincident_nodes_merge_them(self):
        upper = COLUMN.replace("2, 5, 6, 7, 8,", "2, 105, 106, 107, 108,").replace(
            "*ELEMENT", "105, 0, 0, 1\n106, 1, 0, 1\n107, 1, 1, 1\n108, 0, 1, 1\n*ELEMENT")
        tie = "*SURFACE, NAME=BELOW\n1, S2\n*NSET, NSET=N\n105, 106, 107, 108\n*SURFACE, NAME=ABOVE, TYPE=NODE\nN\n*TIE, NAME=T\nABOVE, BELOW\n"
        step = "*BOUNDARY\nBOTTOM, 1, 3\n*STEP\n*STATIC\n*DLOAD\n4, P2, -5.\n*END STEP\n"
        translation = self.translate(upper + STEEL + tie + step)
        self.assertNotIn("Not translated", translation.stdout)
        self.write("deck.prm", translation.stdout)
        for ranks in 1, 2:
            self.assertEqual(self.femgpu("deck.prm", ranks=ranks).returncode, 0)
            with open(os.path.join(self.folder.name, "output", "summary.json"), encoding="utf-8") as file:
                self.assertAlmostEqual(json.load(file)["cycles"][0]["quantities"]["max displacement"], 0.02, 7)
        cracked = upper + STEEL + tie.replace("105, 106, 107, 108\n", "105, 106, 107\n") + step
        self.assertIn("*TIE: femgpu joins parts only", self.translate(cracked).stdout)

    def test_supports_of_all_nodes_of_sides_hold_the_sides(self):
        corners = [(0, 0), (1, 0), (1, 1), (0, 1)]
        edges = [(0.5, 0), (1, 0.5), (0.5, 1), (0, 0.5)]
        nodes = [(x, y, z) for z in (0, 1) for x, y in corners]
        nodes += [(x, y, z) for z in (0, 1) for x, y in edges] + [(x, y, 0.5) for x, y in corners]
        deck = "*NODE\n" + "".join(f"{i}, {x}, {y}, {z}\n" for i, (x, y, z) in enumerate(nodes, 1))
        deck += ("*ELEMENT, TYPE=C3D20, ELSET=ALL\n1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,\n11, 12, 13, 14, 15, 16, 17, 18, 19, 20\n"
                 "*SOLID SECTION, ELSET=ALL, MATERIAL=STEEL\n*NSET, NSET=BOTTOM\n1, 2, 3, 4, 9, 10, 11, 12\n" + STEEL +
                 "*BOUNDARY\n" + "".join(f"{i}, 1, 3\n" for i in (1, 2, 3, 4, 9, 10, 11, 12)) + "5, 1\n")
        step = "*STEP\n*STATIC\n*DLOAD\n1, P2, -5.\n*END STEP\n"
        turned = "*TRANSFORM, NSET=BOTTOM, TYPE=C\n0., 0., 0., 0., 0., 1.\n"
        for transform in "", turned:  # has no effect where all directions are fixed
            values = self.quantities(deck + transform + step)
            self.assertAlmostEqual(values["reaction z of BOTTOM"], -5., 6)
        self.assertIn("ids 0, 1 (BOTTOM, boundary_1), 2 (dload_1)", self.femgpu("deck.prm", "--validate").stdout)
        words = deck.replace(", 1, 3\n", ", YSYMM\n")  # points
        self.assertIn("boundary_1: free, 0, free; boundary_2: 0, free, free", self.translate(words + step).stdout)
        turned = "*NSET, NSET=TOP\n5\n" + turned.replace("BOTTOM", "TOP")
        self.assertIn("*TRANSFORM: femgpu takes", self.translate(deck + turned + step).stdout)

    def test_film_cools_a_bar(self):
        deck = plate("DC2D4", 0.) + ("*STEP\n*HEAT TRANSFER, STEADY STATE\n*BOUNDARY\nLEFT, 11, 11, 100.\n"
                                     "*FILM\n2, F2, 20., 10.\n*END STEP\n")
        values = self.quantities(deck, "--set", "Measurements/Points=end: 2, 0.5")
        self.assertAlmostEqual(values["end u"], 20. + 80. / (2. / 50. + 1. / 10.) / 10., 6)

    def test_temperature_expands_a_plate(self):
        deck = plate("CPS4", 0.3) + SUPPORTS + (
            "*NSET, NSET=N\n1, 2, 3, 4, 5, 6\n*INITIAL CONDITIONS, TYPE=TEMPERATURE\nN, 20.\n*STEP\n*STATIC\n"
            "*TEMPERATURE\nN, 120.\n*END STEP\n")
        self.assertAlmostEqual(self.quantities(deck)["max displacement"], 1e-3 * math.hypot(2., 1.), 9)

    def test_lists_what_is_not_translated(self):
        deck = COLUMN + STEEL + ("*PLASTIC\n5., 0.\n*ORIENTATION, NAME=O\n1, 0, 0, 0, 1, 0\n*AMPLITUDE, NAME=A, USER\n"
                                 "*BOUNDARY\nBOTTOM, 1, 3\n*EQUATION\n2\n17, 1, 1., 18, 1, -1.\n*STEP, NLGEOM\n*STATIC\n"
                                 "*CLOAD, AMPLITUDE=A\n17, 1, 1.\n*DLOAD\n4, P2NU\n*END STEP\n*STEP\n*STATIC\n*END STEP\n")
        translation = self.translate(deck)
        self.assertEqual(translation.returncode, 0)
        self.assertEqual(translation.stderr.count("\n"), 1)
        listed = [line for line in translation.stdout.splitlines() if line.startswith("#   deck.inp:")]
        for word in "*PLASTIC", "*AMPLITUDE", "*EQUATION", "NLGEOM", "CLOAD, AMPLITUDE", "P2NU", "*STEP: step 2":
            self.assertTrue(any(word in line for line in listed), (word, listed))
        self.assertFalse(any("ORIENTATION" in line for line in listed))

    def test_temperatures_of_single_nodes_name_the_cure(self):
        translation = self.translate(plate("DC2D4", 0.) + (
            "*STEP\n*HEAT TRANSFER, STEADY STATE\n*BOUNDARY\nLEFT, 11, 11, 100.\n3, 11, 11, 5.\n*END STEP\n"))
        self.assertIn("add an *NSET", translation.stdout)

    def test_wrong_decks_print_no_parameter_file(self):
        step = "*STEP\n*STATIC\n*END STEP\n"
        for deck, place, message in [
                (COLUMN + STEEL.replace("1000.", "1o00") + step, "32", "not a number"),
                (COLUMN + STEEL, "", "no *STEP"),
                (COLUMN + STEEL + "*STEP\n*FREQUENCY\n5\n*END STEP\n", "36", "*FREQUENCY in the first step"),
                (plate("DC2D4", 0.) + "*STEP\n*HEAT TRANSFER\n1., 1.\n*END STEP\n", "23", "without STEADY STATE"),
                (plate("CAX4", 0.3) + step, "8", "axisymmetric"),
                (plate("S4", 0.3).replace("SOLID", "SHELL") + step, "20", "shells"),
                (COLUMN + STEEL + "*STEP\n*STATIC\n*CLOAD\n17, 1, ten\n*END STEP\n", "38", "'ten'"),
                (COLUMN + step, "29", "material")]:
            with self.subTest(message):
                translation = self.translate(deck)
                self.assertEqual((translation.returncode, translation.stdout), (2, ""))
                self.assertIn(f"deck.inp:{place}", translation.stderr)
                self.assertTrue(any(word in translation.stderr for word in message.split("|")), translation.stderr)

    def test_translates_instead_of_running(self):
        self.write("deck.inp", "")
        self.assertEqual(self.femgpu("--from", "deck.inp", "run.prm").returncode, 1)
        self.assertEqual(self.femgpu("--from", "missing.inp").returncode, 2)


if __name__ == "__main__":
    unittest.main()
