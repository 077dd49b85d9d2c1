//! A person keeps working while a run does. A plain `git merge` and the checks, in a separate clone, say what should
//! land; the run must give the same result, and what lands must pass all checks in another clone.
//!
//! The slow tier draws a sample and prints its seed; `GSD_MERGE_BACKS=200` draws that many, `GSD_MERGE_BACKS_SEED`
//! repeats one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::auto::compile;
use crate::clients::say;
use crate::kit::{Ran, TestContext};

/// How long a sample starts new draws.
const SAMPLE: Duration = Duration::from_secs(25);

/// The checks: the one that the project declares, and the one that the plan of the task names.
const DECLARED: &str = "python3 -B -m unittest discover -s t -t .";
const PLANNED: &str = "python3 -B -m unittest t.test_new";

const BASE: &str = "def add(a, b):\n    return a + b\n\n\ndef twice(a):\n    return add(a, a)\n";
const WORDS: &str = "def shout(text):\n    return text.upper() + \"!\"\n";
const NUMBERS: &str = "def half(a):\n    return a // 2\n";

fn test_of(import: &str, lines: &str) -> String {
    format!(
        "import unittest\n\n{import}\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n{}",
        lines.lines().fold(String::new(), |text, line| text + "        " + line + "\n")
    )
}

/// Numbers derived from a seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % most
    }
}

/// Files of the project, as a person writes them; `None` removes one.
type Files = BTreeMap<String, Option<String>>;

fn set(files: &mut Files, path: &str, text: &str) {
    files.insert(path.to_owned(), Some(text.to_owned()));
}

fn start() -> Files {
    let mut files = Files::new();
    for (path, text) in [
        ("README.md", "# Words and numbers\n\nA few functions.\n"),
        ("Makefile", &*format!("test:\n\t{DECLARED}\n")),
        ("lib/__init__.py", ""),
        ("lib/base.py", BASE),
        ("lib/words.py", WORDS),
        ("lib/numbers.py", NUMBERS),
        ("t/__init__.py", ""),
        (
            "t/test_base.py",
            &test_of(
                "from lib.base import add, twice",
                "self.assertEqual(add(1, 2), 3)\nself.assertEqual(twice(4), 8)",
            ),
        ),
        ("t/test_words.py", &test_of("from lib.words import shout", "self.assertEqual(shout(\"a\"), \"A!\")")),
        ("t/test_numbers.py", &test_of("from lib.numbers import half", "self.assertEqual(half(9), 4)")),
    ] {
        set(&mut files, path, text);
    }
    files
}

/// What the task does: a file that uses some of the functions, with a test, and perhaps a change to an existing file.
fn work(draw: &mut Draw) -> Files {
    let mut files = Files::new();
    let (import, call, result) = match draw.below(5) {
        0 => ("from lib.base import add", "add(1, 2)", "3"),
        1 => ("from lib.words import shout", "shout(\"b\")", "\"B!\""),
        2 => ("from lib.numbers import half", "half(9)", "4"),
        _ => ("", "3", "3"),
    };
    set(&mut files, "lib/new.py", &format!("{import}\n\n\ndef new():\n    return {call}\n"));
    set(
        &mut files,
        "t/test_new.py",
        &test_of("from lib.new import new", &format!("self.assertEqual(new(), {result})")),
    );
    match draw.below(6) {
        0 => set(&mut files, "lib/base.py", &format!("{BASE}\n\ndef thrice(a):\n    return add(a, add(a, a))\n")),
        1 => set(&mut files, "lib/words.py", &WORDS.replace("text.upper()", "str(text).upper()")),
        2 => set(&mut files, "README.md", "# Words and numbers\n\nA few functions, and a new one.\n"),
        _ => {}
    }
    files
}

