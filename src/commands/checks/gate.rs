//! The test gate and the build gate: they run exactly the command that a person approved, and nothing else.

use crate::acts::caller;
use crate::acts::files;
use crate::acts::named;
use crate::acts::program;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::commands::frame::{Context, verbs};
use crate::commands::small::timeout::Seconds;
use crate::disk::{self, AbsolutePath, Digest};
use crate::failure::{Failure, Reason};
use crate::operations::gates::command::{self, Gate, GateCommand};
use crate::operations::gates::own_checks;
use crate::project::declared_commands::missing::missing;
use crate::project::repository;
use crate::text::screen::{Cell, Tone};
use crate::text::shell::typed;
use crate::text::terminal::{last, without_colours};
use crate::world::{Ended, Program};

/// Exit code of a gate whose command nobody approved.
const NOT_APPROVED: u8 = 77;
/// Exit code of a gate without a command, or whose command needs what is not installed.
const NOT_RUN: u8 = 78;
/// Exit code of a gate whose time was up.
const OUT_OF_TIME: u8 = 124;

/// How many lines of the output are in the answer.
const TAIL_LINES: usize = 40;
/// How many bytes of the output are in the answer.
const TAIL_BYTES: usize = 3000;
/// How many bytes of the output are looked at.
const READ_BYTES: usize = 64 * 1024;
/// How many bytes the whole answer may have.
const ANSWER_BYTES: usize = 4000;

/// How many planning files are named.
const MOST_NAMED: usize = 5;

/// The note with the approvals of a project.
const NOTE: &str = "gates.json";

verbs! {
    "Build and test" (own);
    groups { "gate": "Run the build and test commands that a person approved"; }

    /// Run the approved build or test command and print the result
    ///
    /// The command comes from `workflow.build_command` or `workflow.test_command`, from the approval, or from a file
    /// such as `package.json`. It runs in the project root, and only if a person approved it.
    ///
    /// A command whose test runner is not installed is `not_run`, with what is `missing` and how to install it.
    ///
    /// Exit codes: 0 passed, 1 failed, 77 not approved, 78 not run, 124 timed out.
    ///
    /// Example: `gsd-tools gate run test`.
    "gate run": runs [unasked] json(RunReport) = run(RunArgs);

    /// Approve the build or test command of a project on this computer
    ///
    /// Shows the command and asks for confirmation. Only a person at a terminal can approve. Saved outside the project.
    ///
    /// Example: `gsd-tools gate approve test`.
    "gate approve": runs json(ApprovalReport) = approve(ApproveArgs);

    /// Remove the approval of the build or test command
    ///
    /// Agents can no longer run it through `gate run` until a person approves it again.
    ///
    /// Example: `gsd-tools gate revoke test`.
    "gate revoke": runs json(ApprovalReport) = revoke(GateArgs);

    /// Show a gate's command, where it comes from and if it is approved
    ///
    /// Example: `gsd-tools gate show test --pick command`.
    "gate show": reads json(ShowReport) = show(ShowArgs);

    /// List the build and test gates with their commands
    ///
    /// Example: `gsd-tools gate list`.
    "gate list": reads json([ShowReport; 2]) = list();
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// The gate
    gate: Gate,
    /// Read the test command from this phase if nothing else defines one
    #[arg(long)]
    phase: Option<String>,
    /// Stop after this time; `0` for no limit (default: `workflow.test_gate_timeout` (600) for tests, 300 for builds)
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<Seconds>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ApproveArgs {
    /// The gate
    gate: Gate,
    /// The command to approve (default: the one that the project defines)
    command: Option<String>,
    /// Read the test command from this phase if nothing else defines one
    #[arg(long)]
    phase: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct GateArgs {
    /// The gate
    gate: Gate,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// The gate
    gate: Gate,
    /// Read the test command from this phase if nothing else defines one
    #[arg(long)]
    phase: Option<String>,
}

fn show(context: &mut Context, arguments: &ShowArgs) -> Result<(), Failure> {
    context.emit(&shown(context, arguments.gate, arguments.phase.as_deref())?)
}

fn list(context: &mut Context) -> Result<(), Failure> {
    let report = [shown(context, Gate::Build, None)?, shown(context, Gate::Test, None)?];
    context.show(&report, |screen| {
        let row = |gate: &ShowReport| {
            let state = match (&gate.command, gate.approved) {
                (None, _) => Cell::new(Tone::Faint, "no command"),
                (Some(_), true) => Cell::new(Tone::Good, "approved"),
                (Some(_), false) => Cell::new(
                    Tone::Warning,
                    format!("not approved: `{}`", typed!("gsd-tools gate approve {}", gate.gate.word())),
                ),
            };
            vec![Cell::from(gate.gate.word()), Cell::from(gate.command.as_deref().unwrap_or("-")), state]
        };
        screen.table("", &report.iter().map(row).collect::<Vec<_>>())
    })
}

/// What this computer remembers of a project's gates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Approvals {
    approved: Vec<Approval>,
}

/// One command that a person approved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Approval {
    gate: Gate,
    command: String,
    /// Of the gate, the repository whose root it runs in, and the command.
    digest: String,
    /// The person gave the command; it is not what the project declares.
    given: bool,
    approved_at: String,
}

