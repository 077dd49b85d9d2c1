//! One session of the client.

use std::time::{Duration, Instant};

use super::Real;
use super::control::RequestSources;
use super::liveness::Liveness;
use crate::auto::brought::APPROVED;
use crate::auto::engine::{ControlRequest as Wanted, EngineError, Session};
use crate::auto::event::{Death, Halt, LastHeard, SessionVerdict, UnitEnded, UnitStarted, Usage};
use crate::auto::runner::event::ClientEvent;
use crate::auto::runner::heard::Heard;
use crate::auto::runner::own::Staged;
use crate::auto::runner::request::{ClientSession, Request, RunnerError, SessionLimits};
use crate::auto::runner::session::{ACTIVITY_LIMIT, Go, Observer, SessionOutcome, run};
use crate::auto::runner::verdict::{Reason, Verdict as RunnerVerdict};
use crate::auto::unit::{Class, Unit};
use crate::disk::{self, AbsolutePath, Scratch};
use crate::gate::check::Check;
use crate::world::tree::Mark;
use crate::world::{Ended, HEARD, UNIT, World};

/// The file, among the temporary ones of a session, that shows that the hooks of gsd-tools ran.
const HEARD_FILE: &str = "gsd-hooks-heard";

/// The name by which prompts call this program.
const PROGRAM: &str = "gsd-tools";

/// Watches a running session for requests to end it.
struct SessionWatch {
    asked: RequestSources,
    wish: Option<Wanted>,
    liveness: Liveness,
    /// The client's view of the user's files, and when its logins were last compared.
    staged: Option<Staged>,
    looked: Instant,
}

/// How often a login of the client is compared with that of its user, so that both stay signed in.
const LOGINS: Duration = Duration::from_secs(1);

impl Observer for SessionWatch {
    fn hear(&mut self, _event: &ClientEvent, _heard: &Heard) -> Go {
        Go::On
    }

    fn tick(&mut self, _heard: &Heard) -> Go {
        if self.looked.elapsed() >= LOGINS {
            // What cannot be read now is read again at the end of the session, where a failure is an error.
            let _ = self.staged.as_mut().map(Staged::share_logins);
            self.looked = Instant::now();
        }
        let Ok(Some(wanted)) = self.asked.at_once() else { return Go::On };
        self.wish = Some(wanted);
        Go::Stop("a person asked for it".to_owned())
    }

    fn files(&mut self) -> Option<u64> {
        self.liveness.number()
    }
}

