//! The call `__supervise`: runs one session of a client, with a JSON request and JSON answers. Its caller can be
//! killed, or kill it, without ending the other: remaining processes are found by the mark in the first line.
//!
//! It reads one request from standard input. The first line of its answer has the client's process and mark; the second
//! has the result of the session. `{"end-all": MARK}` ends what a killed call left running.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::runner::event::{ClientEvent, MoneyUnit, Quota, Tokens};
use super::runner::heard::Heard;
use super::runner::own::{Staged, unknown_folders};
use super::runner::request::{ClientSession, Request, SessionLimits};
use super::runner::session::{Go, Observer, SessionOutcome, run};
use super::runner::table::{Profile, Runners};
use crate::disk::{self, AbsolutePath, Scratch};
use crate::failure::Explain;
use crate::world::fence::{Fence, Openings};
use crate::world::tree::{Mark, adopt_orphans};
use crate::world::{Ended, World};

/// The argument with which this program is called for a session.
pub(crate) const CALL: &str = "__supervise";

/// The maximum size of a request, in bytes.
const LIMIT: u64 = 1 << 20;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct EndAll {
    end_all: String,
}

/// The request for a session. Times are in milliseconds.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct SessionRequest {
    runner: String,
    program: Option<String>,
    profile: Profile,
    prompt: String,
    folder: PathBuf,
    #[serde(default)]
    session: SessionWanted,
    model: Option<String>,
    #[serde(default)]
    extra: Vec<String>,
    #[serde(default)]
    allowed: Vec<String>,
    #[serde(default)]
    limits: LimitsWanted,
    /// Where it may write, besides the client's own folders; everywhere if unset.
    fence: Option<Vec<PathBuf>>,
    /// The session is stopped once this file exists.
    stop_file: Option<PathBuf>,
    usage_file: Option<PathBuf>,
    activity: Option<PathBuf>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SessionWanted {
    #[default]
    New,
    Named(String),
    Resumed(String),
}

/// Limits that differ from the defaults.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct LimitsWanted {
    whole: Option<u64>,
    idle: Option<u64>,
    first_event: Option<u64>,
    longest_wait: Option<u64>,
    after_end: Option<u64>,
    to_end: Option<u64>,
    output: Option<u64>,
    retries: Option<u32>,
    calls_without_tool: Option<u32>,
}

#[derive(Debug, Serialize)]
struct Left {
    survivors: Vec<u32>,
}

#[derive(Debug, Serialize)]
struct Started<'a> {
    client: u32,
    mark: &'a str,
}

/// The result of a session, with times in milliseconds.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct SessionAnswer<'a> {
    verdict: &'static str,
    /// Why it is not `ran`, if known.
    kind: Option<&'static str>,
    evidence: &'a str,
    session: Option<&'a str>,
    model: Option<&'a str>,
    purse: Option<&'a str>,
    text: &'a str,
    question: Option<&'a str>,
    denied: Vec<&'a str>,
    model_calls: u32,
    tools: u32,
    retries: u32,
    tokens: Option<Tokens>,
    money: Option<(f64, MoneyUnit)>,
    quota: Option<QuotaAnswer>,
    code: Option<i32>,
    signal: Option<i32>,
    ran_for: u128,
    decided_in: u128,
    survivors: &'a [u32],
    lost_lines: u64,
    complaint: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct QuotaAnswer {
    resets_at: Option<i64>,
    used: Option<f64>,
}

#[derive(Debug, Serialize)]
struct FailedSession {
    error: String,
    hint: Option<String>,
}

/// Runs one session.
pub(crate) fn call() -> ExitCode {
    let mut text = Vec::new();
    if let Err(error) = std::io::stdin().take(LIMIT).read_to_end(&mut text) {
        return failed(&format!("the request cannot be read: {error}"), None);
    }
    if let Ok(EndAll { end_all }) = serde_json::from_slice(&text) {
        return match Mark::parse(&end_all) {
            Some(mark) => {
                say(&Left { survivors: mark.end_all() });
                ExitCode::SUCCESS
            }
            None => failed(&format!("`{end_all}` is not a mark"), None),
        };
    }
    match serde_json::from_slice(&text) {
        Ok(wanted) => session(&World::real(), wanted),
        Err(error) => failed(&format!("the request is invalid: {error}"), None),
    }
}

fn session(world: &World, wanted: SessionRequest) -> ExitCode {
    let mut watcher = Watcher { stop_file: wanted.stop_file.clone() };
    let (request, staged) = match wanted.request(world) {
        Ok(request) => request,
        Err((error, hint)) => return failed(&error, hint),
    };
    // This is the only way to find a process that has cleared its environment and left its parent.
    adopt_orphans();
    let outcome = run(world, &request, &mut watcher);
    if let Some((staged, _removed)) = staged
        && let Err(error) = staged.close()
    {
        return failed(&error.to_string(), error.hint());
    }
    match outcome {
        Ok(outcome) => {
            say(&SessionAnswer::of(&outcome));
            ExitCode::SUCCESS
        }
        Err(error) => failed(&error.to_string(), error.hint()),
    }
}

