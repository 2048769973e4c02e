#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tidy: checks the house rules that a program can check.

Includes point one way. Files stay within one title's length. Opening comments, include guards and
lists of tests and names are there. Banned calls, marks of unfinished work, paths of a developer's
machine and home-made words (words.txt) are not. The code is formatted. Prints file:line and the
finding, and the number of findings. The exit code is 1 if there are findings.
"""
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
LINES_MAX = 600
COLUMNS_MAX = 100  # a tab is 8
# Folders whose sources keep to COLUMNS_MAX, comments and lists included. clang-format does the
# rest.
NARROW = ("include/", "sim/", "fabric/", "switch/", "tcp/", "analysis/", "hca/", "traffic/",
          "hcasim/", "scenarios/", "tools/", "tests/hca/", "tests/hcasim/test_", "tests/traffic/",
          "tests/sim/", "tests/wire/", "tests/fabric/", "tests/switch/", "tests/tcp/",
          "tests/tshark/", "tests/analysis/", "tests/fuzz/fuzz_", "tests/support/",
          "tests/determinism/", "tests/tidy/",
          "verbs-shim/", "tests/kernel/", "tests/kill/", "tests/preload/", "tests/programs/",
          "tests/session/")
NARROW_ENDINGS = (".c", ".h", ".cpp", ".py", ".sh", ".bash", ".v")
TABLES = ("tools/packages",)  # a row stays one line
# Scripts there may have longer lines: they quote the commands of programs.
WIDE_SCRIPTS = ("tests/kill/", "tests/preload/", "tests/programs/")
LICENCE = "/* SPDX-License-Identifier: Apache-2.0 */"

# Include rules: a folder may include itself and these folders.
PUBLIC = {"include/hcasim"}
SIM = PUBLIC | {"sim"}
WIRE = SIM | {"fabric/wire"}
FABRIC = WIRE | {"fabric"}
MAY_INCLUDE = {
    "sim": PUBLIC,
    "fabric/wire": SIM,
    "fabric": WIRE,
    "switch": FABRIC,
    "verbs-shim": FABRIC | {"verbs-shim"},
    "analysis": SIM,
}
# Inside the adapter, from the bytes of its rings up to the whole of it: each may include those
# before it.
ADAPTER = ("hca/formats", "hca/module", "hca/host", "hca/context", "hca/congestion", "hca/work",
           "hca/transport", "hca/port", "hca/iwarp", "hca/device")
for place, name in enumerate(ADAPTER):
    MAY_INCLUDE[name] = FABRIC | set(ADAPTER[:place])
MAY_INCLUDE["hca/endpoint"] = FABRIC | {"hca/formats", "hca/host", "hca/congestion",
                                        "hca/transport", "tcp"}
for name in ("hca/iwarp", "hca/device"):
    MAY_INCLUDE[name] |= {"tcp"}
MAY_INCLUDE["tcp"] = WIRE | {"hca/congestion"}
MAY_INCLUDE["hca/module/examples"] = FABRIC | set(ADAPTER)
# modules.h offers the borders of blocks where they are.
MAY_INCLUDE["include/hcasim"] = {"hca/context", "hca/work"}
HCA = set(ADAPTER) | {"hca/endpoint", "tcp"}
MAY_INCLUDE["verbs-shim"] |= HCA
# Traffic generators, then the program. Each folder may include the folders before it, and all
# models.
MODELS_ALL = FABRIC | HCA | {"switch"}
PROGRAM = ("traffic/workload", "traffic/load", "traffic/mpi", "hcasim/schema", "hcasim/builder",
           "hcasim/run", "hcasim/record", "hcasim/library", "hcasim/mpi", "hcasim/report",
           "hcasim/command")
for place, name in enumerate(PROGRAM):
    MAY_INCLUDE[name] = MODELS_ALL | set(PROGRAM[:place])
    if name.startswith("hcasim/"):
        MAY_INCLUDE[name] |= {"verbs-shim", "analysis"}
# The models: nothing there may depend on the machine or the moment.
MODELS = ("sim/", "fabric/", "switch/", "tcp/", "hca/", "verbs-shim/kernel/")
BANNED_IN_MODELS = r"\b(rand|srand|random|time|gettimeofday|clock_gettime|usleep|sleep|getpid)\s*\("
BANNED_ANYWHERE = r"\b(gets|strcpy|strcat|sprintf|vsprintf|strtok|atoi|atol|atof)\s*\("
MARKS = r"\b(TODO|FIXME|XXX|HACK)\b"
MACHINE_PATHS = r"(/root/|/home/[a-z]+/|(?<![a-z])/work/|bash_jobs)"
LEFT_OVERS = (".orig", ".rej", ".bak", "~")
TOP_FILES = {".clang-format", ".editorconfig", ".gitignore", "CHANGELOG.md", "CITATION.cff",
             "CMakeLists.txt", "CMakePresets.json",
             "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md"}
TEXT_ENDINGS = (".c", ".h", ".cpp", ".md", ".yaml", ".py", ".txt", ".cmake", ".json", ".bash",
                ".sh")

WORDS = os.path.join(ROOT, "tests/tidy/words.txt")
WORD_ENDINGS = (".c", ".h", ".cpp", ".yaml", ".py", ".md")
OLD_NAMES = ("sim/renamed_keys.h", "tests/sim/test_renamed_keys.c", "CHANGELOG.md")

findings = []


def finding(path, line, text):
    findings.append(f"{path}:{line}: {text}")


def folder_of(path):
    folder = os.path.dirname(path)
    while folder and folder not in MAY_INCLUDE:
        folder = os.path.dirname(folder)
    return folder


def code_only(text):
    """The text with comments and strings blanked, lines kept."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)


