//! Completion scripts and man pages, loaded by the shells and readers on this machine.

use std::process::Output;

use crate::kit::{TestContext, no_shell};

/// The output of a program; `None`, with a message, if it is not installed.
fn asked(context: &TestContext, program: &str, arguments: &[&str]) -> Option<Output> {
    match context.command(program).args(arguments).output() {
        Ok(output) => Some(output),
        Err(error) => {
            no_shell(&format!("shell: {program}"), &error.to_string());
            None
        }
    }
}

/// The output of a shell that runs without a complaint.
fn printed(context: &TestContext, program: &str, arguments: &[&str]) -> Option<String> {
    let output = asked(context, program, arguments)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success() && stderr.is_empty(), "{program}: {}\n{stdout}\n{stderr}", output.status);
    Some(stdout)
}

fn with_script(shell: &str) -> TestContext {
    let context = TestContext::new();
    let script = context.gsd(["completions", shell]).success();
    context.write("script", &script);
    context
}

/// The shell splits the line, calls the function that the script registered, and prints its result.
#[cfg(unix)]
fn completed_by_bash(context: &TestContext, line: &str) -> Option<String> {
    let call = format!(
        "source ./script && found=$(complete -p gsd-tools) && found=${{found#*-F }} && COMP_WORDS=({line}) && \
         COMP_CWORD=$((${{#COMP_WORDS[@]}}-1)) && \
         {{ ${{found%% *}} gsd-tools \"${{COMP_WORDS[-1]}}\" \"${{COMP_WORDS[-2]}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\"; }}"
    );
    printed(context, "bash", &["--norc", "-c", &call])
}

#[test]
#[cfg(unix)]
fn bash_completes_commands_flags_and_hosts() {
    let context = with_script("bash");
    let complete = |line: &str| completed_by_bash(&context, line);
    let Some(commands) = complete("gsd-tools config-") else { return };
    assert!(commands.lines().any(|word| word == "config-get"), "{commands}");
    let flags = complete("gsd-tools phase add --").unwrap();
    assert!(
        ["--dry-run", "--json", "--if-match"].iter().all(|flag| flags.lines().any(|word| word == *flag)),
        "{flags}"
    );
    assert_eq!(complete("gsd-tools install --cla").unwrap().trim(), "--claude");
    assert_eq!(complete("gsd-tools --color ne").unwrap().trim(), "never");
}

#[test]
#[ignore = "slow: another program"]
#[cfg(unix)]
fn zsh_registers_the_script() {
    let context = with_script("zsh");
    context.write("functions/_gsd-tools", &context.read("script"));
    let call = "fpath=($PWD/functions $fpath); autoload -Uz compinit && compinit -u -d $PWD/dump && \
                print -r -- $_comps[gsd-tools] && autoload +X _gsd-tools && print -r -- $+functions[_gsd-tools]";
    if let Some(answer) = printed(&context, "zsh", &["-f", "-c", call]) {
        assert_eq!(answer, "_gsd-tools\n1\n");
    }
    let _ = printed(&context, "zsh", &["-n", "script"]);
}

#[test]
#[ignore = "slow: another program"]
#[cfg(unix)]
fn fish_completes_commands_flags_and_hosts() {
    let context = with_script("fish");
    let complete =
        |line: &str| printed(&context, "fish", &["--no-config", "-c", &format!("source script; complete -C '{line}'")]);
    let Some(commands) = complete("gsd-tools config-") else { return };
    assert!(commands.lines().any(|line| line.starts_with("config-get\t")), "{commands}");
    let flags = complete("gsd-tools phase add --").unwrap();
    assert!(flags.lines().any(|line| line.starts_with("--dry-run\t")), "{flags}");
    assert!(complete("gsd-tools install --cla").unwrap().starts_with("--claude\t"));
}

#[test]
#[ignore = "slow: another program"]
#[cfg(unix)]
fn nushell_loads_the_script() {
    let context = with_script("nushell");
    let script = context.read("script");
    assert!(script.contains("export extern \"gsd-tools config-get\""), "{script}");
    if let Some(answer) = printed(&context, "nu", &["-n", "-c", "source script; print loaded"]) {
        assert_eq!(answer.trim(), "loaded");
    }
}