impl Approvals {
    fn of(&self, gate: Gate) -> Option<&Approval> {
        self.approved.iter().find(|approval| approval.gate == gate)
    }

    /// The command that a person gave with the approval.
    fn given(&self, gate: Gate) -> Option<&str> {
        self.of(gate).filter(|approval| approval.given).map(|approval| approval.command.as_str())
    }

    fn covers(&self, gate: Gate, repository: &str, command: &str) -> bool {
        self.of(gate).is_some_and(|approval| approval.digest == digest(gate, repository, command))
    }
}

/// Gates run in the root of the project or of one of its worktrees, which share their approvals. Another repository
/// that is put in the place of this one has none: the same command runs what that one brought.
fn digest(gate: Gate, repository: &str, command: &str) -> String {
    Digest::of(format!("{}\0{repository}\0{command}", gate.word()).as_bytes()).to_string()
}

fn approvals(context: &Context) -> Result<Approvals, Failure> {
    let path = context.local_state()?.file(NOTE);
    parsed(&path, disk::read_text(&path)?.as_deref())
}

fn parsed(path: &AbsolutePath, note: Option<&str>) -> Result<Approvals, Failure> {
    note.map_or(Ok(Approvals::default()), |text| {
        serde_json::from_str(text).map_err(|error| {
            Failure::new(Reason::ConfigParseFailed, format!("`{path}` is not valid JSON: {error}"))
                .hint("delete the file, then approve again: `gsd-tools gate approve test`")
        })
    })
}

/// Puts `approval` in the place of what was approved for `gate`; gives what that was.
fn replace(context: &Context, gate: Gate, approval: Option<Approval>) -> Result<Option<Approval>, Failure> {
    let path = context.local_state()?.file(NOTE);
    files::edit_note(context, &path, |note| {
        let mut approvals = parsed(&path, note)?;
        let before = approvals.of(gate).cloned();
        if before == approval {
            return Ok((before, None));
        }
        approvals.approved.retain(|approval| approval.gate != gate);
        approvals.approved.extend(approval);
        Ok((before, Some(serde_json::to_string_pretty(&approvals)? + "\n")))
    })
}

/// The command of a gate as things are now; `given` is what a person gave with an approval.
fn command(
    context: &Context,
    gate: Gate,
    phase: Option<&str>,
    given: Option<&str>,
) -> Result<Option<GateCommand>, Failure> {
    let view = context.view();
    let phase = phase.map(|typed| named::phase_named(context, &view, typed)).transpose()?;
    let folder = phase.as_ref().and_then(|phase| phase.folder.as_ref());
    Ok(command::find(gate, context.config()?, given, &view, folder)?)
}

/// How a gate ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum GateStatus {
    Passed,
    Failed,
    TimedOut,
    /// There is no command, or what it starts is not installed.
    NotRun,
    /// Nobody approved the command; it was not run.
    NotApproved,
}

/// What `gate run` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct RunReport {
    gate: Gate,
    command: Option<String>,
    /// The setting or file that says the command.
    source: Option<String>,
    status: GateStatus,
    /// Null where it was not run, or a signal ended it.
    exit_code: Option<i32>,
    seconds: f64,
    /// The end of what it printed.
    tail: String,
    /// The program or module that is not installed, so that nothing was tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
    /// The files below the planning folder, where it failed and named no other file of the project: a check of the
    /// project does not like files that we keep there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    only_planning: Vec<String>,
    /// What a person does so that it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

