#!/usr/bin/env python3
"""Compares gsd-tools with a peer program, as the table of README has it: times, sizes, prompt text, what an uninstall leaves.

  benches/compare.py --bin target/dist/gsd-tools --peer "node gsd-tools.cjs" --peer-install "node install.js"

Both are installed for Claude Code in an empty home each. Times are medians of whole processes that take turns. Prompt text of a
command of the peer is its own file, the workflow of its name, which it brings in or orders to be read, and every file that these
bring in with `@path` on a line of its own: what is loaded before the work begins. Ours is what `gsd-tools cost` counts "at once",
which is these and the files that are ordered to be read first.
"""
import argparse
import json
import os
import re
import shlex
import statistics
import subprocess
import tempfile

from measure import once, project

COMMANDS = ["plan-phase", "execute-phase"]
INCLUDE = re.compile(r"^[ \t]*(?:[-*] )?@((?:~|\$HOME|/|[\w.])[^\s`\"'<>(){}|,;]*\.md)[ \t]*$", re.M)
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.S)


def files_below(root):
    return [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names]


def prompt(root, home, command):
    """Bytes of a command's text with its includes; each file counts once."""
    def place(path):
        path = path.replace("$HOME", home).replace("~", home, 1)
        return path if os.path.isabs(path) else os.path.join(root, path)

    start = [path for path in files_below(root) if path.endswith((f"gsd-{command}/SKILL.md", f"gsd/{command}.md", f"gsd-{command}.md"))
             and "/agents/" not in path and "/workflows/" not in path]
    workflow = [path for path in files_below(root) if path.endswith(f"/workflows/{command}.md")]
    seen, waiting = {}, start[:1] + workflow[:1]
    while waiting:
        path = waiting.pop()
        if path in seen or not os.path.isfile(path):
            continue
        text = open(path, encoding="utf-8").read()
        seen[path] = len(text.encode())
        waiting += [place(found.rstrip(".")) for found in INCLUDE.findall(CODE.sub("", text))]
    return sum(seen.values())


def hooks(settings, env, place, runs):
    """Milliseconds that the hooks take which are registered for a file write, one after the other, as the host calls them."""
    entries = json.load(open(settings, encoding="utf-8")).get("hooks", {}).get("PreToolUse", [])
    matching = [entry for entry in entries if re.fullmatch(entry.get("matcher") or ".*", "Write")]
    commands = [hook["command"] for entry in matching for hook in entry["hooks"]]
    event = json.dumps({"session_id": "s", "cwd": place, "hook_event_name": "PreToolUse", "tool_name": "Write",
                        "tool_input": {"file_path": os.path.join(place, "src/new.ts"), "content": "x"}})
    took = lambda: sum(once(["sh", "-c", command], place, env, event)[0] for command in commands)
    took()
    return len(commands), statistics.median(took() for _ in range(runs)) * 1e3


def at_once(ours, env, place):
    """Bytes of prompt text of our commands, as the program itself counts them."""
    words = [*ours, "cost", "--claude", "--global", "--json"]
    found = subprocess.run(words, env=env, cwd=place, stdin=subprocess.DEVNULL, capture_output=True, check=True).stdout
    loaded = {command["name"]: command["at_once"]["bytes"] for command in json.loads(found)["hosts"][0]["commands"]}
    return [loaded[f"gsd-{command}"] for command in COMMANDS]


def tree(install, env, root, place, runs, ours=None):
    """What an install makes: files, bytes of text, prompt text of two commands, its hooks, and what its uninstall leaves."""
    os.makedirs(root)
    settings = os.path.join(root, "settings.json")
    before = '{\n  "model": "opus"\n}\n'
    open(settings, "w", encoding="utf-8").write(before)
    run = lambda *words: subprocess.run([*install, *words], env=env, cwd=env["HOME"], stdin=subprocess.DEVNULL, capture_output=True)
    run("--claude", "--global")
    files = [path for path in files_below(root) if path != settings]
    text = [path for path in files if os.path.basename(path) not in ("gsd-tools", "gsd-tools.exe")]
    size = sum(map(os.path.getsize, text))
    prompts = at_once(ours, env, place) if ours else [prompt(root, env["HOME"], command) for command in COMMANDS]
    hook = hooks(settings, env, place, runs)
    run("--claude", "--global", "--uninstall")
    left = [path for path in files_below(root) if path != settings]
    same = os.path.isfile(settings) and open(settings, encoding="utf-8").read() == before
    return {"files": len(files), "bytes": size, "prompts": prompts, "hook": hook, "left": len(left), "settings": same}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--peer", required=True)
    parser.add_argument("--peer-install", required=True)
    parser.add_argument("--runs", type=int, default=30)
    options = parser.parse_args()
    ours, peer = [os.path.abspath(options.bin)], shlex.split(options.peer)
    with tempfile.TemporaryDirectory(prefix="gsd-compare-") as work:
        trees, homes = [], []
        place = project(os.path.join(work, "project"), 6, 3)
        for name, install in (("ours", ours), ("peer", shlex.split(options.peer_install))):
            homes.append(os.path.join(work, name))
            env = {"HOME": homes[-1], "PATH": os.environ["PATH"], "TMPDIR": work, "LANG": "C.UTF-8", "TZ": "UTC"}
            itself = ours if name == "ours" else None
            trees.append(tree(install, env, os.path.join(homes[-1], ".claude"), place, options.runs, itself))
        env = {"HOME": homes[0], "PATH": os.environ["PATH"], "TMPDIR": work, "LANG": "C.UTF-8", "TZ": "UTC"}
        rows = []
        for words in (["state", "json"], ["init", "plan-phase", "1"]):
            calls = [[*ours, *words], [*peer, *words]]
            for call in calls:
                once(call, place, env, "")
            found = [[once(call, place, env, "")[0] for call in calls] for _ in range(options.runs)]
            times = [statistics.median(column) * 1e3 for column in zip(*found)]
            rows.append((f"`{' '.join(words)}`, one call", *[f"{time:.0f} ms" for time in times]))
        rows.append(("hooks of one file write", *[f"{time:.0f} ms ({count})" for count, time in (one["hook"] for one in trees)]))
        rows.append(("files in the folder of the host", *[str(one["files"]) for one in trees]))
        rows.append(("size of them, without our program", *[f"{one['bytes'] / 1e6:.1f} MB" for one in trees]))
        rows.append(("size of the program", f"{os.path.getsize(ours[0]) / 1e6:.1f} MB, shared by all hosts", "needs Node"))
        for index, command in enumerate(COMMANDS):
            rows.append((f"text loaded at once by `/gsd-{command}`", *[f"{one['prompts'][index] / 1e3:.0f} KB" for one in trees]))
        rows.append(("files left after uninstall", *[str(one["left"]) for one in trees]))
        rows.append(("`settings.json` restored to the byte", *["yes" if one["settings"] else "no" for one in trees]))
        for row in rows:
            print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
