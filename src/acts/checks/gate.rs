//! The test gate and the build gate: they run exactly the command that a person approved, and nothing else.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::acts::{Call, caller, files, named, program};
use crate::disk::{self, AbsolutePath, Digest};
use crate::failure::{Failure, Reason};
use crate::operations::gates::command::{self, Gate, GateCommand};
use crate::operations::gates::own_checks;
use crate::project::declared_commands::missing::missing;
use crate::project::repository;
use crate::text::shell::typed;
use crate::text::terminal::{last, without_colours};
use crate::world::{Ended, Program};

/// Exit code of a gate whose command is not approved.
const NOT_APPROVED: u8 = 77;

/// Exit code of a gate without a command, or whose command needs something that is not installed.
const NOT_RUN: u8 = 78;

/// Exit code of a gate that exceeded its time.
const OUT_OF_TIME: u8 = 124;

/// How many lines of the output are in the answer.
const TAIL_LINES: usize = 40;

/// How many bytes of the output are in the answer.
const TAIL_BYTES: usize = 3000;

/// How many bytes of the output are examined.
const READ_BYTES: usize = 64 * 1024;

/// The most bytes of the whole answer.
const ANSWER_BYTES: usize = 4000;

/// The most planning files that are named.
const MOST_NAMED: usize = 5;

/// The note with the approvals of a project.
const NOTE: &str = "gates.json";

/// This computer's approvals of a project's gates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Approvals {
    approved: Vec<Approval>,
}

/// One command that a person approved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Approval {
    gate: Gate,
    command: String,
    /// The digest of the gate, the repository whose root it runs in, and the command.
    digest: String,
    /// Whether the person gave the command, instead of the project declaring it.
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

/// The digest of an approval. Gates run in the root of the project or of one of its worktrees, which share their
/// approvals. Another repository that replaces this one has none: the same command would run its files.
fn digest(gate: Gate, repository: &str, command: &str) -> String {
    Digest::of(format!("{}\0{repository}\0{command}", gate.word()).as_bytes()).to_string()
}

