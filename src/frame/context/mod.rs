//! The context of a command: its folder and project, the flags of every command, and its answer so far.

mod form;
mod left_out;
mod missing;
mod pick;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Deref;

pub(crate) use form::{emit_data, screen_for_a_page, shows_at_a_terminal, wants_json};
use pick::pick;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::acts::call::{Terminal, Written};
use crate::acts::listing::Listed;
use crate::acts::{Call, caller, workstreams};
use crate::failure::{Failure, Reason};
use crate::frame::argv::Globals;
use crate::frame::{Answer, live};
use crate::operations::answers::changes::ChangedField;
use crate::text::screen::Screen;
use crate::text::terminal;
use crate::world::World;

/// One call: its context, and its answer so far.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) call: Call,
    globals: Globals,
    /// The words of the verb being run.
    pub(crate) verb: &'static str,
    tree: fn() -> clap::Command,
    stdout: String,
    /// A token for the state of the document in the answer, for a later write.
    token: Option<String>,
    /// Whether the last payload reports a failure.
    failed_payload: bool,
    /// Whether the answer is JSON that a person may see as a page.
    is_report: bool,
    exit_code: u8,
}

impl Deref for Context {
    type Target = Call;

    fn deref(&self) -> &Call {
        &self.call
    }
}

/// The size in bytes from which an answer is more than just a failure.
const SHORT: usize = 2048;

/// Fields that the answer of a writing command has in addition to its own.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WriteReport<'a> {
    /// Whether a byte of a document changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    updated: Option<bool>,
    /// With `--dry-run`: whether the same call without it would change something.
    #[serde(skip_serializing_if = "Option::is_none")]
    would_update: Option<bool>,
    /// Why nothing changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Cow<'a, str>>,
    /// Every field that changed or would change.
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<&'a [ChangedField]>,
    /// Present and true with `--dry-run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    dry_run: Option<bool>,
    /// With `--dry-run`: the lines that would change, as a unified diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<&'a str>,
}

/// Fields that the dry run of an acting command has in addition to its own.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RehearsalReport<'a> {
    /// Present and true with `--dry-run`: nothing was done.
    dry_run: bool,
    /// With `--dry-run`: the lines of files that would change, as a unified diff.
    #[serde(skip_serializing_if = "str::is_empty")]
    diff: &'a str,
}

/// The field for a later write with `--if-match`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TokenReport<'a> {
    /// Identifies the state of the documents as they were read.
    token: &'a str,
}

/// A report and its token.
#[derive(Serialize)]
struct Tokened<'a, R> {
    #[serde(flatten)]
    report: &'a R,
    #[serde(flatten)]
    token: TokenReport<'a>,
}

impl Context {
    pub(crate) fn new(
        world: World,
        globals: Globals,
        listing: fn() -> Vec<Listed>,
        tree: fn() -> clap::Command,
    ) -> Result<Self, Failure> {
        let call = Call::new(
            world,
            globals.flags.clone(),
            Terminal { show: show_progress, signal: live::signal, confirm: Self::confirms },
            listing,
        )?;
        let stdout = String::new();
        let (token, failed_payload, is_report, exit_code) = (None, false, false, 0);
        Ok(Self { call, globals, verb: "", tree, stdout, token, failed_payload, is_report, exit_code })
    }

    /// The tree of every command under one program name, for features that need all of them.
    pub(crate) fn whole_tree(&self) -> clap::Command {
        (self.tree)()
    }

    /// Asks the person at the terminal; no answer is a no. The answer ends with Enter, so that an Enter after it does
    /// not answer the next question.
    pub(crate) fn confirms(question: &str) -> Result<bool, Failure> {
        let asked = dialoguer::Confirm::new().with_prompt(question).default(false).wait_for_newline(true);
        let answer = asked.interact_opt();
        let answer = answer.map_err(|error| Failure::because(Reason::Usage, &error))?;
        Ok(answer == Some(true))
    }

    /// Whether the call confirms itself with `--yes`.
    pub(super) fn is_sure(&self) -> bool {
        self.globals.yes
    }

    /// Whether a question with choices can be asked.
    pub(crate) fn can_ask(&self) -> bool {
        self.world().terminal().moves && caller::can_confirm(self)
    }

    /// Reports to a person that the project or the workstream does not exist; programs get the empty answer they know.
    pub(crate) fn refuses_a_person_without_a_project(&self) -> Result<(), Failure> {
        if !self.shows_to_a_person() {
            return Ok(());
        }
        self.needs_a_project()?;
        workstreams::refuse_missing_active(&self.call)
    }

    /// Reports to a person that a workstream named by an argument does not exist. Programs get their JSON.
    pub(crate) fn refuses_a_person_a_missing_workstream(&self, name: &str) -> Result<(), Failure> {
        if !self.shows_to_a_person() {
            return Ok(());
        }
        self.needs_a_project()?;
        Err(workstreams::missing_named(self, name)?)
    }

    /// The abilities of the call's terminal.
    pub(crate) fn screen(&self) -> Screen {
        let terminal = self.world().terminal();
        let color = self.globals.color.at(terminal.stdout && terminal.color);
        Screen { width: terminal.width, color, signs: terminal.signs }
    }

