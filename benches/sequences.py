#!/usr/bin/env python3
"""Random sequences of writes beside the peer: do both leave the same project?

    benches/sequences.py --bin target/dist/gsd-tools --peer 'node .../gsd-tools.cjs' --count 200

Each sequence is played on two copies of one small project. After each step the facts of both trees are compared: files, phases,
what ROADMAP.md and STATE.md say. Where they differ, the peer goes on from our tree, so that each step is judged alone. A
difference on purpose is named by its line of tests/conformance/DIFFERENCES.md. Any other is printed once for its kind, with how
often it came, the sequence that led to it and an example, and the exit code is 1; `--seed N` repeats one.
"""
import argparse
import collections
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import measure

NAMES = ["Import", "Search by tag", "Export", "Undo", "Sharing", "Sync"]


class Step:
    """One write, as a call of the program or a change that both trees get alike."""

    def __init__(self, name, *words, change=None):
        self.name, self.words, self.change = name, words, change

    def __str__(self):
        return shlex.join(self.words) if self.words else self.name


def folders(root):
    place = os.path.join(root, ".planning", "phases")
    return sorted(os.listdir(place)) if os.path.isdir(place) else []


def number(folder):
    return re.sub(r"^0+(?=\d)", "", re.match(r"[\d.]+", folder).group().rstrip("."))


def summary(folder, plan):
    """Writes the summary of a plan, as an executor would."""
    def change(root):
        name = re.match(r"[\d.]+", folder).group()
        path = os.path.join(root, ".planning", "phases", folder, f"{name}-{plan:02}-SUMMARY.md")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"---\nphase: {folder}\nplan: {plan:02}\nsubsystem: x\ntags: []\nduration: 5min\ncompleted: 2026-01-02\nstatus: complete\n---\n\n# Summary\n\n**Done**\n")
    return change


def verified(folder):
    def change(root):
        name = re.match(r"[\d.]+", folder).group()
        path = os.path.join(root, ".planning", "phases", folder, f"{name}-VERIFICATION.md")
        with open(path, "w", encoding="utf-8") as file:
            file.write("---\nstatus: passed\n---\n\n# Verification\n")
    return change


def undo(root):
    git(root, "reset", "-q", "--hard", "HEAD~1")


def steps(dice, root):
    """The next step, by what the project has."""
    there = folders(root)
    folder = dice.choice(there) if there else "01-part-1"
    phase = number(folder)
    plans = [name for name in os.listdir(os.path.join(root, ".planning", "phases", folder)) if name.endswith("-PLAN.md")] if there else []
    return dice.choice([
        lambda: Step("phase add", "phase", "add", dice.choice(NAMES)),
        lambda: Step("phase insert", "phase", "insert", phase, dice.choice(NAMES)),
        lambda: Step("phase remove", "phase", "remove", phase),
        lambda: Step("phase remove --force", "phase", "remove", phase, "--force"),
        lambda: Step("phase complete", "phase", "complete", phase),
        lambda: Step("phase complete", "phase", "complete", phase),
        lambda: Step("update-plan-progress", "roadmap", "update-plan-progress", phase),
        lambda: Step("mark-complete", "requirements", "mark-complete", f"REQ-{dice.randint(1, 5):02}"),
        lambda: Step("begin-phase", "state", "begin-phase", "--phase", phase, "--name", folder.split("-", 1)[-1].replace("-", " ").title(), "--plans", str(len(plans))),
        lambda: Step("advance-plan", "state", "advance-plan"),
        lambda: Step("add-decision", "state", "add-decision", "--phase", phase, "--summary", "Use one file", "--rationale", "Simple"),
        lambda: Step("add-blocker", "state", "add-blocker", "--text", "Waits for a key"),
        lambda: Step("update-progress", "state", "update-progress"),
        lambda: Step(f"write the summary of {folder} plan 1", change=summary(folder, 1)),
        lambda: Step(f"write the summary of {folder} plan 2", change=summary(folder, 2)),
        lambda: Step(f"write that {folder} is verified", change=verified(folder)),
        lambda: Step("undo by git", change=undo),
    ])()


def git(root, *words):
    return subprocess.run(["git", "-c", "user.name=b", "-c", "user.email=b@example.com", *words], cwd=root, capture_output=True, text=True)


