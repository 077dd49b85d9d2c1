#!/usr/bin/env python3
"""Whole-process figures of gsd-tools: CPU and wall medians, peak memory, sizes; against a peer in the same run if given."""
import argparse
import json
import os
import shlex
import shutil
import statistics
import subprocess
import tempfile
import time


def project(root, phases, plans):
    """A project of `phases` phases with `plans` plans each; the first half is done and verified."""
    planning = os.path.join(root, ".planning")
    os.makedirs(os.path.join(planning, "phases"))
    put = lambda path, text: open(os.path.join(planning, path), "w", encoding="utf-8").write(text)
    bullets, details, rows = [], [], []
    for number in range(1, phases + 1):
        done = number <= phases // 2
        folder = f"phases/{number:02}-part-{number}"
        os.makedirs(os.path.join(planning, folder))
        bullets.append(f"- [{'x' if done else ' '}] **Phase {number}: Part {number}** - part")
        lines = [f"### Phase {number}: Part {number}", f"**Goal**: part {number} works", f"**Depends on**: Phase {number - 1}",
                 f"**Requirements**: REQ-{number:02}", "**Success Criteria** (what must be TRUE):", "  1. it works",
                 f"**Plans**: {plans} plans", "", "Plans:"]
        for plan in range(1, plans + 1):
            name = f"{number:02}-{plan:02}"
            lines.append(f"- [{'x' if done else ' '}] {name}-PLAN.md — step {plan}")
            put(f"{folder}/{name}-PLAN.md", f"---\nphase: {number:02}-part-{number}\nplan: {plan:02}\ntype: execute\nwave: {plan}\n"
                f"depends_on: [{f'{number:02}-{plan - 1:02}' if plan > 1 else ''}]\nfiles_modified: [src/a{plan}.ts]\nautonomous: true\n"
                f"requirements: [REQ-{number:02}]\nmust_haves:\n  truths:\n    - it works\n---\n\n<objective>\nStep {plan}\n</objective>\n\n"
                + "<tasks>\n" + "<task type=\"auto\">\n  <name>Task</name>\n  <files>src/a.ts</files>\n  <action>do</action>\n"
                  "  <verify><automated>npm test</automated></verify>\n  <done>done</done>\n</task>\n" * 3 + "</tasks>\n")
            if done:
                put(f"{folder}/{name}-SUMMARY.md", f"---\nphase: {number:02}-part-{number}\nplan: {plan:02}\nsubsystem: x\ntags: []\n"
                    "duration: 5min\ncompleted: 2026-01-02\nstatus: complete\n---\n\n# Summary\n\n**Done**\n")
        if done:
            put(f"{folder}/{number:02}-VERIFICATION.md", "---\nstatus: passed\n---\n")
        details.append("\n".join(lines))
        rows.append(f"| {number}. Part {number} | {plans if done else 0}/{plans} | {'Complete' if done else 'Not started'} | - |")
    put("ROADMAP.md", "# Roadmap: Bench\n\n## Phases\n\n### 🚧 v1.0 Bench (In Progress)\n\n" + "\n".join(bullets)
        + "\n\n## Phase Details\n\n" + "\n\n".join(details) + "\n\n---\n\n## Progress\n\n| Phase | Plans Complete | Status | Completed |\n|---|---|---|---|\n"
        + "\n".join(rows) + "\n")
    finished = phases // 2
    put("STATE.md", f"---\nmilestone: v1.0\nstatus: executing\nprogress:\n  total_phases: {phases}\n  completed_phases: {finished}\n"
        f"  total_plans: {phases * plans}\n  completed_plans: {finished * plans}\n  percent: {100 * finished // phases}\n---\n\n# Project State\n\n## Current Position\n\nPhase: 1 of 9 (Part 1)\nPlan: 1 of 6\nStatus: In progress\n")
    put("PROJECT.md", "# Bench\n")
    put("config.json", '{\n  "mode": "yolo"\n}\n')
    git = lambda *words: subprocess.run(["git", "-c", "user.name=b", "-c", "user.email=b@example.com", *words], cwd=root, check=True, stdout=subprocess.DEVNULL)
    # Git reads files again that are as young as its index: a project that people work on is older than that.
    time.sleep(1.1)
    git("init", "-q", "-b", "main"), git("add", "-A"), git("commit", "-q", "-m", "start")
    return root


