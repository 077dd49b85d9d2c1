#!/usr/bin/env python3
"""Lines of code by room: lines that are neither test, comment nor blank. Run it in the root of the repository.

count.py [--markdown]

Counts every folder with Rust of the program: `src` by its rooms, `build.rs` and `fuzz`. Test files and test modules are a
column of their own. `--markdown` prints the table of ARCHITECTURE.md without its column "before".
"""
import collections
import os
import re
import sys

TEST_FILE = re.compile(r"/tests(/|\.rs$)|_tests(/|\.rs$)|/test_")
KINDS = ["code", "doc", "comment", "blank"]


def split_tests(text):
    """The lines of a file without its test items, and how many lines these have."""
    lines, kept, tests = text.split("\n"), [], 0
    at = 0
    while at < len(lines):
        line = lines[at]
        if not re.match(r"\s*#\[cfg\((all\()?test", line):
            kept.append(line)
            at += 1
            continue
        item = at + 1
        while item < len(lines) and re.match(r"\s*#\[", lines[item]):
            item += 1
        end = item
        one_line = item < len(lines) and (
            lines[item].rstrip().endswith(";")
            or ("{" in lines[item] and lines[item].count("{") == lines[item].count("}"))
        )
        if not one_line:
            indent = re.match(r"\s*", line).group()
            while end < len(lines) and not re.match(re.escape(indent) + r"[})]", lines[end]):
                end += 1
        tests += end + 1 - at
        at = end + 1
    return kept, tests


def kind(line):
    text = line.strip()
    if not text:
        return "blank"
    if text.startswith(("///", "//!")):
        return "doc"
    return "comment" if text.startswith("//") else "code"


def room_of(path):
    parts = path.split("/")
    return parts[1].removesuffix(".rs") if parts[0] == "src" else parts[0]


def main():
    rooms = collections.defaultdict(collections.Counter)
    walked = ((folder, name) for root in ("src", "fuzz") for folder, _, names in os.walk(root) for name in names)
    for folder, name in [*walked, (".", "build.rs")]:
        path = os.path.normpath(os.path.join(folder, name))
        if not name.endswith(".rs"):
            continue
        with open(path, encoding="utf-8") as file:
            text = file.read().rstrip("\n")
        room = rooms[room_of(path)]
        if TEST_FILE.search("/" + path):
            room["tests"] += text.count("\n") + 1
            continue
        lines, tests = split_tests(text)
        room["files"] += 1
        room["tests"] += tests
        room.update(kind(line) for line in lines)
    columns = ["files", *KINDS, "tests"]
    total = collections.Counter()
    for room in rooms.values():
        total.update(room)
    rows = [*sorted(rooms.items(), key=lambda row: -row[1]["code"]), ("all", total)]
    if "--markdown" in sys.argv:
        print("\n".join(f"| `{name}` | {room['code']:,} |" for name, room in rows))
        return
    print("".join([f"{'room':<12}", *(f"{column:>9}" for column in columns)]))
    for name, room in rows:
        print("".join([f"{name:<12}", *(f"{room[column]:>9}" for column in columns)]))


main()