def check_layers(path, lines):
    own = folder_of(path)
    if not own:
        return
    for number, line in enumerate(lines, 1):
        match = re.match(r'#include "([^"]+)"', line)
        if not match:
            continue
        name = match.group(1)
        if os.path.exists(os.path.join(ROOT, "include", name)):  # as an installation has it
            name = os.path.join("include", name)
        target = folder_of(name)
        if not os.path.exists(os.path.join(ROOT, name)):
            finding(path, number, f'"{match.group(1)}": include by the path from the top of the '
                                  f'tree')
        elif target != own and target not in MAY_INCLUDE[own]:
            finding(path, number, f"{own} may not include {target}")


def check_c(path, text):
    lines = text.split("\n")
    check_layers(path, lines)
    if len(lines) - 1 > LINES_MAX:  # the licence is no title
        finding(path, len(lines), f"{len(lines) - 1} lines: more than {LINES_MAX}, perhaps two "
                                  f"files")
    if lines[0] != LICENCE:
        finding(path, 1, f"the first line is not {LICENCE}")
    elif not lines[1].startswith("/*"):
        finding(path, 1, "no opening comment that says what this file is")
    if path.endswith(".h"):
        guard = re.sub(r"[^A-Z0-9]", "_", path.upper())
        if f"#ifndef {guard}\n#define {guard}\n" not in text:
            finding(path, 1, f"include guard is not {guard}")
    if re.match(r"tests/\w+/test_\w+\.c$", path) and not re.search(r"^SUITE(_AFTER)?\(", text,
                                                                   re.M):
        finding(path, 1, "no list of tests (tests/support/suite.h)")
    code = code_only(text)
    for number, line in enumerate(code.split("\n"), 1):
        if re.search(BANNED_ANYWHERE, line):
            finding(path, number, f"banned call: {line.strip()}")
        if path.startswith(MODELS) and re.search(BANNED_IN_MODELS, line):
            finding(path, number, f"a model may not ask the machine: {line.strip()}")


def is_narrow(path):
    name = os.path.basename(path)
    if path.startswith(WIDE_SCRIPTS) and path.endswith((".sh", ".py")):
        return False
    return (path.startswith(NARROW) and not path.endswith(TABLES)
            and (path.endswith(NARROW_ENDINGS) or "." not in name))


def check_columns(path, text):
    for number, line in enumerate(text.split("\n"), 1):
        if len(line.expandtabs(8)) > COLUMNS_MAX:
            finding(path, number, f"{len(line.expandtabs(8))} columns: more than {COLUMNS_MAX}")