impl Real<'_> {
    /// Runs a session to its end. A client that cannot be started counts as one that died.
    pub(super) fn session(&mut self, session: &Session) -> Result<UnitEnded, EngineError> {
        // The same path in all sessions of a run: some clients put it into the prompt, and a different one would
        // invalidate the cache.
        let temporary = Scratch::named(&self.world.temporary_folder(), &self.run)?;
        let staged = self.staged(&session.unit)?;
        let mut request = self.request(session, temporary.folder(), staged.as_ref())?;
        request.allowed = self.allowed(&session.unit)?;
        let liveness = Liveness::of(self.places.worktree.clone());
        let heard = temporary.path(HEARD_FILE);
        let should_be_heard = staged.as_ref().is_some_and(Staged::has_ours);
        request.environment.push((HEARD.to_owned(), heard.to_string()));
        let mut watch = SessionWatch { asked: self.asked(), wish: None, liveness, staged, looked: Instant::now() };
        let outcome = run(self.world, &request, &mut watch);
        watch.staged.take().map_or(Ok(()), Staged::close)?;
        match outcome {
            Ok(outcome) => {
                if should_be_heard && outcome.heard.tools > 0 && !disk::exists(&heard) {
                    self.say_unheard();
                }
                if let Some(error) = &outcome.not_kept {
                    self.tell(&format!("  its stream is not kept to its end: {}", super::with_causes(error)));
                }
                let ended = ended(session, &outcome, watch.wish);
                Ok(UnitEnded { model: ended.model.or_else(|| self.driver.model.clone()), ..ended })
            }
            Err(error @ RunnerError::Disk(_)) => Err(super::failed(&error)),
            Err(error) => {
                let text = error.to_string();
                let verdict = SessionVerdict::Dead { cause: Death::Start, resets_at: None, text };
                Ok(UnitEnded { verdict, operation: session.operation, ..UnitEnded::default() })
            }
        }
    }

    /// Reports once per call that the client did not run the hooks of gsd-tools although they are installed for it.
    fn say_unheard(&mut self) {
        if self.is_unheard {
            return;
        }
        self.is_unheard = true;
        let title = &self.driver.runner.title;
        let text = format!(
            "  The hooks of gsd-tools did not run in this session, so its guards were off: {title} may not have loaded or trusted them."
        );
        self.tell(&text);
    }

    /// Returns the commands that the agent may run if its client does not allow everything: the checks of the unit, and
    /// the calls of this program that hosts run without asking.
    fn allowed(&self, unit: &Unit) -> Result<Vec<String>, EngineError> {
        let found = self.discovered(self.files.as_ref(), &self.plans_of(unit)?.verify)?;
        let may_run = |check: &&Check| self.approved.as_ref().is_none_or(|known| known.contains(check.command()));
        let checks = found.checks.iter().filter(may_run).map(|check| check.command().to_owned());
        let calls = self.driver.calls.iter().map(|call| format!("{PROGRAM} {call}"));
        Ok(checks.chain(calls).collect())
    }

    /// Returns the request for a session whose temporary files are below `temporary`, which is removed after it. The
    /// client is fenced if its files are `staged`.
    fn request(
        &self,
        session: &Session,
        temporary: &AbsolutePath,
        staged: Option<&Staged>,
    ) -> Result<Request, EngineError> {
        let driver = &self.driver;
        let mut request =
            Request::new(driver.runner.clone(), driver.profile, self.places.worktree.clone(), session.prompt.clone());
        request.program.clone_from(&driver.program);
        request.model.clone_from(&driver.model);
        request.without.clone_from(&driver.without);
        request.without.push(APPROVED.to_owned());
        if driver.leaves_settings_out {
            request.extra.extend(driver.runner.without_project_settings.iter().cloned());
        }
        request.fence = staged.map(|staged| self.fence_of_session(&session.unit, temporary, staged)).transpose()?;
        request.mark = Mark::parse(&session.mark);
        request.session = if session.resumes {
            ClientSession::Resumed(session.id.clone())
        } else {
            ClientSession::Named(session.id.clone())
        };
        request.is_detached = !driver.is_fenced;
        let unit = &session.unit;
        request.environment = vec![
            (UNIT.to_owned(), unit.kind.word().to_owned()),
            (super::UNIT_VARIABLE.to_owned(), unit.id.clone()),
            ("GSD_UNIT_ATTEMPT".to_owned(), session.attempt.to_string()),
        ];
        let caches = self.caches_of(&session.unit)?;
        request.environment.extend(self.slot(unit.kind.class() != Class::Planning)?);
        request.environment.extend(caches.into_iter().flat_map(|caches| caches.variables.iter().cloned()));
        request.environment.extend(staged.into_iter().flat_map(|staged| staged.variables().iter().cloned()));
        let folder = temporary.to_string();
        let names = ["TMPDIR", "TMP", "TEMP"].map(|name| (name.to_owned(), folder.clone()));
        request.environment.extend(names);
        // zsh has a separate variable for temporary files such as here-documents, and ignores the others.
        request.environment.push(("TMPPREFIX".to_owned(), format!("{folder}/zsh")));
        // Prompts ask for calls of this program.
        request.environment.extend(self.world.path_to_itself().map(|path| ("PATH".to_owned(), path)));
        if driver.is_fenced && self.layout.lets_agents_commit() {
            request.environment.extend(unsigned(self.world));
        }
        request.limits.whole = Duration::from_secs(session.ceiling.seconds());
        if let Some(idle) = session.ceiling.idle_seconds() {
            request.limits.idle = Duration::from_secs(idle);
        }
        request.limits.output = session.ceiling.tokens();
        request.limits.money = Some(session.budget);
        request.limits.calls_without_tool = session.ceiling.calls_without_tool();
        shorten_for_tests(self.world, &mut request.limits);
        let name = notes_of(session.operation, unit);
        request.activity = Some(self.places.notes.resolve(stream_of(session.operation, unit)));
        if !self.driver.runner.usage_file.is_empty() {
            request.usage_file = Some(self.usage_folder().resolve(format!("{name}.json")));
        }
        Ok(request)
    }

    /// Returns what a session had reported before the process that ran it died.
    pub(super) fn last_heard(&self, start: &UnitStarted) -> LastHeard {
        let stream = self.places.notes.resolve(stream_of(start.operation, &start.unit));
        // Its report is valuable and its usage small: without the report the session is counted all the same.
        let text = disk::read_up_to(&stream, ACTIVITY_LIMIT).ok().flatten().unwrap_or_default();
        let runner = &self.driver.runner;
        let opening = Request::new(runner.clone(), self.driver.profile, self.places.worktree.clone(), "").opening();
        let mut reader = runner.dialect.reader(&runner.facts_of_stream(), opening);
        let mut heard = Heard::default();
        for line in text.split(|byte| *byte == b'\n') {
            reader.line(line).iter().for_each(|event| heard.add(event));
        }
        let (usage, money) = bill(&heard);
        LastHeard { has_begun: heard.events > 0, usage, money }
    }
}

