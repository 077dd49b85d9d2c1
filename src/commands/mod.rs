//! Arguments in, JSON out. Thin: a family loads, calls a room below, and emits.
//!
//! A call runs through [`argv`] (flags of every command), the table [`FAMILIES`] (which file answers to which word),
//! clap (only the tree of that one family is built), and the family's function.
//!
//! A family is an enum that derives `clap::Subcommand`, one variant per word, and implements [`Family`]. Doc comments
//! are the help: the first line imperative and without a full stop, then an example. Every leaf has a row in
//! [`catalog`]. Two things clap does differently here: a value may begin with `-` (but not with `--`), and wrong usage
//! of a word exits 1, or 2 for the words of `OWN`.

mod argv;
mod audit;
mod auto_chain;
mod basics;
mod capability;
mod catalog;
mod check;
mod codebase;
mod config;
#[cfg(test)]
mod content_tests;
mod context;
mod dispatch;
mod effort;
mod error;
mod estimates;
mod evaluation;
mod files;
mod findings;
mod frontmatter;
mod gate;
mod git;
mod graphify;
mod guards;
mod guide;
mod help;
mod hooks;
mod hosts;
mod import;
mod init;
mod install;
mod instructions;
mod intel;
mod learnings;
mod loops;
mod milestone;
mod models;
mod phase;
mod plan;
mod planning;
mod plans;
mod profile;
mod program;
mod progress;
mod project;
mod prompt;
mod quick_tasks;
mod reach;
mod refactor;
mod requirements;
mod research;
mod roadmap;
mod runtimes;
mod scaffold;
mod schema;
#[cfg(test)]
mod schema_tests;
mod sessions;
mod skills;
mod state;
mod task;
mod template;
mod timeout;
mod todo;
mod trust;
mod uat;
mod updating;
mod upkeep;
mod usage;
mod validate;
mod verification;
mod verify;
mod workstream;
mod worktree;

use std::ffi::OsString;
use std::io::{ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use argv::{Call, Wants};
use clap::ArgMatches;
pub(crate) use context::Context;
pub(crate) use error::CommandError;

use crate::text::terminal;
use crate::world::World;
use error::Manner;

/// One family: the words it answers to, its clap tree, and its function.
#[derive(Clone, Copy)]
pub(crate) struct FamilyRow {
    /// What the family is about, as a heading of the help.
    pub(crate) title: &'static str,
    /// First words of a call that reach this family, in the order of its enum.
    pub(crate) words: &'static [&'static str],
    tree: fn(clap::Command) -> clap::Command,
    run: fn(&mut Context, &ArgMatches) -> Result<(), CommandError>,
    /// Exit code of wrong usage.
    usage_code: u8,
}

