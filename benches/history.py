#!/usr/bin/env python3
"""Whether calls cost more in a repository with a long history: CPU of whole processes, git included.

  benches/history.py --bin target/dist/gsd-tools [--peer "node gsd-tools.cjs"] [--commits 200000] [--keep FOLDER]

Makes a repository by `git fast-import` with 200,000 commits, 2,800 planning files and a ROADMAP.md of 250 KB, and measures each
call the first time in a fresh state folder, from the second time on at the same commit (the median), and after ten more
commits. Exits 1 where a call takes more than its bound. Needs git, and about a minute to make the repository.
"""
import argparse
import json
import os
import pty
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from measure import once

PHASES, PLANS, EVERY = 400, 3, 100
SECOND, AFTER_TEN, PEER_MOST = 25, 40, 60
PEER = {"progress": ["progress", "json"], "roadmap analyze": ["roadmap", "analyze"], "stats": ["stats", "json"], "init progress": ["init", "progress"]}
EVENT = json.dumps({"session_id": "bench", "hook_event_name": "SessionStart", "source": "startup"})
CALLS = [
    ("dashboard", [], ""), ("smart-entry", ["smart-entry", "--json"], ""), ("progress", ["progress"], ""),
    ("roadmap analyze", ["roadmap", "analyze"], ""), ("stats", ["stats"], ""), ("init progress", ["init", "progress"], ""),
    ("verification status", ["verification", "status", "7"], ""), ("session start", ["hook", "standard", "session-start"], EVENT),
]


def documents():
    """The planning files in the order in which they are committed: path, text."""
    bullets, details, rows = [], [], []
    for number in range(1, PHASES + 1):
        done = number <= PHASES // 2
        bullets.append(f"- [{'x' if done else ' '}] **Phase {number}: Part {number}** - what part {number} brings to those who use it, in a sentence")
        details.append(f"### Phase {number}: Part {number}\n**Goal**: part {number} works for everybody who needs it, whatever they did before, and says so in words that they know\n"
                       f"**Depends on**: Phase {number - 1}\n**Requirements**: REQ-{number:03}\n**Success Criteria** (what must be TRUE):\n"
                       f"  1. a person can do what part {number} is for\n  2. nothing that worked before has stopped to work\n"
                       f"**Plans**: {PLANS} plans\n\nPlans:\n"
                       + "\n".join(f"- [{'x' if done else ' '}] {number:03}-{plan:02}-PLAN.md — step {plan} of part {number}" for plan in range(1, PLANS + 1)))
        rows.append(f"| {number}. Part {number} | {PLANS if done else 0}/{PLANS} | {'Complete' if done else 'Not started'} | - |")
    yield "PROJECT.md", "# Bench\n"
    yield "config.json", '{\n  "mode": "yolo"\n}\n'
    yield "REQUIREMENTS.md", "# Requirements\n\n" + "".join(f"- [{'x' if n <= PHASES // 2 else ' '}] **REQ-{n:03}**: part {n} works\n" for n in range(1, PHASES + 1))
    yield "ROADMAP.md", ("# Roadmap: Bench\n\n## Phases\n\n### 🚧 v1.0 Bench (In Progress)\n\n" + "\n".join(bullets) + "\n\n## Phase Details\n\n"
                         + "\n\n".join(details) + "\n\n---\n\n## Progress\n\n| Phase | Plans Complete | Status | Completed |\n|---|---|---|---|\n" + "\n".join(rows) + "\n")
    done = PHASES // 2
    yield "STATE.md", (f"---\nmilestone: v1.0\nstatus: executing\nprogress:\n  total_phases: {PHASES}\n  completed_phases: {done}\n"
                       f"  total_plans: {PHASES * PLANS}\n  completed_plans: {done * PLANS}\n  percent: 50\n---\n\n# Project State\n\n## Current Position\n\n"
                       f"Phase: {done + 1} of {PHASES} (Part {done + 1})\nPlan: 1 of {PLANS}\nStatus: In progress\n")
    for number in range(1, PHASES + 1):
        phase = f"{number:03}-part-{number}"
        folder = f"phases/{phase}"
        yield f"{folder}/{number:03}-CONTEXT.md", "# Context\n\n<decisions>\n- **D-01:** as before\n</decisions>\n"
        if number % 2:
            yield f"{folder}/{number:03}-RESEARCH.md", "# Research\n\nNothing new.\n"
        for plan in range(1, PLANS + 1):
            head = f"---\nphase: {phase}\nplan: {plan:02}\n"
            yield f"{folder}/{number:03}-{plan:02}-PLAN.md", (
                head + f"type: execute\nwave: {plan}\ndepends_on: []\nfiles_modified: [src/a{plan}.ts]\nautonomous: true\nrequirements: [REQ-{number:03}]\n"
                "must_haves:\n  truths:\n    - it works\n---\n\n<objective>\nA step\n</objective>\n\n<tasks>\n"
                + '<task type="auto">\n  <name>Task</name>\n  <files>src/a.ts</files>\n  <action>do</action>\n  <verify><automated>npm test</automated></verify>\n  <done>done</done>\n</task>\n' * 3
                + "</tasks>\n")
            if number <= PHASES // 2 + 50:
                yield f"{folder}/{number:03}-{plan:02}-SUMMARY.md", (
                    head + "subsystem: x\ntags: []\nduration: 5min\ncompleted: 2026-01-02\nstatus: complete\n---\n\n# Summary\n\n**Done**\n")
        if number <= done:
            yield f"{folder}/{number:03}-VERIFICATION.md", "---\nstatus: passed\n---\n"
            yield f"{folder}/{number:03}-UAT.md", "---\nstatus: complete\n---\n\n## Tests\n\n### 1. Test\nexpected: it works\nresult: pass\n"


