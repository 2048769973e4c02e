# SPDX-License-Identifier: Apache-2.0
"""Makes a failing case smaller: keys dropped, lists shortened, numbers halved, while it still fails."""
import copy
import re
import time

import play

TRIES_MAX = 150
SECONDS_MAX = 25


def judge(law, runner, scenario):
    """The violation or None, and the refusal or None."""
    try:
        return law.judge(runner, scenario), None
    except play.Refused as refusal:
        return None, str(refusal)[:300] or "refused"
    except play.Broken as broken:
        return f"the run itself: {broken}", None


def places(node, path=()):
    """Paths of all values, those of whole branches first."""
    entries = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in entries:
        yield (*path, key)
        if not (isinstance(value, list) and path == ("_flows",)): # a flow goes as a whole
            yield from places(value, (*path, key))


def halved(value):
    if isinstance(value, bool) or value in (0, 1):
        return None
    if isinstance(value, int):
        return value // 2
    match = re.fullmatch(r"(\d+)([A-Za-z]+)", value) if isinstance(value, str) else None
    return f"{int(match.group(1)) // 2}{match.group(2)}" if match and int(match.group(1)) > 1 else None


def node_at(scenario, path):
    for key in path:
        scenario = scenario[key]
    return scenario


def variants(law, scenario):
    """Smaller scenarios that the law can judge: the keys that it needs remain."""
    def free(path):
        dotted = ".".join(str(key) for key in path)
        return path[0] not in ("_law", "seed") and not any(dotted == kept or kept.startswith(dotted + ".") for kept in law.keep)
    if len(scenario.get("_flows", ())) > 3 and free(("_flows", 0)): # halves of the flows at first
        half = len(scenario["_flows"]) // 2
        for part in (scenario["_flows"][:half], scenario["_flows"][half:]):
            yield {**scenario, "_flows": part}
    for path in list(places(scenario)):
        if not free(path):
            continue
        other = copy.deepcopy(scenario)
        del node_at(other, path[:-1])[path[-1]]
        yield other
    for path in list(places(scenario)):
        value = halved(node_at(scenario, path))
        if value is not None and law.halves and free(path):
            other = copy.deepcopy(scenario)
            node_at(other, path[:-1])[path[-1]] = value
            yield other
    for place, flow in enumerate(scenario.get("_flows", ())):
        if flow[3] > 1 and law.halves:
            other = copy.deepcopy(scenario)
            other["_flows"][place][3] = flow[3] // 2
            yield other


def smaller(law, runner, scenario, violation):
    """The smallest scenario found that still fails, and how it fails."""
    if not law.shrinks:
        return scenario, violation
    tries = 0
    began = time.monotonic()
    again = True
    while again:
        again = False
        for other in variants(law, scenario):
            if tries >= TRIES_MAX or time.monotonic() - began > SECONDS_MAX:
                return scenario, violation
            tries += 1
            try:
                found, _ = judge(law, runner, other)
            except (KeyError, IndexError, ZeroDivisionError, AttributeError, TypeError, ValueError):
                continue # the law needs what was dropped
            if found and found.startswith("the run itself") == violation.startswith("the run itself"):
                scenario, violation = other, found
                again = True
                break
    return scenario, violation