    /// As [`Self::screen`], for an answer that is text for programs too: lines are wrapped only for a person at a
    /// terminal.
    pub(crate) fn page(&self) -> Screen {
        if self.globals.text || self.is_for_a_person() { self.screen() } else { self.screen().unwrapped() }
    }

    /// As [`Self::emit`], for answers about a project; for a person at a terminal who requested no other form, as text.
    pub(crate) fn show(&mut self, report: &impl Serialize, text: impl FnOnce(Screen) -> String) -> Result<(), Failure> {
        if !self.shows_to_a_person() {
            return self.emit(report);
        }
        self.refuses_a_person_without_a_project()?;
        let text = text(self.screen());
        self.text(text);
        Ok(())
    }

    /// As [`Self::emit`], or [`Self::emit_raw`] if there is a bare form. A person at a terminal who requested no other
    /// form gets the result in plain lines, and then it is not a failure that nothing was left to do.
    pub(crate) fn say(
        &mut self,
        report: &impl Serialize,
        raw: Option<&str>,
        said: impl FnOnce(Screen) -> String,
    ) -> Result<(), Failure> {
        match raw {
            Some(raw) if !self.shows_to_a_person() => return self.emit_raw(report, raw),
            None if !self.shows_to_a_person() => return self.emit(report),
            _ => {}
        }
        let value = value_of(report)?;
        // What waits for another process was recorded.
        let is_idle =
            value.get("updated") == Some(&Value::Bool(false)) && value.get("waits") != Some(&Value::Bool(true));
        self.failed_payload = value.get("error").is_some() || is_idle;
        let page = said(self.screen());
        self.text(page);
        Ok(())
    }

    /// Whether the bare value was requested instead of JSON.
    pub(crate) fn raw(&self) -> bool {
        self.globals.raw
    }

    /// The value of `--default`.
    pub(crate) fn default_value(&self) -> Option<&str> {
        self.globals.default.as_deref()
    }

    /// Answers a dry run without the lines that would change, because they are too many.
    pub(crate) fn leave_out_diff(&self) {
        if let Some(written) = self.call.written.borrow_mut().as_mut() {
            written.diff = None;
        }
    }

    /// Gives the answer a token; a later write can require the same documents with it.
    pub(crate) fn answer_for(&mut self, token: String) {
        self.token = Some(token);
    }

    /// Answers with a report: JSON, two spaces, no final newline. The report also gets the written changes and the
    /// token. A dry run with `--raw` answers with the diff only, if there is one, unless the command has its own
    /// preview.
    pub(crate) fn emit(&mut self, report: &impl Serialize) -> Result<(), Failure> {
        self.is_report = true;
        // Avoids building a large answer twice, as values and as text.
        if self.call.written.get_mut().is_none() && !self.call.is_rehearsal() && !self.globals.raw {
            let answer = match &self.token {
                Some(token) => serde_json::to_string_pretty(&Tokened { report, token: TokenReport { token } }),
                None => serde_json::to_string_pretty(report),
            };
            // Only an object can have a token.
            if let Ok(answer) = answer.map(terminal::in_json) {
                self.failed_payload = answer.starts_with('{') && answer.contains("\n  \"error\": ");
                // The answer may be large, and most calls answer only once.
                if self.stdout.is_empty() {
                    self.stdout = answer;
                } else {
                    self.stdout.push_str(&answer);
                }
                return Ok(());
            }
        }
        self.emit_value(value_of(report)?)
    }

    fn emit_value(&mut self, mut value: Value) -> Result<(), Failure> {
        let is_preview = ["dry_run", "dryRun"].iter().any(|key| value.get(key) == Some(&Value::Bool(true)));
        let diff = match self.call.written.get_mut() {
            _ if !self.globals.raw || is_preview => None,
            Some(written) => written.diff.take(),
            None => Some(self.call.rehearsed.take()).filter(|diff| !diff.is_empty()),
        };
        if let Some(diff) = diff {
            self.text(diff);
            return Ok(());
        }
        self.failed_payload = value.get("error").is_some();
        if let Value::Object(answer) = &mut value {
            if let Some(written) = self.call.written.get_mut() {
                // A dry run does not write its edits, which is not a failure.
                let rehearsed = written.diff.is_some() || answer.get("dry_run") == Some(&Value::Bool(true));
                self.failed_payload |= written.nothing && !rehearsed;
                add_written(written, answer)?;
            } else if self.call.is_rehearsal() {
                let diff = self.call.rehearsed.get_mut();
                answer.extend(fields_of(&RehearsalReport { dry_run: true, diff })?);
            }
            if let Some(token) = &self.token {
                answer.extend(fields_of(&TokenReport { token })?);
            }
        }
        // Writing to a string cannot fail.
        let _ = write!(self.stdout, "{}", terminal::in_json(format!("{value:#}")));
        Ok(())
    }