#[test]
fn powershell_gets_a_script() {
    let script = with_script("powershell").read("script");
    assert!(script.contains("Register-ArgumentCompleter") && script.contains("'gsd-tools;config-get'"), "{script}");
}

#[test]
fn man_pages_replace_only_their_own() {
    let context = TestContext::new();
    let planned = context.gsd(["man-pages", "man1", "--dry-run"]).json();
    assert!(!context.project().join("man1").exists());
    let report = context.gsd(["man-pages", "man1"]).json();
    assert_eq!(report["written"], planned["written"]);
    assert_eq!(
        report["written"].as_array().unwrap().len(),
        usize::try_from(report["pages"].as_u64().unwrap()).unwrap()
    );
    let page = context.read("man1/gsd-tools-phase-add.1");
    context.write("man1/gsd-tools-phase-add.1", &page.replace("phase", "phrase"));
    let again = context.gsd(["man-pages", "man1"]).json();
    assert_eq!(again["written"], serde_json::json!(["gsd-tools-phase-add.1"]));
    assert_eq!(context.read("man1/gsd-tools-phase-add.1"), page);
    context.write("man1/gsd-tools.1", "mine\n");
    context.write("man1/gsd-tools-phase-add.1", &page.replace("phase", "phrase"));
    assert!(context.gsd(["man-pages", "man1"]).failure(73).contains("gsd-tools.1"));
    assert_eq!(context.read("man1/gsd-tools.1"), "mine\n");
    assert_ne!(context.read("man1/gsd-tools-phase-add.1"), page);
}

#[test]
#[ignore = "slow: another program"]
#[cfg(unix)]
fn man_pages_are_sound() {
    let context = TestContext::new();
    context.gsd(["man-pages", "man1"]).json();
    for name in ["gsd-tools.1", "gsd-tools-phase.1", "gsd-tools-phase-add.1", "gsd-tools-install.1"] {
        let path = format!("man1/{name}");
        // Only GNU man has this flag.
        if let Some(version) = asked(&context, "man", &["--version"]) {
            if String::from_utf8_lossy(&version.stdout).contains("man ") && version.status.success() {
                let shown = printed(&context, "man", &["--warnings", "-P", "cat", "-l", &path]).unwrap();
                assert!(shown.contains("SYNOPSIS"), "{shown}");
            } else {
                no_shell("shell: man", "it is not man-db");
            }
        }
        let _ = printed(&context, "mandoc", &["-T", "lint", "-W", "error", &path]);
    }
}

/// Calls that end in the beginning of a word from a table, and the word.
const WORDS_OF_TABLES: &[(&str, &str)] = &[
    ("install cl", "claude"),
    ("help mile", "milestone"),
    ("help exi", "exit-codes"),
    ("guide plan-", "plan-phase"),
    ("config explain workflow.res", "workflow.research"),
    ("config explain verification_com", "verification_commands"),
    ("config-get workflow.res", "workflow.research"),
    ("config-set workflow.res", "workflow.research"),
];

#[test]
#[cfg(unix)]
fn bash_completes_hosts_topics_and_keys() {
    let context = with_script("bash");
    for (line, word) in WORDS_OF_TABLES {
        if let Some(words) = completed_by_bash(&context, &format!("gsd-tools {line}")) {
            assert!(words.lines().any(|found| found == *word), "{line}: {words}");
        }
    }
}

#[test]
#[ignore = "slow: another program"]
fn fish_completes_hosts_topics_and_keys() {
    let context = with_script("fish");
    for (line, word) in WORDS_OF_TABLES {
        let call = format!("source script; complete -C 'gsd-tools {line}'");
        if let Some(words) = printed(&context, "fish", &["--no-config", "-c", &call]) {
            assert!(words.lines().any(|found| found.split('\t').next() == Some(*word)), "{line}: {words}");
        }
    }
}

#[test]
fn scripts_without_a_call_of_the_program_name_hosts_topics_and_keys() {
    for shell in ["zsh", "nushell"] {
        assert!(with_script(shell).read("script").contains("workflow.research"), "{shell}");
    }
}