/// Every family. Order is the order of the help.
const FAMILIES: &[FamilyRow] = &[
    own_family::<install::Installation>("Install", &["install", "uninstall", "status", "package", "recover"]),
    own_family::<runtimes::Runtimes>("What hosts can do", &["runtimes"]),
    own_family::<hooks::Hooks>("Hooks", &["hooks"]),
    own_family::<guide::Pages>("Guide", &["guide"]),
    family::<init::Inits>("Workflows", &["init"]),
    family::<state::States>("State", &["state", "state-snapshot", "smart-entry"]),
    family::<roadmap::Roadmaps>("Roadmap", &["roadmap"]),
    family::<progress::ProgressFamily>("Progress", &["progress", "stats", "history-digest"]),
    family::<plans::Plans>("Plans", &["phase-plan-index", "summary-extract"]),
    family::<plan::PlanFamily>("Executed plans", &["plan"]),
    family::<template::Templates>("Templates", &["template"]),
    family::<scaffold::Scaffolds>("New documents", &["scaffold"]),
    family::<frontmatter::FrontMatterFamily>("Front matter", &["frontmatter"]),
    family::<requirements::RequirementsFamily>("Requirements", &["requirements"]),
    family::<todo::Ideas>("Todos and seeds", &["list-todos", "list-seeds", "todo"]),
    family::<verify::VerifyFamily>("Checks", &["verify", "verify-summary"]),
    family::<audit::Audits>("Audits", &["audit-open", "audit-uat"]),
    family::<validate::Validations>("Health", &["validate"]),
    family::<verification::Verifications>("Verification", &["verification"]),
    family::<uat::UatFamily>("User acceptance", &["uat"]),
    family::<config::Configuration>(
        "Configuration",
        &["config-get", "config-set", "config-ensure-section", "config-new-project", "config-path", "migrate-config"],
    ),
    family::<models::Models>(
        "Models",
        &["resolve-model", "resolve-execution", "resolve-granularity", "config-set-model-profile"],
    ),
    family::<phase::PhaseFamily>("Phases", &["find-phase", "phases", "phase"]),
    family::<milestone::Milestones>("Milestones", &["milestone"]),
    family::<quick_tasks::QuickTasks>("Quick tasks", &["quick-tasks-append", "quick-tasks-migrate"]),
    family::<task::Tasks>("Tasks", &["task"]),
    family::<estimates::Estimates>("Estimates", &["estimate-calibrate", "estimate-calibration", "estimate-check"]),
    family::<import::Imports>("Other layouts", &["from-gsd2"]),
    family::<planning::Planning>("The whole project", &["planning"]),
    family::<workstream::Workstreams>("Workstreams", &["workstream"]),
    family::<worktree::Worktrees>("Worktrees", &["worktree"]),
    family::<git::Commits>(
        "Git",
        &["commit", "check-commit", "commit-to-subrepo", "pr-subrepo", "commit-docs-guard", "git"],
    ),
    family::<auto_chain::AutoChains>("The automatic chain", &["auto-chain"]),
    family::<check::Gates>("Gates", &["check", "gap-analysis"]),
    own_family::<gate::Gates>("Build and test", &["gate"]),
    own_family::<trust::Trust>("Trust", &["trust"]),
    family::<guards::Guards>("Guards", &["drift-guard", "user-story", "assumption-delta"]),
    family::<loops::Loop>("Loop", &["loop"]),
    family::<updating::Updating>(
        "Updating",
        &["update-context", "update-check", "detect-custom-files", "restore-custom-files"],
    ),
    family::<skills::Skills>("Skills", &["skill-manifest"]),
    family::<capability::Capabilities>("Features", &["capability"]),
    family::<hosts::Hosts>("Hosts", &["agent-skills", "skills-root", "project-instruction-file"]),
    family::<dispatch::Dispatches>(
        "Agents",
        &[
            "resolve-dispatch-type",
            "dispatch-isolation",
            "inspect-dispatch-isolation",
            "record-dispatch-isolation",
            "dispatch-capacity",
            "dispatch-should-flatten",
            "resolve-agent",
            "agent",
            "teams-status",
        ],
    ),
    family::<effort::Efforts>("Effort", &["effort"]),
    family::<codebase::CodeDocuments>("Documents of the code", &["docs-init", "stamp-codebase-map"]),
    family::<instructions::Instructions>("Instructions", &["generate-claude-md"]),
    family::<sessions::SessionFamily>("Sessions", &["scan-sessions", "extract-messages", "profile-sample"]),
    family::<profile::Profiles>(
        "Profile",
        &["profile-questionnaire", "write-profile", "generate-dev-preferences", "generate-claude-profile"],
    ),
    family::<intel::IntelFamily>("Code intelligence", &["intel"]),
    family::<graphify::GraphifyFamily>("Graph of the code", &["graphify"]),
    family::<learnings::LearningsFamily>("Learnings", &["learnings"]),
    family::<refactor::Refactors>("Refactoring", &["refactor"]),
    family::<evaluation::Evaluations>("Evaluations", &["eval"]),
    family::<prompt::Prompts>("Prompts", &["prompt-budget"]),
    family::<findings::Findings>("Findings", &["research-plan", "research-store"]),
    family::<research::Research>("Research", &["classify-confidence", "package-legitimacy", "websearch"]),
    own_family::<schema::Schemas>("Schemas", &["schema"]),
    own_family::<timeout::Limited>("Running", &["run-with-timeout"]),
    family::<basics::Basics>(
        "Small answers",
        &["generate-slug", "current-timestamp", "verify-path-exists", "runtime-identity", "normalize-test-command"],
    ),
];

