# SPDX-License-Identifier: Apache-2.0
"""tables: the reference pages that come from the program's own tables, as Markdown.

tools/reference writes them as pages of the site, tools/manual as manual pages.
"""
import glob
import json
import os
import re
import subprocess

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ("sim", "fabric", "switch", "hca", "traffic", "hcasim", "verbs-shim")


def output(program, *arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def cell(text):
    return str(text).replace("|", "\\|").replace("<", "&lt;")


def code(text):
    return f"`{cell(text)}`" if text != "" else ""


def table(titles, rows):
    """The first column is code."""
    lines = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    lines += ["| " + " | ".join([code(row[0])] + [cell(x) for x in row[1:]]) + " |" for row in rows]
    return "\n".join(lines)


def anchored(name, rows):
    """Gives each row's name an anchor, so that other pages can link to it."""
    return "\n".join(re.sub(r"^\| `([^`]+)`", lambda m: f'| <a id="{name}.{m[1]}"></a>`{m[1]}`',
                            line)
                     for line in rows.split("\n"))


def split_arguments(text):
    """The arguments of an X(...): bare words, or string literals without their quotes."""
    parts, depth, quoted, start = [], 0, False, 0
    for at, letter in enumerate(text):
        if letter == '"' and text[at - 1] != "\\":
            quoted = not quoted
        elif not quoted:
            depth += (letter == "(") - (letter == ")")
            if letter == "," and depth == 0:
                parts.append(text[start:at])
                start = at + 1
    parts.append(text[start:])
    literal = re.compile(r'"((?:[^"\\]|\\.)*)"')
    return ["".join(literal.findall(part)) if '"' in part else part.strip() for part in parts]


def entries(body):
    """All X(...) of a list."""
    at, found = 0, []
    while (start := re.search(r"\bX\(", body[at:])) is not None:
        begin = end = at + start.end()
        depth, quoted = 1, False
        while depth:
            letter = body[end]
            if letter == '"' and body[end - 1] != "\\":
                quoted = not quoted
            elif not quoted:
                depth += (letter == "(") - (letter == ")")
            end += 1
        found.append(split_arguments(body[begin:end - 1]))
        at = end
    return found


def lists(pattern):
    """Returns {name: entries} of all X-lists of the sources whose names match."""
    found = {}
    for folder in FOLDERS:
        for path in sorted(glob.glob(os.path.join(TOP, folder, "**", "*.[ch]"), recursive=True)):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            for match in re.finditer(rf"^#define ({pattern})\(X[^)]*\)((?:.*\\\n)*.*)", text, re.M):
                found[match[1]] = entries(match[2].replace("\\\n", " "))
    if not found:
        raise SystemExit(f"no list {pattern} in the sources")
    return found


def block_of(name, end):
    return name[:-len(end)].lower()


def by_block(rows):
    blocks = {}
    for row in rows:
        blocks.setdefault(row["block"], []).append(row)
    return blocks


def parameters(program):
    text = []
    for block, rows in by_block(json.loads(output(program, "params", "--json"))).items():
        columns = ("name", "default", "range", "unit", "meaning", "source")
        text.append(f"## {block}\n\n" + anchored(block, table(
            [title.capitalize() for title in columns], [[row[column] for column in columns]
                                                        for row in rows])))
    return ("# Parameters\n\n`hcasim params` prints this list. A value carries its unit.\n\n"
            + "\n\n".join(text))


def counters(program):
    text = []
    for block, rows in by_block(json.loads(output(program, "counters", "--json"))).items():
        if not block.endswith("metrics") and not block.endswith("metrics"):
            text.append(f"## {block}\n\n" + anchored(block, table(
                ["Counter", "Unit", "Meaning"], [[row["name"], row["unit"], row["meaning"]]
                                                 for row in rows])))
    return ("# Counters\n\n`hcasim counters` prints this list. `counters.json` of a result folder "
            "has the values.\n\n" +
            "\n\n".join(text))


def metrics(program):
    titles = {"flow": "Metrics of a flow", "port": "Metrics of a port", "load": "Metrics of a load",
              "": "Metrics of a workload"}
    text = []
    for block, rows in by_block(json.loads(output(program, "counters", "--json"))).items():
        match = re.match(r"(?:(\w+)_)?(?:figures|metrics)$", block)
        if match:
            text.append(f"## {titles.get(match[1] or '', block)}\n\n" + anchored(block, table(
                ["Metric", "Unit", "Meaning"], [[row["name"], row["unit"], row["meaning"]]
                                                for row in rows])))
    return ("# Metrics of a run\n\n`expect`, `results.csv` and plots use these names.\n\n"
            + "\n\n".join(text))


def commands(program):
    verbs = output(program, "help", "--words").split()
    return "# Commands\n\n`hcasim help VERB` prints these texts.\n\n" + "\n\n".join(
        f"## hcasim {verb}\n\n```text\n{output(program, 'help', verb)}```" for verb in verbs)


def trace_points(_):
    text = [f"## {block_of(name, '_TRACE')}\n\n"
            + table(["Point", "First value", "Second value", "Meaning"], rows)
            for name, rows in sorted(lists(r"\w+_TRACE").items())]
    return ("# Trace points\n\n`--trace FILE` records these points, and `hcasim trace` prints "
            "them. Each record has a time, a "
            "block, a point, a tag and up to two values.\n\n" + "\n\n".join(text))


def gauges(_):
    text = [f"## {block_of(name, '_GAUGES')}\n\n"
            + table(["Gauge", "Kind", "Unit", "Meaning"], [row[:4] for row in rows])
            for name, rows in sorted(lists(r"\w+_GAUGES").items()) if rows]
    return ("# Gauges\n\n`hcasim explain RUN --bottleneck` reads these gauges. "
            "[Latency, bottlenecks and conservation]"
            "(../explanation/latency-and-bottlenecks.md#use-of-resources) explains the kinds.\n\n"
            + "\n\n".join(text))


def latency_stages(_):
    found = lists(r"(?:WHY_|RECEIVE_|SEND_|LATENCY_)?STAGES")
    titles = {True: "Receive completions", False: "Send completions"}
    text = [f"## {titles['RECEIVE' in name]}\n\n"
            + table(["Stage", "Ends when"], [row[1:3] for row in rows])
            for name, rows in found.items()]
    return ("# Latency stages\n\n`hcasim explain RUN` prints these stages. They follow each other "
            "without gap, so they sum to the "
            "latency.\n\n" + "\n\n".join(text))


def fault_actions(_):
    (rows,) = lists("FAULT_ACTIONS").values()
    return ("# Fault actions\n\nAn entry of `faults` in a scenario names one of these actions. "
            "[Scenario files]"
            "(scenario.md#faults) has their keys.\n\n" + table(["Action", "Effect"], rows))


def result_columns(_):
    (flows,) = lists("FLOW_COLUMNS").values()
    (groups,) = lists("FLOW_GROUP_COLUMNS").values()
    return ("# Columns of flows.csv and slowdowns.csv\n\nA column with a unit carries the unit in "
            "its name, as `ready_us`. "
            "[Result files](results.md) describes the other files.\n\n## flows.csv\n\n" +
            table(["Column", "Unit", "Meaning"], [[row[0], row[4], row[5]] for row in flows]) +
            "\n\nTwo columns follow: `fct_us` (`finished` - `ready`) and `slowdown` "
            "(`fct` / `ideal`).\n\n## slowdowns.csv\n\n" +
            table(["Column", "Unit", "Meaning"], [[row[0], row[2], row[3]] for row in groups]))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def head_comment(text):
    """The text of the first comment lines, and its indented lines, which are commands."""
    lines = []
    for line in text.split("\n"):
        if not line.startswith("#"):
            break
        lines.append(line[1:])
    words = " ".join(line.strip() for line in lines if not line.startswith("    "))
    return re.sub(r" +", " ", words).strip(), [line.strip() for line in lines
                                               if line.startswith("    ")]


def yaml_files(folder):
    return sorted(glob.glob(os.path.join(TOP, "scenarios", folder, "*.yaml")))


def name_of(path):
    return os.path.splitext(os.path.basename(path))[0]


def values(text):
    """(key path, value, comment) of each line of a preset that has a value."""
    above, found = [], []
    for line in text.split("\n"):
        match = re.match(r"( *)(?:- )?([\w.*-]+):(?: +(.*?))?(?: +#(.*)| *)$", line)
        if not match:
            continue
        depth, key, value, comment = len(match[1]), match[2], match[3] or "", (match[4]
                                                                               or "").strip()
        above = [entry for entry in above if entry[0] < depth]
        if value.startswith("#"):
            value, comment = "", value[1:].strip()
        if value and key != "kind":
            found.append([".".join([entry[1] for entry in above] + [key]), value, comment])
        above.append((depth, key))
    return found


def presets(_):
    text = []
    for path in yaml_files("presets"):
        source = read(path)
        words, _ = head_comment(source)
        kind = re.search(r"^kind: *(\w+)", source, re.M)
        text.append(f"## {name_of(path)}\n\nKind: `{kind[1] if kind else ''}`. {cell(words)}\n\n"
                    + table(
            ["Key", "Value", "Source"], values(source)))
    return ("# Presets\n\nA preset is a file of `scenarios/presets/`. Values that are not listed "
            "are defaults "
            "([Parameters](parameters.md)), or values of the preset under the key `preset`.\n\n"
            + "\n\n".join(text))


def studies(_):
    text = []
    for path in yaml_files("studies"):
        words, lines = head_comment(read(path))
        text.append(f"## {name_of(path)}\n\n{cell(words)}"
                    + ("\n\n```sh\n" + "\n".join(lines) + "\n```" if lines else ""))
    return ("# Studies\n\nEach study is a file of `scenarios/studies/`. Run it by `hcasim run "
            "scenarios/studies/NAME.yaml`.\n\n" +
            "\n\n".join(text))


def published(_):
    rows = []
    for path in yaml_files("published"):
        source = read(path)
        field = {key: (re.search(rf'^{key}: *"?(.*?)"? *(?:#.*)?$', source, re.M) or ["", ""])[1]
                 for key in ("what", "hardware", "source", "class", "tolerance")}
        rows.append([name_of(path), field["what"], field["hardware"], field["source"],
                     field["class"] or "predicted",
                     field["tolerance"], len(re.findall(r"^ *- ", source.partition("\nexpect:")[2],
                                                        re.M))])
    return ("# Published rows\n\nEach row is a file of `scenarios/published/`. `hcasim published "
            "ROW` measures it again. "
            "[Accuracy](../explanation/accuracy.md) explains tolerances and classes, and discusses "
            "the results.\n\n" +
            table(["Row", "Figure", "Hardware", "Source", "Class", "Tolerance", "Cases"], rows))


PAGES = {"parameters": parameters, "counters": counters, "metrics": metrics, "commands": commands,
         "trace-points": trace_points, "gauges": gauges, "latency-stages": latency_stages,
         "fault-actions": fault_actions, "result-columns": result_columns, "presets": presets,
         "studies": studies, "published": published}
