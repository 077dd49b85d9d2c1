#!/usr/bin/env python3
"""Whether large inputs cost linear time: each call at a quarter of an input and at all of it, the ratio, and the memory.

  benches/linear.py --bin target/dist/gsd-tools [--only INPUT] [--calls PREFIX] [--every] [--part 1]

The inputs are as large as the program takes them: documents just under 16 MB,
settings of hosts just under 8 MB, our own configuration and command lines just under 1 MB. `--every` puts
each shape into each document and asks every command; `--part 0.05` makes all inputs smaller. Exits 1 if a call takes more
than 2 s of CPU or 300 MB (or than KNOWN gives it), or if four times the input costs more than six times the time.
"""
import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import measure
import same

SECONDS, MEGABYTES, RATIO = 2.0, 300, 6.0
# Below this a call is mostly its start, and its ratio says nothing.
MEASURABLE = 0.08
# What may take more, by the beginnings of input and call: seconds, megabytes, and why. The ratio holds for these too.
KNOWN = [
    ("350,000 headings", "init manager", 4, 900, "the answer has a row for each heading"),
    ("350,000 headings", "roadmap analyze", 2, 500, "the answer has a row for each heading"),
    ("350,000 headings", "init progress", 3, 650, "the answer has a row for each phase"),
    ("350,000 headings", "phase complete", 3, 300, "the phases of the milestone are listed for each question about them"),
    ("350,000 headings", "phase remove", 2.5, 350, "the text before and after is in memory, parsed"),
    ("ROADMAP.md: tables", "phase add", 5, 750, "half a million rows are parsed before and after the edit"),
    ("ROADMAP.md: tables", "", 2, 450, "half a million rows are kept with their cells"),
    ("settings.json: comments", "install", 15, 300, "each entry that is added reads 300,000 comments again"),
    ("settings.json: numbers", "", 4, 600, "four million numbers take that much"),
    ("config.toml", "", 5, 700, "the parser's tree of 8 MB takes that much"),
    ("config.yaml", "", 8, 1000, "each edit is checked by reading the text after it, and comparing trees of 8 MB"),
]
DOCUMENT, SETTINGS, CONFIG_SIZE, COMMAND_SIZE = 16_000_000, 7_900_000, 1_000_000, 1_000_000
# Where the command line of an agent is kept that a hook is asked about.
COMMAND = "command.txt"