/// What a family's enum does with itself once clap has read it.
pub(crate) trait Family: clap::Subcommand {
    fn run(self, context: &mut Context) -> Result<(), CommandError>;
}

/// A family that speaks as its peer does: wrong usage exits 1.
const fn family<F: Family>(title: &'static str, words: &'static [&'static str]) -> FamilyRow {
    FamilyRow { title, words, tree: F::augment_subcommands, run: run_family::<F>, usage_code: 1 }
}

/// A family of our own words: wrong usage exits 2.
const fn own_family<F: Family>(title: &'static str, words: &'static [&'static str]) -> FamilyRow {
    FamilyRow { usage_code: 2, ..family::<F>(title, words) }
}

fn run_family<F: Family>(context: &mut Context, matches: &ArgMatches) -> Result<(), CommandError> {
    let command = F::from_arg_matches(matches).map_err(|error| CommandError::usage(error.to_string()))?;
    command.run(context)
}

/// Runs one call: reads it, answers it, prints the answer, gives the exit code.
pub(crate) fn run(arguments: Vec<OsString>) -> ExitCode {
    let world = World::real();
    let (manner, verdict) = argv::manner(&arguments, &world);
    let answer = match verdict.and_then(|()| argv::parse(arguments)) {
        Ok(call) => answer(call, manner, world.clone()),
        Err(error) => Answer { stdout: String::new(), outcome: Err(error) },
    };
    let here = world.folder().unwrap_or_default();
    let outcome = answer.outcome.map_err(|error| error.calling(&program::word(&world, &here)));
    Answer { outcome, ..answer }.deliver(manner)
}

/// What a call came to: text for standard output, and an exit code or the failure.
struct Answer {
    stdout: String,
    outcome: Result<u8, CommandError>,
}

impl Answer {
    /// Prints. A reader that went away is not a failure of the command.
    #[must_use]
    fn deliver(self, manner: Manner) -> ExitCode {
        // A program that reads the answer gets the bytes of a document as they are; a terminal would act on some of them.
        let text = if std::io::stdout().is_terminal() { terminal::shown(&self.stdout) } else { self.stdout };
        let written = std::io::stdout().write_all(text.as_bytes()).and_then(|()| std::io::stdout().flush());
        let mut code = match self.outcome {
            Ok(code) => code,
            Err(error) => {
                // Where standard error is closed there is nobody left to tell.
                let _ = std::io::stderr().write_all(terminal::shown(&error.render(manner)).as_bytes());
                error.exit_code(manner.contract)
            }
        };
        if let Err(error) = written
            && error.kind() != ErrorKind::BrokenPipe
        {
            let _ = writeln!(std::io::stderr(), "Error: cannot write to standard output: {error}");
            code = 74;
        }
        ExitCode::from(code)
    }
}

fn answer(mut call: Call, manner: Manner, world: World) -> Answer {
    let told = |text: String| Answer { stdout: text, outcome: Ok(0) };
    let failed = |error: CommandError| Answer { stdout: String::new(), outcome: Err(error) };
    call.words = match install::spelled(call.words, &world) {
        Ok(words) => words,
        Err(error) => return failed(error),
    };
    match call.wants {
        Wants::Version => return told(format!("gsd-tools {}\n", env!("CARGO_PKG_VERSION"))),
        Wants::Help => return told(help::page(FAMILIES, &call.words)),
        Wants::Work => {}
    }
    let row = match usage::family_of(FAMILIES, &call) {
        Ok(row) => row,
        Err(error) => return failed(error),
    };
    if let Err(error) = usage::lift_of_writers(row, &mut call) {
        return failed(error);
    }
    let matches = match usage::read(row, &call.words) {
        Ok(matches) => matches,
        Err(error) if row.usage_code == 1 => return failed(error),
        Err(error) => return failed(error.exits(row.usage_code)),
    };
    match Context::new(world, call.globals) {
        Ok(mut context) => {
            let allowed = context.hold_agents_to_their_project(row, &call.words);
            let result = allowed.and_then(|()| (row.run)(&mut context, &matches));
            context.finish(result, manner.contract)
        }
        Err(error) => failed(error),
    }
}

/// The whole clap tree of one family, under the program's name.
fn tree(row: &FamilyRow) -> clap::Command {
    let program = clap::Command::new("gsd-tools")
        .disable_help_flag(true)
        .disable_help_subcommand(true)
        .disable_version_flag(true)
        .subcommand_required(true);
    (row.tree)(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_sound_and_answer_to_their_words() {
        for row in FAMILIES {
            let tree = tree(row);
            tree.clone().debug_assert();
            let names: Vec<&str> = tree.get_subcommands().map(clap::Command::get_name).collect();
            assert_eq!(names, row.words, "family {}", row.title);
        }
    }

    #[test]
    fn no_word_has_two_families() {
        let mut words: Vec<&str> = FAMILIES.iter().flat_map(|row| row.words).copied().collect();
        let count = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), count);
    }

    #[test]
    fn every_command_says_what_it_does() {
        fn check(command: &clap::Command, path: &str) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            assert!(!about.is_empty() && !about.ends_with('.'), "help of `{path}`: {about:?}");
            for child in command.get_subcommands() {
                check(child, &format!("{path} {}", child.get_name()));
            }
        }
        for row in FAMILIES {
            for command in tree(row).get_subcommands() {
                check(command, command.get_name());
            }
        }
    }
    /// The calls that a help page shows, each in backticks; what a shell does with the answer is left out.
    fn examples(help: &str) -> Vec<&str> {
        let quoted = help.split_once("Example").map_or("", |(_, examples)| examples).split('`').skip(1).step_by(2);
        let calls = quoted.filter_map(|code| code.strip_prefix("gsd-tools "));
        calls.map(|call| call.split(" > ").next().unwrap_or(call)).collect()
    }

    /// The arguments of a call as a shell splits them, as far as examples need it.
    fn arguments(call: &str) -> Vec<OsString> {
        let mut words = vec![String::new()];
        let mut quote = None;
        for character in call.chars() {
            match (character, quote) {
                ('\'' | '"', None) => quote = Some(character),
                (character, Some(open)) if character == open => quote = None,
                (' ', None) => words.push(String::new()),
                _ => words.last_mut().unwrap().push(character),
            }
        }
        words.into_iter().map(OsString::from).collect()
    }

    #[test]
    fn every_command_has_an_example_that_can_be_typed() {
        let mut without = Vec::new();
        for (path, _) in catalog::CATALOG {
            let words: Vec<String> = path.split(' ').map(str::to_owned).collect();
            let row = FAMILIES.iter().find(|row| row.words.contains(&words[0].as_str())).unwrap();
            let about =
                usage::leaf(&tree(row), &words).command.get_long_about().map(ToString::to_string).unwrap_or_default();
            let examples = examples(&about);
            for example in &examples {
                let refused = |error: CommandError| -> ! { panic!("`{example}`: {error:?}") };
                let mut call = argv::parse(arguments(example)).unwrap_or_else(|error| refused(error));
                let row = usage::family_of(FAMILIES, &call).unwrap_or_else(|error| refused(error));
                usage::lift_of_writers(row, &mut call).unwrap_or_else(|error| refused(error));
                usage::read(row, &call.words).unwrap_or_else(|error| refused(error));
            }
            // A command that only refuses shows what to call instead.
            let shown = |example: &&str| example.starts_with(path) || about.starts_with("Refuse ");
            if !examples.iter().any(shown) {
                without.push(*path);
            }
        }
        assert_eq!(without, Vec::<&str>::new(), "commands whose help shows no call of them");
    }
}
