#!/usr/bin/env python3
"""Every reading command beside its peer on one generated project: is the answer the same, and what does it cost?

Needs the peer as a command line. Keys of ours that the peer has not are fine; times, what describes installed agents, and
sentences of advice are not compared. A difference on purpose is named by its line of tests/conformance/DIFFERENCES.md. Prints
each other difference, then how many calls agree and the CPU ratios."""
import argparse
import collections
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import measure

# Every reading command, with the arguments it is called with: a phase, its folder, a plan and a summary of it.
CALLS = """
agent classify-failure --text "rate limit exceeded"
agent-skills gsd-executor
audit-open --json
audit-uat
check auto-mode
check decision-coverage-plan {folder} {folder}/{token}-CONTEXT.md
check decision-coverage-verify {folder} {folder}/{token}-CONTEXT.md
check gap-analysis-plan-post {phase}
check ui-plan-gate {phase}
check verify-codebase-drift {phase}
check verify-context-drift {phase}
check verify-schema-drift {phase}
check-commit
classify-confidence --provider context7
config-get mode
config-path
current-timestamp
dispatch-capacity --json
dispatch-should-flatten --json
drift-guard authority
drift-guard phase-status
drift-guard severity
find-phase {phase}
frontmatter get {plan}
frontmatter validate {plan} --schema plan
gap-analysis --phase-dir {folder}
generate-slug "Hello, World"
git base-branch
history-digest
init autonomous
init code-review {phase}
init complete-milestone
init debug
init discuss-phase-assumptions {phase}
init docs-update
init execute-phase {phase}
init ingest-docs
init list-workspaces
init manager
init map-codebase
init milestone-op
init new-milestone
init new-project
init new-workspace
init onboard
init phase-op {phase}
init plan-phase {phase}
init progress
init quick do-it
init quick-batch
init remove-workspace x
init resume
init review {phase}
init todos
init transition
init update
init verify-work {phase}
inspect-dispatch-isolation --json
intel diff
intel extract-exports src/a1.ts
intel query x
intel status
intel update
intel validate
list-seeds
list-todos
loop render-hooks plan:pre
phase list-plans {phase}
phase mvp-mode {phase}
phase next-decimal {phase}
phase tdd-applicable {plan}
phase uat-passed {phase}
phase-plan-index {phase}
phases list
progress json
progress table
progress bar
project-instruction-file
requirements ready-ids {plan} REQ-{token}
resolve-agent --name gsd-executor --json
resolve-dispatch-type --requested gsd-executor --json
resolve-execution gsd-executor
resolve-granularity plan
resolve-model gsd-executor
roadmap analyze
roadmap get-phase {phase}
roadmap milestone-scope
roadmap validate
skills-root claude
smart-entry --json
state get status
state json
state load
state validate
state
state-snapshot
stats json
summary-extract {summary}
teams-status
template select {plan}
todo match-phase {phase}
uat classify-coverage --summary {summary}
user-story validate --story "As a user, I want to log in, so that I can work."
validate agents
validate consistency
validate context --tokens-used 10 --context-window 100 --json
validate health
verification fingerprint {folder} src/a1.ts
verification resolve-file {folder}
verification status {folder}
verify artifacts {plan}
verify codebase-drift
verify commits HEAD
verify context-drift {phase}
verify key-links {plan}
verify phase-completeness {phase}
verify plan-structure {plan}
verify references {plan}
verify schema-drift {phase}
verify-path-exists src
verify-summary {summary}
websearch x
workstream get
workstream list
workstream progress
workstream status x
worktree base-check
assumption-delta scan {phase}
capability list
capability outdated
capability state
capability trust list
check api-coverage-verify-pre {phase}
check tdd-red-evidence red.json
check tdd-review-checkpoint {phase}
check ui-safety-gate {phase}
check verify-command-paths {phase}
check verify-failure-directions {phase}
detect-custom-files --config-dir .
docs-init
estimate-calibration
graphify diff
graphify query x
graphify status
learnings list
learnings query --tag x
loop render-hooks discuss:pre
loop render-hooks discuss:post
loop render-hooks plan:post
loop render-hooks execute:pre
loop render-hooks execute:wave:pre
loop render-hooks execute:wave:post
loop render-hooks execute:post
loop render-hooks verify:pre
loop render-hooks verify:post
loop render-hooks ship:pre
loop render-hooks ship:post
normalize-test-command "npm test"
planning inspect
profile-questionnaire
refactor status --phase {phase}
research-plan --input questions.json
research-store get 1d8218c067705fc7006bfd711db87fe8e7de340d3696c2d23c5cb283d4540441
scan-sessions --json
task is-behavior-adding {plan}
update-context
"""

