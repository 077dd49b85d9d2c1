#![allow(clippy::disallowed_methods, reason = "tests prepare folders by hand and read the texts of the repository")]

use std::collections::BTreeSet;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::*;
use LinePart::{Assignment as A, LineBreak as L, Redirection as R, Substitution as S};

const ALL: &[LinePart] = &[S, A, R, L];

fn places() -> OutputPlaces {
    OutputPlaces { temporary: Some("/tmp".into()), kept: vec!["/p/src".into(), "/p".into(), "/home/u".into()] }
}

fn refused(line: &str, blind_to: &[LinePart]) -> bool {
    found(line, blind_to, &places()).is_some()
}

/// Lines, each with the parts that a host must be blind to so that it is refused. `<P>` is our program.
const REFUSED: &[(&[LinePart], &str)] = &[
    (&[S], "<P> state get \"$(touch a)\""),
    (&[S], "<P> state get $(touch a)"),
    (&[L], "<P> state json\ntouch a"),
    (&[L], "<P> state json # a\\\ntouch a"),
    (&[L], "<P> state get a\\\\\ntouch a"),
    (&[L], "<P> state json # it's\ntouch a\n# it's"),
    (&[L], "touch a\n\n<P> state json"),
    (&[R], "<P> state get X --raw &>> ~/.bashrc"),
    (&[R], "<P> state get X --raw >& ~/.bashrc"),
    (&[S, A, R, L], "<P> state get X --raw {x}> ~/.bashrc"),
    (&[R], "<P> state get X --raw 3<> ~/.bashrc"),
    (&[R], "<P> state get X --raw 2>> ~/.bashrc"),
    (&[R], "<P> state get X --raw >>~/.bashrc 2>&1"),
    (&[A], "PATH=.:$PATH <P> commit 'docs: x'"),
    (&[A], "PHASE=1 <P> init plan-phase 1"),
    (&[A], "PA\"\"TH=x; MAKEFLAGS=--eval <P> gate run test"),
    (&[A], "MAKEFLAGS=x <P> gate run test"),
    (&[A], "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=./x <P> gate run test"),
    (&[A], "RUSTC_WRAPPER=./x <P> gate run test"),
    (&[A], "NPM_CONFIG_SCRIPT_SHELL=./x <P> gate run test"),
    (&[A], "QWEN_CODE= <P> gate approve test"),
    (&[A], "TMPDIR=$HOME <P> state json"),
    (&[A], "2>/dev/null PATH=x <P> state json"),
    (&[A], "if PATH=x <P> state json; then echo a; fi"),
    (&[A], "{ X+=1 <P> state json; }"),
    (&[A, S], "export GIT_CONFIG_GLOBAL=x; <P> commit 'docs: x'"),
    (&[A, S], "export \"PATH=$PWD/tools:$PATH\"; <P> commit x"),
    (&[A, S], "export PA\\TH=x; <P> commit x"),
    (&[A, S], "export $X; <P> commit x"),
    (&[A, S], "ex\"port\" PATH=x; <P> commit x"),
    (&[A, S], "command export PATH=x; <P> commit x"),
    (&[A, S], "builtin export PATH=x; <P> commit x"),
    (&[A, S], "printf -v PATH x; <P> commit x"),
    (&[A, S], "printf $X PATH x; <P> commit x"),
    (&[A, S], "env PATH=x <P> commit x"),
    (&[A, S], "/usr/bin/env PATH=x <P> commit x"),
    (&[A, S], "read PATH < x; <P> commit x"),
    (&[A, S], "for PATH in x; do <P> commit x; done"),
    (&[A, S], "eval 'PATH=x'; <P> commit x"),
    (&[A, S], ". ./x; <P> commit x"),
    (&[A, S], "alias git=x; <P> commit x"),
    (&[A, S], "hash -p ./x git; <P> commit x"),
    (&[A, S], "function git { x; }; <P> commit x"),
    (&[A, S], "trap 'touch a' EXIT; <P> commit x"),
    (&[A, S], "test -v 'a[$(touch a)]'; <P> commit x"),
    (&[A, S], "[ 'a[$(touch a)]' -eq 1 ] && <P> commit x"),
    (&[A, S], "compgen -C 'touch a'; <P> commit x"),
    (&[A, S], "$X PATH=x; <P> commit x"),
    (&[A, S], "ex{port,} PATH=x; <P> commit x"),
    (&[R], "<P> state json > ~/.bashrc"),
    (&[R], "<P> state json >> ../a"),
    (&[R], "<P> state json > $TARGET"),
    (&[R], "<P> state json 1<> /home/u/.bashrc"),
    (&[R], "cd /elsewhere && <P> state json > victim"),
    (&[R], "cd ~ && <P> state json > .bashrc"),
    (&[R], "<P> state json > state.json"),
    (&[R], "<P> config-get nokey --default 'touch a' --raw > .git/hooks/pre-commit"),
    (&[R], "<P> state json > .git/config"),
    (&[R], "<P> state json > AGENTS.md"),
    (&[R], "<P> state json > .envrc"),
    (&[R], "<P> state json > .qwen/settings.json"),
    (&[R], "<P> state json > /p/.envrc"),
    (&[R], "<P> state json > /tmp/../home/u/.bashrc"),
    (&[R], "<P> state json >/tmp/a*"),
    (&[R], "<P> state json &> a"),
    (&[R], "<P> state json >& a"),
    (&[R], "<P> state json >| a"),
    (&[R], "> a <P> state json"),
    (&[R], "{ <P> state json; } 2> a"),
    (&[R], "( <P> state json ) >> a"),
    // A line that cannot be read is refused if a host is blind to anything.
    (ALL, "<P> state json\n(( a[$(touch a)] ))"),
    (ALL, "<P> state get ${a:-'}'$(touch a)}"),
    (ALL, "<P> state get \"${x:=\\$(touch a)}\" \"${x@P}\""),
    (ALL, "<P> state get \"${x:=b[\\$(touch a)]}\" \"${a[x]}\""),
    (ALL, "<P> state get \"${PWD:x}\""),
    (ALL, "<P> state get $((a[$(touch a)0]))"),
    (ALL, "<P> state get `touch a`"),
    (ALL, "<P> state get <(touch a)"),
    (ALL, "<P> state get $'\\'' $(touch a)"),
    (ALL, "<P> state get <<E\n$(touch a)\nE"),
    (ALL, "<P> state get *(e:'touch a':)"),
    (ALL, "git() { touch a; }; <P> commit x"),
    (ALL, "{PATH}>/dev/null <P> commit x"),
    (ALL, "<P> commit 'docs: x"),
    (ALL, "<P> state json\r\ntouch a"),
];