fn approvals(call: &Call) -> Result<Approvals, Failure> {
    let path = call.local_state()?.file(NOTE);
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

/// Replaces the approval of `gate` with `approval`; returns the previous one.
fn replace(call: &Call, gate: Gate, approval: Option<Approval>) -> Result<Option<Approval>, Failure> {
    let path = call.local_state()?.file(NOTE);
    files::edit_note(call, &path, |note| {
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

/// The present command of a gate; `given` is the command that a person gave with an approval.
fn command(call: &Call, gate: Gate, phase: Option<&str>, given: Option<&str>) -> Result<Option<GateCommand>, Failure> {
    let view = call.view();
    let phase = phase.map(|typed| named::phase_named(call, &view, typed)).transpose()?;
    let folder = phase.as_ref().and_then(|phase| phase.folder.as_ref());
    Ok(command::find(gate, call.config()?, given, &view, folder)?)
}

/// How a gate ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum GateStatus {
    Passed,
    Failed,
    TimedOut,
    /// The gate has no command, or something that it needs is not installed.
    NotRun,
    /// The command is not approved, and was not run.
    NotApproved,
}

/// What `gate run` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunReport {
    gate: Gate,
    command: Option<String>,
    /// The setting or file that gives the command.
    source: Option<String>,
    status: GateStatus,
    /// Null if it was not run, timed out, or was ended by a signal.
    exit_code: Option<i32>,
    seconds: f64,
    /// The end of what it printed.
    tail: String,
    /// The program or module that is not installed, so that nothing was tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
    /// At most five files below the planning folder, if it failed without naming another file of the project: a check
    /// of the project complains about the planning files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    only_planning: Vec<String>,
    /// What to do so that it runs, or so that its checks ignore the planning files.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

/// Runs a command and fills in its result; returns the exit code of the gate.
fn run_approved(call: &Call, command: &str, limit: Option<Duration>, report: &mut RunReport) -> Result<u8, Failure> {
    let program = limit.into_iter().fold(shell(call, report.gate, command), Program::timeout);
    let ran = call.world().run_for_tail(&program, READ_BYTES)?;
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
        let set = format!("{} config-set {} COMMAND", program::word_of(call), report.gate.key());
        report.hint = Some(format!("{}; or name another command: {set}", missing.cure));
        (report.status, report.missing) = (GateStatus::NotRun, Some(missing.what));
        return Ok(NOT_RUN);
    }
    name_planning_files(call, &without_colours(&output), report)?;
    Ok(code)
}

/// Reports a failed command that names planning files and nothing else, and how to exclude them from its checks.
fn name_planning_files(call: &Call, output: &str, report: &mut RunReport) -> Result<(), Failure> {
    let view = call.view();
    let planning = view.layout().planning();
    let root = call.root().to_string();
    let is_file = |path: &str| call.layout().inside(path).is_some() && disk::is_file(call.root().resolve(path));
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

fn usual_limit(call: &Call, gate: Gate) -> Result<Duration, Failure> {
    let seconds = match gate {
        Gate::Build => 300,
        Gate::Test => call.config()?.number("workflow.test_gate_timeout").filter(|seconds| *seconds > 0).unwrap_or(600),
    };
    Ok(Duration::from_secs(seconds))
}

/// The command as a shell runs it, in the root of the project, with both streams merged.
fn shell(call: &Call, gate: Gate, command: &str) -> Program {
    let program = if cfg!(windows) {
        Program::new("cmd").arguments(["/C", &format!("{command} 2>&1")])
    } else {
        Program::new("sh").arguments(["-c", &format!("exec 2>&1\n{command}")])
    };
    let program = program.folder(call.root().as_path());
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
pub(crate) struct ShowReport {
    pub(crate) gate: Gate,
    pub(crate) command: Option<String>,
    /// The setting or file that gives the command; `approved` for one that was given with the approval.
    source: Option<String>,
    /// The folder it runs in.
    folder: String,
    pub(crate) approved: bool,
    /// When a person approved it.
    approved_at: Option<String>,
}

/// Reports what is known about a gate.
pub(crate) fn shown(call: &Call, gate: Gate, phase: Option<&str>) -> Result<ShowReport, Failure> {
    let approvals = approvals(call)?;
    let found = command(call, gate, phase, approvals.given(gate))?;
    let approved = found
        .as_ref()
        .is_some_and(|found| approvals.covers(gate, &repository::identity_of(call.root()), &found.command));
    let (command, source) = found.map(|found| (found.command, found.source)).unzip();
    Ok(ShowReport {
        gate,
        command,
        source,
        folder: call.root().to_string(),
        approved,
        approved_at: approvals.of(gate).filter(|_| approved).map(|approval| approval.approved_at.clone()),
    })
}

/// What `gate approve` and `gate revoke` answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ApprovalReport {
    gate: Gate,
    command: Option<String>,
    approved: bool,
}

/// Runs the approved command of a gate; `limit` is how long it may take, if the call says so, and zero means no limit.
/// Also returns the exit code.
pub(crate) fn run(
    call: &Call,
    gate: Gate,
    phase: Option<&str>,
    limit: Option<Duration>,
) -> Result<(RunReport, u8), Failure> {
    let approvals = approvals(call)?;
    let found = command(call, gate, phase, approvals.given(gate))?;
    let (name, program) = (gate.word(), program::word_of(call));
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
        Some(found) if !approvals.covers(gate, &repository::identity_of(call.root()), &found.command) => {
            report.status = GateStatus::NotApproved;
            report.hint =
                Some(format!("a person has to approve it once, in a terminal: {program} gate approve {name}"));
            NOT_APPROVED
        }
        Some(found) => {
            let limit = match limit {
                Some(asked) => Some(asked).filter(|span| !span.is_zero()),
                None => Some(usual_limit(call, gate)?),
            };
            run_approved(call, &found.command, limit, &mut report)?
        }
    };
    // Escapes in JSON take more room than the original characters.
    while serde_json::to_string(&report).is_ok_and(|text| text.len() > ANSWER_BYTES) && !report.tail.is_empty() {
        report.tail = last(&report.tail, report.tail.len() * 3 / 4).to_owned();
    }
    Ok((report, code))
}

/// Has a person approve the command of a gate: the given one, else the one that the project declares.
pub(crate) fn approve(
    call: &Call,
    gate: Gate,
    given: Option<&str>,
    phase: Option<&str>,
) -> Result<ApprovalReport, Failure> {
    let name = gate.word();
    caller::needs_a_person(call, &format!("gate approve {name}"))?;
    let typed = given.map(str::trim).filter(|command| !command.is_empty());
    if let (Some(typed), Some(set)) = (typed, call.config()?.text(gate.key()))
        && typed != set
    {
        return Err(Failure::usage(format!(
            "`{}` is set to `{set}`, which takes precedence over `{typed}`",
            gate.key()
        ))
        .hint(format!("change it first: `{}`", typed!("gsd-tools config-set {} {}", gate.key(), typed))));
    }
    // The approved command is the one that will run: a command that watches for changes is made to end.
    let Some(found) = command(call, gate, phase, typed)? else {
        return Err(Failure::usage(format!("no {name} command found in the project"))
            .hint(format!("name one: `{}`", typed!("gsd-tools gate approve {} \"COMMAND\"", name))));
    };
    call.tell(format_args!("In {} ({}):\n\n    {}\n", call.root(), found.source, found.command));
    let question = format!("Allow agents to run it as the {name} gate without asking?");
    if !caller::confirms(call, &question)? {
        return Err(Failure::new(Reason::Unknown, "not approved; nothing was changed"));
    }
    let approval = Approval {
        gate,
        digest: digest(gate, &repository::identity_of(call.root()), &found.command),
        command: found.command.clone(),
        given: typed.is_some(),
        approved_at: call.world().now().to_string(),
    };
    replace(call, gate, Some(approval))?;
    Ok(ApprovalReport { gate, command: Some(found.command), approved: true })
}

/// Removes the approval of a gate.
pub(crate) fn revoke(call: &Call, gate: Gate) -> Result<ApprovalReport, Failure> {
    let command = replace(call, gate, None)?.map(|approval| approval.command);
    Ok(ApprovalReport { gate, command, approved: false })
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
    fn an_approval_is_for_one_gate_and_one_command() {
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
