#!/usr/bin/env python3
"""What a fence costs a session, and a view of its client's folders: medians of pairs that are run in turn, in milliseconds of the
clock and of the processor. Those of the processor are to be believed where other programs run.

    benches/fence.py --bin target/dist/gsd-tools

Linux with Landlock alone. The machine should be otherwise idle.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time


def home(at, files):
    """The folders of a person who has used a client for long: settings, skills and histories."""
    put = lambda path, text: (os.makedirs(os.path.dirname(f"{at}/{path}"), exist_ok=True), open(f"{at}/{path}", "w").write(text))
    put(".claude.json", '{"projects": {}}' + " " * 200_000)
    put(".claude/settings.json", "{}")
    put(".claude/.credentials.json", '{"account": {}}')
    for number in range(files):
        put(f".claude/skills/skill-{number}/SKILL.md", "text\n" * 500)
        put(f".claude/commands/command-{number}.md", "text\n" * 100)
        put(f".claude/projects/project-{number}/session.jsonl", "{}\n" * 5000)
    for place in [".ssh/id", ".aws/credentials", ".gnupg/key", ".config/gh/hosts.yml", ".netrc", ".codex/auth.json"]:
        put(place, "secret")
    for number in range(40):
        put(f"folder-{number}/file", "")


def timed(argv, env, stdin=b""):
    start = time.perf_counter()
    process = subprocess.Popen(argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.stdin.write(stdin)
        process.stdin.close()
    except BrokenPipeError:
        pass  # a program that does not read its input closes the pipe
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return (time.perf_counter() - start) * 1000, (usage.ru_utime + usage.ru_stime) * 1000


def pair(one, other, runs):
    """The medians of two measures that are taken in turn, and of what the second takes more; of the clock and the processor."""
    both = [(one(), other()) for _ in range(runs)][2:]
    of = lambda part: [(first[part], second[part]) for first, second in both]
    medians = lambda pairs: [statistics.median(values) for values in (*zip(*pairs), [second - first for first, second in pairs])]
    return medians(of(0)), medians(of(1))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bin", required=True)
    arguments.add_argument("--runs", type=int, default=42)
    arguments.add_argument("--files", type=int, default=200)
    asked = arguments.parse_args()
    program = os.path.abspath(asked.bin)
    with tempfile.TemporaryDirectory() as at:
        home(f"{at}/home", asked.files)
        for folder in ["work", "own"]:
            os.mkdir(f"{at}/{folder}")
        env = {"PATH": os.environ["PATH"], "HOME": f"{at}/home", "TMPDIR": f"{at}/own", "LANG": "C.UTF-8"}
        secrets = [word for name in [".ssh", ".aws", ".gnupg", ".config/gh", ".netrc", ".codex/auth.json"] for word in ("--secret", f"{at}/home/{name}")]
        fence = [program, "__fence", "--write", f"{at}/work", "--temporary", f"{at}/own", *secrets, "--", "true"]
        rows = [("a program, and in a fence", pair(lambda: timed(["true"], env), lambda: timed(fence, env), asked.runs))]
        open_fence = [program, "__fence", "--open", "--", "true"]
        rows += [("a fence without limits, and with", pair(lambda: timed(open_fence, env), lambda: timed(fence, env), asked.runs))]
        client = f"{at}/client"
        with open(client, "w") as file:
            file.write("#!/bin/sh\nexit 0\n")
        os.chmod(client, 0o755)
        session = {"runner": "claude", "program": client, "profile": "unattended", "prompt": "x", "folder": f"{at}/work"}
        run = lambda fence: timed([program, "__supervise"], env, json.dumps({**session, "fence": fence}).encode())
        rows += [("a session without a fence, and with a view and a fence", pair(lambda: run(None), lambda: run([f"{at}/work"]), asked.runs))]
        for name, parts in rows:
            for what, (one, other, more) in zip(["clock", "processor"], parts):
                print(f"{name}, {what}: {one:.1f} ms, {other:.1f} ms; {more:+.1f} ms")


if __name__ == "__main__":
    main()