FOLDER = ".planning/phases/01-part-1"
DOCUMENTS = {
    "STATE.md": ".planning/STATE.md", "ROADMAP.md": ".planning/ROADMAP.md", "REQUIREMENTS.md": ".planning/REQUIREMENTS.md",
    "PROJECT.md": ".planning/PROJECT.md", "PLAN.md": f"{FOLDER}/01-01-PLAN.md", "SUMMARY.md": f"{FOLDER}/01-01-SUMMARY.md",
    "VERIFICATION.md": f"{FOLDER}/01-VERIFICATION.md", "CONTEXT.md": f"{FOLDER}/01-CONTEXT.md", "UAT.md": f"{FOLDER}/01-UAT.md",
}
HEADS = {
    "STATE.md": "---\nmilestone: v1.0\nstatus: executing\n---\n\n# Project State\n\n## Current Position\n\nPhase: 1 of 3 (Part 1)\nPlan: 1 of 2\nStatus: In progress\n\n",
    "ROADMAP.md": "# Roadmap\n\n## Phases\n\n- [ ] **Phase 1: Part 1** - part\n\n### Phase 1: Part 1\n**Goal**: it works\n**Plans**: 2 plans\n\n",
    "PLAN.md": "---\nphase: 01-part-1\nplan: 01\ntype: execute\nwave: 1\ndepends_on: []\nfiles_modified: [src/a1.ts]\nautonomous: true\nrequirements: [REQ-01]\nmust_haves:\n  truths:\n    - it works\n---\n\n",
    "SUMMARY.md": "---\nphase: 01-part-1\nplan: 01\nstatus: complete\n---\n\n# Summary\n\n",
    "VERIFICATION.md": "---\nstatus: passed\n---\n\n# Verification\n\n",
    "CONTEXT.md": "# Context\n\n<decisions>\n", "UAT.md": "---\nstatus: testing\n---\n\n## Tests\n\n",
}
# What one line of a document looks like, by its number.
SHAPES = {
    "lines": lambda i: f"An ordinary line of text, number {i}, which says a little.\n",
    "one line": lambda i: "word ",
    "nested lists": lambda i: " " * (i % 200) + "- item\n",
    "deeper lists": lambda i: " " * min(i, 4000) + "- item\n",
    "fences": lambda i: ("````" if i % 2 else "~~~") + " sh\n",
    "tables": lambda i: "| Phase | Status |\n|---|---|\n| 1. A | Done |\n\n",
    "rows": lambda i: f"| Phase | Plans Complete | Status | Completed |\n|---|---|---|---|\n" if i == 0 else f"| {i}. Part | 0/1 | Not started | - |\n",
    "checkboxes": lambda i: f"- [ ] **REQ-{i}**: it works\n",
    "plans": lambda i: f"- [ ] 01-{i:02}-PLAN.md — step {i}\n",
    "headings": lambda i: f"## Section {i}\n",
    "decisions": lambda i: "### Decisions\n\n" if i == 0 else f"- [Phase 1]: decision {i} was made\n",
    "numbered": lambda i: f"**D-{i:02}:** we decide {i}\n",
    "tasks": lambda i: '<task type="auto">\n  <name>T</name>\n  <files>src/a.ts</files>\n  <action>do</action>\n  <verify><automated>npm test</automated></verify>\n  <done>d</done>\n</task>\n',
    "open tags": lambda i: "<task type=\"auto\"><details><decisions>\n",
    "details": lambda i: f"<details>\n<summary>v{i}.0 Shipped</summary>\n\n### Phase {i}: A\n\n</details>\n",
    "fields": lambda i: f"**Field {i}**: value\nStatus: open\n",
    "comments": lambda i: "<!-- one --> <!-- two\n",
    "tests": lambda i: f"### {i}. Test\nexpected: it works\nresult: [pending]\n\n",
    "brackets": lambda i: "[[[((({{{`**",
    "quotes": lambda i: "> quote `code` **bold** [link](a.md)\n",
    "bullets": lambda i: f"- [ ] **Phase {i}: Part** - part\n",
    "phases": lambda i: f"### Phase {i}: Part\n**Goal**: works\n**Requirements**: REQ-{i}\n**Depends on**: Phase {i - 1}\n\n",
    "milestones": lambda i: f"## v{i}.0 Part\n\n### Phase {i}: Part\n\n",
}
WRITES = """
state update status executing
state sync
state rebuild
state add-decision --phase 1 --summary choice
state add-blocker --text wall
state resolve-blocker --text wall
state record-metric --phase 1 --plan 1 --duration 5min
state record-session --stopped-at here
state update-progress
state advance-plan
state begin-phase --phase 1 --name Part
state planned-phase --phase 1 --plans 2
state patch --status executing
state prune --keep-recent 1
roadmap annotate-dependencies 1
roadmap update-plan-progress 1
roadmap upgrade
requirements mark-complete REQ-1
phase add Next
phase insert 1 Between
phase complete 1
frontmatter set {plan} --field wave --value 2
frontmatter merge {plan} --data {{"wave":3}}
phase remove 3 --force
milestone complete v1.0 --name M
"""
# The shapes that are asked about unless all are.
USUAL = {
    "STATE.md": ["lines", "one line", "decisions", "tables"], "ROADMAP.md": ["lines", "nested lists", "fences", "tables", "rows", "phases"],
    "REQUIREMENTS.md": ["checkboxes"], "PLAN.md": ["tasks", "open tags"], "UAT.md": ["tests"], "CONTEXT.md": ["numbered"],
}
ASKED = """
roadmap analyze
init progress
init execute-phase 1
state json
state update status executing
state add-decision --phase 1 --summary choice
progress json
phase add Next
validate consistency
validate health
plan check 1
verify plan-structure {plan}
audit-uat
check decision-coverage-plan {folder} {folder}/01-CONTEXT.md
requirements mark-complete REQ-1
"""
HOOKS = ["session-start", "before-tool", "after-tool", "before-compact", "status-line"]
EVENTS = {"session-start": "SessionStart", "before-tool": "PreToolUse", "after-tool": "PostToolUse", "before-compact": "PreCompact", "status-line": "Status"}
PHASES = """
roadmap analyze
roadmap get-phase 1
roadmap validate
roadmap milestone-scope
init progress
init manager
init plan-phase 1
init execute-phase 1
init new-milestone
init milestone-op
init complete-milestone
find-phase 1
state
state json
state sync
state validate
state-snapshot
progress json
progress table
progress bar
stats json
phases list
phase next-decimal 1
phase add Next
phase insert 1 Between
phase complete 1
validate consistency
validate health
smart-entry --json
audit-uat
audit-open --json
history-digest
planning inspect
docs-init
phase remove 3 --force
milestone complete v1.0 --name M
"""
FRONT_MATTER = """
frontmatter get {plan}
frontmatter get {plan} --field k5
frontmatter set {plan} --field wave --value 2
frontmatter set {plan} --field fresh --value 2
frontmatter merge {plan} --data {{"wave":3,"k7":"x"}}
frontmatter validate {plan} --schema plan
state json
state
state get status
state update status executing
state sync
state rebuild
state validate
state begin-phase --phase 1 --name Part
validate health
validate consistency
init progress
init execute-phase 1
progress json
phase-plan-index 1
verify plan-structure {plan}
plan check 1
"""
CONFIG = """
config-get mode
config-get k5
config-set mode yolo
config-set workflow.research false
config-ensure-section
migrate-config
init progress
state load
resolve-model gsd-executor
validate health
capability list
capability state
smart-entry --json
"""


