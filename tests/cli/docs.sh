#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Proves that the commands of README.md and docs/ work. Files that a page tells to save
# (`NAME.yaml`:) are saved. Each "$ hcasim" line, and each call of a compiler, runs and prints the
# text below it. "..." matches any lines, blanks count once, and numbers match within a hundredth.
# Each "hcasim VERB --option" and --set exists, each link leads somewhere, and README.md leads to
# every page. Functions are in the files that tables name beside them. Lessons answer their
# exercises. The glossary has the abbreviations of the pages. Arguments: the hcasim program, the top
# of the source tree.
hcasim=$(realpath "$1")
top=$(realpath "$2")
. "$(dirname "$0")/../support/script.sh"
as_a_user
ln -s "$top/scenarios" scenarios

python3 - "$top" <<'END' || failures=1
import glob, os, re, shutil, subprocess, sys

top = sys.argv[1]
pages = ["README.md"] + sorted(os.path.relpath(p, top) for p in glob.glob(top + "/docs/**/*.md", recursive=True))
texts = {page: open(os.path.join(top, page)).read() for page in pages}
wrong = []


def run(command):
    return subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100)


def flat(line):
    return " ".join(line.split())


def same(line, other):
    """Word by word, numbers within a hundredth: a figure in its last digits does not mislead, and models go on."""
    words, others = line.split(), other.split()

    def near(one, two):
        try:
            return one == two or abs(float(one.strip("%,:")) - float(two.strip("%,:"))) <= 0.01 * abs(float(two.strip("%,:")))
        except ValueError:
            return False
    return len(words) == len(others) and all(map(near, words, others))


def holds(expected, printed):
    """Do the lines follow each other, any of them where there is '...'?"""
    at, free = 0, False
    for line in expected:
        if line == "...":
            free = True
            continue
        if free:
            while at < len(printed) and not same(line, printed[at]):
                at += 1
        if at >= len(printed) or not same(line, printed[at]):
            return f'"{line}" is not there, but "{printed[at] if at < len(printed) else "the end"}"'
        at, free = at + 1, False
    return None if free or at == len(printed) else f'"{printed[at]}" is there, and is not shown'


# Shown output is the printed output. Programs that are not installed, and commands that need their
# traces, are skipped.
TOOLS = r"hcasim|sqlite3|smpicc|gcc|g\+\+"
has_mpi = os.path.exists(os.path.join(os.path.dirname(os.path.realpath(shutil.which("hcasim"))), "..", "lib", "libhcasim-smpi.so")) # not with sanitizers
commands = compared = settings = 0
start = os.getcwd()
for page in pages:
    missing = False
    os.makedirs(page)
    os.chdir(page)
    for folder in os.listdir(top): # as in a clone
        if os.path.isdir(os.path.join(top, folder)) and not folder.startswith((".", "build")):
            os.symlink(os.path.join(top, folder), folder)
    blocks = re.findall(r"(?:\bas\s+`([\w-]+\.(?:yaml|csv|goal|c|cpp))`(?:[^\n]|\n(?!\n))*\n\n)?^( *)```[a-z]*\n(.*?)^\2```", texts[page], re.S | re.M)
    for saved, indent, block in blocks:
        block = re.sub(rf"^{indent}", "", block, flags=re.M)
        if saved and "\n$ " not in "\n" + block: # "Save this as `NAME`:"
            with open(saved, "w", encoding="utf-8") as file:
                file.write(block)
        for part in re.split(rf"^\$ (?=(?:{TOOLS}) )", block, flags=re.M)[1:]:
            command, _, shown = part.partition("\n")
            missing = missing or shutil.which(command.split()[0]) is None
            programs = re.findall(r"(?:--|:) +host\d+: (\S+)", command)
            missing = missing or any(shutil.which(p) is None for p in programs)
            missing = missing or (command.startswith("hcasim mpi ") and not has_mpi)
            if missing:
                continue
            commands += 1
            done = run(command)
            if done.returncode != 0:
                wrong.append(f"{page}: {command}: exit code {done.returncode}: {done.stderr[-300:]}")
            expected = [flat(line) for line in shown.split("\n") if flat(line)]
            if expected and done.returncode == 0:
                compared += 1
                trouble = holds(expected, [flat(line) for line in done.stdout.split("\n") if flat(line)])
                if trouble:
                    wrong.append(f"{page}: {command}: {trouble}")
    os.chdir(start)
if commands < 10 or compared < 6:
    wrong.append(f"only {commands} commands run, {compared} compared")

