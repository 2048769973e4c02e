#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""symbols: what the linker sees of the order of folders: no object calls, or reads, what lies above it.

Usage: symbols.py BUILD. Asks nm for the symbols of every object of a folder that stands in an order, and prints each that an
object needs from a folder that it may not include (tidy.py has the order). Exit code 1 if there is any.
"""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tidy  # pylint: disable=wrong-import-position

STANDS_ALONE = "verbs-shim/preload"  # loaded into programs: it links nothing of hcasim


def sources_of(build):
    """Objects of the libraries by their source: BUILD/hca/CMakeFiles/x.dir/work/dma.c.o is hca/work/dma.c."""
    for folder, _, names in os.walk(build):
        if "/CMakeFiles/" not in folder + "/" or "/tests/" in folder + "/":
            continue
        for name in names:
            if not name.endswith(".o"):
                continue
            path = os.path.relpath(os.path.join(folder, name), build)
            top, inner = path.split("/CMakeFiles/", 1)
            source = f"{top}/{inner.split('/', 1)[1][:-2]}"
            if not source.startswith(STANDS_ALONE) and os.path.exists(os.path.join(tidy.ROOT, source)):
                yield source, os.path.join(folder, name)


def symbols(path):
    run = subprocess.run(["nm", "-P", "-g", path], capture_output=True, text=True, check=True)
    defined, needed = set(), set()
    for line in run.stdout.splitlines():
        name, kind = line.split()[:2]
        if kind == "U":
            needed.add(name)
        elif kind not in "wWvV":  # inline functions of C++ are in every object
            defined.add(name)
    return defined, needed


def main():
    home, needs = {}, {}
    for source, path in sources_of(sys.argv[1]):
        defined, needs[source] = symbols(path)
        for name in defined:
            home[name] = source
    findings = []
    for source, needed in sorted(needs.items()):
        own = tidy.folder_of(source)
        for name in sorted(needed & home.keys()):
            target = tidy.folder_of(home[name])
            if own and target and target != own and target not in tidy.MAY_INCLUDE[own]:
                findings.append(f"{source}: {name}() of {home[name]}: {own} may not need {target}")
    print("\n".join(findings))
    print(f"{len(needs)} objects, {len(findings)} findings")
    return 1 if findings or not needs else 0


if __name__ == "__main__":
    sys.exit(main())
