"""The pictures of the solution in report.py's page, drawn by render.py."""

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import page
import results

RENDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "render.py")
MOST_EDGES = 6000  # edges are drawn for at most this many cells; more would hide the colours


def arrays_of(path):
    """Returns the names of the point arrays of a .pvtu in order; no names if it cannot be read."""
    try:
        tree = xml.etree.ElementTree.parse(path)
    except (OSError, xml.etree.ElementTree.ParseError):
        return []
    return [entry.get("Name") for data in tree.iter("PPointData") for entry in data
            if entry.get("Name")]


def last_pvd(run):
    """Returns the only .pvd or, of a transient analysis with several cycles, that of the last one."""
    return run.path([name for name in run.summary["files"]
                     if name.endswith((".pvd", ".vtkhdf.series"))][-1])


def selected_pictures(run):
    """Returns (caption, arguments of render.py) of the pictures that suit the run."""
    files = [name for name in run.summary.get("files", []) if name.endswith(".pvtu")]
    arrays = arrays_of(run.path(files[-1])) if files else []
    small = [cycle["cycle"] for cycle in run.cycles if cycle.get("cells", 0) <= MOST_EDGES]
    edges = ["--edges"] if small and small[-1] == run.cycles[-1]["cycle"] else []
    warp = ["--warp", "displacement"] if "displacement" in arrays else []
    solution = [name for name in arrays if name in ("u", "displacement")] or arrays[:1]
    wanted = [name for name in arrays if "von_mises" in name][:1] + solution
    pictures = []
    is_bad = not all(map(results.is_converged, run.cycles[-1:]))
    for name in wanted[:2]:
        lines = edges if name == wanted[0] else []
        caption = f"{name} of the last cycle" + (", which did not converge" if is_bad else "")
        caption += f", at t = {run.time[-1][1][-1]['time']:g}" if run.time else ""
        caption += ", with the mesh" if lines else ""
        caption += "; the shape is deformed by the factor in the picture" if warp else ""
        pictures.append((caption, ["--field", name, *warp, *lines]))
    if pictures and small and not edges and len(files) == len(run.cycles):
        pictures.append((f"Mesh of cycle {small[-1]}", ["--field", wanted[0], *warp, "--edges",
                                                        "--cycle", str(small[-1])]))
    return pictures


def pictures(run):
    """Returns the pictures of render.py, or a sentence that explains why there are none."""
    pieces = []
    with tempfile.TemporaryDirectory(prefix="femgpu_report_") as directory:
        for caption, arguments in selected_pictures(run):
            target = os.path.join(directory, "picture.png")
            done = subprocess.run([sys.executable, RENDER, last_pvd(run), "--size", "1000x750",
                                   "--output", target, *arguments], capture_output=True, text=True,
                                  check=False)
            if done.returncode != 0:
                reason = (done.stderr.strip().splitlines() or ["render.py gave no reason"])[-1]
                pieces.append(f'<p class="bad">No picture: {page.escape(reason)}</p>')
                break
            with open(target, "rb") as stream:
                pieces.append(page.image(stream.read(), "png", caption, caption))
    return f'<div class="pictures">{"".join(pieces)}</div>' if pieces else ""