def facts(program, root, env):
    """What a reader sees of a tree; one reader for both."""
    def read(*words):
        run = subprocess.run([program, *words], cwd=root, env=env, capture_output=True, text=True)
        try:
            return json.loads(run.stdout)
        except ValueError:
            return {"error": run.stdout[-200:] + run.stderr[-200:]}
    analyzed, state = read("roadmap", "analyze"), read("state", "json")
    # The claim on a milestone is kept outside of the project by ours; `state.json` mirrors STATE.md.
    files = sorted(
        os.path.relpath(os.path.join(folder, name), root)
        for folder, _, names in os.walk(os.path.join(root, ".planning")) for name in names
        if name not in ("state.json", "milestone.lock"))
    # The number of an inserted phase is written with as many digits as the document writes: that is compared in its lines.
    keys = ("name", "plan_count", "summary_count", "disk_status", "roadmap_complete")
    phases = {plain(phase.get("number")): {key: phase.get(key) for key in keys} for phase in analyzed.get("phases", [])}
    of_state = {key: state.get(key) for key in ("status", "current_plan", "progress")}
    of_state["phase"] = str(state.get("current_phase")).lstrip("0")
    text = open(os.path.join(root, ".planning", "ROADMAP.md"), encoding="utf-8").read()
    lines = [re.sub(r" \(completed [\d-]+\)", "", line.strip()) for line in text.split("\n")]
    rows = {line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:]] for line in lines if re.match(r"\|\s*\d", line)}
    boxes = [line for line in lines if re.match(r"- \[.\]", line)]
    sections = [line for line in lines if line.startswith("### ")]
    state_text = open(os.path.join(root, ".planning", "STATE.md"), encoding="utf-8").read()
    noted = [line for line in state_text.split("\n") if re.match(r"- (?!\[.\])", line)]
    return {"files": files, "phases": phases, "state": of_state, "rows": rows, "boxes": boxes, "sections": sections, "noted": noted}