fn run(context: &mut Context, arguments: &RunArgs) -> Result<(), Failure> {
    let gate = arguments.gate;
    let approvals = approvals(context)?;
    let found = command(context, gate, arguments.phase.as_deref(), approvals.given(gate))?;
    let (name, program) = (gate.word(), program::word_of(context));
    let mut report = RunReport {
        gate,
        command: found.as_ref().map(|found| found.command.clone()),
        source: found.as_ref().map(|found| found.source.clone()),
        status: GateStatus::NotRun,
        exit_code: None,
        seconds: 0.0,
        tail: String::new(),
        missing: None,
        only_planning: Vec::new(),
        hint: None,
    };
    let code = match found {
        None => {
            report.hint = Some(format!("set the command: {program} config-set {} COMMAND", gate.key()));
            NOT_RUN
        }
        Some(found) if !approvals.covers(gate, &repository::identity_of(context.root()), &found.command) => {
            report.status = GateStatus::NotApproved;
            report.hint =
                Some(format!("a person has to approve it once, in a terminal: {program} gate approve {name}"));
            NOT_APPROVED
        }
        Some(found) => {
            let limit = match arguments.timeout {
                Some(asked) => asked.limit(),
                None => Some(usual_limit(context, gate)?),
            };
            run_approved(context, &found.command, limit, &mut report)?
        }
    };
    // What is escaped in JSON takes more room than it has in the output.
    while serde_json::to_string(&report).is_ok_and(|text| text.len() > ANSWER_BYTES) && !report.tail.is_empty() {
        report.tail = last(&report.tail, report.tail.len() * 3 / 4).to_owned();
    }
    context.exit_with(code);
    context.emit(&report)
}

/// Runs a command and fills in how it ended; gives the exit code of the gate.
fn run_approved(
    context: &Context,
    command: &str,
    limit: Option<Duration>,
    report: &mut RunReport,
) -> Result<u8, Failure> {
    let program = limit.into_iter().fold(shell(context, report.gate, command), Program::timeout);
    let ran = context.world().run_for_tail(&program, READ_BYTES)?;
    report.seconds = (ran.took.as_secs_f64() * 10.0).round() / 10.0;
    report.tail = tail(&ran.output);
    let (status, exit_code, code) = match ran.ended {
        Ended::Code(0) => (GateStatus::Passed, Some(0), 0),
        Ended::Code(code) => (GateStatus::Failed, Some(code), 1),
        Ended::Signal(_) => (GateStatus::Failed, None, 1),
        Ended::OutOfTime => (GateStatus::TimedOut, None, OUT_OF_TIME),
    };
    (report.status, report.exit_code) = (status, exit_code);
    if status != GateStatus::Failed {
        return Ok(code);
    }
    let output = String::from_utf8_lossy(&ran.output);
    if let Some(missing) = missing(command, exit_code, &output) {
        let set = format!("{} config-set {} COMMAND", program::word_of(context), report.gate.key());
        report.hint = Some(format!("{}; or name another command: {set}", missing.cure));
        (report.status, report.missing) = (GateStatus::NotRun, Some(missing.what));
        return Ok(NOT_RUN);
    }
    name_planning_files(context, &without_colours(&output), report)?;
    Ok(code)
}

/// Says so where a failed command names planning files and nothing else, with what keeps its checks from them.
fn name_planning_files(context: &Context, output: &str, report: &mut RunReport) -> Result<(), Failure> {
    let view = context.view();
    let planning = view.layout().planning();
    let root = context.root().to_string();
    let is_file = |path: &str| context.layout().inside(path).is_some() && disk::is_file(context.root().resolve(path));
    let mut named = own_checks::only_planning(output, &root, planning, is_file);
    if named.is_empty() {
        return Ok(());
    }
    let cures: Vec<String> =
        own_checks::checks_of(view.files(), planning)?.iter().map(own_checks::OwnCheck::cure).collect();
    let cures =
        if cures.is_empty() { format!("add `{planning}/` to what the check ignores") } else { cures.join("; ") };
    report.hint = Some(format!("only files in `{planning}/` are named, not the code: {cures}"));
    named.truncate(MOST_NAMED);
    report.only_planning = named;
    Ok(())
}

fn usual_limit(context: &Context, gate: Gate) -> Result<Duration, Failure> {
    let seconds = match gate {
        Gate::Build => 300,
        Gate::Test => {
            context.config()?.number("workflow.test_gate_timeout").filter(|seconds| *seconds > 0).unwrap_or(600)
        }
    };
    Ok(Duration::from_secs(seconds))
}

/// The command as a shell runs it, in the root of the project, with both streams in one.
fn shell(context: &Context, gate: Gate, command: &str) -> Program {
    let program = if cfg!(windows) {
        Program::new("cmd").arguments(["/C", &format!("{command} 2>&1")])
    } else {
        Program::new("sh").arguments(["-c", &format!("exec 2>&1\n{command}")])
    };
    let program = program.folder(context.root().as_path());
    if gate == Gate::Test { program.variable("CI", "1") } else { program }
}

/// The last lines of an output, without colours.
fn tail(output: &[u8]) -> String {
    let text = without_colours(&String::from_utf8_lossy(output));
    let text = text.trim_end();
    let start = text.rmatch_indices('\n').nth(TAIL_LINES - 1).map_or(0, |(at, _)| at + 1);
    last(&text[start..], TAIL_BYTES).to_owned()
}

