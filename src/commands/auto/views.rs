//! The read-only verbs: status, forecast, rules.

use crate::acts::auto::seen;
use std::fmt::Write as _;

use super::card::{name, short};
use crate::auto::account::figures;
use crate::auto::preferences::Profile;
use crate::auto::slices::forecast::Shape;
use crate::auto::status::{StatusReport, WaitReport, another_repository, leftover_lines};
use crate::failure::Failure;
use crate::frame::Context;
use crate::text::screen::{Screen, counted};
use crate::text::shell::Typed;
use crate::text::words::of_word;

pub(super) fn status(context: &mut Context) -> Result<(), Failure> {
    let report = seen::status(context)?;
    context.say(&report, None, |screen| shown(&report, screen))
}

/// The maximum number of evidence lines shown for a stop.
const EVIDENCE: usize = 8;

/// The status for a person.
fn shown(report: &StatusReport, screen: Screen) -> String {
    use crate::text::screen::Tone;
    let mut lines = Vec::new();
    let active = [&report.active.milestone, &report.active.slice, &report.active.task];
    let active: Vec<&str> = active.into_iter().flatten().map(String::as_str).collect();
    let landed = report.run.as_ref().filter(|_| active.is_empty()).and_then(|run| run.landing.as_ref().zip(Some(run)));
    lines.push(match landed {
        Some((landing, run)) => {
            let landed = format!("{}: landed on `{}` as {}", name(run), run.target, short(&landing.commit));
            screen.paint(Tone::Strong, &landed)
        }
        None if active.is_empty() => {
            let stop = report.session.as_ref().and_then(|session| session.stop.as_ref());
            let waits = stop.is_some_and(|stop| stop.cause.is_of_waiting_work());
            let done = report.run.as_ref().filter(|_| waits).map(|run| format!("{}: done, not landed yet", name(run)));
            screen.paint(Tone::Strong, done.as_deref().unwrap_or("No milestone is active"))
        }
        None => format!("{}  {}", screen.paint(Tone::Strong, &active.join("/")), report.phase),
    });
    let names = if report.layout == "planning" { ["phases", "plans"] } else { ["slices", "tasks"] };
    for (name, share) in names.into_iter().zip([report.progress.slices, report.progress.tasks]) {
        lines.extend(share.map(|[done, total]| format!("  {done}/{total} {name}")));
    }
    if let Some(run) = &report.run {
        let most = counted(usize::try_from(report.cost.most_sessions).unwrap_or(usize::MAX), "session");
        lines.push(format!("  spent {} (at most {most})", figures::spent(&run.totals)));
    }
    let set_up = report.session.as_ref().and_then(|session| session.set_up.as_ref());
    lines.extend(set_up.map(|set_up| format!("  set-up of worktrees: {set_up}")));
    let environments = report.session.iter().flat_map(|session| session.environments.lines());
    lines.extend(environments.map(|line| format!("  {line}")));
    let warning = report.session.as_ref().and_then(|session| session.client_warning.as_ref());
    lines.extend(warning.map(|warning| format!("  {warning}")));
    lines.extend(report.blockers.iter().map(|blocker| format!("  {blocker}")));
    // A question that the work waits for is already shown as the next step.
    let answered_by_default = report.questions.iter().filter(|question| !question.waits);
    lines.extend(answered_by_default.map(|question| {
        format!("  {} asks: {} (continues with `{}`)", question.task, question.text, question.recommended)
    }));
    if report.captures > 0 {
        let open = counted(report.captures, "capture");
        lines.push(format!("  {open} open: the run looks at them between two units"));
    }
    lines.extend(another_repository(report.entries_of_another_repository).map(|line| format!("  {line}")));
    lines.extend(leftover_lines(&report.leftovers).iter().map(|line| format!("  {line}")));
    lines.push(String::new());
    let unit = report.next.unit_type.zip(report.next.unit_id.as_ref()).map(|(kind, id)| format!("{kind} {id}"));
    if let Some(unit) = unit.as_ref().filter(|_| report.next.action == "running") {
        lines.push(match &report.next.wait {
            Some(wait) => format!("Waiting {}  {unit}\n  {}", until(wait), wait.why),
            None => format!("Running  {unit}: `gsd-tools auto watch` shows it live"),
        });
        return lines.join("\n") + "\n";
    }
    // A person needs to know why a run stopped, even if the next call would try again.
    let ended = report.session.as_ref().and_then(|session| session.stop.as_ref());
    let ended = ended.filter(|stop| stop.cause.code() != 0 && !stop.cause.is_in_documents());
    let (why, call) = match (&report.next.stop, ended) {
        (Some(_), None) if report.session.is_none() && report.step.is_some() => {
            let step = report.step.clone().unwrap_or_default();
            (step.why, Typed::of_quoted(step.command))
        }
        (Some(stop), _) => (stop.text.clone(), stop.next.clone()),
        (None, Some(stop)) => (format!("The last run stopped: {}", stop.text), stop.next.clone()),
        (None, None) if report.next.action == "recover" => {
            ("The run was interrupted; it continues where it was.".to_owned(), Typed::from("gsd-tools auto run"))
        }
        (None, None) => (String::new(), Typed::from("gsd-tools auto run")),
    };
    if !why.is_empty() {
        lines.push(why);
    }
    let evidence = report.next.stop.as_ref().or(ended).map(|stop| stop.evidence.as_slice()).unwrap_or_default();
    lines.extend(evidence.iter().take(EVIDENCE).map(|line| format!("  {line}")));
    if call.as_str() != "gsd-tools auto status" {
        lines.push(format!("Next  {}", screen.paint(Tone::Command, call.as_str())));
    }
    if let Some(wait) = report.next.wait.as_ref().filter(|_| report.next.action == "wait") {
        lines.push(format!("      waits {}, then continues: {}", until(wait), wait.why));
        return lines.join("\n") + "\n";
    }
    if call.as_str() == "gsd-tools auto run" && report.next.stop.is_none() && report.next.action != "recover" {
        let step = match report.next.action {
            "commit" => "commits what has changed",
            "gate" => "runs the checks",
            "land" => "merges the milestone, checks it, and lands it",
            other => report.next.mechanical.unwrap_or(other),
        };
        lines.push(format!("      {}", unit.unwrap_or_else(|| step.to_owned())));
    }
    lines.join("\n") + "\n"
}