def differences(ours, theirs, place=""):
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in {**theirs, **ours}:
            yield from differences(ours.get(key), theirs.get(key), f"{place}/{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for one, other in zip(ours, theirs):
            yield from differences(one, other, place)
    elif ours != theirs:
        yield place, ours, theirs


def plain(value):
    """Numbers as they are, whatever zeros a document writes before them."""
    return json.loads(re.sub(r"\b0+(?=\d+\.)", "", json.dumps(value)))


def adds_one_line(mine, other):
    """Whether ours is theirs and the checklist line of one phase."""
    mine, other = plain(mine), plain(other)
    added = [line for line in mine if line not in other]
    return len(added) == 1 and added[0].startswith("- [ ] **Phase") and [line for line in mine if line not in added] == other


# What differs on purpose: how the line of DIFFERENCES.md begins, the writes it is about, and what it explains there: a place,
# our value, the peer's, the facts before the step and after it.
EXPLAINED = [
    ("| `phase-add`", ("phase add", "phase insert"), lambda place, mine, other, before, after:
        adds_one_line(mine, other) if place == "/boxes" else place.startswith("/rows/") and other is None),
    ("| `phase-insert-2`", ("phase insert",), lambda place, mine, other, before, after:
        place in ("/boxes", "/sections") and plain(mine) == plain(other)),
    ("- **Removing a phase with inserted ones.**", ("phase remove", "phase remove --force"), lambda place, mine, other, before, after:
        place.split("/")[1] in ("files", "phases", "rows", "boxes", "sections") and any("." in number for number in before["phases"])),
    ("| `phase-remove-1-force`", ("phase remove", "phase remove --force"), lambda place, mine, other, before, after:
        place == "/state/phase" and before["state"]["phase"] != mine),
    ("- **Two phases of one name.**", ("phase remove", "phase remove --force"), lambda place, mine, other, before, after:
        len({phase["name"] for phase in before["phases"].values()}) < len(before["phases"])),
    ("- **Completing.**", ("phase complete",), lambda place, mine, other, before, after:
        place in ("/state/phase", "/state/status") and before["state"] == after["state"]
        or place == "/state/phase" and after["phases"].get(other, {}).get("roadmap_complete")),
    ("- **A phase begun again**", ("advance-plan",), lambda place, mine, other, before, after:
        place == "/state/status" and mine == "verifying"),
]


def explanation(step, *difference):
    for line, names, holds in EXPLAINED:
        if step.name in names and holds(*difference):
            return line
    return None


def short(value, other):
    """What one list has and the other has not; else the value."""
    if isinstance(value, list) and isinstance(other, list):
        value = [item for item in value if item not in other]
    return json.dumps(value, ensure_ascii=False)[:300]


def play(seed, options, base, env, found, explained):
    dice, played, alike = random.Random(seed), [], True
    ours, theirs = os.path.join(base, "ours"), os.path.join(base, "theirs")
    for root in (ours, theirs):
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(os.path.join(base, "project"), root)
    before = facts(options.bin, ours, env)
    for _ in range(options.length):
        step = steps(dice, ours)
        played.append(str(step))
        codes = []
        for root, program in ((ours, [options.bin]), (theirs, shlex.split(options.peer))):
            if step.change:
                step.change(root)
                codes.append(0)
            else:
                run = subprocess.run([*program, *step.words], cwd=root, env=env, capture_output=True, text=True)
                codes.append(run.returncode)
            if step.change is not undo:
                git(root, "add", "-A"), git(root, "commit", "-q", "--allow-empty", "-m", "step")
        seen, peer = facts(options.bin, ours, env), facts(options.bin, theirs, env)
        told = [("/exit", codes[0], codes[1])] if codes[0] != codes[1] else []
        told += list(differences(seen, peer))
        kind = re.sub(r"\d+-[\w-]+", "PHASE", step.name)
        for place, mine, other in told:
            line = explanation(step, place, mine, other, before, seen)
            if line:
                explained[line] += 1
                continue
            alike = False
            place = re.sub(r"^(/rows/|/phases/)[^/]+", r"\1N", place)
            found[kind, place].append((seed, list(played), short(mine, other), short(other, mine)))
        if told:
            shutil.rmtree(theirs)
            shutil.copytree(ours, theirs)
        before = seen
    return alike


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--peer", required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--length", type=int, default=8)
    parser.add_argument("--seed", type=int, help="play this sequence alone")
    options = parser.parse_args()
    options.bin = os.path.abspath(options.bin)
    with open(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests", "conformance", "DIFFERENCES.md"), encoding="utf-8") as file:
        lines = file.read().split("\n")
    for line, _, _ in EXPLAINED:
        assert any(other.startswith(line) for other in lines), f"DIFFERENCES.md has no line that begins with {line}"
    base = tempfile.mkdtemp(prefix="gsd-sequences-")
    found, explained, alike = collections.defaultdict(list), collections.Counter(), 0
    seeds = range(options.count) if options.seed is None else [options.seed]
    try:
        home = os.path.join(base, "home")
        os.makedirs(home)
        env = {"HOME": home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TZ": "UTC", "GIT_CONFIG_NOSYSTEM": "1",
               "GSD_TEST_MODE": "1", "GSD_NOW_MS": "1767582000000"}
        measure.project(os.path.join(base, "project"), 5, 2)
        with open(os.path.join(base, "project", ".planning", "REQUIREMENTS.md"), "w", encoding="utf-8") as file:
            file.write("# Requirements\n\n## v1 Requirements\n\n" + "".join(f"- [ ] **REQ-{n:02}**: part {n}\n" for n in range(1, 6))
                       + "\n## Traceability\n\n| Requirement | Phase | Status |\n|---|---|---|\n" + "".join(f"| REQ-{n:02} | Phase {n} | Pending |\n" for n in range(1, 6)))
        with open(os.path.join(base, "project", ".planning", "STATE.md"), "w", encoding="utf-8") as file:
            file.write("---\ngsd_state_version: 1.0\nmilestone: v1.0\nmilestone_name: Bench\ncurrent_phase: 3\ncurrent_phase_name: Part 3\nstatus: executing\nprogress:\n  total_phases: 5\n"
                       "  completed_phases: 2\n  total_plans: 10\n  completed_plans: 4\n  percent: 40\n---\n\n# Project State\n\n## Current Position\n\nPhase: 3 of 5 (Part 3)\nPlan: 1 of 2\n"
                       "Status: In progress\nLast activity: 2026-01-02 -- began\n\nProgress: [████░░░░░░] 40%\n\n## Accumulated Context\n\n### Decisions\n\nNone yet.\n\n### Blockers/Concerns\n\nNone yet.\n\n"
                       "## Session Continuity\n\nLast session: 2026-01-02\nStopped at: began\nResume file: None\n")
        git(os.path.join(base, "project"), "add", "-A"), git(os.path.join(base, "project"), "commit", "-q", "-m", "requirements")
        for seed in seeds:
            alike += play(seed, options, base, env, found, explained)
    finally:
        shutil.rmtree(base, ignore_errors=True)
    for (step, place), cases in sorted(found.items(), key=lambda item: -len(item[1])):
        seed, played, mine, other = min(cases, key=lambda case: len(case[1]))
        print(f"{len(cases):4} times after `{step}`: {place}\n     ours {mine}\n     peer {other}\n     seed {seed}: {' ; '.join(played)}")
    for line, count in explained.most_common():
        print(f"{count:4} times on purpose: {line}")
    print(f"{alike} of {len(seeds)} sequences without an unexplained difference")
    sys.exit(alike != len(seeds))


if __name__ == "__main__":
    main()