/// What a person does meanwhile, with the matching tests.
fn meanwhile(draw: &mut Draw, files: &mut Files) -> &'static str {
    let change = |files: &mut Files, path: &str, from: &str, to: &str| {
        if let Some(Some(text)) = files.get_mut(path) {
            *text = text.replace(from, to);
        }
    };
    match draw.below(12) {
        0 => {
            change(files, "lib/base.py", "add(", "plus(");
            change(files, "t/test_base.py", "add", "plus");
            "rename a function"
        }
        1 => {
            let test = files.insert("t/test_words.py".to_owned(), None).flatten();
            files.insert("t/unit/test_words.py".to_owned(), test);
            set(files, "t/unit/__init__.py", "");
            "move a test"
        }
        2 => {
            files.insert("lib/numbers.py".to_owned(), None);
            files.insert("t/test_numbers.py".to_owned(), None);
            "delete a file and its test"
        }
        3 => {
            set(files, "requirements.txt", "requests==2.32.0\n");
            set(files, "lib/data.py", "import json\n\n\ndef read(text):\n    return json.loads(text)\n");
            "a new dependency"
        }
        4 => {
            change(files, "README.md", "A few functions.", "A few functions, each with a test.");
            "another sentence"
        }
        5 => {
            change(
                files,
                "lib/base.py",
                "    return add(a, a)\n",
                "    return add(a, a)\n\n\ndef square(a):\n    return a * a\n",
            );
            "a function more"
        }
        6 => {
            change(files, "lib/numbers.py", "a // 2", "a / 2");
            change(files, "t/test_numbers.py", "half(9), 4)", "half(9), 4.5)");
            "another meaning"
        }
        7 => {
            let words = files.insert("lib/words.py".to_owned(), None).flatten();
            files.insert("lib/text.py".to_owned(), words);
            for path in ["t/test_words.py", "t/unit/test_words.py"] {
                change(files, path, "lib.words", "lib.text");
            }
            "rename a file"
        }
        8 => {
            let lines = "names = sorted(name for name in os.listdir(\"lib\") if name.endswith(\".py\"))\nself.assertNotIn(\"new.py\", names)";
            set(files, "t/test_files.py", &test_of("import os", lines));
            "a test that the work does not pass"
        }
        9 => {
            set(files, "docs/use.md", "# Use\n\nImport what you need.\n");
            "a document"
        }
        10 => {
            change(files, "lib/words.py", "\"!\"", "'!'");
            change(files, "lib/text.py", "\"!\"", "'!'");
            "other quotes"
        }
        _ => {
            set(files, "t/test_more.py", &test_of("from lib.base import twice", "self.assertEqual(twice(0), 0)"));
            "a test more"
        }
    }
}

fn git(folder: &Path, context: &TestContext, arguments: &[&str]) -> Result<String, String> {
    let output = context.command("git").current_dir(folder).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() { Ok(text) } else { Err(text + &String::from_utf8_lossy(&output.stderr)) }
}

fn write(root: &Path, files: &Files) {
    for (path, text) in files {
        let path = root.join(path);
        match text {
            Some(text) => {
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(&path, text).unwrap();
            }
            None => drop(std::fs::remove_file(&path)),
        }
    }
}

/// True if all checks pass in a folder.
fn is_green(context: &TestContext, folder: &Path) -> bool {
    [DECLARED, PLANNED].iter().all(|line| {
        let mut words = line.split(' ');
        let mut program = context.command(words.next().unwrap());
        program.current_dir(folder).args(words).output().unwrap().status.success()
    })
}

/// A clone of a branch of the project, in its own folder.
fn clone(context: &TestContext, name: &str) -> PathBuf {
    let folder = context.home().join(name);
    let (from, to) = (context.project(), folder.to_string_lossy().into_owned());
    git(&from, context, &["clone", "--quiet", "--branch", "main", ".", &to]).unwrap();
    folder
}

fn run(context: &TestContext, script: &Path, words: &[&str]) -> Ran {
    let agent = compile::fake_agent().to_string_lossy().into_owned();
    let flags = ["--runner", "fake", "--runner-program", &agent].map(str::to_owned);
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).chain(flags).collect();
    context.gsd_with(words, &[("FAKE_SHAPE", "1x1"), ("FAKE_SCRIPT", &script.to_string_lossy())], "")
}

/// One merge-back: the expected result, the actual one, and what was done.
struct Drawn {
    expected: &'static str,
    came: String,
    told: String,
}