    /// As [`Self::emit`], for answers that already describe the changes: leaves out the list of changed fields.
    pub(crate) fn emit_brief(&mut self, report: &impl Serialize) -> Result<(), Failure> {
        if !self.is_rehearsal() {
            self.call.written.replace(None);
        }
        self.emit(report)
    }

    /// As [`Self::emit`], for commands with a bare form: with `--raw`, prints only that text.
    pub(crate) fn emit_raw(&mut self, report: &impl Serialize, raw: impl AsRef<str>) -> Result<(), Failure> {
        if self.raw() && !self.is_rehearsal() {
            self.text(raw);
            return Ok(());
        }
        self.emit(report)
    }

    /// Answers with JSON if it was requested, else with one line.
    pub(crate) fn emit_or_line(&mut self, json: bool, report: &impl Serialize, line: &str) -> Result<(), Failure> {
        if json {
            emit_data(self, report)?;
        } else {
            self.text(line);
        }
        self.text("\n");
        Ok(())
    }

    /// Answers with text, exactly as given.
    pub(crate) fn text(&mut self, text: impl AsRef<str>) {
        self.stdout.push_str(text.as_ref());
    }

    /// Ends the call with another exit code than 0, although nothing failed.
    pub(crate) fn exit_with(&mut self, code: u8) {
        self.exit_code = code;
    }

    /// Ends the call: picks the requested field and decides the exit code.
    pub(crate) fn finish(mut self, result: Result<(), Failure>) -> Answer {
        let result = result.map_err(|error| error.rehinted(|hint| self.cured(hint)));
        // Answers that are only a failure are short.
        if self.stdout.len() < SHORT
            && let Some(cured) = self.cured(&self.stdout)
        {
            self.stdout = cured;
        }
        if cfg!(debug_assertions) && self.world().variable("GSD_FAULT_AT").as_deref() == Some("count") {
            self.warn(format!("the call took {} steps on the disk", self.call.steps.taken()));
        }
        let mut warnings = self.call.warnings.take();
        warnings.extend(left_out::note(&self));
        if let Err(error) = result {
            return Answer { stdout: self.stdout, warnings, ..Answer::failed(error) };
        }
        let picked = match &self.globals.pick {
            // Text is printed as a JSON string.
            None if self.globals.json && serde_json::from_str::<serde::de::IgnoredAny>(&self.stdout).is_err() => {
                Ok(Value::from(self.stdout.trim_end()).to_string())
            }
            None if self.globals.text => Ok(in_a_pipe(&self.stdout)),
            None => Ok(self.stdout),
            Some(field) => pick(&self.stdout, field),
        };
        match picked {
            Ok(stdout) => Answer { stdout, warnings, outcome: Ok(self.exit_code), is_degraded: self.failed_payload },
            Err(error) => Answer { warnings, ..Answer::failed(error) },
        }
    }
}

/// A view in a pipe: a pager or a file may show it at a terminal later.
fn in_a_pipe(view: &str) -> String {
    let shown = terminal::shown(view);
    if shown.is_empty() || shown.ends_with('\n') { shown } else { shown + "\n" }
}

/// Adds the changes to an answer. If nothing was written and the answer does not say so, adds that too.
fn add_written(written: &Written, answer: &mut Map<String, Value>) -> Result<(), Failure> {
    let says_updated = answer.get("updated") == Some(&Value::Bool(true));
    let rehearsed = written.diff.is_some();
    let mut report = WriteReport {
        updated: None,
        would_update: None,
        reason: None,
        changed: Some(&written.changed),
        dry_run: rehearsed.then_some(true),
        diff: written.diff.as_deref(),
    };
    if written.nothing && !answer.contains_key("error") {
        report.updated = (says_updated || !answer.contains_key("updated")).then_some(false);
        // A command with its own dry run did not write its edits, however many there are.
        let held_back = !rehearsed && answer.get("dry_run") == Some(&Value::Bool(true));
        report.reason = (!held_back && !answer.contains_key("reason")).then(|| why_nothing(answer));
    } else if rehearsed && says_updated {
        report.updated = Some(false);
        report.would_update = Some(true);
    }
    answer.extend(fields_of(&report)?);
    Ok(())
}

/// Why nothing was written: what the answer could not find, or else that every value is as requested.
fn why_nothing(answer: &Map<String, Value>) -> Cow<'static, str> {
    let lacking = ["not_found", "failed"].iter().filter_map(|key| answer.get(*key)?.as_array()).flatten();
    let lacking: Vec<&str> = lacking.filter_map(Value::as_str).collect();
    if lacking.is_empty() {
        return "nothing to do: every value is already as requested".into();
    }
    format!("nothing was written: not found: {}", lacking.join(", ")).into()
}

fn value_of(report: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(report).map_err(|error| Failure::because(Reason::SdkFailFast, &error))
}

/// The fields of a report that is an object.
fn fields_of(report: &impl Serialize) -> Result<Map<String, Value>, Failure> {
    Ok(match value_of(report)? {
        Value::Object(fields) => fields,
        _ => Map::new(),
    })
}

/// Shows a person the progress of a long call.
fn show_progress(progress: &str) {
    live::print(progress);
}