# Each verb and option that a page names exists.
verbs = run("hcasim help --words").stdout.split()
options = {verb: run(f"hcasim help {verb} --words").stdout.split() for verb in verbs}
for page in pages:
    for words in re.findall(r"(?:^|[`$ ])hcasim ([a-z][^`\n#]*)", texts[page], re.M):
        verb, rest = re.match(r"([a-z]+)(.*)", words).groups()
        if verb not in verbs:
            if re.search(r"`hcasim " + verb, texts[page]):
                wrong.append(f"{page}: there is no hcasim {verb}")
            continue
        for option in re.findall(r" (--[a-z]+)", re.split(r" -- |&&|\|", rest)[0]):
            if option not in options[verb]:
                wrong.append(f"{page}: hcasim {verb} has no {option}")
for setting in re.findall(r"--set ([a-z][A-Za-z0-9_.*]*=[^`\s]*)`", texts["README.md"]):
    settings += 1
    done = run(f"hcasim check scenarios/two-hosts-ib.yaml --set '{setting}'")
    if done.returncode != 0:
        wrong.append(f"README.md: --set {setting}: {done.stderr}")
if settings < 1:
    wrong.append("README.md: no --set")


def anchors(page):
    heads = re.findall(r"^#+ (.*)$", texts[page], re.M)
    return {re.sub(r"[^a-z0-9 _-]", "", head.lower()).replace(" ", "-") for head in heads}


# Each link has a target, and README.md leads to every page.
reached, ways = set(), ["README.md"]
while ways:
    page = ways.pop()
    if page in reached:
        continue
    reached.add(page)
    for target in re.findall(r"\]\(([^)\s]+)\)", texts[page]):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        goal = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(os.path.join(top, goal)):
            wrong.append(f"{page}: there is no {target}")
        elif anchor and goal in texts and anchor not in anchors(goal):
            wrong.append(f"{page}: {goal} has no #{anchor}")
        elif goal in texts:
            ways.append(goal)
wrong += [f"README.md does not lead to {page}" for page in pages if page not in reached]

# No empty line divides a table.
for page in pages:
    for match in re.finditer(r"^\|[^\n]*\n\n\|(?!.*\n\|[-| :]+\n)", texts[page], re.M):
        wrong.append(f"{page}:{texts[page][:match.start()].count(chr(10)) + 2}: an empty line within a table")

# Each file of the tree that a page names exists.
folders = {name for name in os.listdir(top) if os.path.isdir(os.path.join(top, name)) and not name.startswith((".", "build"))}
for page in pages:
    for span in re.findall(r"`([^`\n]+)`", texts[page]):
        for path in [] if "ctest" in span or "-R" in span else re.findall(r"(?<![\w./-])[a-z][\w-]*/[\w/.-]*\w(?![\w*{/.-])", span):
            if path.split("/")[0] in folders and not re.search(r"[A-Z]{4,}", path) and not os.path.exists(os.path.join(top, path)):
                wrong.append(f"{page}: there is no {path}")

# A function that a table names beside its file is in this file.
for page in pages:
    for path, name in re.findall(r"^\| `([\w/]+\.[ch])` \| `(\w+)\(\)` \|", texts[page], re.M):
        source = os.path.join(top, path)
        if not os.path.exists(source) or not re.search(rf"\b{name}\(", open(source).read()):
            wrong.append(f"{page}: {path} has no {name}()")

# A lesson answers each of its exercises and says where to look in the source.
for page in pages:
    if page.startswith("docs/lessons/") and "**Question.**" in texts[page]:
        parts = dict(re.findall(r"^## (.*)\n((?:(?!^## ).*\n)*)", texts[page], re.M))
        asked = re.findall(r"^(\d+)\. ", parts.get("Exercises", ""), re.M)
        answered = re.findall(r"^\*\*(\d+)\.\*\* ", parts.get("Answers", ""), re.M)
        if not asked or asked != answered or "`" not in parts.get("In the source", ""):
            wrong.append(f"{page}: exercises {asked}, answers {answered}, source: {'In the source' in parts}")

# The glossary has each abbreviation that pages use more than once, except units, formats, names of
# sources and constants of files.
glossary = texts["docs/reference/glossary.md"]
terms = {word for row in re.findall(r"^\| ([^|]*)\|", glossary, re.M) for word in re.findall(r"\w+", row)}
known = terms | set("AMD MPICH KB MB GB YAML JSON CSV HTML SVG PNG MIT IEEE RFC ID FILE EPYC DGX KVM GSL SIGCOMM NSDI PCI HERD SMART NLDEV DEVICE DESTROY ADVISE DISCONNECT".split())
uses = {}
for page in pages:
    prose = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)", " ", texts[page], flags=re.S)
    for word in re.findall(r"\b([A-Z]{2,})s?\b", prose) if page != "docs/reference/sources.md" else ():
        uses.setdefault(word, []).append(page)
wrong += [f"{where[0]}: {word} is not in the glossary" for word, where in sorted(uses.items())
          if len(where) > 1 and word not in known and not word.startswith("SIG")]
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
END
exit $((failures > 0))