fn draw(seed: u64) -> Drawn {
    let draw = &mut Draw(seed);
    let context = TestContext::new();
    let root = context.project();
    let mut files = start();
    write(&root, &files);
    for line in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["add", "--all"],
        &["commit", "--quiet", "--message=start"],
    ] {
        git(&root, &context, line).unwrap();
    }
    let brief = context.home().join("brief.md");
    std::fs::write(&brief, "A new function.\n").unwrap();
    let plan = ".gsd/milestones/M001/slices/S01/S01-PLAN.md";
    let planned = format!("sed -i 's|sh checks/s01_t01.sh|{PLANNED}|' {plan}");
    let mut steps = vec![json!({ "ideal": true })];
    for (path, text) in work(draw) {
        steps.push(json!({ "write": { "path": path, "content": text } }));
    }
    steps.push(json!({ "sh": "rm -rf checks" }));
    steps.push(json!({ "tool": "Write" }));
    let rows = json!([
        { "match": { "unit": "plan-milestone M001" }, "steps": [{ "ideal": true }, { "sh": planned }, { "tool": "Write" }] },
        { "match": { "unit": "execute-task M001/S01/T01" }, "steps": steps },
        { "steps": [{ "ideal": true }, { "tool": "Write" }] },
    ]);
    let script = context.home().join("script.json");
    std::fs::write(&script, rows.to_string()).unwrap();
    let first = run(&context, &script, &["auto", "run", "--brief", &brief.to_string_lossy(), "--max-units", "3"]);
    let cause = |ran: &Ran| -> String {
        let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
        report["stop"]["cause"].as_str().map_or_else(|| format!("{}{}", ran.stdout, ran.stderr), str::to_owned)
    };
    assert_eq!(cause(&first), "units-done", "seed {seed}: {}", first.stderr);
    let mut told = Vec::new();
    for _ in 0..=draw.below(2) {
        told.push(meanwhile(draw, &mut files));
        write(&root, &files);
        git(&root, &context, &["add", "--all", "--", ".", ":!.gsd"]).unwrap();
        if git(&root, &context, &["diff", "--cached", "--quiet"]).is_err() {
            git(&root, &context, &["commit", "--quiet", "--message=meanwhile"]).unwrap();
        }
    }
    let merging = clone(&context, "plain");
    let merged = git(&merging, &context, &["merge", "--quiet", "--no-edit", "origin/milestone/M001"]);
    let expected = match merged {
        Err(_) => "merge-conflict",
        Ok(_) if is_green(&context, &merging) => "complete",
        Ok(_) => "candidate-refused",
    };
    let before = git(&root, &context, &["rev-parse", "main"]).unwrap();
    let ran = run(&context, &script, &["auto", "run"]);
    let mut came = cause(&ran);
    let after = git(&root, &context, &["rev-parse", "main"]).unwrap();
    if (after != before) != (came == "complete") {
        came = format!("{came}, and main is at {after}");
    } else if came == "complete" && !is_green(&context, &clone(&context, "fresh")) {
        "landed red".clone_into(&mut came);
    }
    Drawn { expected, came, told: format!("{}\n{}", told.join(", "), ran.stderr) }
}

#[test]
#[ignore = "slow: minutes"]
fn what_lands_while_a_person_works_is_what_a_plain_merge_and_the_checks_give() {
    let wanted: Option<u64> = std::env::var("GSD_MERGE_BACKS").ok().and_then(|count| count.parse().ok());
    let clock = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let seed = std::env::var("GSD_MERGE_BACKS_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(clock);
    let (next, began, done) = (AtomicU64::new(0), Instant::now(), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if wanted.map_or_else(|| began.elapsed() > SAMPLE, |count| number >= count) {
                        break;
                    }
                    let drawn = draw(seed.wrapping_add(number));
                    done.lock().unwrap().push((seed.wrapping_add(number), drawn));
                }
            });
        }
    });
    let done = done.into_inner().unwrap();
    let of = |cause: &str| done.iter().filter(|(_, drawn)| drawn.expected == cause).count();
    say(&format!(
        "merge-backs: {} in {} s (seed {seed}): {} should land, {} are red together, {} conflict",
        done.len(),
        began.elapsed().as_secs(),
        of("complete"),
        of("candidate-refused"),
        of("merge-conflict")
    ));
    let wrong: Vec<String> = done
        .iter()
        .filter(|(_, drawn)| drawn.came != drawn.expected)
        .map(|(seed, drawn)| format!("seed {seed}: {} came, and not {}: {}", drawn.came, drawn.expected, drawn.told))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), done.len(), wrong.join("\n"));
    assert!(of("complete") * 5 >= done.len() * 3 || done.len() < 50, "too few that should land");
}