def check_text(path, text):
    for number, line in enumerate(text.split("\n"), 1):
        if re.search(MARKS, line):
            finding(path, number, f"mark of unfinished work: {line.strip()[:80]}")
        if re.search(MACHINE_PATHS, line):
            finding(path, number, f"path of somebody's machine: {line.strip()[:80]}")
        if line != line.rstrip():
            finding(path, number, "white space at the end of the line")


def read_presets():
    with open(os.path.join(ROOT, "CMakePresets.json"), encoding="utf-8") as file:
        return {preset["name"] for preset in json.load(file)["configurePresets"]}


def check_presets(path, text, presets):
    for number, line in enumerate(text.split("\n"), 1):
        for name in re.findall(r"\bc(?:make|test)\b[^|;&]*--preset[ =]([a-z]+)", line):
            if name not in presets:
                finding(path, number, f"CMakePresets.json has no preset {name}")


def read_words():
    """Returns the rows of words.txt.

    A row has the banned words, their replacements, the files, the excepted files, and the excepted
    names.
    """
    rows = []
    with open(WORDS, encoding="utf-8") as file:
        for line in file:
            if line.startswith("#") or not line.strip():
                continue
            words, instead, where, files, names = (column.strip() for column in line.split("|"))
            rows.append((words.split(), instead, where.split(), files.split(), names.split()))
    return rows


def is_in(path, patterns):
    return any(path.startswith(p + "/") or fnmatch.fnmatch(path, p) for p in patterns)


def check_words(path, text, rows):
    if not path.endswith(WORD_ENDINGS) or path in OLD_NAMES:
        return
    here = [row for row in rows if is_in(path, row[2]) and not is_in(path, row[3])]
    if not here:
        return
    says = {word: row[1] for row in here for word in row[0]}
    if path.endswith((".yaml", ".py")):
        text = re.sub(r"#[^\n]*", "", text)
    elif not path.endswith(".md"):
        text = code_only(text)
    for name in (name for row in here for name in row[4]):
        text = text.replace(name, "_" * len(name))
    pattern = re.compile(r"(?<![A-Za-z])(" + "|".join(sorted(says, key=len, reverse=True))
                         + r")(?![a-z])", re.I)
    for number, line in enumerate(text.split("\n"), 1):
        for match in pattern.finditer(line):
            finding(path, number, f'"{match.group(1)}": say {says[match.group(1).lower()]} '
                                  f'(tests/tidy/words.txt)')


def check_format(paths):
    program = shutil.which("clang-format")
    if not program:
        print("clang-format is not installed: formatting not checked")
        return
    run = subprocess.run([program, "--dry-run", *paths], cwd=ROOT, capture_output=True, text=True,
                         check=False)
    first = {}
    for path, line in re.findall(r"^(.+?):(\d+):\d+: warning: code should be clang-formatted",
                                 run.stderr, re.M):
        first.setdefault(path, line)
    for path, line in first.items():
        finding(path, line, "not as clang-format has it (first place): run tools/format")


def main():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True,
                            check=False)
    paths = [p for p in listed.stdout.split("\n") if p and os.path.exists(os.path.join(ROOT, p))]
    sources = [p for p in paths if p.endswith((".c", ".h", ".cpp"))]
    words, presets = read_words(), read_presets()
    for path in paths:
        if path.endswith(LEFT_OVERS):
            finding(path, 1, "left over by a tool")
        if "/" not in path and path not in TOP_FILES:
            finding(path, 1, "the top of the tree is for folders: does it belong in one of them?")
        if not path.endswith(TEXT_ENDINGS) and not is_narrow(path):
            continue
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            text = file.read()
        check_presets(path, text, presets)
        if is_narrow(path):
            check_columns(path, text)
        if path.startswith("tests/tidy/") or not path.endswith(TEXT_ENDINGS):
            continue
        check_text(path, text)
        check_words(path, text, words)
        if path in sources:
            check_c(path, text)
    check_format(sources)
    print("\n".join(findings))
    print(f"{len(paths)} files, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
