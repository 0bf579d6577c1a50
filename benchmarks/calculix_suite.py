#!/usr/bin/python3
"""Compares femgpu with CalculiX on CalculiX's own test decks.

    benchmarks/calculix_suite.py --csv calculix_suite.csv

Takes each deck whose first step is *STATIC or *HEAT TRANSFER, STEADY STATE. `femgpu --from` makes a
parameter file, femgpu and ccx solve the step on the same mesh, and the displacements or
temperatures at the nodes are compared. NLGEOM is removed from the decks. The columns:

  deck, elements   the name, and the element types with their numbers
  nodes, largest   the number of compared nodes, and the largest value of ccx
  difference       the largest difference of a component, divided by `largest`
  full_integration the same if ccx uses C3D20, C3D8 and CPS8 for C3D20R, C3D8R, C3D8I and CPS8R
  ccx_elements     the largest difference between ccx with these elements and with those of the deck
  result           "agrees within 1e-4", "agrees within 1e-2" or "differs", or why there is none

Elements of ccx differ from femgpu's: C3D20 and CPS8 have no nodes at the centres of faces and cells,
C3D20R, C3D8R and CPS8R are integrated with fewer points. Requires ccx and its decks (Debian's
calculix-ccx and calculix-ccx-test) and VTK for Python, hence /usr/bin/python3.
"""

import collections
import glob
import gzip
import os
import re
import subprocess
import sys
import tempfile

import numpy
from runs import ROOT, parser_of, write_csv

sys.path.insert(0, os.path.join(ROOT, "scripts"))
from vtu import Result  # noqa: E402

DECKS = "/usr/share/doc/calculix-ccx-test/examples/test"
# What femgpu reports as not translated although the first step at its end is the same.
HARMLESS = re.compile(r"\*AMPLITUDE|AMPLITUDE:|\*STEP: step|NLGEOM")


def blocks_of(text):
    """Returns the blocks of a deck as [(keyword line without blanks in upper case, [data lines])]."""
    blocks = []
    for line in text.splitlines():
        if line.startswith("**") or not line.strip():
            continue
        if line.startswith("*"):
            blocks.append((re.sub(r"\s", "", line.upper()), []))
        elif blocks:
            blocks[-1][1].append(line)
    return blocks


def kind_of(blocks):
    """Returns whether the first step is thermal; None if it is neither static nor steady thermal."""
    step = [keyword for keyword, _ in blocks]
    step = step[next((i for i, word in enumerate(step) if word.startswith("*STEP")), len(step)):]
    for keyword in step:
        if keyword.startswith("*HEATTRANSFER"):
            return True if "STEADYSTATE" in keyword else None
        if keyword.startswith("*STATIC"):
            return False
        if keyword.startswith("*ENDSTEP"):
            break
    return None


def elements_of(blocks):
    counts = collections.Counter()
    for keyword, data in blocks:
        found = re.match(r"\*ELEMENT,.*TYPE=(\w+)", keyword)
        if found:  # a line that ends with a comma continues
            counts[found.group(1)] += sum(not line.rstrip().endswith(",") for line in data)
    return " ".join(f"{count} {kind}" for kind, count in counts.items())


def nodes_of(blocks):
    nodes = {}
    for keyword, data in blocks:
        if re.match(r"\*NODE(,|$)", keyword):
            for line in data:
                words = [float(word) for word in line.replace(",", " ").split()]
                nodes[int(words[0])] = [*words[1:4], 0., 0., 0.][:3]
    return nodes


def first_step(text, is_heat):
    """Returns the deck without its later steps, with output of the solution at all nodes."""
    end = re.search(r"(?im)^\*\s*end\s*step", text)
    field = "NT" if is_heat else "U"
    text = re.sub(r"(?i)(\*STEP.*),\s*NLGEOM", r"\1", text[:end.start()])
    return text + f"*NODE FILE, OUTPUT=2D\n{field}\n*END STEP\n"


def values_in_frd(path, name):
    """Returns the values of the last block @p name of a .frd file by node number."""
    values, is_block = {}, False
    with open(path, encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith(" -4"):
                is_block = line.split()[1] == name
            elif line.startswith(" -1") and is_block:
                numbers = [line[i:i + 12] for i in range(13, len(line.rstrip()), 12)]
                values[int(line[3:13])] = [float(number) for number in numbers[:3]]
    return values


def nodes_in(result, nodes):
    """Returns the index of the point of a VTU file at each node of the mesh."""
    extent = numpy.ptp(result.points, axis=0).max()
    found = {}
    for node, position in nodes.items():
        distances = numpy.abs(result.points - position).max(axis=1)
        if distances.min() < 1e-6 * extent:
            found[node] = distances.argmin()
    return found


def largest_difference(values, wanted):
    return max(numpy.abs(values[node][:len(value)] - value).max() for node, value in wanted.items())


def run(command, directory, timeout=300):
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
    try:
        return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True,
                              errors="replace", check=False, timeout=timeout)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"no result after {timeout} s")


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()] or ["no message"]
    return re.sub(r"^femgpu: (warning: )?", "", lines[-1])[:160]


