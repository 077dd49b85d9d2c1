//! `auto probe`: tries the installed clients offline.

use std::fmt::Write as _;

use crate::acts::auto::probe::{self, ClientReport, Difference};
use crate::failure::Failure;
use crate::frame::Context;

#[derive(Debug, clap::Args)]
pub(super) struct ProbeArgs {
    /// The client, as `runners.md` calls it; all that are installed if left out
    client: Option<String>,
    /// The program of the client, if it is not found by its name
    #[arg(long, requires = "client")]
    program: Option<String>,
    /// Run only this trial, such as `work`, `401` or `hang`; can be repeated
    #[arg(long = "trial", value_name = "NAME")]
    trials: Vec<String>,
}

pub(super) fn probe(context: &mut Context, arguments: &ProbeArgs) -> Result<(), Failure> {
    let ProbeArgs { client, program, trials } = arguments;
    let report = probe::probe(context, client.as_deref(), program.as_deref(), trials)?;
    context.exit_with(u8::from(report.grave > 0));
    context.say(&report, None, |_| report.clients.iter().map(shown).collect::<Vec<_>>().join("\n"))
}

/// One line for each trial, and the result.
fn shown(client: &ClientReport) -> String {
    let version = client.version.as_deref().unwrap_or("of an unknown version");
    let measured = client.measured_version.as_deref().unwrap_or("unknown");
    let mut text = format!("{}, {version}; facts of {}, version {measured}\n", client.title, client.facts_date);
    let said =
        |difference: &Difference| format!("{}{}", if difference.grave { "GRAVE: " } else { "" }, difference.text);
    for trial in &client.trials {
        let differs: Vec<String> = trial.differs.iter().map(said).collect();
        let differs = if differs.is_empty() { "ok".to_owned() } else { differs.join("; ") };
        let _ = writeln!(text, "  {:<16}{:<28}{differs}", trial.trial, trial.verdict);
    }
    for difference in &client.differs {
        let _ = writeln!(text, "  {}", said(difference));
    }
    let all = || client.differs.iter().chain(client.trials.iter().flat_map(|trial| &trial.differs));
    let (count, grave) = (all().count(), all().filter(|difference| difference.grave).count());
    let _ = match (count, grave) {
        (0, _) => writeln!(text, "Nothing differs from the facts."),
        (_, 0) => writeln!(text, "Differences: {count}, none of them grave."),
        _ => writeln!(text, "Differences: {count}, grave: {grave}. Work would be taken for done, or lost."),
    };
    text
}