# Reading commands that are not compared.
LEFT_OUT = {
    "check prohibition-enforcement": "the form of a proof is our own",
    "estimate-check": "asks for a record of estimates",
    "eval score": "asks for a scoring sheet",
    "package-legitimacy check": "asks servers of the web",
    "task resolve-content": "reads a task from standard input",
    "guide": "a word of our own",
    "init yolo": "a word of our own",
    "schema": "a word of our own",
    "status": "a word of our own",
    "check predicate": "asks for a predicate on standard input",
    "uat render-checkpoint": "the project has no acceptance file",
    "runtime-identity": "each says who it is",
    "runtimes": "a word of our own",
    "hooks status": "a word of our own",
    "init workflow": "a word of our own",
    "plan lint": "a word of our own",
    "plan check": "a word of our own",
    "windows status": "has no fixed answer: it is about the machine",
    "config list": "a word of our own",
    "config explain": "a word of our own",
    "handoff read": "a word of our own",
    "gate show": "a word of our own",
    "gate list": "a word of our own",
    "loop enter": "a word of our own",
    "completions": "a word of our own",
    "auto": "a family of our own",
    "review-lane": "compared as recorded",
}

# What differs on purpose: how the line of DIFFERENCES.md begins, the calls, the places in their answers, and
# the projects where only some show it.
EXPLAINED = [
    ("- **Gaps of a phase.**", "check gap-analysis-plan-post|gap-analysis", "/"),
    ("- **Phases that people see.**", "check ui-(plan|safety)-gate", "/(frontend|matchedToken|matchedLine|block|cure)"),
    ("| `history-digest`", "history-digest", "/phases/[^/]+/affects"),
    ("| `init-progress-std`", "init (manager|progress|verify-work)", "/.*verification_next_command"),
    ("| `init-milestone-op`", "init milestone-op", "/completed_phases"),
    ("- **Texts of features.**", "loop render-hooks", "/(rendered|activeHooks/\\d+/fragment)"),
    ("- **The gate on a stale CONTEXT.md**", "loop render-hooks plan:pre", "/activeHooks/\\d+/blocking"),
    ("| `progress-m-bar`", "progress (bar|table)", "/(bar|rendered|percent)"),
    ("- **Commands** are spelled", "smart-entry", "/actions/\\d+/command"),
    ("| `validate-agents`", "validate agents", "/"),
    ("| `validate-health-code`", "validate health", "/(warnings|errors|info|suggestions)"),
    ("| `verify-plan-structure`", "verify plan-structure", "/warnings"),
    ("- **Changed assumptions.**", "assumption-delta scan", "/(terms|matches|count|detected)"),
    ("| `cap-list`", "capability list", ":"),
    ("| `cap-state`", "capability state", "/capabilities"),
    ("- **Commands of checks.**", "check verify-command-paths", "/(status|commands|counts)"),
    ("- **`planning inspect`**", "planning inspect", "/phases/\\d+/(goal|roadmap_acceptance|plans/\\d+/tasks)"),
    ("- **Questions about a person**", "profile-questionnaire", "/questions"),
    ("- **One standing.**", "init (manager|progress|plan-phase|verify-work)|progress|roadmap analyze|stats|planning inspect|workstream",
     "/.*(status|complete|deps_satisfied|(completed|in_progress)_count|percent|completed_phases|current_phase|phases_completed|is_next_to_discuss|"
     "recommended_actions/\\d+/(phase|action|reason|command)|next_phase|has_work_in_progress|current_phase/(plan|summary)_count|phase_name|current_phase/(number|name|directory)|accepted_phases/completed|workstreams/\\d+/phases)$"),
    ("- **Workstreams.**", "init (ingest-docs|map-codebase)", "/(intel|codebase)_dir"),
    ("- **Archives.**", "check (ui-plan-gate|ui-safety-gate|verify-context-drift)|verify context-drift", "/(phaseLookupFailed|reason)"),
    ("| `verification-status-std-99`", "verification (resolve-file|status)", ":|exit"),
    ("| `planning-inspect-multi`", "planning inspect", "/requirements/\\d+/diagnostics"),
    ("| `planning-inspect-multi`", "planning inspect", "/diagnostics$", "multi"),
    ("- **`planning inspect`**", "planning inspect", "/active/plan/scope"),
    ("- **Gates outside of a project**", "check|verify (schema|context)-drift", ":|exit", "green|gsd2|empty"),
    ("- **What `smart-entry` recommends.**", "smart-entry", "/(recommended|actions/\\d+/(id|label))", "ready"),
    ("- **Phases in three places.**", "validate consistency", "/warning"),
    ("| `validate-consistency-multi`", "validate consistency", "/(warnings|errors)"),
    ("- **Numbers of phases.**", "init (execute-phase|manager|milestone-op|progress)|roadmap milestone-scope|planning inspect|verification status",
     "/(phases|recommended_actions|phase_name|phase_count|diagnostics|phases/\\d+/(number|name|display_name|last_activity|goal|plan_count|phase_id|scope|dependencies/scope)|next_command)$", "odd|code"),
    ("- **Numbers of phases.**", "state json", "/progress/", "odd"),
    ("- **Numbers of phases.**", "smart-entry", "/signals/roadmap_completed_phases", "code"),
    ("- **One standing.**", "smart-entry", "/(summary|signals/current_phase|actions/\\d+/label)"),
]

