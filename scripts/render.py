#!/usr/bin/python3
"""Draws a field of femgpu's result files as a PNG picture or a film, without a screen.

    scripts/render.py output/poisson                         # the first field of the last cycle
    scripts/render.py output/cantilever --field stress_xx --warp displacement --edges --axes
    scripts/render.py output/transport_pulse --film          # all entries of solution.pvd, as u.gif

The argument is an output directory, or a .pvd, .vtkhdf.series, .pvtu, .vtkhdf or .vtu file in it.
Prints the name of the picture. Exits with 1 and a reason if there is nothing to draw.

--film draws one frame for each entry of the .pvd, with the time. All frames have the same colours,
camera and scale. A .gif needs Pillow (apt-get install python3-pil), a .webm the program ffmpeg.

Drawing uses VTK: ParaView's pvbatch if it is in the path, otherwise Debian's python3-vtk9. Debian's
builds of both need an X server. xvfb-run starts one without a screen (apt-get install xvfb xauth);
if it is missing, the server of $DISPLAY is used.
"""

import argparse
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # pvbatch omits it

HELPER = "FEMGPU_RENDER_HELPER"  # variable that is set for the process that draws


def size(text):
    """Parses `1200x900` as (1200, 900)."""
    try:
        width, height = (int(part) for part in text.lower().split("x"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a size such as 1200x900") from None
    if not (16 <= width <= 8192 and 16 <= height <= 8192):
        raise argparse.ArgumentTypeError(f"{text} is not between 16x16 and 8192x8192")
    return width, height


def parse_command_line():
    parser = argparse.ArgumentParser(description=__doc__, prog="render.py",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("path", metavar="DIR|FILE", help="output directory, or a .pvd, .pvtu or .vtu file")
    add("--field", metavar="NAME", help="field that colours the picture: an array of the file, a "
                                        "component such as displacement_x or stress_xy, or "
                                        "displacement_magnitude; an unknown name lists all (default: "
                                        "von_mises_stress if available, else the solution)")
    add("--warp", metavar="NAME", help="move the points by this vector array, or lift a plane picture by "
                                       "this scalar array")
    add("--scale", type=float, metavar="S", help="factor of --warp, shown in the picture (default: the "
                                                 "largest displacement is a tenth of the picture)")
    add("--stretch", nargs=3, type=float, metavar=("X", "Y", "Z"), default=(1., 1., 1.),
        help="factors of the axes, for thin bodies; shown in the picture")
    add("--edges", action="store_true", help="show the edges of the cells")
    add("--axes", action="store_true", help="show the coordinates")
    add("--labels", action="store_true", help="write each value of the field at one of its cells, for ids "
                                              "such as those of sides.vtu")
    add("--contours", type=int, default=0, metavar="N", help="number of contour lines")
    add("--cycle", type=int, metavar="N",
        help="entry of the .pvd, counted from 0, or from -1 for the last one backwards (default: -1)")
    add("--camera", choices=("iso", "x", "y", "z"),
        help="direction of view (default: z in 2D, iso in 3D and for a lifted plane)")
    add("--range", nargs=2, type=float, metavar=("MIN", "MAX"), help="range of the colours (default: "
                                                                     "that of the field)")
    add("--size", type=size, metavar="WxH", help="size in pixels (default: 1200x900, of a film 800x600)")
    add("--film", action="store_true", help="draw all entries of the .pvd as a film")
    add("--fps", type=float, metavar="N", help="frames of a film per second (default: 10)")
    add("--output", metavar="FILE", help="name of the .png, or of the .gif or .webm of a film (default: "
                                         "FIELD_CYCLE.png or FIELD.gif next to the .pvd)")
    options = parser.parse_args()
    if min(options.stretch) <= 0:
        parser.error("--stretch needs three factors above 0")
    if options.contours < 0:
        parser.error("--contours must not be negative")
    if options.film and options.cycle is not None:
        parser.error("--film draws all entries of the .pvd; remove --cycle")
    if options.fps is not None and not options.film:
        parser.error("--fps needs --film")
    if options.fps is not None and not 0.1 <= options.fps <= 50:
        parser.error("--fps must be between 0.1 and 50")
    endings = (".gif", ".webm") if options.film else (".png",)
    if options.output and not options.output.endswith(endings):
        parser.error(f"--output is '{options.output}', but must end in {' or '.join(endings)}"
                     f"{' without --film' if not options.film else ''}")
    if options.output and options.output.endswith(".webm") and not shutil.which("ffmpeg"):
        parser.error(f"--output {options.output} needs ffmpeg, which is not in the path; install it "
                     f"(apt-get install ffmpeg), or write a .gif")
    options.size = options.size or ((800, 600) if options.film else (1200, 900))
    options.fps = options.fps or 10.
    return options


def collection_of(path):
    """Returns the only .pvd or .vtkhdf.series of a directory; other paths as they are."""
    import vtu
    if os.path.isdir(path):
        found = sorted(name for name in os.listdir(path) if vtu.is_collection(name))
        if not found:
            raise vtu.BadFile(f"{path}: no .pvd or .vtkhdf.series in it; give the output directory "
                              f"of a run that finished a cycle, or a .pvd, .pvtu, .vtu or .vtkhdf file")
        if len(found) > 1:
            names = [os.path.join(path, name) for name in found]
            raise vtu.BadFile(f"{path}: {len(found)} .pvd and .vtkhdf.series files in it; give the one "
                              f"to draw: {', '.join(names[:-1])} or {names[-1]}")
        path = os.path.join(path, found[0])
    return path


def file_to_draw(path, cycle):
    """Returns (the .pvtu or .vtu file, its index in the .pvd or None)."""
    import vtu
    if not vtu.is_collection(path):
        return path, None
    files = vtu.files_of_collection(path)
    if not -len(files) <= cycle < len(files):
        raise vtu.BadFile(f"{path}: has {len(files)} entries, but --cycle is {cycle}; use "
                          f"{-len(files)} to {len(files) - 1}")
    return files[cycle], cycle % len(files)


def save_picture(path, options):
    """Draws one entry of a .pvd or one file; returns the name of the picture."""
    from picture import Picture, View, fields_to_draw
    path, number = file_to_draw(path, -1 if options.cycle is None else options.cycle)
    fields = fields_to_draw(path)
    made = Picture(fields, View([fields], options), options)
    stem = made.field if number is None else f"{made.field}_{number:03d}"
    picture = options.output or os.path.join(os.path.dirname(path), f"{stem}.png")
    made.save(picture)
    return picture


def save_film(path, options):
    import film
    import vtu
    if not vtu.is_collection(path):
        raise vtu.BadFile(f"{path}: --film needs an output directory, a .pvd or a .vtkhdf.series; "
                          f"remove --film to draw a single file")
    return film.save(path, options)


def renderer_command():
    """Returns the command prefix that runs this script: pvbatch or Python, with an X server."""
    pvbatch = shutil.which("pvbatch")
    words = [pvbatch or sys.executable]
    if shutil.which("xvfb-run") and shutil.which("xauth"):
        return ["xvfb-run", "-a", "-s", "-screen 0 1280x1024x24", *words]
    if not pvbatch and not os.environ.get("DISPLAY"):
        sys.exit("render.py: VTK needs an X server; install xvfb and xauth")
    return words


def main():
    options = parse_command_line()
    if HELPER not in os.environ:
        if not os.path.exists(options.path):  # checked before an X server starts
            sys.exit(f"render.py: {options.path}: no such file or directory")
        done = subprocess.run([*renderer_command(), os.path.abspath(__file__), *sys.argv[1:]],
                              env={**os.environ, HELPER: "1"}, check=False)
        if not 0 <= done.returncode < 126:
            sys.exit(f"render.py: VTK could not draw (exit status {done.returncode}); check the X "
                     f"server, or install xvfb and xauth")
        sys.exit(done.returncode)
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__  # pvbatch redirects them
    import vtu  # imported here because --help does not need VTK
    try:
        path = collection_of(options.path)
        picture = (save_film if options.film else save_picture)(path, options)
    except (vtu.BadFile, OSError) as error:
        sys.exit(f"render.py: {error}")
    print(picture)


if __name__ == "__main__":
    main()