/// The client's view of the user's files, in a folder that is removed when this value is dropped.
type StagedView = Option<(Staged, Scratch)>;

impl SessionRequest {
    fn request(self, world: &World) -> Result<(Request, StagedView), (String, Option<String>)> {
        let plain = |error: &dyn std::fmt::Display| (error.to_string(), None);
        let path = |path: Option<PathBuf>| path.map(AbsolutePath::parse).transpose().map_err(|error| plain(&error));
        let runners = Runners::builtin().map_err(|error| (error.to_string(), error.hint()))?;
        let runner = runners.find(&self.runner).map_err(|error| (error.to_string(), error.hint()))?;
        let folder = AbsolutePath::parse(&self.folder).map_err(|error| plain(&error))?;
        let mut request = Request::new(runner.clone(), self.profile, folder, self.prompt);
        request.session = match self.session {
            SessionWanted::New => ClientSession::New,
            SessionWanted::Named(id) => ClientSession::Named(id),
            SessionWanted::Resumed(id) => ClientSession::Resumed(id),
        };
        (request.program, request.model) = (self.program, self.model);
        (request.extra, request.allowed) = (self.extra, self.allowed);
        (request.usage_file, request.activity) = (path(self.usage_file)?, path(self.activity)?);
        let mut own = None;
        if let Some(more) = self.fence {
            let failed = |error: disk::DiskError| (error.to_string(), error.hint());
            let scratch = Scratch::new(&world.temporary_folder()).map_err(failed)?;
            let staged = request.runner.stage(world, &scratch.path("client"), &[]).map_err(failed)?;
            let staged = staged.ok_or_else(|| (unknown_folders(&request.runner), None))?;
            request.environment.extend(staged.variables().iter().cloned());
            let fence = Fence::around(more.into_iter().chain([staged.folder().as_path().to_path_buf()]));
            request.fence = Some(fence.for_user(world, Some(&self.runner), &Openings::default()));
            own = Some((staged, scratch));
        }
        self.limits.set(&mut request.limits);
        Ok((request, own))
    }
}

impl LimitsWanted {
    fn set(self, limits: &mut SessionLimits) {
        let times = [
            (&mut limits.whole, self.whole),
            (&mut limits.idle, self.idle),
            (&mut limits.first_event, self.first_event),
            (&mut limits.longest_wait, self.longest_wait),
            (&mut limits.after_end, self.after_end),
            (&mut limits.to_end, self.to_end),
        ];
        for (limit, wanted) in times {
            *limit = wanted.map_or(*limit, Duration::from_millis);
        }
        limits.output = self.output.unwrap_or(limits.output);
        limits.retries = self.retries.unwrap_or(limits.retries);
        limits.calls_without_tool = self.calls_without_tool.unwrap_or(limits.calls_without_tool);
    }
}

/// Looks for the file that stops the session.
struct Watcher {
    stop_file: Option<PathBuf>,
}

impl Observer for Watcher {
    fn started(&mut self, id: u32, mark: &Mark) {
        say(&Started { client: id, mark: &mark.to_string() });
    }

    fn hear(&mut self, _event: &ClientEvent, _heard: &Heard) -> Go {
        Go::On
    }

    fn tick(&mut self, _heard: &Heard) -> Go {
        match &self.stop_file {
            Some(file) if disk::exists(file) => Go::Stop("asked to stop".to_owned()),
            _ => Go::On,
        }
    }
}

impl<'a> SessionAnswer<'a> {
    fn of(outcome: &'a SessionOutcome) -> Self {
        let heard = &outcome.heard;
        let (verdict, kind) = outcome.judgement.verdict.words();
        let (code, signal) = match outcome.ended {
            Ended::Code(code) => (Some(code), None),
            Ended::Signal(signal) => (None, Some(signal)),
            Ended::OutOfTime => (None, None),
        };
        let quota = |quota: &Quota| QuotaAnswer { resets_at: quota.resets_at, used: quota.used };
        Self {
            verdict,
            kind,
            evidence: &outcome.judgement.evidence,
            session: heard.session.as_deref(),
            model: heard.model.as_deref(),
            purse: heard.purse.as_deref(),
            text: &heard.text,
            question: heard.question.as_deref(),
            denied: heard.denied.iter().map(String::as_str).collect(),
            model_calls: heard.model_calls,
            tools: heard.tools,
            retries: heard.retries,
            tokens: heard.tokens(),
            money: heard.money(),
            quota: heard.quota.as_ref().map(quota),
            code,
            signal,
            ran_for: outcome.ran_for.as_millis(),
            decided_in: outcome.decided_in.as_millis(),
            survivors: &outcome.survivors,
            lost_lines: outcome.lost_lines,
            complaint: &outcome.complaint,
        }
    }
}

fn say(answer: &impl Serialize) {
    let line = serde_json::to_string(answer).unwrap_or_default();
    // The caller may have exited; the session is ended all the same.
    let _ = writeln!(std::io::stdout(), "{line}");
}

fn failed(error: &str, hint: Option<String>) -> ExitCode {
    say(&FailedSession { error: error.to_owned(), hint });
    ExitCode::FAILURE
}
