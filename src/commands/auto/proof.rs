//! `auto proof`: the recorded facts about a landing, and whether they are still true.

use crate::acts::auto::proof::{self, CheckBy, ProofReport};
use std::fmt::Write as _;

use crate::auto::proof::statement::Statement;
use crate::failure::Failure;
use crate::frame::Context;
use crate::text::screen::{Screen, Tone};

#[derive(Debug, clap::Args)]
pub(super) struct ProofArgs {
    /// The commit that landed; without it, the newest one of this branch that has a proof
    commit: Option<String>,
    /// Check the signature, and run the checks again on a fresh checkout
    #[arg(long)]
    check: bool,
    /// Accept only signatures by a key of this file of allowed signers
    #[arg(long, value_name = "FILE", requires = "check")]
    signers: Option<String>,
    /// Let the checks write everywhere
    #[arg(long, requires = "check")]
    no_fence: bool,
}

pub(super) fn proof(context: &mut Context, arguments: &ProofArgs) -> Result<(), Failure> {
    let check =
        arguments.check.then_some(CheckBy { signers: arguments.signers.as_deref(), no_fence: arguments.no_fence });
    let report = proof::proof(context, arguments.commit.as_deref(), check)?;
    context.exit_with(u8::from(!report.holds));
    context.say(&report, None, |screen| shown(&report, screen))
}

/// The report for a person.
fn shown(report: &ProofReport, screen: Screen) -> String {
    let mut text = format!("{}\n", screen.paint(Tone::Strong, &report.commit));
    for row in &report.statements {
        let Some(statement) = serde_json::to_vec(&row.statement).ok().and_then(|payload| Statement::read(&payload))
        else {
            let _ = writeln!(text, "  {}", row.problems.join("; "));
            continue;
        };
        let predicate = &statement.predicate;
        let landing = &predicate.landing;
        let _ = writeln!(text, "  {} on {}, from {}", landing.milestone, landing.target, short(&landing.base));
        let signed = match (&row.key, &row.signer, &predicate.unsigned) {
            (Some(key), Some(signer), _) => format!("signed by {signer} with {key}"),
            (Some(key), None, _) if report.checked => {
                format!("signed with {key}; no file of allowed signers says whose key that is")
            }
            (Some(key), None, _) => format!("signed with {key}"),
            (None, _, Some(why)) => format!("not signed: {why}"),
            (None, _, None) => "not signed".to_owned(),
        };
        let _ = writeln!(text, "  {signed}");
        if let Some(environment) = &predicate.environment {
            let system = &environment.system;
            let tools: Vec<String> =
                environment.tools.iter().map(|tool| format!("{} ({})", tool.program, tool.version)).collect();
            let fence = if environment.fenced { "fenced" } else { "not fenced" };
            let _ = writeln!(
                text,
                "  on {} {} {}, locale {}, {fence}, with {}",
                system.name,
                system.release,
                system.machine,
                environment.locale,
                tools.join(", ")
            );
        }
        let _ = writeln!(text, "  {} units: {}", predicate.run.units.len(), made_by(&statement));
        for check in &predicate.checks.commands {
            let tests = check.tests.map(|tests| format!(", {} tests", tests.ran)).unwrap_or_default();
            let again = row.checks.iter().find(|again| again.command == check.command);
            let again = again.map(|again| format!("; run again, it exits {}", again.now.exit_code)).unwrap_or_default();
            let _ = writeln!(text, "  `{}` exits {}{tests}{again}", check.command, check.exit_code);
        }
        if let Some(why) = &predicate.checks.why_none {
            let _ = writeln!(text, "  no checks: {why}");
        }
        text.push_str("\nThis does not prove:\n");
        for sentence in &predicate.does_not_prove {
            let _ = writeln!(text, "  {sentence}");
        }
        text.push('\n');
        for problem in &row.problems {
            let _ = writeln!(text, "{}", screen.paint(Tone::Bad, &format!("Wrong: {problem}")));
        }
    }
    let again: usize = report.statements.iter().map(|row| row.checks.len()).sum();
    text.push_str(match (report.holds, report.checked) {
        (false, _) => "The proof does not hold.\n",
        (true, true) if again == 0 => "The proof holds; it has no check that could be run again.\n",
        (true, true) => "The proof holds: its checks end as it says.\n",
        (true, false) => "To check it: `gsd-tools auto proof --check`\n",
    });
    text
}

/// The clients and models that did the work.
fn made_by(statement: &Statement) -> String {
    let mut found: Vec<String> = Vec::new();
    for unit in &statement.predicate.run.units {
        let models = if unit.models.is_empty() { String::new() } else { format!(" ({})", unit.models.join(", ")) };
        let one = format!("{}{models}", unit.client);
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found.join(", ")
}

fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}
