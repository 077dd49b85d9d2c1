//! `history`, `undo` and `redo`: the installs, updates and uninstalls of the past, and taking them back.

use std::fmt::Write as _;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::job::{Asking, CANCELLED, installer, report_settled};
use super::report::{SetAside, some_of};
use crate::acts::{caller, project};
use crate::disk::AbsolutePath;
use crate::failure::Failure;
use crate::frame::Context;
use crate::install::{self, CallVerb, InstallError, PastCall, RecordedInstall, UndoAct, UndoPlan};
use crate::library::Library;
use crate::runtime::Registry;
use crate::text::screen::{Cell, Mark, Screen, Tone, counted};
use crate::text::shell::typed;
use crate::world::World;
use crate::world::signals::Requests;

/// How the history is shown.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct HistoryArgs {
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// What to take back.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct UndoArgs {
    /// The number of a call in `gsd-tools history`; without it, the last one
    number: Option<u64>,
    #[command(flatten)]
    asking: Asking,
    /// Show what would be changed without changing it
    #[arg(long)]
    dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// The result of `history`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct HistoryReport {
    /// The latest first.
    calls: Vec<CallReport>,
}

/// One call of the past.
#[derive(Debug, Serialize, JsonSchema)]
struct CallReport {
    number: u64,
    /// When it was made.
    at: String,
    verb: CallVerb,
    /// The version of the program that made it.
    program: String,
    installs: Vec<RecordedInstall>,
    /// How many files it wrote or removed.
    files: usize,
    /// For an undo or a redo: the call that it took back.
    #[serde(skip_serializing_if = "Option::is_none")]
    takes_back: Option<u64>,
    /// The call that took it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    taken_back_by: Option<u64>,
    /// Whether it can be taken back: what it replaced is kept, and nothing took it back yet.
    can_be_undone: bool,
    #[serde(skip)]
    hosts: String,
}

/// The result of `undo` or `redo`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct UndoReport {
    action: CallVerb,
    dry_run: bool,
    /// The call that is taken back.
    call: CallReport,
    /// How many files get their earlier contents again.
    restored: usize,
    /// How many files that the call made are removed.
    removed: usize,
    /// Settings files that were edited since: only our entries are taken back.
    merged: Vec<String>,
    /// Installed files that you had edited, and the places where your versions are saved.
    set_aside: Vec<SetAside>,
    /// Files that stay as you left them.
    kept: Vec<String>,
}

impl CallReport {
    fn new(call: PastCall, registry: &Registry, world: &World) -> Self {
        let name = |install: &RecordedInstall| {
            let known = registry.find(&install.runtime).map(|host| host.name);
            let project = install.project().map(|project| format!(", {}", shown(&project, world)));
            let (name, scope) = (known.unwrap_or_else(|_| install.runtime.clone()), install.scope.word());
            format!("{name} ({scope}{})", project.unwrap_or_default())
        };
        let names: Vec<String> = call.record.installs.iter().map(name).collect();
        Self {
            hosts: some_of(&names, false),
            can_be_undone: call.is_whole && call.taken_back_by.is_none(),
            number: call.number,
            at: call.at,
            verb: call.record.verb,
            program: call.record.program,
            installs: call.record.installs,
            files: call.files,
            takes_back: call.record.takes_back,
            taken_back_by: call.taken_back_by,
        }
    }

    /// What it did, such as `install 0.1.0` or `undo of 3`.
    fn what(&self) -> String {
        let one = |version: fn(&RecordedInstall) -> Option<&String>| {
            let mut versions: Vec<&String> = self.installs.iter().filter_map(version).collect();
            versions.sort();
            versions.dedup();
            versions.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ")
        };
        let (from, to) = (one(|install| install.from.as_ref()), one(|install| install.to.as_ref()));
        match (self.verb, self.takes_back) {
            (CallVerb::Undo | CallVerb::Redo, Some(other)) => format!("{} of {other}", self.verb.word()),
            (CallVerb::Update, _) if from != to => format!("update {from} -> {to}"),
            (CallVerb::Uninstall, _) => format!("uninstall {from}"),
            (verb, _) => format!("{} {to}", verb.word()),
        }
    }

    fn minute(&self) -> String {
        let minute = self.at.get(..16).unwrap_or(&self.at);
        minute.replace('T', " ")
    }
}

impl HistoryReport {
    fn text(&self, screen: Screen) -> String {
        let mut text = String::new();
        if self.calls.is_empty() {
            return screen.prose("", "  ", "No install, update or uninstall is in the history yet.");
        }
        for call in &self.calls {
            let mark = if call.taken_back_by.is_some() { screen.mark(Mark::Open) } else { screen.mark(Mark::Done) };
            let row = [
                mark,
                Cell::new(Tone::Strong, call.number.to_string()),
                Cell::from(call.minute()),
                Cell::from(call.what()),
                Cell::from(counted(call.files, "file")),
            ];
            text += &screen.heading(&row);
            text += &screen.prose("    ", "    ", &call.hosts);
            let replaced = call.installs.iter().flat_map(|install| &install.replaced);
            for replaced in replaced {
                text += &screen.prose("    ", "    ", &format!("replaced {replaced}"));
            }
            if let Some(by) = call.taken_back_by {
                text += &screen.prose("    ", "    ", &format!("taken back by {by}"));
            } else if !call.can_be_undone {
                text += &screen.prose("    ", "    ", "cannot be taken back: its files were too large to keep");
            }
        }
        let is_undoable = |call: &&CallReport| call.can_be_undone && call.verb != CallVerb::Undo;
        if let Some(last) = self.calls.iter().find(is_undoable) {
            let cure = format!("Take back call {}: `{}`", last.number, typed!("gsd-tools undo {}", last.number));
            text += "\n";
            text += &screen.commands(&screen.prose("  ", "  ", &cure));
        }
        text
    }
}