/// Returns settings with which git does not sign: keys are not available in a fence. The engine signs what lands.
fn unsigned(world: &World) -> Vec<(String, String)> {
    let count = world.variable("GIT_CONFIG_COUNT").and_then(|count| count.trim().parse::<u32>().ok()).unwrap_or(0);
    vec![
        (format!("GIT_CONFIG_KEY_{count}"), "commit.gpgsign".to_owned()),
        (format!("GIT_CONFIG_VALUE_{count}"), "false".to_owned()),
        ("GIT_CONFIG_COUNT".to_owned(), (count + 1).to_string()),
    ]
}

/// Returns the path of a session's stream below the notes of runs.
pub(crate) fn stream_of(operation: u64, unit: &Unit) -> String {
    format!("activity/{}.jsonl", notes_of(operation, unit))
}

/// Returns the name of the files kept about a session.
fn notes_of(operation: u64, unit: &Unit) -> String {
    format!("{operation:03}-{}-{}", unit.kind.word(), unit.id.replace('/', "-"))
}

/// Shortens limits, since tests cannot wait for minutes.
fn shorten_for_tests(world: &World, limits: &mut SessionLimits) {
    let wanted = |name: &str| world.flag("GSD_TEST_MODE").then(|| world.variable(name)?.parse().ok()).flatten();
    let limit = |usual: Duration, name: &str| wanted(name).map_or(usual, Duration::from_millis);
    (limits.whole, limits.idle) = (limit(limits.whole, "GSD_UNIT_MS"), limit(limits.idle, "GSD_IDLE_MS"));
}

/// Returns tokens, and dollars if the client counts in them.
fn bill(heard: &Heard) -> (Usage, Option<f64>) {
    let tokens = heard.tokens().unwrap_or_default();
    let money = heard.dollars();
    (Usage { input: tokens.input, output: tokens.output, cache_read: tokens.cached, cache_write: 0 }, money)
}

fn ended(session: &Session, outcome: &SessionOutcome, wish: Option<Wanted>) -> UnitEnded {
    let heard = &outcome.heard;
    let (usage, money) = bill(heard);
    UnitEnded {
        operation: session.operation,
        verdict: verdict(outcome, wish),
        usage,
        money,
        model_calls: heard.model_calls,
        tool_calls: heard.tools,
        denied: heard.denied.iter().cloned().collect(),
        milliseconds: u64::try_from(outcome.ran_for.as_millis()).unwrap_or(u64::MAX),
        session: heard.session.clone(),
        survivors: outcome.survivors.clone(),
        model: heard.model.clone(),
        ..UnitEnded::default()
    }
}

/// Converts the outcome of the session into the terms of the log.
fn verdict(outcome: &SessionOutcome, wish: Option<Wanted>) -> SessionVerdict {
    let text = outcome.judgement.evidence.clone();
    match &outcome.judgement.verdict {
        RunnerVerdict::Ran => SessionVerdict::Ran,
        RunnerVerdict::NoSignal => {
            let (exit, signal) = match outcome.ended {
                Ended::Code(code) => (Some(code), None),
                Ended::Signal(signal) => (None, Some(signal)),
                Ended::OutOfTime => (None, None),
            };
            SessionVerdict::NoSignal { exit, signal, text }
        }
        RunnerVerdict::Dead(death) => {
            let resets_at = resets_at(outcome).filter(|_| *death == Death::Quota);
            SessionVerdict::Dead { cause: *death, resets_at, text }
        }
        RunnerVerdict::Stopped(reason) => stopped(outcome, reason, wish, text),
    }
}

/// Returns when a quota is renewed. The client reports seconds, the log has milliseconds.
fn resets_at(outcome: &SessionOutcome) -> Option<i64> {
    outcome.heard.resets_at().map(|seconds| seconds.saturating_mul(1000))
}

fn stopped(outcome: &SessionOutcome, reason: &Reason, wish: Option<Wanted>, text: String) -> SessionVerdict {
    let resets_at = resets_at(outcome);
    let why = match reason {
        Reason::Asked(_) => match wish {
            Some(Wanted::Pause) => Halt::Pause,
            _ => Halt::Stop,
        },
        Reason::Whole | Reason::Output => Halt::Ceiling,
        Reason::Money => Halt::Budget,
        Reason::Slept => Halt::Slept,
        Reason::Idle | Reason::FirstEvent => Halt::Idle,
        Reason::CallsWithoutTool => Halt::Retries,
        // The client would wait by itself; the run can wait better.
        Reason::LongWait => return SessionVerdict::Dead { cause: Death::Quota, resets_at, text },
        Reason::Retries => return SessionVerdict::Dead { cause: Death::Overload, resets_at, text },
        Reason::RefusedLogin => return SessionVerdict::Dead { cause: Death::Auth, resets_at: None, text },
    };
    SessionVerdict::Halted { why, text }
}
