#!/usr/bin/env python3
"""clang-tidy over all of our .cc files that a build compiles, or over those named.

clang-tidy's checks walk through every header a file includes, and for deal.II's that takes most of
its time. So the files of a directory are checked together, as one file that includes them, wherever
that compiles; where it does not, because two of them have the same name in an unnamed namespace, and
where the checks have found something, each file is checked alone, and that decides.

Files that were found clean are in scripts/tidy.clean, with a hash of all that the finding depends on: the
file, the headers of ours that it includes, its compile command and .clang-tidy. As long as that is the
same they are not checked again, unless --all asks for it; --record writes the list.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# It is what a file of includes is made for, and no finding. (clang's analyzer looks into included .cc
# files if "UnifiedSource" is in the name of the file that includes them, and else not.)
TOGETHER = "--checks=-bugprone-suspicious-include"
CLEAN = ROOT / "scripts" / "tidy.clean"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="all if none is named")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build",
                        help="directory of compile_commands.json (build)")
    parser.add_argument("--all", action="store_true", help="also those that are known to be clean")
    parser.add_argument("--record", action="store_true",
                        help="write scripts/tidy.clean when all of them are")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    return parser.parse_args()


def without_precompiled_headers(words):
    """Each file is checked with what it includes itself."""
    kept = iter(words)
    return [word for word in kept
            if word != "-Winvalid-pch" and not (word == "-include" and next(kept))]


def our_commands(build):
    """{file: words of its compile command}, without the compiler, the file and the object."""
    database = build / "compile_commands.json"
    if not database.exists():
        sys.exit(f"no {database}: the build was not configured")
    commands = {}
    for entry in json.loads(database.read_text()):
        file = pathlib.Path(entry["directory"], entry["file"])
        if file.suffix != ".cc" or build.resolve() in file.parents:
            continue
        words = shlex.split(entry["command"])
        first = next(i for i, word in enumerate(words) if word.startswith("-"))
        words = without_precompiled_headers(words)
        end = words.index("-o")
        commands[file] = tuple(words[first:end] + [word for word in words[end + 2:]
                                                   if word not in ("-c", entry["file"])])
    return commands


class Hashes:
    """Of all that a finding depends on, but for other people's headers."""

    def __init__(self):
        self.settings = (ROOT / ".clang-tidy").read_bytes()
        self.known = {}  # the text of our files, and what each includes of ours

    def read(self, file):
        if file not in self.known:
            text = file.read_bytes()
            included = []
            for name in re.findall(rb'^\s*#\s*include\s+"([^"]+)"', text, re.MULTILINE):
                places = [ROOT / name.decode(), file.parent / name.decode()]
                included += [place.resolve() for place in places if place.is_file()][:1]
            self.known[file] = text, included
        return self.known[file]

    def of(self, file, flags):
        seen, left = set(), [file]
        while left:
            this = left.pop()
            if this not in seen:
                seen.add(this)
                left += self.read(this)[1]
        sha = hashlib.sha256(self.settings)
        # Where things lie differs between machines, and what lies there is not ours.
        kept = [flag.replace(str(ROOT), "") for flag in flags if not flag.startswith(("-I", "/"))]
        sha.update(" ".join(kept).encode())
        for this in sorted(seen):
            sha.update(str(this.relative_to(ROOT)).encode() + self.read(this)[0])
        return sha.hexdigest()


def clean_files():
    """{name: hash} as they were recorded."""
    if not CLEAN.exists():
        return {}
    return {name: sha for sha, name in (line.split() for line in CLEAN.read_text().splitlines())}


def record(hashes):
    CLEAN.write_text("".join(f"{sha} {file.relative_to(ROOT)}\n"
                             for file, sha in sorted(hashes.items())))


def run(words):
    """The exit status, and the output without the count of warnings in other people's headers."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          cwd=ROOT, check=False)
    lines = [line for line in done.stdout.splitlines() if not line.endswith(" generated.")]
    return done.returncode, "\n".join(lines)


def tidy(file, flags, *options):
    return run(["clang-tidy", "--quiet", *options, str(file), "--", "-Wno-unknown-warning-option",
                *flags])


def compiles(name, files, flags):
    """Whether the @p files can be one file, which is written under that @p name."""
    name.parent.mkdir(parents=True, exist_ok=True)
    name.write_text("".join(f'#include "{file}"\n' for file in files))
    return run(["clang++", "-fsyntax-only", "-Wno-everything", *flags, str(name)])[0] == 0


def files_to_check_alone(name, files, flags):
    """Checks @p files together, or in halves where that does not compile. What is left to do."""
    if len(files) == 1:
        return files
    if compiles(name, files, flags):
        status, _ = tidy(name, flags, TOGETHER, f"--config-file={ROOT}/.clang-tidy")
        return files if status != 0 else []
    half = len(files) // 2
    return (files_to_check_alone(name, files[:half], flags)
            + files_to_check_alone(name, files[half:], flags))


def check_directories(commands, build, pool):
    """Checks the files of each directory together. The files that are still to be checked."""
    groups = collections.defaultdict(list)
    for file, flags in sorted(commands.items()):
        groups[file.parent, flags].append(file)
    results = []
    largest_first = sorted(groups.items(), key=lambda group: -len(group[1]))
    for i, ((directory, flags), files) in enumerate(largest_first):
        name = build / "tidy" / f"UnifiedSource{i}.cc"
        results.append((directory, files, pool.submit(files_to_check_alone, name, files, flags)))
    alone = []
    for directory, files, result in results:
        alone += result.result()
        if len(files) > 1:
            print(f"{directory.relative_to(ROOT)}: {len(files) - len(result.result())} of "
                  f"{len(files)} files clean together", flush=True)
    return alone


def main():
    options = arguments()
    build = options.build.resolve()
    commands = our_commands(build)
    hashes = Hashes()
    of = {file: hashes.of(file, flags) for file, flags in commands.items()}
    known = {} if options.all else clean_files()
    doubtful = {file: flags for file, flags in commands.items()
                if known.get(str(file.relative_to(ROOT))) != of[file]}
    failed = False
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        alone = [file.resolve() for file in options.files]
        for file in alone:
            if file not in commands:
                sys.exit(f"{file} is no .cc file of ours that {build} compiles")
        if not alone:
            print(f"{len(commands) - len(doubtful)} of {len(commands)} files are known to be clean",
                  flush=True)
            alone = check_directories(doubtful, build, pool)
        for status, output in pool.map(lambda file: tidy(file, commands[file]), alone):
            failed = failed or status != 0
            if output:
                print(output, flush=True)
    if options.record and not failed and not options.files:
        record(of)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
