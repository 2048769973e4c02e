#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""symbols: the rules of the tree that the linker's symbols show.

Usage: symbols.py BUILD. Reads the symbols of every object with nm, and checks two rules.

1. Order of folders: no object needs a symbol of a folder that it may not include. tidy.py has the
   order.
2. Names: the name of an exported function or variable tells the reader where it is declared. It
   begins with the name of

     its file            wheel_insert() in wheel.c
     its header          port_pause() in pause.c, declared in port.h of the same folder
     a folder above it   tcp_ack() in tcp/ack.c, sim_run() in sim/

   A plural is as good as a singular: gauges_read() is in gauge.c. The endings _state and _params
   of a header do not count: port_state.h and port_params.h belong to port.

Prints each symbol that breaks a rule. Exit code 1 if there is any.
"""
import functools
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tidy  # pylint: disable=wrong-import-position

STANDS_ALONE = "verbs-shim/preload"  # loaded into programs: it links nothing of hcasim
# Folders whose exported names begin as rule 2 says.
NAMED = ("sim", "fabric", "switch", "tcp", "hca", "verbs-shim", "traffic", "hcasim", "analysis")
# Names that other software requires: SystemC calls sc_main(), SimGrid calls load_platform(), the
# linker's --wrap makes __wrap_malloc(). The handlers of uverbs commands have the names of the
# commands.
GIVEN = r"sc_main$|load_platform$|__wrap_"
GIVEN_BY = ("verbs-shim/kernel/commands.h",)


def sources_of(build):
    """Objects of the libraries by their source.

    BUILD/hca/CMakeFiles/x.dir/work/dma.c.o is hca/work/dma.c.
    """
    for folder, _, names in os.walk(build):
        if "/CMakeFiles/" not in folder + "/" or "/tests/" in folder + "/":
            continue
        for name in names:
            if not name.endswith(".o"):
                continue
            path = os.path.relpath(os.path.join(folder, name), build)
            top, inner = path.split("/CMakeFiles/", 1)
            source = f"{top}/{inner.split('/', 1)[1][:-2]}"
            known = os.path.exists(os.path.join(tidy.ROOT, source))
            if known and not source.startswith(STANDS_ALONE):
                yield source, os.path.join(folder, name)


def symbols(paths):
    """Returns for each object the names that it defines and those that it needs."""
    command = ["nm", "-A", "-P", "-g", *paths]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    found = {path: (set(), set()) for path in paths}
    for line in run.stdout.splitlines():
        path, line = line.split(": ", 1)
        name, kind = line.split()[:2]
        defined, needed = found[path]
        if kind == "U":
            needed.add(name)
        elif kind not in "wWvV":  # inline functions of C++ are in every object
            defined.add(name)
    return found


def stem(path):
    """The name of a file as names begin with it, in the singular: gauges.h: gauge."""
    name = re.sub(r"_(state|params)$", "", os.path.splitext(os.path.basename(path))[0])
    return singular(name.replace("-", "_"))


def singular(name):
    return re.sub(r"s$", "", re.sub(r"ies$", "y", name))


def begins(name, beginning):
    """Whether the first words of a name are a beginning, in the singular or plural."""
    words = name.split("_")
    for count in range(1, len(words) + 1):
        if singular("_".join(words[:count])) == beginning:
            return True
    return False


@functools.lru_cache(maxsize=None)
def headers_of(folder):
    """The headers of a folder, each with the set of its words."""
    top = os.path.join(tidy.ROOT, folder)
    words = {}
    for name in sorted(os.listdir(top)):
        if name.endswith(".h"):
            with open(os.path.join(top, name), encoding="utf-8") as file:
                words[name] = set(re.findall(r"\w+", tidy.code_only(file.read())))
    return words


def misnamed(source, defined):
    """The names that an object exports against rule 2."""
    folders = source.split("/")[:-1]
    headers = headers_of("/".join(folders))
    given = set().union(*(headers.get(os.path.basename(path), set()) for path in GIVEN_BY
                          if os.path.dirname(path) == "/".join(folders)))
    for name in sorted(defined):
        # C++ has namespaces and classes
        if name.startswith("_Z") or re.match(GIVEN, name) or name in given:
            continue
        homes = [source] + folders + [header for header, words in headers.items() if name in words]
        if not any(begins(name, stem(home)) for home in homes):
            yield name


def main():
    home, needs, findings = {}, {}, []
    sources = sorted(sources_of(sys.argv[1]))
    found = symbols([path for _, path in sources])
    for source, path in sources:
        defined, needs[source] = found[path]
        for name in defined:
            home[name] = source
        if source.split("/", 1)[0] in NAMED:
            findings += [f"{source}: {name}: begins with the name of no file or folder of its own"
                         for name in misnamed(source, defined)]
    for source, needed in sorted(needs.items()):
        own = tidy.folder_of(source)
        for name in sorted(needed & home.keys()):
            target = tidy.folder_of(home[name])
            if own and target and target != own and target not in tidy.MAY_INCLUDE[own]:
                findings.append(
                    f"{source}: {name}() of {home[name]}: {own} may not need {target}")
    print("\n".join(findings))
    print(f"{len(needs)} objects, {len(findings)} findings")
    return 1 if findings or not needs else 0


if __name__ == "__main__":
    sys.exit(main())