#[test]
fn only_what_a_host_does_not_see_is_refused_next_to_our_call() {
    let mut wrong = Vec::new();
    for (parts, line) in REFUSED {
        let own = line.replace("<P>", "~/x/gsd-tools");
        for part in ALL {
            if refused(&own, &[*part]) != parts.contains(part) {
                wrong.push(format!("{part:?}: {own}"));
            }
        }
        if refused(&own, &[]) || refused(&own.replace("gsd-tools", "other"), ALL) {
            wrong.push(format!("no reason: {own}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for line in [
        "\"/a b/gsd-tools\" x > a",
        "/a/gsd-to\\ols x > a",
        "/a/'gsd-'tools x > a",
        "/a/gsd-\\\ntools x > a",
        "sh -c '/a/gsd-tools x' > a",
    ] {
        assert!(refused(line, ALL), "{line}");
    }
}

#[test]
fn a_line_at_the_limit_is_refused() {
    let call = "~/x/gsd-tools state get \"$(touch a)\"";
    assert!(refused(&format!("{}{call}", ":;".repeat(2_001)), &[S]));
    for padding in [":;".repeat(200_000), format!("echo '{}';", "x".repeat(300_000)), "(".repeat(5_000)] {
        assert!(refused(&format!("{padding}{call}"), &[S]));
    }
    assert!(!refused(&format!("{}~/x/gsd-tools state json", ":;".repeat(2_001)), ALL));
}

#[test]
fn plain_calls_with_any_text_are_allowed() {
    for line in [
        "~/x/gsd-tools state add-decision --phase 1 --summary 'a > b; $(c) `d`'",
        "~/x/gsd-tools state add-decision --phase 1 --summary 'It'\\''s; ((a)) <<E'",
        "~/x/gsd-tools commit 'docs: x' \\\n  --files .planning/STATE.md",
        "cd a && ~/x/gsd-tools commit 'docs: x\n\nbody'",
        "~/x/gsd-tools commit \"docs(01): x\n\nbody; it's \\$5\"",
        "~/x/gsd-tools state json | jq '\n .status\n'",
        "~/x/gsd-tools state json | jq .status && ~/x/gsd-tools progress 2>/dev/null || true",
        "~/x/gsd-tools state json > /tmp/state.json 2>&1; echo \"$? in ${PWD}\"",
        "[ -f a ] && ~/x/gsd-tools state get $X *.md a[1] {b,c} # it's `d`",
        "if ~/x/gsd-tools verify plan-structure a; then echo ok; else exit 1; fi",
        "grep -rn gsd-tools $(git ls-files) > ~/found",
        "git commit -m \"$(cat <<'E'\nfix: call gsd-tools once\nE\n)\"",
        "cat /srv/gsd-tools/README.md gsd-tools.md > a",
    ] {
        assert!(!refused(line, ALL), "{line}: {:?}", found(line, ALL, &places()));
    }
}

/// Calls that our texts ask agents to type are accepted even if a host is blind to everything.
#[test]
fn calls_in_our_own_texts_are_allowed() {
    let mut seen = 0;
    let mut wrong = Vec::new();
    // Placeholders of values, such as `{the user's words}` and `<name>`.
    let places = regex_lite::Regex::new(r"\{[a-z][^}]*\}|<[a-z]+>").unwrap();
    // Further lines belong to a call while a quote is open.
    let mut check = |from: &str, lines: &[String]| {
        let passes = |count: usize| {
            let call = places.replace_all(lines[..count].join("\n").trim(), "x").into_owned();
            !refused(&call.replace("gsd-tools", "/home/u/.x/gsd-core/bin/gsd-tools"), ALL)
        };
        seen += 1;
        if !(1..=lines.len().min(5)).any(passes) {
            wrong.push(format!("{from}: {}", lines[0]));
        }
    };
    for folder in ["workflows", "agents", "references", "commands", "templates"] {
        for entry in walkdir::WalkDir::new(format!("{}/{folder}", env!("CARGO_MANIFEST_DIR"))).into_iter().flatten() {
            let Ok(text) = std::fs::read_to_string(entry.path()) else { continue };
            let from = entry.path().display().to_string();
            for (at, block) in text.split("```").enumerate() {
                // The text of a prompt to an agent is prose, with calls in code.
                if at % 2 == 0 || block.contains("`gsd-tools ") {
                    let spans = block.split('`').skip(1).step_by(2);
                    let calls = spans.filter(|span| span.starts_with("gsd-tools "));
                    calls.for_each(|span| check(&from, &[span.replace('\n', " ")]));
                } else {
                    let block = block.replace("\\\n", "\u{1}");
                    let lines: Vec<String> = block.lines().map(|line| line.replace('\u{1}', "\\\n")).collect();
                    let calls = (0..lines.len()).filter(|at| may_call(&lines[*at]));
                    calls.for_each(|at| check(&from, &lines[at..]));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 150, "{seen}");
}

/// Lines that must run in a real client.
#[test]
fn spellings_that_must_run_are_allowed() {
    #[derive(serde::Deserialize)]
    struct Spellings {
        runs: std::collections::BTreeMap<String, String>,
        arrives: std::collections::BTreeMap<String, String>,
    }
    let path = format!("{}/tests/clients/spellings.toml", env!("CARGO_MANIFEST_DIR"));
    let spellings: Spellings = toml_edit::de::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for (name, line) in spellings.runs.into_iter().chain(spellings.arrives) {
        assert!(!refused(&line.replace("{program}", "/home/u/.x/gsd-core/bin/gsd-tools"), ALL), "{name}: {line}");
    }
}

/// Programs of shells that leave our call unchanged, or at most run it in another folder.
const HARMLESS: &[&str] = &[":", "[", "cd", "echo", "exit", "false", "popd", "printf", "pushd", "pwd", "test", "true"];

#[test]
fn every_program_of_bash_is_known() {
    let output = Command::new("bash").args(["-c", "compgen -b; compgen -k"]).output().unwrap();
    let names = String::from_utf8(output.stdout).unwrap();
    assert!(names.lines().count() > 70, "{names}");
    for name in names.lines() {
        let is_before_commands =
            || PlainLine::read(&format!("{name} x")).is_ok_and(|line| line.commands[0][0].text == "x");
        assert!(CHANGING.contains(&name) || HARMLESS.contains(&name) || is_before_commands(), "{name}");
    }
    assert!(!HARMLESS.iter().any(|name| CHANGING.contains(name)));
    assert!(CALCULATING.iter().all(|name| HARMLESS.contains(name)));
}

#[test]
fn output_goes_to_the_temporary_folder_and_not_through_a_link() {
    let folder = crate::testing::folder();
    let root = folder.path().canonicalize().unwrap();
    for name in ["tmp/p/.git", "tmp/other", "home"] {
        std::fs::create_dir_all(root.join(name)).unwrap();
    }
    std::fs::write(root.join("home/.bashrc"), "").unwrap();
    symlink(root.join("home/.bashrc"), root.join("tmp/file")).unwrap();
    symlink(root.join("home"), root.join("tmp/folder")).unwrap();
    symlink(root.join("home/new"), root.join("tmp/dangling")).unwrap();
    let places = OutputPlaces { temporary: Some(root.join("tmp")), kept: vec![root.join("tmp/p"), root.clone()] };
    let harmless = |name: &str| {
        let line = PlainLine::read(&format!("a > '{}'", root.join(name).display())).unwrap();
        is_harmless(&line.written[0], &places)
    };
    for name in ["tmp/a", "tmp/other/a", "tmp/other/../a b"] {
        assert_eq!(harmless(name), !name.contains(".."), "{name}");
    }
    for name in ["tmp/file", "tmp/folder/a", "tmp/dangling", "tmp/p/a", "tmp/p/.git/config", "home/a", "tmp/.."] {
        assert!(!harmless(name), "{name}");
    }
}

/// Pieces of lines with quoting, commands and assignments.
const PIECES: &[&str] = &[
    "gsd-tools x",
    "canary",
    " canary",
    "\ncanary",
    ";canary",
    "|canary",
    "&canary",
    "$(canary)",
    "`canary`",
    "$(",
    ")",
    "`",
    "\\",
    "\\",
    "\\",
    "\\",
    "\ncanary",
    "\ncanary",
    "\n",
    "\\\n",
    "#",
    " #",
    "# ",
    "{",
    "}",
    "${",
    "${a:-",
    "${a:=",
    "@P}",
    "$",
    "$'",
    "$\"",
    "(",
    "((",
    "))",
    "<(",
    ">(",
    "[",
    "]",
    "b[",
    "a",
    " ",
    " ",
    "'",
    "'",
    "\"",
    "\"",
    "=",
    ">f",
    "> ",
    "1<>f",
    "PATH=e ",
    "PATH=e;",
    "export PATH=e;",
    "\"PATH=e\"",
    "<<E\n",
    "\nE\n",
    "\r",
    ";",
    "&",
    "|",
    "if ",
    "then ",
    "fi",
    "case ",
    "in ",
    "esac",
    ";;",
    "~",
    "*",
    "!",
    "test ",
    "echo ",
];

/// Text that may surround them.
const AROUND: &[(&str, &str)] = &[
    ("\"", "\""),
    ("\"", "\""),
    ("'", "'"),
    ("$'", "'"),
    ("$(", ")"),
    ("`", "`"),
    ("${a:-", "}"),
    ("${a:=", "}"),
    ("\"${a:-", "}\""),
    ("<(", ")"),
    ("$((", "))"),
    ("((b[", "]))"),
    ("b[", "]"),
    ("# ", "\n"),
    ("\n(", ")"),
    ("<<E\n", "\nE\n"),
    ("<<'E'\n", "\nE\n"),
    ("\\", ""),
];

fn some_line() -> impl Strategy<Value = String> {
    let part = proptest::sample::select(PIECES).prop_map(str::to_owned).prop_recursive(3, 12, 3, |inner| {
        let inside = proptest::collection::vec(inner, 1..4);
        (proptest::sample::select(AROUND), inside)
            .prop_map(|((open, close), inside)| format!("{open}{}{close}", inside.concat()))
    });
    proptest::collection::vec(part, 1..6).prop_map(|parts| parts.concat())
}

/// True if a host that does not see the parts it is blind to would still ask about the word as a command.
fn is_seen(line: &str, word: &str) -> bool {
    line.split([';', '&', '|']).any(|piece| {
        let mut piece = piece.trim_start_matches([' ', '\t', '(', '{', '!', '}']);
        while let Some(rest) = ["if ", "then "].iter().find_map(|keyword| piece.strip_prefix(keyword)) {
            piece = rest.trim_start_matches([' ', '\t', '(', '{', '!', '}']);
        }
        piece.starts_with(word)
    })
}

/// Runs random lines that pass: only programs of plain commands start, and nothing is written.
#[test]
fn a_line_that_passes_runs_nothing_unseen_by_the_host() {
    let surprises = surprises(40_000, 300);
    assert!(
        surprises.is_empty(),
        "{} surprises, such as {:#?}",
        surprises.len(),
        &surprises[..surprises.len().min(20)]
    );
}

/// The lines that pass and do more than they should, out of so many tried and so many run.
fn surprises(tried: usize, most_run: usize) -> Vec<String> {
    let folder = crate::testing::folder();
    let root = folder.path();
    for (program, does) in
        [("bin/gsd-tools", "exit 0"), ("bin/canary", ": > ../ran"), ("here/e/gsd-tools", ": > ../ran")]
    {
        let path = root.join(program);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, format!("#!/bin/sh\n{does}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let (here, ran) = (root.join("here"), root.join("ran"));
    let lines = some_line();
    let mut runner = TestRunner::deterministic();
    let lines: BTreeSet<String> = (0..tried)
        .map(|_| format!("gsd-tools x {}", lines.new_tree(&mut runner).unwrap().current()))
        .filter(|line| ["canary", "PATH", ">f", "<>f", "> "].iter().any(|word| line.contains(word)))
        .filter(|line| !refused(line, ALL) && !is_seen(line, "canary"))
        .collect();
    assert!(lines.len() > most_run, "{}", lines.len());
    let (with, without): (Vec<String>, Vec<String>) = lines.into_iter().partition(|line| line.contains("canary"));
    let some = |lines: Vec<String>, most: usize| {
        let step = lines.len().div_ceil(most).max(1);
        lines.into_iter().step_by(step)
    };
    let mut surprises = Vec::new();
    for line in some(with, most_run * 4 / 5).chain(some(without, most_run / 5)) {
        let mut shell = Command::new("/bin/bash");
        shell.args(["-c", &line]).current_dir(&here).env_clear().env("PATH", root.join("bin"));
        shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        shell.status().unwrap();
        let written = std::fs::read_dir(&here).unwrap().flatten().filter(|entry| entry.file_name() != "e");
        let written: Vec<_> = written.map(|entry| std::fs::remove_file(entry.path())).collect();
        if std::fs::remove_file(&ran).is_ok() || !written.is_empty() {
            surprises.push(line);
        }
    }
    surprises
}