def repository(root, commits):
    """A repository of `commits` commits on one branch, and its planning files spread over the first half of them."""
    git = ["git", "-c", "core.commitGraph=false", "-C", root]
    os.makedirs(root)
    subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
    files = list(documents())
    importer = subprocess.Popen([*git, "fast-import", "--quiet", "--done"], stdin=subprocess.PIPE)
    say = lambda text: importer.stdin.write(text.encode())
    start, step = 1_600_000_000, max(1, commits // 2 // len(files))
    for number in range(commits):
        say(f"commit refs/heads/main\ncommitter B <b@example.com> {start + number * 60} +0000\ndata <<E\nwork {number}\nE\n")
        say(f"M 644 inline src/part{number % 100}/file.txt\ndata <<E\n{number}\nE\n")
        if number % step == 0 and number // step < len(files):
            path, text = files[number // step]
            say(f"M 644 inline .planning/{path}\ndata {len(text.encode())}\n{text}\n")
        say("\n")
    say("done\n")
    importer.stdin.close()
    if importer.wait():
        raise SystemExit("git fast-import failed")
    # As old as files are that people work on: git reads again what is as young as its index.
    subprocess.run([*git, "reset", "-q", "--hard"], check=True)
    old = start + commits * 60
    for folder, _, names in os.walk(root):
        if ".git" not in folder.split(os.sep):
            for name in names:
                os.utime(os.path.join(folder, name), (old, old))
    subprocess.run([*git, "update-index", "-q", "--refresh"], check=True)
    return len(files)


def commit(root, number):
    """Ten commits, of which one changes a summary and one the state."""
    for index in range(10):
        path = {3: ".planning/phases/007-part-7/007-01-SUMMARY.md", 6: ".planning/STATE.md"}.get(index, f"src/part{index}/file.txt")
        with open(os.path.join(root, path), "a", encoding="utf-8") as file:
            file.write(f"\nmore {number}\n")
        git = ["git", "-C", root, "-c", "user.name=b", "-c", "user.email=b@example.com", "-c", "gc.auto=0", "-c", "maintenance.auto=false"]
        subprocess.run([*git, "commit", "-q", "-a", "-m", "more"], check=True)


def at_terminal(argv, cwd, env):
    """CPU seconds of one run whose output is a terminal, children included."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execve(argv[0], argv, env)
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:
        pass  # the terminal is closed
    _, _, usage = os.wait4(pid, 0)
    os.close(terminal)
    return usage.ru_utime + usage.ru_stime


def milliseconds(argv, cwd, env, event, terminal):
    return 1e3 * (at_terminal(argv, cwd, env) if terminal else once(argv, cwd, env, event)[1])


def of_peer(argv, cwd, env):
    """Wall milliseconds of one run of the peer; what takes longer than PEER_MOST is ended, with what it started."""
    start = time.perf_counter()
    process = subprocess.Popen(argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        process.wait(PEER_MOST)
        return f"{1e3 * (time.perf_counter() - start):.0f}"
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return f"> {1000 * PEER_MOST}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--peer")
    parser.add_argument("--commits", type=int, default=200_000)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--keep", help="a folder for the repository, which is used again if it is there")
    options = parser.parse_args()
    work = tempfile.mkdtemp(prefix="gsd-bench-")
    try:
        root = options.keep or os.path.join(work, "project")
        if not os.path.isdir(root):
            print(f"{repository(root, options.commits)} planning files, {options.commits} commits", flush=True)
        binary, peer = os.path.abspath(options.bin), shlex.split(options.peer) if options.peer else None
        env = {"HOME": os.path.join(work, "home"), "PATH": os.environ["PATH"], "TMPDIR": work, "LANG": "C.UTF-8", "TZ": "UTC", "TERM": "xterm"}
        os.makedirs(env["HOME"])
        state = os.path.join(env["HOME"], ".local")
        over = []
        print(f"{'call':20} {'first ms':>9} {'second ms':>9} {'after ten':>9}" + (f" {'peer ms':>9}" if peer else ""))
        for number, (name, words, event) in enumerate(CALLS):
            shutil.rmtree(state, ignore_errors=True)
            event = event and json.dumps({**json.loads(event), "cwd": root})
            argv = [binary, *words]
            ask = lambda: milliseconds(argv, root, env, event, not words)
            # What is younger may still change within the grain of the disk's clock: how it compares is not remembered.
            time.sleep(2.5)
            first = ask()
            second = statistics.median(ask() for _ in range(options.runs))
            later = []
            for turn in range(3):
                commit(root, number * 3 + turn)
                later.append(ask())
            after = statistics.median(later)
            line = f"{name:20} {first:9.1f} {second:9.1f} {after:9.1f}"
            if peer and name in PEER:
                line += f" {of_peer([*peer, *PEER[name]], root, env):>9}"
            print(line, flush=True)
            over += [f"{name}, second call: {second:.1f} ms, at most {SECOND}"] if second > SECOND else []
            over += [f"{name}, after ten commits: {after:.1f} ms, at most {AFTER_TEN}"] if after > AFTER_TEN else []
        for finding in over:
            print(f"OVER: {finding}")
        return 1 if over else 0
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