NOT_COMPARED = re.compile(r"agents_|missing_agents|quick_id|task_dir|agent_runtime|next_action|timestamp|section_manifest|last_updated|message|fix$|_at$|recommendation|hint|remedy|detail|readError|^error$")


def alike(theirs, ours, place=""):
    """The places where the peer's answer says something that ours does not."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key, value in theirs.items():
            if not NOT_COMPARED.search(key):
                yield from alike(value, ours[key], f"{place}/{key}") if key in ours else [f"{place}/{key} is missing"]
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for index, (one, other) in enumerate(zip(theirs, ours)):
            yield from alike(one, other, f"{place}/{index}")
    elif theirs != ours:
        yield f"{place}: {json.dumps(theirs, ensure_ascii=False)[:80]} | {json.dumps(ours, ensure_ascii=False)[:80]}"


def explanation(call, difference, project):
    """The line of DIFFERENCES.md that is about a difference."""
    place = difference if difference.startswith("exit") else re.split(r": | is missing", difference)[0] or ":"
    return next((row[0] for row in EXPLAINED if all(re.match(*pair) for pair in zip(row[1:], (call, place, project)))), None)


def answer(argv, cwd, env):
    run = subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=True)
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "<time>", run.stdout)
    try:
        return run.returncode, json.loads(text)
    except ValueError:
        return run.returncode, text.strip()


def copied(project, cwd):
    shutil.copytree(project, cwd, symlinks=True)
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "start"]):
        subprocess.run(["git", "-c", "user.name=b", "-c", "user.email=b@example.com", *words], cwd=cwd, check=True)


# Files that some calls read.
FILES = {
    "questions.json": '{"questions": [{"text": "How are routes declared?", "kind": "docs", "library": "express"}, {"text": "What is new?", "kind": "web"}]}',
    "red.json": '{"command": "npm test", "exitCode": 1, "targetTest": "adds", "output": "1 failing: adds"}',
}


def filled(cwd, phase):
    """The calls, about one phase of the project."""
    token = phase.zfill(2)
    found = sorted(glob.glob(os.path.join(cwd, ".planning/phases", f"*{token}-*")))
    folder = os.path.relpath(found[0], cwd) if found else f".planning/phases/{token}-none"
    first = f"{folder}/{token}-01"
    return CALLS.format(phase=phase, token=token, folder=folder, plan=f"{first}-PLAN.md", summary=f"{first}-SUMMARY.md")


def unlisted(program):
    """Reading commands that stand neither above nor among those left out."""
    listed = json.loads(subprocess.run([program, "schema"], capture_output=True, check=True).stdout)
    reading = [row["command"] for row in listed["commands"] if row["effect"] == "reads"]
    called = [line for line in CALLS.split("\n") if line]
    return [verb for verb in reading if verb not in LEFT_OUT and verb.split()[0] not in LEFT_OUT and not any(f"{line} ".startswith(f"{verb} ") for line in called)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--peer", required=True)
    parser.add_argument("--phases", type=int, default=60, help="of the generated project")
    parser.add_argument("--project", help="a folder to copy instead")
    parser.add_argument("--phase", default="3", help="the phase that is asked about")
    parser.add_argument("--runs", type=int, default=0, help="how often each call is timed; 0 compares only")
    parser.add_argument("--only", help="calls that begin so")
    options = parser.parse_args()
    for verb in unlisted(options.bin):
        print(f"{verb}: not compared: it has no line in this file")
    work = tempfile.mkdtemp(prefix="gsd-same-")
    agreed, ratios, explained = 0, [], collections.Counter()
    with open(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests", "conformance", "DIFFERENCES.md"), encoding="utf-8") as file:
        lines = file.read().split("\n")
    for line, *_ in EXPLAINED:
        assert any(other.startswith(line) for other in lines), f"DIFFERENCES.md has no line that begins with {line}"
    try:
        home = os.path.join(work, "home")
        os.makedirs(home)
        env = {"HOME": home, "PATH": os.environ["PATH"], "TMPDIR": work, "LANG": "C.UTF-8", "TZ": "UTC", "GIT_CONFIG_NOSYSTEM": "1"}
        cwd = os.path.join(work, "p")
        project = os.path.basename(options.project.rstrip("/")) if options.project else ""
        copied(options.project, cwd) if options.project else measure.project(cwd, options.phases, 6)
        for name, text in FILES.items():
            with open(os.path.join(cwd, name), "w", encoding="utf-8") as file:
                file.write(text)
        calls = [line for line in filled(cwd, options.phase).split("\n") if line and line.startswith(options.only or "")]
        for call in calls:
            words = shlex.split(call)
            ours, theirs = [options.bin, *words], [*shlex.split(options.peer), *words]
            (code, mine), (peer_code, peer) = answer(ours, cwd, env), answer(theirs, cwd, env)
            differences = list(alike(peer, mine)) + ([f"exit {peer_code} | {code}"] if code != peer_code else [])
            explained.update(filter(None, (explanation(call, difference, project) for difference in differences)))
            differences = [difference for difference in differences if not explanation(call, difference, project)]
            agreed += not differences
            for difference in differences[:4]:
                print(f"{call}: {difference}")
            if options.runs:
                (_, cpu), (_, peer_cpu) = measure.figures([ours, theirs], options.runs, cwd, env)
                ratios.append((peer_cpu / max(cpu, 1e-4), cpu, call))
    finally:
        shutil.rmtree(work, ignore_errors=True)
    for line, count in explained.most_common():
        print(f"{count:4} places on purpose: {line}")
    print(f"{agreed} of {len(calls)} agree, or differ on purpose")
    for ratio, cpu, call in sorted(ratios)[:25]:
        print(f"{ratio:6.1f} times less CPU ({cpu * 1e3:.1f} ms): {call}")
    sys.exit(agreed != len(calls))


if __name__ == "__main__":
    main()
