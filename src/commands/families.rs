//! The table of families, and the run of a call through it.

use std::ffi::OsString;
use std::process::ExitCode;

use super::frame::argv::{self, Call, Wants};
use super::frame::error::Manner;
use super::frame::{Answer, CommandError, Context, FamilyRow, family, help, own_family, program, usage};
use super::install;
use crate::world::World;

/// Every family. Order is the order of the help.
pub(in crate::commands) const FAMILIES: &[FamilyRow] = &[
    own_family::<crate::commands::install::Installation>(
        "Install",
        &["install", "uninstall", "status", "package", "recover"],
    ),
    own_family::<crate::commands::runtimes::Runtimes>("What hosts can do", &["runtimes"]),
    own_family::<crate::commands::hooks::Hooks>("Hooks", &["hooks"]),
    own_family::<crate::commands::small::guide::Pages>("Guide", &["guide"]),
    family::<crate::commands::init::Inits>("Workflows", &["init"]),
    family::<crate::commands::state::States>("State", &["state", "state-snapshot", "smart-entry"]),
    family::<crate::commands::phases::roadmap::Roadmaps>("Roadmap", &["roadmap"]),
    family::<crate::commands::overview::progress::ProgressFamily>("Progress", &["progress", "stats", "history-digest"]),
    family::<crate::commands::plans::index::Plans>("Plans", &["phase-plan-index", "summary-extract"]),
    family::<crate::commands::plans::plan::PlanFamily>("Executed plans", &["plan"]),
    family::<crate::commands::phases::template::Templates>("Templates", &["template"]),
    family::<crate::commands::phases::scaffold::Scaffolds>("New documents", &["scaffold"]),
    family::<crate::commands::documents::frontmatter::FrontMatterFamily>("Front matter", &["frontmatter"]),
    family::<crate::commands::documents::requirements::RequirementsFamily>("Requirements", &["requirements"]),
    family::<crate::commands::notes::todo::Ideas>("Todos and seeds", &["list-todos", "list-seeds", "todo"]),
    family::<crate::commands::checks::verify::VerifyFamily>("Checks", &["verify", "verify-summary"]),
    family::<crate::commands::checks::audit::Audits>("Audits", &["audit-open", "audit-uat"]),
    family::<crate::commands::checks::validate::Validations>("Health", &["validate"]),
    family::<crate::commands::checks::verification::Verifications>("Verification", &["verification"]),
    family::<crate::commands::checks::uat::UatFamily>("User acceptance", &["uat"]),
    family::<crate::commands::documents::config::Configuration>(
        "Configuration",
        &["config-get", "config-set", "config-ensure-section", "config-new-project", "config-path", "migrate-config"],
    ),
    family::<crate::commands::agents::models::Models>(
        "Models",
        &["resolve-model", "resolve-execution", "resolve-granularity", "config-set-model-profile"],
    ),
    family::<crate::commands::phases::phase::PhaseFamily>("Phases", &["find-phase", "phases", "phase"]),
    family::<crate::commands::phases::milestone::Milestones>("Milestones", &["milestone"]),
    family::<crate::commands::notes::quick_tasks::QuickTasks>(
        "Quick tasks",
        &["quick-tasks-append", "quick-tasks-migrate"],
    ),
    family::<crate::commands::plans::task::Tasks>("Tasks", &["task"]),
    family::<crate::commands::plans::estimates::Estimates>(
        "Estimates",
        &["estimate-calibrate", "estimate-calibration", "estimate-check"],
    ),
    family::<crate::commands::documents::import::Imports>("Other layouts", &["from-gsd2"]),
    family::<crate::commands::overview::planning::Planning>("The whole project", &["planning"]),
    family::<crate::commands::phases::workstream::Workstreams>("Workstreams", &["workstream"]),
    family::<crate::commands::worktree::Worktrees>("Worktrees", &["worktree"]),
    family::<crate::commands::git::Commits>(
        "Git",
        &["commit", "check-commit", "commit-to-subrepo", "pr-subrepo", "commit-docs-guard", "git"],
    ),
    family::<crate::commands::loops::auto_chain::AutoChains>("The automatic chain", &["auto-chain"]),
    family::<crate::commands::checks::check::Gates>("Gates", &["check", "gap-analysis"]),
    own_family::<crate::commands::checks::gate::Gates>("Build and test", &["gate"]),
    own_family::<crate::commands::small::trust::Trust>("Trust", &["trust"]),
    family::<crate::commands::checks::guards::Guards>("Guards", &["drift-guard", "user-story", "assumption-delta"]),
    family::<crate::commands::loops::Loop>("Loop", &["loop"]),
    family::<crate::commands::install::updating::Updating>(
        "Updating",
        &["update-context", "update-check", "detect-custom-files", "restore-custom-files"],
    ),
    family::<crate::commands::agents::skills::Skills>("Skills", &["skill-manifest"]),
    family::<crate::commands::loops::capability::Capabilities>("Features", &["capability"]),
    family::<crate::commands::agents::hosts::Hosts>(
        "Hosts",
        &["agent-skills", "skills-root", "project-instruction-file"],
    ),
    family::<crate::commands::agents::dispatch::Dispatches>(
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
    family::<crate::commands::agents::effort::Efforts>("Effort", &["effort"]),
    family::<crate::commands::code::codebase::CodeDocuments>(
        "Documents of the code",
        &["docs-init", "stamp-codebase-map"],
    ),
    family::<crate::commands::documents::instructions::Instructions>("Instructions", &["generate-claude-md"]),
    family::<crate::commands::person::sessions::SessionFamily>(
        "Sessions",
        &["scan-sessions", "extract-messages", "profile-sample"],
    ),
    family::<crate::commands::person::profile::Profiles>(
        "Profile",
        &["profile-questionnaire", "write-profile", "generate-dev-preferences", "generate-claude-profile"],
    ),
    family::<crate::commands::code::intel::IntelFamily>("Code intelligence", &["intel"]),
    family::<crate::commands::code::graphify::GraphifyFamily>("Graph of the code", &["graphify"]),
    family::<crate::commands::research::learnings::LearningsFamily>("Learnings", &["learnings"]),
    family::<crate::commands::code::refactor::Refactors>("Refactoring", &["refactor"]),
    family::<crate::commands::checks::evaluation::Evaluations>("Evaluations", &["eval"]),
    family::<crate::commands::agents::prompt::Prompts>("Prompts", &["prompt-budget"]),
    family::<crate::commands::research::findings::Findings>("Findings", &["research-plan", "research-store"]),
    family::<crate::commands::research::packages::Research>(
        "Research",
        &["classify-confidence", "package-legitimacy", "websearch"],
    ),
    own_family::<crate::commands::small::schema::Schemas>("Schemas", &["schema"]),
    own_family::<crate::commands::small::timeout::Limited>("Running", &["run-with-timeout"]),
    family::<crate::commands::small::basics::Basics>(
        "Small answers",
        &["generate-slug", "current-timestamp", "verify-path-exists", "runtime-identity", "normalize-test-command"],
    ),
];

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

pub(in crate::commands) fn answer(mut call: Call, manner: Manner, world: World) -> Answer {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::frame::{catalog, tree};

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