fn until(wait: &WaitReport) -> String {
    wait.until.as_ref().map_or_else(|| "for a while".to_owned(), |until| format!("until {until}"))
}

#[derive(Debug, clap::Args)]
pub(super) struct AutoPlanArgs {
    /// The milestone; without it, the active one
    milestone: Option<String>,
    /// Assume these slices, and tasks in each, for work that is not planned yet, such as `4x3`
    #[arg(long, value_parser = shape)]
    shape: Option<Shape>,
}

/// Reads a shape such as `4x3`.
pub(super) fn shape(text: &str) -> Result<Shape, String> {
    let (slices, tasks) = text.split_once('x').ok_or("write it as `4x3`: slices, x, tasks in each")?;
    let number = |text: &str| text.parse().ok().filter(|number| (1..=99).contains(number));
    match (number(slices), number(tasks)) {
        (Some(slices), Some(tasks)) => Ok(Shape { slices, tasks }),
        _ => Err("both numbers have to be between 1 and 99".to_owned()),
    }
}

pub(super) fn plan(context: &mut Context, arguments: &AutoPlanArgs) -> Result<(), Failure> {
    let report = seen::plan(context, arguments.milestone.as_deref(), arguments.shape)?;
    context.say(&report, None, |_| {
        let (sessions, most) = (report.sessions, report.most_sessions);
        let rows = report.by_unit.iter().map(|(kind, count)| format!("  {count:>3}  {kind}\n"));
        if sessions == 0 {
            return "Nothing is left to do. Another milestone begins with `gsd-tools auto run --brief FILE`.\n"
                .to_owned();
        }
        let assumed = if report.assumed { " (partly assumed: not everything is planned yet)" } else { "" };
        format!("{sessions} sessions{assumed}, at most {most}\n{}", rows.collect::<String>())
    })
}

#[derive(Debug, clap::Args)]
pub(super) struct RulesArgs {
    /// `simple` or `classic`; without it, the one of the project
    #[arg(long)]
    pipeline: Option<String>,
    /// Show for each rule whether it applies here, and why not
    #[arg(long)]
    explain: bool,
    /// Show the rules as well that a preference has to turn on
    #[arg(long)]
    all: bool,
}

pub(super) fn rules(context: &mut Context, arguments: &RulesArgs) -> Result<(), Failure> {
    let report = seen::rules(context, arguments.pipeline.as_deref(), arguments.explain, arguments.all)?;
    context.say(&report, None, |_| {
        let mut text = String::new();
        for row in &report {
            let mark = if row.matched == Some(true) { "> " } else { "  " };
            let _ = writeln!(text, "{mark}{}", row.rule);
            if let Some(why) = &row.why {
                let _ = writeln!(text, "      {why}");
            }
        }
        text
    })
}

pub(super) fn profile(word: &str) -> Result<Profile, Failure> {
    of_word(word).ok_or_else(|| {
        Failure::usage(format!("`{word}` is not a profile"))
            .hint("the profiles are budget, balanced, quality and burn-max")
    })
}