impl UndoReport {
    fn new(action: CallVerb, dry_run: bool, plan: &UndoPlan, registry: &Registry, world: &World) -> Self {
        let mut report = Self {
            action,
            dry_run,
            call: CallReport::new(plan.call.clone(), registry, world),
            restored: 0,
            removed: 0,
            merged: Vec::new(),
            set_aside: Vec::new(),
            kept: Vec::new(),
        };
        for (path, act) in &plan.files {
            let shown = shown(path, world);
            match act {
                UndoAct::Restore => report.restored += 1,
                UndoAct::Remove => report.removed += 1,
                UndoAct::Merge => report.merged.push(shown),
                UndoAct::SetAside { to } => {
                    let to = self::shown(to, world);
                    report.set_aside.push(SetAside { path: shown, to });
                }
                UndoAct::Keep => report.kept.push(shown),
            }
        }
        report
    }

    fn text(&self, screen: Screen, is_done: bool) -> String {
        let call = &self.call;
        let title = match (self.action, is_done) {
            (CallVerb::Redo, true) => "Made again",
            (CallVerb::Redo, false) => "Makes again",
            (_, true) => "Took back",
            (_, false) => "Takes back",
        };
        let what = match (self.action, call.takes_back) {
            (CallVerb::Redo, Some(other)) => format!("call {other}"),
            _ => format!("{} of {}", call.what(), call.minute()),
        };
        let title = format!("{title}: {what}, {}", call.hosts);
        let mut text = screen.prose("", "  ", &title);
        let counts = format!("{} restored, {} removed", counted(self.restored, "file"), self.removed);
        text += &screen.prose("  ", "    ", &counts);
        for path in &self.merged {
            let what = format!("{path}: your edits since stay; only our entries are taken back");
            text += &screen.prose("  ", "    ", &what);
        }
        for SetAside { path, to } in &self.set_aside {
            text += &screen.prose("  ", "    ", &format!("You had edited {path}. Your version is saved to {to}"));
        }
        for path in &self.kept {
            text += &screen.prose("  ", "    ", &format!("{path} stays as you left it"));
        }
        text
    }
}

/// A path below the home as `~/...`.
fn shown(path: &AbsolutePath, world: &World) -> String {
    let home = world.home().and_then(|home| AbsolutePath::parse(home).ok());
    let home = home.and_then(|home| crate::disk::canonical(&home).ok());
    let below = home.and_then(|home| path.relative_to(&home));
    below.map_or_else(|| path.to_string(), |below| format!("~/{below}"))
}

pub(super) fn history(context: &mut Context, arguments: &HistoryArgs) -> Result<(), Failure> {
    let registry = context.registry()?.clone();
    let (calls, unread) = install::past_calls(context.world())?;
    for error in &unread {
        context.warn(error.to_string());
    }
    let report = HistoryReport {
        calls: calls.into_iter().rev().map(|call| CallReport::new(call, &registry, context.world())).collect(),
    };
    if arguments.json {
        return context.emit(&report);
    }
    context.text(report.text(context.page()));
    Ok(())
}

pub(super) fn undo(context: &mut Context, arguments: &UndoArgs) -> Result<(), Failure> {
    take_back(context, arguments, CallVerb::Undo)
}

pub(super) fn redo(context: &mut Context, arguments: &UndoArgs) -> Result<(), Failure> {
    take_back(context, arguments, CallVerb::Redo)
}

fn take_back(context: &mut Context, arguments: &UndoArgs, verb: CallVerb) -> Result<(), Failure> {
    if !arguments.dry_run {
        // It may remove the guards.
        caller::refuses_agents(context, verb.word())?;
    }
    let registry = context.registry()?.clone();
    let library = Library::embedded().map_err(InstallError::from)?;
    let signal = Arc::default();
    let disk = context.disk().stopped_by(Arc::clone(&signal));
    let undoer = installer(context, &disk, &registry, &library)?;
    if !arguments.dry_run {
        report_settled(context, &undoer.settle_past(&project::install_folder(context))?);
    }
    let plan = undoer.plan_undo(verb, arguments.number)?;
    let proposal = UndoReport::new(verb, arguments.dry_run, &plan, &registry, context.world());
    if arguments.dry_run {
        return answer(context, arguments, &proposal, false);
    }
    let asks = caller::can_confirm(context) && !arguments.json && arguments.asking.confirms();
    if asks {
        context.tell(proposal.text(context.page(), false).trim_end());
        if !super::ask::proceed(context.can_ask(), true)? {
            context.tell("Cancelled; nothing was changed");
            context.exit_with(CANCELLED);
            return Ok(());
        }
    }
    let _ = Requests::note_in(&signal);
    let done = installer(context, &disk, &registry, &library)?.undo(plan)?;
    let report = UndoReport::new(verb, false, &done, &registry, context.world());
    answer(context, arguments, &report, true)
}

fn answer(context: &mut Context, arguments: &UndoArgs, report: &UndoReport, is_done: bool) -> Result<(), Failure> {
    if arguments.json {
        return context.emit(report);
    }
    let screen = context.page();
    let mut text = report.text(screen, is_done);
    if is_done {
        let (word, cure) = match report.action {
            CallVerb::Redo => ("Take it back again", typed!("gsd-tools undo")),
            _ => ("Make it again", typed!("gsd-tools redo")),
        };
        let _ = write!(text, "{}", screen.commands(&screen.prose("  ", "  ", &format!("{word}: `{cure}`"))));
    }
    context.text(text);
    Ok(())
}