def put(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines([text] if isinstance(text, str) else text)


def repeated(head, size, line):
    """`head`, then lines by their number, up to `size` bytes."""
    yield head
    length, number = len(head), 0
    while True:
        text = line(number)
        length += len(text.encode())
        if length > size:
            return
        yield text
        number += 1


def event(name, folder):
    payload = {"session_id": "bench", "cwd": folder, "hook_event_name": EVENTS[name], "source": "startup", "model": {"display_name": "Model"},
               "workspace": {"current_dir": folder}, "context_window": {"remaining_percentage": 80.0}, "tool_name": "Write",
               "tool_input": {"file_path": f"{folder}/src/new.ts", "content": "x"}, "tool_response": {"type": "create"}}
    command = f"{folder}/{COMMAND}"
    if os.path.exists(command):
        payload.update(tool_name="Bash", tool_input={"command": open(command, encoding="utf-8").read()})
    return json.dumps(payload)


def command(text):
    """A project whose agent types a command line of `size` bytes."""
    def build(root, home, size):
        small(root)
        put(f"{root}/{COMMAND}", text(size))
    return build


def calls(text):
    names = {"phase": "1", "token": "01", "folder": FOLDER, "plan": f"{FOLDER}/01-01-PLAN.md", "summary": f"{FOLDER}/01-01-SUMMARY.md"}
    return [shlex.split(line) if '{' not in line else line.split(" ") for line in text.format(**names).split("\n") if line]


def hooks():
    return [["hook", "standard", name] for name in HOOKS]


def small(root, phases=3, plans=2):
    measure.project(root, phases, plans)


def document(name, shape):
    """A project with one document of `size` bytes, all of one shape."""
    def build(root, home, size):
        small(root)
        put(f"{root}/{DOCUMENTS[name]}", repeated(HEADS.get(name, "# Title\n\n"), size, SHAPES[shape]))
    return build


def roadmap(line):
    def build(root, home, number):
        small(root)
        put(f"{root}/.planning/ROADMAP.md", (line(i) for i in range(number)))
    return build


def phases(root, home, number):
    small(root, number, 1)


def keys(root, home, number):
    small(root)
    for name in ("STATE.md", "PLAN.md"):
        path = f"{root}/{DOCUMENTS[name]}"
        text = open(path, encoding="utf-8").read()
        put(path, ["---\n", *(f"k{i}: value {i}\n" for i in range(number)), text.removeprefix("---\n")])


def settings(path, text):
    """Settings of a host in the home, written by `text` up to `size` bytes."""
    def build(root, home, size):
        small(root)
        put(f"{home}/{path}", text(size))
    return build


def entries(open_, line, close, between=",\n"):
    def text(size):
        yield open_
        length, number = len(open_) + len(close), 0
        while True:
            part = (between if number else "") + line(number)
            length += len(part)
            if length > size:
                break
            yield part
            number += 1
        yield close
    return text


def config(text):
    def build(root, home, size):
        small(root)
        put(f"{root}/.planning/config.json", text(size))
    return build


def installs(host):
    flag = f"--{host}"
    return [["install", flag, "--global"], ["status", flag], ["install", flag, "--global"], ["uninstall", flag, "--global"]]


COMMANDS = {
    "code that opens files": entries("python3 -c \"", lambda i: "open('a.md','w')", "\" .planning", ";"),
    "code with names": entries("python3 -c \"", lambda i: f"'x{i}'", "\" .planning", ";"),
    "names of files": entries("", lambda i: f"x{i}.env.rs", "", " "),
    "patterns": entries("cat ", lambda i: f"src/*{i}*", "", " "),
    "small commands": entries("", lambda i: ":", "", ";"),
}
JSON = {
    "entries": entries('{\n"env": {\n', lambda i: f'"K{i}": "value"', "\n}\n}\n"),
    "top keys": entries("{\n", lambda i: f'"K{i}": "value"', "\n}\n"),
    "one key": entries("{\n", lambda i: '"K": "value"', "\n}\n"),
    "list": entries('{\n"permissions": {"allow": [\n', lambda i: f'"Bash(x{i} *)"', "\n]}\n}\n"),
    "hooks": entries('{\n"hooks": {"PreToolUse": [\n', lambda i: '{"matcher": "Bash", "hooks": [{"type": "command", "command": "x%d"}]}' % i, "\n]}\n}\n"),
    "one string": lambda size: ['{"a": "', "x" * (size - 20), '"}\n'],
    "one line": entries('{"env": {', lambda i: f'"K{i}": "value"', "}}", ","),
    "comments": entries("{\n", lambda i: f'// comment {i}', "\n}\n", "\n"),
    "numbers": entries('{"a": [', lambda i: "1", "]}", ","),
}
TOML = {
    "tables": entries("", lambda i: f"[mcp_servers.s{i}]\ncommand = \"x\"\n", "", ""),
    "keys": entries("[env]\n", lambda i: f"k{i} = \"value\"\n", "", ""),
    "top keys": entries("", lambda i: f"k{i} = \"value\"\n", "", ""),
    "list": entries("notify = [\n", lambda i: f"\"value {i}\"", "\n]\n"),
    "hooks": entries("", lambda i: f"[[hooks.PreToolUse]]\nmatcher = \"x{i}\"\n", "", ""),
    "comments": entries("", lambda i: f"# comment {i}\n", "", ""),
    "one string": lambda size: ['a = "', "x" * (size - 20), '"\n'],
}
YAML = {
    "keys": entries("env:\n", lambda i: f"  k{i}: value\n", "", ""),
    "top keys": entries("", lambda i: f"k{i}: value\n", "", ""),
    "list": entries("command_allowlist:\n", lambda i: f"  - value {i}\n", "", ""),
    "hooks": entries("hooks:\n  pre_tool_call:\n", lambda i: f"    - matcher: x{i}\n      command: y\n", "", ""),
    "comments": entries("", lambda i: f"# comment {i}\n", "", ""),
    "one string": lambda size: ['a: "', "x" * (size - 20), '"\n'],
}


def inputs(every):
    """Name, size, how it is built, what is asked."""
    yield "front matter of 100,000 keys", 100_000, keys, calls(FRONT_MATTER) + hooks()
    yield "350,000 headings of one phase", 350_000, roadmap(lambda i: "### Phase 1: Part\n"), calls(PHASES) + hooks()
    yield "350,000 headings", 350_000, roadmap(lambda i: f"### Phase {i}: Part\n"), calls(PHASES) + hooks()
    yield "20,000 phases", 20_000, phases, calls(PHASES) + hooks()
    for name, text in COMMANDS.items():
        yield f"command line: {name}", COMMAND_SIZE, command(text), calls("hook standard before-tool")
    for name, text in JSON.items():
        yield f"config.json: {name}", CONFIG_SIZE, config(text), calls(CONFIG) + hooks()
        yield f"settings.json: {name}", SETTINGS, settings(".claude/settings.json", text), installs("claude") + hooks()
    for name, text in TOML.items():
        yield f"config.toml: {name}", SETTINGS, settings(".codex/config.toml", text), installs("codex")
    for name, text in YAML.items():
        yield f"config.yaml: {name}", SETTINGS, settings(".hermes/config.yaml", text), installs("hermes")
    for shape in SHAPES:
        for name in DOCUMENTS:
            if every or shape in USUAL.get(name, ()):
                asked = calls(same.CALLS) + calls(PHASES) + calls(WRITES) if every else calls(ASKED)
                yield f"{name}: {shape}", DOCUMENT, document(name, shape), asked + hooks()


def run(argv, cwd, env, stdin):
    """Wall and CPU seconds, peak in MB and exit code of one call. The kernel's figure counts this script's own memory as the least."""
    start = time.perf_counter()
    child = subprocess.Popen(argv, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        child.stdin.write(stdin.encode())
        child.stdin.close()
    except BrokenPipeError:
        pass  # a program that does not read its input closes the pipe
    late = threading.Timer(30, child.kill)
    late.start()
    _, status, usage = os.wait4(child.pid, 0)
    late.cancel()
    child.returncode = os.waitstatus_to_exitcode(status)
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, child.returncode


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--only", default="", help="inputs whose name has this in it")
    parser.add_argument("--calls", default="", help="calls that begin so")
    parser.add_argument("--every", action="store_true", help="ask every reading command about each document")
    parser.add_argument("--part", type=float, default=1, help="of the size of each input")
    parser.add_argument("--slow", type=float, default=0.0, help="print calls from this many seconds on only")
    options = parser.parse_args()
    binary, over = os.path.abspath(options.bin), 0
    for name, size, build, asked in inputs(options.every):
        if options.only not in name:
            continue
        work = tempfile.mkdtemp(prefix="gsd-bench-")
        try:
            found = {}
            for part in (4, 1):
                root, home = os.path.join(work, f"p{part}"), os.path.join(work, f"home{part}")
                os.makedirs(home)
                env = {"HOME": home, "PATH": os.environ["PATH"], "TMPDIR": work, "LANG": "C.UTF-8", "TZ": "UTC", "GSD_UPDATE_CHECK": "off"}
                build(root, home, int(size * options.part) // part)
                for at, words in enumerate(asked):
                    if " ".join(words).startswith(options.calls):
                        stdin = event(words[2], root) if words[0] == "hook" else ""
                        found.setdefault(at, []).append(run([binary, *words], root, env, stdin))
            print(name)
            for at, ((_, quarter, _, _), (wall, whole, memory, code)) in found.items():
                ratio = whole / max(quarter, 1e-3)
                call = " ".join(asked[at])
                known = ((*limits, why) for begins, verb, *limits, why in KNOWN if name.startswith(begins) and call.startswith(verb))
                seconds, megabytes, why = next(known, (SECONDS, MEGABYTES, ""))
                bad = whole > seconds or memory > megabytes or (whole > MEASURABLE * options.part and ratio > RATIO)
                over += bad
                if bad or whole >= options.slow:
                    remark = "  OVER" if bad else f"  ({why})" if whole > SECONDS or memory > MEGABYTES else ""
                    print(f"  {call[:58]:58} {quarter:7.3f} s {whole:7.3f} s {wall:7.3f} s {ratio:5.1f} {memory:6.0f} MB  exit {code}{remark}", flush=True)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    print(f"{over} over a limit" if over else "within the limits")
    sys.exit(bool(over))


if __name__ == "__main__":
    main()
