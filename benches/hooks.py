#!/usr/bin/env python3
"""What hooks cost: each event of ours against /bin/true, and all hooks of one tool call against a peer's in the same run.

  benches/hooks.py --bin target/dist/gsd-tools [--peer-install "COMMAND"] [--runs 300]

COMMAND installs a peer with the arguments `--claude --global` added, for the home in HOME. Exits 1 if a limit is not kept.
"""
import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

from measure import project

# Milliseconds over /bin/true, and how many times less CPU than the peer.
P50, P99, RATIO = 4.0, 10.0, 50.0


def run(argv, cwd, env, stdin):
    """Wall and CPU milliseconds of one process and all it waited for."""
    start = time.perf_counter()
    child = subprocess.Popen(argv, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        child.stdin.write(stdin)
        child.stdin.close()
    except BrokenPipeError:
        pass  # a program that does not read its input closes the pipe
    _, _, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start
    child.returncode = 0
    return wall * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3


def at(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * part))]


def event(name, folder, tool=None):
    payload = {"session_id": "bench", "cwd": folder, "hook_event_name": name, "transcript_path": "", "source": "startup"}
    payload["model"] = {"display_name": "Model"}
    payload["workspace"] = {"current_dir": folder}
    payload["context_window"] = {"remaining_percentage": 80.0}
    if tool:
        payload |= {"tool_name": "Write", "tool_input": {"file_path": f"{folder}/src/new.ts", "content": "export {}\n" * 40}, "tool_response": {"type": "create"}}
    return json.dumps(payload).encode()


def registered(settings, name):
    """The commands that the host runs at the event for a Write, as its settings say."""
    for entry in json.load(open(settings)).get("hooks", {}).get(name, []):
        matcher = entry.get("matcher", "")
        if not matcher or matcher == "*" or re.fullmatch(matcher, "Write"):
            yield from (hook["command"] for hook in entry["hooks"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--peer-install")
    parser.add_argument("--runs", type=int, default=300)
    options = parser.parse_args()
    work, kept = tempfile.mkdtemp(prefix="gsd-bench-"), True
    try:
        env = lambda home: {"HOME": home, "PATH": os.environ["PATH"], "TMPDIR": work, "LANG": "C.UTF-8", "TZ": "UTC", "GSD_UPDATE_CHECK": "off"}
        home = os.path.join(work, "home")
        os.makedirs(home)
        here = project(os.path.join(work, "p"), 60, 6)
        events = [("session-start", "SessionStart", None), ("before-tool", "PreToolUse", "Write"), ("after-tool", "PostToolUse", "Write"), ("before-compact", "PreCompact", None), ("status-line", "Status", None)]
        print(f"{'event':16} {'p50 ms':>8} {'p99 ms':>8} {'true p50':>9} {'true p99':>9} {'over p50':>9} {'over p99':>9}")
        for word, name, tool in events:
            ours, true = [], []
            argv, stdin = [options.bin, "hook", "standard", word], event(name, here, tool)
            run(argv, here, env(home), stdin)
            for _ in range(options.runs):
                ours.append(run(argv, here, env(home), stdin)[0])
                true.append(run(["/bin/true"], here, env(home), stdin)[0])
            over50, over99 = at(ours, 0.5) - at(true, 0.5), at(ours, 0.99) - at(true, 0.99)
            kept &= over50 <= P50 and over99 <= P99
            print(f"{word:16} {at(ours, .5):8.2f} {at(ours, .99):8.2f} {at(true, .5):9.2f} {at(true, .99):9.2f} {over50:9.2f} {over99:9.2f}")
        installs = {"ours": [options.bin, "install", "--claude", "--global"]}
        if options.peer_install:
            installs["peer"] = [*shlex.split(options.peer_install), "--claude", "--global"]
        calls = {}
        for who, install in installs.items():
            place = os.path.join(work, who)
            os.makedirs(place)
            subprocess.run(install, cwd=here, env=env(place), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
            settings = os.path.join(place, ".claude/settings.json")
            calls[who] = [(command, event(name, here, "Write"), env(place)) for name in ("PreToolUse", "PostToolUse") for command in registered(settings, name)]
        cost = {who: [] for who in calls}
        for turn in range(max(options.runs // 15, 5)):
            for who, hooks in calls.items():
                cpu = sum(run(["/bin/sh", "-c", command], here, variables, stdin)[1] for command, stdin, variables in hooks)
                if turn:
                    cost[who].append(cpu)
        for who, times in cost.items():
            print(f"one Write, {who}: {len(calls[who])} processes, {at(times, 0.5):.2f} ms of CPU")
        if "peer" in cost:
            ratio = at(cost["peer"], 0.5) / at(cost["ours"], 0.5)
            kept &= ratio >= RATIO
            print(f"ratio {ratio:.0f}")
        print("within the limits" if kept else "over a limit")
        sys.exit(0 if kept else 1)
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
