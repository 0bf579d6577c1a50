#!/usr/bin/env python3
"""Checks that our sources respect the layers of docs/architecture.md.

  scripts/layers.py

A layer may include only the layers listed below. Only some layers may include deal.II's headers.
Folders must not include each other in a cycle. This is checked between folders of any depth for the
includes of headers, and between folders of the first two levels for the includes of all sources.
Only the launch wrapper launches kernels. No file has more than 500 lines. Prints all violations.
"""
import collections
import functools
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST_LINES = 500
SOURCES = (".h", ".cc", ".cu", ".cuh")
HEADERS = (".h", ".cuh")

# The layers that each layer may include. A folder belongs to the layer with the longest matching
# prefix.
LAYERS = {
    "linalg/base": {"linalg/base"},
    "expressions": {"linalg/base", "expressions"},
    "linalg": {"linalg/base", "expressions", "linalg"},
    "linalg/dealii": {"linalg/base", "linalg", "linalg/mpi", "linalg/dealii"},
    "linalg/mpi": {"linalg/base", "linalg", "linalg/mpi"},
    "common": {"linalg/base", "linalg", "common"},
    "solve": {"linalg/base", "expressions", "linalg", "linalg/mpi", "common", "solve"},
    "physics": {"linalg/base", "expressions", "linalg", "linalg/mpi", "linalg/dealii", "common",
                "physics"},
    "app": {"linalg/base", "expressions", "linalg", "linalg/mpi", "linalg/dealii", "common",
            "physics", "app"},
}
KNOW_DEALII = {"linalg/dealii", "physics", "app"}
LAUNCH_WRAPPER = pathlib.Path("linalg/execution/cuda/launch.cuh")


def our_files():
    """Returns the tracked and the new files, without deleted ones."""
    names = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                           stdout=subprocess.PIPE, check=True, encoding="utf-8").stdout.splitlines()
    return sorted(path for path in map(pathlib.Path, names) if (ROOT / path).is_file())


def layer_of(path):
    """Returns the layer of @p path; None for tests and benchmarks, which may include everything."""
    folders = [str(parent) for parent in path.parents]
    return next((folder for folder in folders if folder in LAYERS), None)


@functools.lru_cache(None)
def includes_of(path):
    """Returns the includes of @p path as [(line number, name of the header)]."""
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    found = [(number, re.match(r'# *include *["<]([^">]+)[">]', line))
             for number, line in enumerate(lines, 1)]
    return [(number, match[1]) for number, match in found if match]


def wrong_includes(path):
    """Yields the includes of @p path that its layer does not permit."""
    layer = layer_of(path)
    for number, name in includes_of(path) if layer else []:
        other = layer_of(pathlib.Path(name))
        if other and other not in LAYERS[layer]:
            yield f"{path}:{number}: {layer}/ must not depend on {other}/, but includes {name}"
        if name.startswith("deal.II/") and layer not in KNOW_DEALII:
            yield f"{path}:{number}: {layer}/ must not depend on deal.II, but includes {name}"


def folder_graph(files, suffixes, depth):
    """Returns {folder: {included folder: an example}}, with paths of at most @p depth folders."""
    graph = collections.defaultdict(dict)
    for path in files:
        if path.suffix in suffixes and layer_of(path):
            here = pathlib.Path(*path.parent.parts[:depth])
            for number, name in includes_of(path):
                there = pathlib.Path(*pathlib.Path(name).parent.parts[:depth])
                if here != there and (ROOT / name).is_file():
                    graph[here].setdefault(there, f"{path}:{number}: includes {name}")
    return graph


def cycle_from(graph, start):
    """Returns the shortest cycle through @p start as a list of folders, or an empty list."""
    ways = collections.deque([[start]])
    seen = set()
    while ways:
        way = ways.popleft()
        for folder in graph.get(way[-1], {}):
            if folder == start:
                return way + [start]
            if folder not in seen:
                seen.add(folder)
                ways.append(way + [folder])
    return []


def cycles(files):
    """Yields one cycle for each set of folders that form one."""
    shown = set()
    for graph in (folder_graph(files, HEADERS, None), folder_graph(files, SOURCES, 2)):
        for folder in sorted(graph):
            way = cycle_from(graph, folder)
            if way and frozenset(way) not in shown:
                shown.add(frozenset(way))
                yield "\n  ".join(["these folders include each other in a cycle:"] +
                                  [graph[here][there] for here, there in zip(way, way[1:])])


def other_launches(path):
    """Yields kernel launches in @p path that bypass the launch wrapper."""
    if layer_of(path) is None or path == LAUNCH_WRAPPER:
        return
    for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), 1):
        if re.search(r"<<<|cudaLaunch(Cooperative)?Kernel", line):
            yield f"{path}:{number}: launches a kernel; {LAUNCH_WRAPPER} must do that"


def too_long(path):
    lines = (ROOT / path).read_bytes().count(b"\n")
    if lines > MOST_LINES:
        yield f"{path}: {lines} lines, and {MOST_LINES} are allowed: split it"


def main():
    if len(sys.argv) > 1:
        print(__doc__.strip())
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    files = our_files()
    sources = [path for path in files if path.suffix in SOURCES]
    scripts = [path for path in files if path.parent == pathlib.Path("scripts")]
    findings = [finding for path in sources for finding in wrong_includes(path)]
    findings += list(cycles(sources))
    findings += [finding for path in sources if layer_of(path) for finding in other_launches(path)]
    findings += [finding for path in sources + scripts for finding in too_long(path)]
    print(*findings, f"{len(sources)} sources, {len(findings)} findings", sep="\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
