#!/usr/bin/env python3
"""Two programs take turns on one project, with the same call: which lines does each write over the other's?

    benches/flips.py --bin target/dist/gsd-tools --peer 'node .../gsd-tools.cjs' PROJECTS

PROJECTS is a folder of projects, each with a `.planning` folder. Each writing verb is called six times on a copy of each project: ours,
the peer, and so on. A line flips where each of the last turns takes back what the turn before it wrote; a file grows where each of
them adds the same line once more. A line on purpose is named by its line of tests/conformance/DIFFERENCES.md. Any other is printed, and
the exit code is 1.
"""
import argparse
import collections
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

PROJECTS = ["std", "ready", "crlf", "multi", "code", "odd", "done", "mismatch"]
TURNS = 6

# The calls; {phase} is the phase that STATE.md is at, {next} the one after it.
VERBS = """
state begin-phase --phase {phase} --name Core --plans 3
state begin-phase --phase {phase}
state planned-phase --phase {next} --name Sync --plans 2
state planned-phase --phase {next}
state complete-phase --phase {phase}
state advance-plan
state sync
state rebuild
state update-progress
state update Status Paused
state patch {patch}
state record-session --stopped-at Here --resume-file None
state record-metric --phase {phase} --plan 1 --duration 5min --tasks 2 --files 3
state add-decision --phase {phase} --summary Words
state add-blocker --text Slow
state resolve-blocker --text Slow
state milestone-switch --milestone v1.0 --name MVP
state milestone-switch --milestone v2.0 --name Teams
roadmap update-plan-progress {phase}
roadmap annotate-dependencies {phase}
phase complete {phase}
requirements mark-complete AUTH-01
config-set mode yolo
frontmatter set .planning/STATE.md --field custom --value 1
validate health --repair
"""

# What flips on purpose: how the line of DIFFERENCES.md begins, and what of "project file verb: line" it explains.
EXPLAINED = [
    ("- **The claim on a milestone**", r" \.planning/milestone\.lock "),
    ("| `state-begin-phase-raw`", r"STATE\.md state (begin|planned)-phase .*: (Phase: |current_phase_name: )"),
    ("- **The table of phases**", r"STATE\.md state rebuild.*: \| "),
    ("- **What to do next**", r'state\.json .*: \s*"(command|label|reason)": '),
    ("- **Numbers of phases.**", r"^odd \.planning/state\.json "),
    ("- **Phases of `state.json`**", r'^(multi|mismatch) \.planning/state\.json .*: \s*("(number|name)": |[{}],?$)'),
    ("- **One standing.**", r'state\.json .*: \s*"status": '),
    ("- **One standing.**", r"STATE\.md .*: \s*(percent|completed_phases|Progress): "),
]


def git(root, *words):
    return subprocess.run(["git", "-c", "user.name=b", "-c", "user.email=b@example.com", *words], cwd=root, capture_output=True, check=False)


def masked(line):
    line = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?", "<TIME>", line)
    return re.sub(r"\b[0-9a-f]{40}\b", "<SHA>", line)


def lines_of(root):
    """The lines of each file below `.planning`, with how often each is there."""
    found = {}
    for folder, _, names in os.walk(os.path.join(root, ".planning")):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8", errors="replace", newline="") as file:
                lines = [masked(line).rstrip("\r") for line in file.read().split("\n")]
            found[os.path.relpath(path, root)] = collections.Counter(line for line in lines if line.strip())
    return found


def position(root):
    """The phase that STATE.md is at, and the one after it."""
    with open(os.path.join(root, ".planning", "STATE.md"), encoding="utf-8") as file:
        found = re.search(r"^Phase: *(\d+)", file.read(), re.M)
    phase = int(found.group(1)) if found else 1
    return str(phase), str(phase + 1)


def calls(root):
    phase, following = position(root)
    patch = '{"Stopped at":"Here"}'
    for line in VERBS.strip().split("\n"):
        yield line, [word.format(phase=phase, next=following, patch=patch) for word in shlex.split(line)]


def flips(turns):
    """The lines that each turn writes over the last, as (file, ours, the peer's, kind)."""
    files = sorted({file for turn in turns for file in turn})
    for file in files:
        texts = [turn.get(file, collections.Counter()) for turn in turns]
        added = [after - before for before, after in zip(texts, texts[1:])]
        gone = [before - after for before, after in zip(texts, texts[1:])]
        ours = sorted(line for line in added[-2] if line in gone[-3] and line in gone[-1])
        theirs = sorted(line for line in added[-3] if line in gone[-2] and line in added[-1])
        if ours or theirs:
            yield file, ours, theirs, "flips"
        grows = sorted(line for line in added[-3] if line in added[-2] and line in added[-1])
        if grows:
            yield file, grows, grows, "grows"


def explanation(place, text):
    return next((line for line, pattern in EXPLAINED if re.search(pattern, f"{place}: {text}")), None)


def named_lines():
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with open(os.path.join(here, "tests", "conformance", "DIFFERENCES.md"), encoding="utf-8") as file:
        lines = file.read().split("\n")
    for line, _ in EXPLAINED:
        assert any(other.startswith(line) for other in lines), f"DIFFERENCES.md has no line that begins with {line}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("projects", metavar="PROJECTS")
    parser.add_argument("--bin", required=True)
    parser.add_argument("--peer", required=True)
    parser.add_argument("--only", help="words of the calls that are made")
    options = parser.parse_args()
    named_lines()
    base = tempfile.mkdtemp(prefix="gsd-flips-")
    home = os.path.join(base, "home")
    os.makedirs(home)
    env = {"HOME": home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    programs = [shlex.split(options.bin), shlex.split(options.peer)]
    programs[0][0] = os.path.abspath(programs[0][0])
    sequences, named, unnamed = 0, collections.Counter(), 0
    for project in PROJECTS:
        source = os.path.join(options.projects, project)
        if not os.path.isdir(os.path.join(source, ".planning")):
            continue
        for line, words in calls(source):
            if options.only and options.only not in line:
                continue
            root = os.path.join(base, "project")
            shutil.rmtree(root, ignore_errors=True)
            shutil.copytree(source, root)
            for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "first"]):
                git(root, *arguments)
            turns = [lines_of(root)]
            for turn in range(TURNS):
                subprocess.run([*programs[turn % 2], *words], cwd=root, env=env, capture_output=True, check=False)
                turns.append(lines_of(root))
            sequences += 1
            for file, ours, theirs, kind in flips(turns):
                place = f"{project} {file} {line}"
                if kind == "grows" and line.startswith("state add-"):
                    continue
                left = []
                for mark, texts in (("ours", ours), ("peer", theirs)):
                    for text in texts:
                        reason = explanation(place, text)
                        if reason:
                            named[reason] += 1
                        else:
                            left.append(f"    {mark}: {text.strip()[:200]}")
                if left:
                    unnamed += 1
                    print("\n".join([f"{place} {kind}", *left]))
    shutil.rmtree(base, ignore_errors=True)
    for reason, count in named.items():
        print(f"{count} lines on purpose: {reason}")
    print(f"{sequences} sequences of {TURNS} turns, {unnamed} with a line that has no name")
    return 1 if unnamed else 0


if __name__ == "__main__":
    sys.exit(main())