def obstacle(translation):
    """Returns why a deck is not translated; empty if it is."""
    if translation.returncode:
        return last_line(translation.stderr)
    listed = re.findall(r"(?m)^#   \S+?: (.*)$", translation.stdout)
    return next((item for item in listed if not HARMLESS.search(item)), "")[:160]


def compare(program, name, text, row):
    blocks = blocks_of(text)
    is_heat = kind_of(blocks)
    with tempfile.TemporaryDirectory() as directory:
        deck = os.path.join(directory, name + ".inp")
        with open(deck, "w", encoding="utf-8") as file:
            file.write(text)
        translation = run([program, "--from", name + ".inp"], directory)
        reason = obstacle(translation)
        if reason:
            return "not translated because " + reason
        with open(os.path.join(directory, name + ".prm"), "w", encoding="utf-8") as file:
            file.write(translation.stdout)
        solved = run([program, name + ".prm", "--threads", "2", "--quiet", "--set", "Output/Precision=double",
                      "--set", "Solver/Relative tolerance=1e-12"], directory)
        if solved.returncode:
            return "femgpu: " + last_line(solved.stderr)
        result = Result(os.path.join(directory, "output", "solution_000.pvtu"))
        nodes = nodes_in(result, nodes_of(blocks))
        values = result.point_arrays["u" if is_heat else "displacement"].reshape(len(result.points), -1)
        n = 1 if is_heat else 2 if re.search(r"\bC(PS|PE)", row["elements"]) else 3
        of_first_step = first_step(text, is_heat)
        full = re.sub(r"(?i)\b(C3D20|C3D8|CPS8|CPE8)[RI]\b", r"\1", of_first_step)
        for column, step in (("difference", of_first_step), ("full_integration", full)):
            if column == "full_integration" and step == of_first_step:
                break
            with open(deck, "w", encoding="utf-8") as file:
                file.write(step)
            reference = run(["ccx", name], directory)
            frd = os.path.join(directory, name + ".frd")
            expected = values_in_frd(frd, "NDTEMP" if is_heat else "DISP") if os.path.exists(frd) else {}
            wanted = {node: numpy.array(expected[node][:n]) for node in nodes if node in expected}
            if not wanted:
                return "ccx: " + last_line(reference.stdout)
            largest = max(numpy.abs(value).max() for value in wanted.values()) or 1.
            difference = largest_difference({node: values[nodes[node]] for node in wanted}, wanted) / largest
            row[column] = f"{difference:.2g}"
            if column == "difference":
                of_deck = wanted
                row.update(nodes=len(wanted), largest=f"{largest:.6g}", result=next(
                    (f"agrees within {bound}" for bound in ("1e-4", "1e-2") if difference <= float(bound)), "differs"))
            else:
                row["ccx_elements"] = f"{largest_difference(of_deck, wanted) / largest:.2g}"
        return row["result"]


def main():
    parser = parser_of(__doc__, "femgpu", csv_required=False)
    parser.add_argument("--decks", default=DECKS, metavar="DIRECTORY", help="(%(default)s)")
    parser.add_argument("--only", default=".", metavar="REGEX", help="names of decks")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    rows = []
    for path in sorted(glob.glob(os.path.join(options.decks, "*.inp*"))):
        name = os.path.basename(path).split(".")[0]
        opener = gzip.open if path.endswith(".gz") else open
        with opener(path, "rt", encoding="utf-8", errors="replace") as file:
            text = file.read()
        blocks = blocks_of(text)
        if not re.search(options.only, name) or kind_of(blocks) is None:
            continue
        row = {"deck": name, "elements": elements_of(blocks), "nodes": "", "largest": "", "difference": "",
               "full_integration": "", "ccx_elements": ""}
        row["result"] = compare(program, name, text, row)
        rows.append(row)
        print(f"{name:20} {row['elements']:30} {row['difference']:>8} {row['full_integration']:>8} {row['result']}", flush=True)
    counts = collections.Counter(re.sub(r"(not translated|femgpu|ccx)\b.*", r"\1", row["result"]) for row in rows)
    print("\n" + "\n".join(f"{count:4} {result}" for result, count in counts.most_common()))
    if options.csv:
        write_csv(options.csv, list(rows[0]), rows)


if __name__ == "__main__":
    main()