/// What `gate show` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct ShowReport {
    gate: Gate,
    command: Option<String>,
    /// The setting or file that says the command; `approved` for one that was given with the approval.
    source: Option<String>,
    /// The folder it runs in.
    folder: String,
    approved: bool,
    /// When a person approved it.
    approved_at: Option<String>,
}

fn shown(context: &Context, gate: Gate, phase: Option<&str>) -> Result<ShowReport, Failure> {
    let approvals = approvals(context)?;
    let found = command(context, gate, phase, approvals.given(gate))?;
    let approved = found
        .as_ref()
        .is_some_and(|found| approvals.covers(gate, &repository::identity_of(context.root()), &found.command));
    let (command, source) = found.map(|found| (found.command, found.source)).unzip();
    Ok(ShowReport {
        gate,
        command,
        source,
        folder: context.root().to_string(),
        approved,
        approved_at: approvals.of(gate).filter(|_| approved).map(|approval| approval.approved_at.clone()),
    })
}

/// What `gate approve` and `gate revoke` answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct ApprovalReport {
    gate: Gate,
    command: Option<String>,
    approved: bool,
}

fn approve(context: &mut Context, arguments: &ApproveArgs) -> Result<(), Failure> {
    let gate = arguments.gate;
    let name = gate.word();
    caller::needs_a_person(context, &format!("gate approve {name}"))?;
    let typed = arguments.command.as_deref().map(str::trim).filter(|command| !command.is_empty());
    if let (Some(typed), Some(set)) = (typed, context.config()?.text(gate.key()))
        && typed != set
    {
        return Err(Failure::usage(format!(
            "`{}` is set to `{set}`, which takes precedence over `{typed}`",
            gate.key()
        ))
        .hint(format!("change it first: `{}`", typed!("gsd-tools config-set {} {}", gate.key(), typed))));
    }
    // What is approved is what will run: a command that watches for changes is made to end.
    let Some(found) = command(context, gate, arguments.phase.as_deref(), typed)? else {
        return Err(Failure::usage(format!("no {name} command found in the project"))
            .hint(format!("name one: `{}`", typed!("gsd-tools gate approve {} \"COMMAND\"", name))));
    };
    context.tell(format_args!("In {} ({}):\n\n    {}\n", context.root(), found.source, found.command));
    let question = format!("Allow agents to run it as the {name} gate without asking?");
    if !Context::confirms(&question)? {
        return Err(Failure::new(Reason::Unknown, "not approved; nothing was changed"));
    }
    let approval = Approval {
        gate,
        digest: digest(gate, &repository::identity_of(context.root()), &found.command),
        command: found.command.clone(),
        given: typed.is_some(),
        approved_at: context.world().now().to_string(),
    };
    replace(context, gate, Some(approval))?;
    context.emit(&ApprovalReport { gate, command: Some(found.command), approved: true })
}

fn revoke(context: &mut Context, arguments: &GateArgs) -> Result<(), Failure> {
    let gate = arguments.gate;
    let command = replace(context, gate, None)?.map(|approval| approval.command);
    context.emit(&ApprovalReport { gate, command, approved: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_an_output_is_kept_whole_and_plain() {
        let lines: Vec<String> = (0..100).map(|line| format!("\u{1b}[31mline {line}\u{1b}[0m\r\n")).collect();
        let kept = tail(lines.concat().as_bytes());
        assert!(kept.starts_with("line 60\n") && kept.ends_with("line 99"), "{kept}");
        assert_eq!(tail(b"one\ntwo\n"), "one\ntwo");
        assert_eq!((tail(b""), tail("x\u{1b}[".as_bytes())), (String::new(), "x".to_owned()));
        let long = tail("ä".repeat(4000).as_bytes());
        assert!(long.len() <= TAIL_BYTES && long.chars().all(|letter| letter == 'ä'));
    }

    #[test]
    fn an_approval_is_of_one_gate_and_one_command() {
        let approval = |gate, command: &str| Approval {
            gate,
            command: command.to_owned(),
            digest: digest(gate, "1", command),
            given: false,
            approved_at: String::new(),
        };
        let approvals = Approvals { approved: vec![approval(Gate::Test, "make test")] };
        assert!(approvals.covers(Gate::Test, "1", "make test"));
        assert!(!approvals.covers(Gate::Test, "2", "make test"), "another repository at the same place");
        let others = [(Gate::Build, "make test"), (Gate::Test, "make test; rm -rf .")];
        assert!(others.iter().all(|(gate, command)| !approvals.covers(*gate, "1", command)));
        let forged = Approval { command: "other".to_owned(), ..approval(Gate::Test, "make test") };
        assert!(!Approvals { approved: vec![forged] }.covers(Gate::Test, "1", "other"));
    }
}
