#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that a validator accepts each scenario and preset of scenarios/ by the schema of `hcasim
# schema`. It refuses 300 files with one mistake each, which `hcasim check` refuses, too. Arguments:
# the hcasim program, the top of the source tree.
hcasim=$(realpath "$1")
top=$(realpath "$2")
. "$(dirname "$0")/../support/script.sh"
/usr/bin/python3 -c 'import jsonschema, yaml' 2>/dev/null || exit 77 # python3-jsonschema, python3-yaml

"$hcasim" schema >"$folder/schema.json" || fail "hcasim schema: exit code $?"
/usr/bin/python3 - "$hcasim" "$top" "$folder" <<'END' || failures=1
import copy, glob, json, os, random, re, subprocess, sys
import jsonschema, yaml

hcasim, top, folder = sys.argv[1:]
schema = json.load(open(folder + "/schema.json"))
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)
wrong = []


class Core(yaml.SafeLoader):
    """YAML 1.2: true and false are flags; on, off, yes and no are texts."""


Core.yaml_implicit_resolvers = {}
for tag, form, first in (("bool", r"^(true|false)$", "tf"), ("int", r"^[-+]?[0-9]+$", "-+0123456789"),
                         ("float", r"^[-+]?([0-9]*\.[0-9]+|[0-9]+\.|[0-9]+)([eE][-+]?[0-9]+)?$", "-+.0123456789"), ("null", r"^(~|null|)$", "~n")):
    Core.add_implicit_resolver("tag:yaml.org,2002:" + tag, re.compile(form), list(first) + ([""] if tag == "null" else []))


def load(path):
    return yaml.load(open(path), Core)


def errors(document):
    return [f"{'.'.join(map(str, error.absolute_path))}: {error.message[:200]}" for error in validator.iter_errors(document)]


files = [path for path in sorted(glob.glob(top + "/scenarios/**/*.yaml", recursive=True))
         if "/published/" not in path or "/setups/" in path]
scenarios = []
for path in files:
    document = load(path)
    if "kind" not in document and "hosts" not in document:
        continue  # no scenario and no preset
    found = errors(document)
    if found:
        wrong.append(f"{os.path.relpath(path, top)} is refused: {found[0]}")
    if "hosts" in document:
        scenarios.append((path, document))
if len(scenarios) < 40:
    wrong.append(f"only {len(scenarios)} scenarios are found")


def places(node, path=()):
    """The maps with keys that the schema knows, by their paths."""
    if isinstance(node, dict):
        yield path
        for key, value in node.items():
            if key not in ("sweep", "variants", "expect", "faults", "links", "link_rules", "switches", "congestion", "programs") and \
                    (path != ("hosts",) or key in ("hca", "host")):
                yield from places(value, path + (key,))


def at(document, path):
    for key in path:
        document = document[key]
    return document


def spoil(rng, document):
    """One mistake: a key that nobody has, a value of another kind, a unit that is none."""
    path = rng.choice([p for p in places(document) if p != ("hosts",)])
    node = at(document, path)
    kind = rng.randrange(3)
    if kind == 0:
        node["no_such_key"] = 1
        return ".".join(path + ("no_such_key",))
    numbers = [key for key, value in node.items() if isinstance(value, str) and re.fullmatch(r"[0-9.]+[a-zA-Z]+", value)]
    if kind == 1 and numbers:
        key = rng.choice(numbers)
        node[key] = node[key] + "x"
        return f"{'.'.join(path + (key,))}={node[key]}"
    counts = [key for key, value in node.items() if type(value) is int and value > 0 and key not in ("seed", "target")] # a host may have any name
    if counts:
        key = rng.choice(counts)
        node[key] = rng.choice(["many", -1, [1, 2]])
        return f"{'.'.join(path + (key,))}={node[key]}"
    node["no_such_key"] = 1
    return ".".join(path + ("no_such_key",))


rng = random.Random(7)
small = [(path, document) for path, document in scenarios if os.path.getsize(path) < 4000]
batch = []
for case in range(300):
    path, document = rng.choice(small)
    document = copy.deepcopy(document)
    what = spoil(rng, document)
    if not errors(document):
        wrong.append(f"case {case}: {os.path.relpath(path, top)} with {what} is accepted by the schema")
    document.pop("sweep", None)
    file = f"{folder}/case{case}.yaml"
    text = json.dumps(document).replace(top, top)
    text = re.sub(r'"trace": "([^"/][^"]*)"', lambda m: f'"trace": "{os.path.dirname(path)}/{m[1]}"', text)
    open(file, "w").write(text)
    batch.append((case, what, path, file))
for case, what, path, file in batch:
    code = subprocess.run([hcasim, "check", file], capture_output=True, text=True)
    if code.returncode != 2:
        wrong.append(f"case {case}: {os.path.relpath(path, top)} with {what}: hcasim check ends with {code.returncode}")

print("\n".join(wrong[:20]))
sys.exit(len(wrong) > 0)
END

[ $failures -eq 0 ]
