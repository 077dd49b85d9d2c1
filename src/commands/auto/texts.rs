//! The prompts of agents, and the log of a run: `auto prompt`, `auto context`, `auto log`.

use crate::acts::auto::texts;
use serde_json::Value;

use crate::auto::status::another_repository;
use crate::failure::Failure;
use crate::frame::Context;

#[derive(Debug, clap::Args)]
pub(super) struct PromptArgs {
    /// The kind of unit, such as `execute-task`, or a short word such as `plan`
    unit: String,
    /// What it is about, such as `M001/S01/T02`; without it, what is next
    id: Option<String>,
    /// How much of the documents is in the text: `paths`, `minimal` or `full`
    #[arg(long, value_name = "LEVEL")]
    inline: Option<String>,
}

pub(super) fn print_prompt(context: &mut Context, arguments: &PromptArgs) -> Result<(), Failure> {
    let PromptArgs { unit, id, inline } = arguments;
    let report = texts::prompt(context, unit, id.as_deref(), inline.as_deref())?;
    context.say(&report, Some(&report.text), |_| report.text.clone())
}

#[derive(Debug, clap::Args)]
pub(super) struct UnitContextArgs {
    /// The unit whose documents are searched, such as `M001/S01`
    id: String,
    /// The heading of the section
    #[arg(long, value_name = "HEADING")]
    section: String,
}

pub(super) fn section(context: &mut Context, arguments: &UnitContextArgs) -> Result<(), Failure> {
    let report = texts::section(context, &arguments.id, &arguments.section)?;
    context.say(&report, Some(&report.text), |_| report.text.clone())
}

#[derive(Debug, clap::Args)]
pub(super) struct LogArgs {
    /// Only what is about this unit, such as `M001/S01/T02`, and units below it
    unit: Option<String>,
    /// Show at most this many entries, the last ones
    #[arg(long, default_value_t = 50)]
    limit: usize,
    /// Show every entry, bookkeeping included
    #[arg(long)]
    all: bool,
}

pub(super) fn log(context: &mut Context, arguments: &LogArgs) -> Result<(), Failure> {
    let report = texts::log(context, arguments.unit.as_deref(), arguments.limit, arguments.all)?;
    context.say(&report, None, |_| {
        let mut lines: Vec<String> = Vec::new();
        for row in &report.entries {
            let time = row.at.get(..16).unwrap_or(&row.at).replace('T', " ");
            let text =
                row.text.clone().unwrap_or_else(|| row.entry.get("event").map(Value::to_string).unwrap_or_default());
            lines.push(format!("{time}  {text}"));
        }
        if lines.is_empty() {
            lines.push("Nothing is logged yet.".to_owned());
        }
        lines.extend(another_repository(report.entries_of_another_repository));
        if !report.activity.is_empty() {
            lines.push(String::new());
            lines.push("Sessions:".to_owned());
            lines.extend(report.activity.iter().map(|path| format!("  {path}")));
        }
        lines.join("\n") + "\n"
    })
}