def once(argv, cwd, env, stdin):
    """Wall and CPU seconds of one run, children included."""
    start = time.perf_counter()
    process = subprocess.Popen(argv, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.stdin.write(stdin.encode())
        process.stdin.close()
    except BrokenPipeError:
        pass  # a program that does not read its input closes the pipe
    _, _, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = 0
    return wall, usage.ru_utime + usage.ru_stime


def peak(argv, cwd, env, stdin):
    """Peak memory of one run in MiB, as GNU time tells it; the kernel's own figure would be that of this script."""
    timer = shutil.which("time")
    if not timer:
        return float("nan")
    run = subprocess.run([timer, "-f", "%M", *argv], cwd=cwd, env=env, input=stdin, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return int(run.stderr.split()[-1]) / 1024


def figures(argvs, runs, cwd, env, stdin=""):
    """Median (wall, CPU) of each command line, run in turn."""
    found = [[] for _ in argvs]
    for argv in argvs:
        once(argv, cwd, env, stdin)
    for _ in range(runs):
        for index, argv in enumerate(argvs):
            found[index].append(once(argv, cwd, env, stdin))
    return [tuple(statistics.median(run[k] for run in one) for k in range(2)) for one in found]


def every_host(binary, work, runs=5):
    """All hosts in one call, each time in an empty home: the time, the text of each host, whether the binary is linked.

    Says what is above its bound; the bounds are 3 s for the call and 2.5 MB of text for a host."""
    walls, over = [], []
    for run in range(runs):
        home = os.path.join(work, f"all-{run}")
        os.makedirs(home)
        env = {"HOME": home, "PATH": os.environ["PATH"], "TMPDIR": work, "LANG": "C.UTF-8", "TZ": "UTC"}
        walls.append(once([binary, "install", "--all", "--global"], home, env, "")[0])
    texts, linked, hosts = {}, 0, 0
    for folder, _, files in os.walk(home):
        if ".gsd-runtime" not in files:
            continue
        hosts += 1
        host = open(os.path.join(folder, ".gsd-runtime"), encoding="utf-8").read().strip()
        root = os.path.dirname(folder)
        manifest = json.load(open(os.path.join(root, "gsd-file-manifest.json"), encoding="utf-8"))
        owned = [os.path.join(root, path) for path in manifest["installs"][f"{host}/global"]["files"]]
        programs = [path for path in owned if os.path.basename(path) == "gsd-tools"]
        texts[host] = sum(os.path.getsize(path) for path in owned if path not in programs)
        linked += all(os.path.samefile(path, binary) for path in programs)
    wall, most = statistics.median(walls), max(texts, key=texts.get)
    same_disk = os.stat(binary).st_dev == os.stat(home).st_dev
    print(f"all {hosts} hosts: {wall * 1e3:.0f} ms, most text {texts[most] / 1e6:.2f} MB ({most}), binary linked by {linked}"
          + ("" if same_disk else " (another file system: copied)"))
    if wall > 3:
        over.append(f"all hosts in one call: {wall:.1f} s, at most 3")
    over += [f"{host}: {size / 1e6:.2f} MB of text, at most 2.5" for host, size in texts.items() if size > 2.5e6]
    if same_disk and linked < hosts:
        over.append(f"the binary is copied for {hosts - linked} hosts")
    return over


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--peer")
    parser.add_argument("--peer-install")
    parser.add_argument("--runs", type=int, default=50)
    options = parser.parse_args()
    peer = shlex.split(options.peer) if options.peer else None
    work = tempfile.mkdtemp(prefix="gsd-bench-")
    try:
        home = os.path.join(work, "home")
        os.makedirs(home)
        env = {"HOME": home, "PATH": os.environ["PATH"], "TMPDIR": work, "LANG": "C.UTF-8", "TZ": "UTC"}
        middle = project(os.path.join(work, "p60"), 60, 6)
        large = project(os.path.join(work, "p600"), 600, 6)
        print(f"binary: {os.path.getsize(options.bin) / 1e6:.1f} MB")
        event = '{"session_id":"s","cwd":%r,"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"src/new.ts","content":"x"}}' % middle
        event = event.replace("'", '"')
        cases = [
            ("current-timestamp", ["current-timestamp"], middle, ""),
            ("hook before-tool", ["hook", "standard", "before-tool"], middle, event),
            ("init plan-phase 1, 60 x 6", ["init", "plan-phase", "1"], middle, ""),
            ("roadmap analyze, 60 x 6", ["roadmap", "analyze"], middle, ""),
            ("progress json, 60 x 6", ["progress", "json"], middle, ""),
            ("state json, 60 x 6", ["state", "json"], middle, ""),
            ("roadmap analyze, 600 x 6", ["roadmap", "analyze"], large, ""),
            ("init plan-phase 1, 600 x 6", ["init", "plan-phase", "1"], large, ""),
        ]
        print(f"{'call':28} {'wall ms':>8} {'CPU ms':>8} {'true ms':>8} {'peak MB':>8}" + (f" {'peer CPU':>9} {'ratio':>6}" if peer else ""))
        for name, words, cwd, stdin in cases:
            argvs = [[options.bin, *words], ["/bin/true"]]
            with_peer = peer and words[0] != "hook" and cwd == middle
            if with_peer:
                argvs.append([*peer, *words])
            found = figures(argvs, options.runs, cwd, env, stdin)
            ours, true = found[0], found[1]
            line = f"{name:28} {ours[0] * 1e3:8.2f} {ours[1] * 1e3:8.2f} {true[0] * 1e3:8.2f} {peak(argvs[0], cwd, env, stdin):8.1f}"
            if with_peer:
                line += f" {found[2][1] * 1e3:9.0f} {found[2][1] / max(ours[1], 1e-9):6.0f}"
            print(line, flush=True)
        walls, peers = [], []
        for _ in range(12):
            for folder in (".claude", ".local"):
                shutil.rmtree(os.path.join(home, folder), ignore_errors=True)
            walls.append(once([options.bin, "install", "--claude", "--global"], middle, env, "")[0])
            if options.peer_install:
                shutil.rmtree(os.path.join(home, ".claude"), ignore_errors=True)
                peers.append(once([*shlex.split(options.peer_install), "--claude", "--global"], middle, env, "")[0])
        shutil.rmtree(os.path.join(home, ".claude"), ignore_errors=True)
        once([options.bin, "install", "--claude", "--global"], middle, env, "")
        files = [os.path.join(d, f) for d, _, fs in os.walk(os.path.join(home, ".claude")) for f in fs]
        text = sum(os.path.getsize(f) for f in files if not f.endswith("bin/gsd-tools"))
        again = statistics.median(once([options.bin, "install", "--claude", "--global"], middle, env, "")[0] for _ in range(12))
        line = f"install: {statistics.median(walls) * 1e3:.0f} ms, again {again * 1e3:.0f} ms, {len(files)} files, {text / 1e6:.2f} MB beside the binary"
        if peers:
            line += f"; peer {statistics.median(peers) * 1e3:.0f} ms, ratio {statistics.median(peers) / statistics.median(walls):.1f}"
        print(line)
        over = every_host(os.path.abspath(options.bin), work)
        for finding in over:
            print(f"OVER: {finding}")
        if over:
            raise SystemExit(1)
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
