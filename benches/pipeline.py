#!/usr/bin/env python3
"""The pipeline at scale: what `auto status` costs in a large project, and what a run costs beside its client, git and checks.

    benches/pipeline.py --bin target/dist/gsd-tools

A milestone of ten slices with ten tasks each is landed by the scripted agent of the tests. Then the project gets 199 copies of
it, and one that has not begun. Linux alone: times and memory are those of /proc. The machine should be otherwise idle.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def scripted_agent(folder):
    program = os.path.join(folder, "fake-agent")
    source = os.path.join(HERE, "..", "tests", "fake_agent", "agent.rs")
    subprocess.run(["rustc", "--edition", "2024", "-O", "-o", program, source], check=True)
    return program


def watch(process):
    """Waits for a process. Gives the seconds in which no other program of it ran, its own CPU seconds,
    its peak memory and what of that is not a page of the program itself, in MiB.

    What it starts of itself, to fence a client in, is its own until that is another program.
    """
    own, peak, private, alone, ticks = 0.0, 0, 0, 0.0, os.sysconf("SC_CLK_TCK")
    figure = lambda status, key: [int(line.split()[1]) for line in status.splitlines() if line.startswith(key)]
    name = text(f"/proc/{process.pid}/comm")
    last, samples = time.perf_counter(), 0
    while process.poll() is None:
        try:
            children = " ".join(text(f"/proc/{process.pid}/task/{task}/children") for task in os.listdir(f"/proc/{process.pid}/task"))
            busy = any(is_other(child, name) for child in children.split())
            if samples % 50 == 0:
                fields = text(f"/proc/{process.pid}/stat").rpartition(")")[2].split()
                own = (int(fields[11]) + int(fields[12])) / ticks
                status = text(f"/proc/{process.pid}/status")
                peak, private = max([peak, *figure(status, "VmHWM:")]), max([private, *figure(status, "RssAnon:")])
        except (OSError, IndexError):
            busy = False
        now = time.perf_counter()
        alone += 0 if busy else now - last
        last, samples = now, samples + 1
        time.sleep(0.0005)
    return alone, own, peak / 1024, private / 1024


def text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def is_other(child, name):
    """Whether a child is another program that runs."""
    try:
        _, _, rest = text(f"/proc/{child}/stat").partition("(")
        comm, _, fields = rest.rpartition(")")
        return comm + "\n" != name and comm != "exe" and fields.split()[0] != "Z"
    except OSError:
        return False


def grow(root, count):
    """Copies the milestone that landed, under other numbers, and adds one that has not begun."""
    milestones = os.path.join(root, ".gsd", "milestones")
    source = os.path.join(milestones, "M001")
    texts = []
    for folder, _, names in os.walk(source):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                texts.append((os.path.relpath(path, source), file.read()))
    for number in range(2, count + 1):
        name = f"M{number:03}"
        for path, text in texts:
            path, text = path.replace("M001", name), text.replace("M001", name)
            if number == count and not path.endswith(("-ROADMAP.md", "-CONTEXT.md", "-PLAN.md")):
                continue
            if number == count:
                text = text.replace("[x]", "[ ]")
            target = os.path.join(milestones, name, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "w", encoding="utf-8") as file:
                file.write(text)
    return sum(len(names) for _, _, names in os.walk(milestones))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--shape", default="10x10")
    parser.add_argument("--milestones", type=int, default=200)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    program = os.path.abspath(options.bin)
    folder = tempfile.mkdtemp(prefix="gsd-pipeline-")
    try:
        measure(program, folder, options)
    finally:
        if options.keep:
            print(folder)
        else:
            shutil.rmtree(folder)


def measure(program, folder, options):
    home, root = (os.path.join(folder, name) for name in ("home", "project"))
    os.makedirs(home), os.makedirs(root)
    environment = {
        "HOME": home, "PATH": os.environ["PATH"], "FAKE_SHAPE": options.shape, "FAKE_ACTOR": "ideal",
        "GIT_AUTHOR_NAME": "b", "GIT_AUTHOR_EMAIL": "b@example.com", "GIT_COMMITTER_NAME": "b", "GIT_COMMITTER_EMAIL": "b@example.com",
    }
    git = lambda *words: subprocess.run(["git", *words], cwd=root, env=environment, check=True, stdout=subprocess.DEVNULL)
    for name, text in (("README.md", "# P\n"), ("../home/brief.md", "Make a shelf of files.\n")):
        with open(os.path.join(root, name), "w", encoding="utf-8") as file:
            file.write(text)
    git("init", "-q", "-b", "main"), git("add", "-A"), git("commit", "-q", "-m", "start")
    agent = scripted_agent(folder)
    began = time.time()
    run = subprocess.Popen(
        [program, "auto", "run", "--brief", os.path.join(home, "brief.md"), "--runner", "fake", "--runner-program", agent,
         "--max-sessions", "1000"],
        cwd=root, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open(os.path.join(folder, "told.txt"), "w"))
    alone, own, memory, private = watch(run)
    wall = time.time() - began
    if run.returncode != 0:
        raise SystemExit(f"the run ended with {run.returncode}: " + open(os.path.join(folder, "told.txt")).read()[-2000:])
    state = os.path.join(home, ".local/state/gsd-tools/projects")
    entries = [json.loads(line)["entry"] for line in open(os.path.join(state, os.listdir(state)[0], "auto/log.jsonl"), encoding="utf-8")]
    names = [entry["event"] for entry in entries]
    units = max(names.count(name) for name in set(names) if "unit" in name and "start" in name or name in ("dispatched", "started"))
    print(f"run of {options.shape}: {wall:.1f} s, {units} units; without another program {1000 * alone / units:.1f} ms a unit, "
          f"own CPU {1000 * own / units:.1f} ms a unit, peak memory {memory:.1f} MiB, "
          f"{private:.1f} MiB without the pages of the program")
    files = grow(root, options.milestones)
    git("add", "-A"), git("commit", "-q", "-m", "many")
    times = []
    for _ in range(options.runs):
        began = time.perf_counter()
        subprocess.run([program, "auto", "status", "--json"], cwd=root, env=environment, check=True, stdout=subprocess.DEVNULL)
        times.append(1000 * (time.perf_counter() - began))
    times.sort()
    print(f"auto status --json over {options.milestones} milestones, {files} files: "
          f"median {statistics.median(times):.1f} ms, p95 {times[int(0.95 * len(times))]:.1f} ms")


if __name__ == "__main__":
    main()
