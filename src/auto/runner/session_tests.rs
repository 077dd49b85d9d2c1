//! Sessions of a scripted agent, as a process: how each kind of behaviour is judged, and that nothing is left running.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests prepare and inspect by hand")]

use std::time::{Duration, Instant};

use super::death::Death;
use super::event::{ClientEvent, MoneyUnit, Tokens};
use super::heard::Heard;
use super::request::{ClientSession, Request, SessionLimits};
use super::session::{Go, Observer, SessionOutcome, run};
use super::table::{Profile, Runners};
use super::verdict::{Reason, Verdict};
use crate::disk::AbsolutePath;
use crate::failure::Explain;
use crate::world::process_tests::nothing_lives;
use crate::world::tree::Mark;
use crate::world::{Ended, World};

#[path = "../../../tests/fake_agent/compile.rs"]
mod compile;

/// The forms of stream that the scripted agent supports.
const DIALECTS: &[&str] = &[
    "scripted",
    "result-envelope",
    "thread-items",
    "status-result",
    "step-parts",
    "session-events",
    "run-result",
    "role-lines",
    "agent-lifecycle",
    "completion",
];

/// A folder to work in, and a request to run there.
struct Try {
    _folder: tempfile::TempDir,
    request: Request,
}

impl Try {
    fn new(actor: &str, dialect: &str) -> Self {
        let folder = crate::testing::folder();
        let work = AbsolutePath::parse(folder.path()).unwrap().resolve("work");
        std::fs::create_dir(&work).unwrap();
        let mut runner = Runners::builtin().unwrap().find("fake").unwrap().clone();
        runner.dialect = crate::text::words::of_word(dialect).unwrap();
        let mut request =
            Request::new(runner, Profile::Unattended, work.clone(), "Do it.\n\ngsd-unit: plan-milestone M001");
        request.program = Some(compile::fake_agent().to_string_lossy().into_owned());
        request.extra = ["--actor", actor, "--dialect", dialect].map(str::to_owned).to_vec();
        request.session = ClientSession::Named("0b7e4c1e-0000-4000-8000-000000000001".to_owned());
        request.activity = Some(work.beside("activity.jsonl"));
        Self { _folder: folder, request }
    }

    fn limits(mut self, change: impl FnOnce(&mut SessionLimits)) -> Self {
        change(&mut self.request.limits);
        self
    }

    fn run(&self) -> SessionOutcome {
        self.run_seen(&mut |_: &ClientEvent, _: &Heard| Go::On)
    }

    /// Runs it, and asserts that nothing is left running.
    fn run_seen(&self, observer: &mut dyn Observer) -> SessionOutcome {
        let outcome = run(&World::real(), &self.request, observer).unwrap();
        nothing_lives(&outcome.mark);
        assert_eq!(outcome.survivors, [0; 0]);
        outcome
    }

    fn file(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.request.folder.resolve(path)).ok()
    }
}

fn verdict(actor: &str, dialect: &str) -> Verdict {
    Try::new(actor, dialect).run().judgement.verdict
}

#[test]
fn completed_work_is_recognized_with_its_numbers_in_every_dialect() {
    for dialect in DIALECTS {
        let tried = Try::new("ideal", dialect);
        let outcome = tried.run();
        assert_eq!(outcome.judgement.verdict, Verdict::Ran, "{dialect}: {outcome:?}");
        assert_eq!(outcome.ended, Ended::Code(0), "{dialect}");
        assert!(tried.file(".gsd/milestones/M001/M001-ROADMAP.md").unwrap().contains("- [ ] **S02:"), "{dialect}");
        assert_eq!(outcome.heard.tools, 2, "{dialect}");
        assert!(outcome.heard.model_calls >= 3, "{dialect}: {:?}", outcome.heard);
        assert_eq!(outcome.heard.session.as_deref(), Some("0b7e4c1e-0000-4000-8000-000000000001"), "{dialect}");
        let expects_tokens = !matches!(*dialect, "role-lines" | "session-events");
        assert_eq!(outcome.heard.tokens().is_some(), expects_tokens, "{dialect}");
        if let Some(tokens) = outcome.heard.tokens() {
            // Dialects differ in what counts as a separate answer.
            assert!(
                (3000..=4000).contains(&tokens.input) && (333..=444).contains(&tokens.output),
                "{dialect}: {tokens:?}"
            );
        }
        assert!(outcome.decided_in < Duration::from_secs(2), "{dialect}: {:?}", outcome.decided_in);
        assert_eq!((outcome.complaint.as_str(), outcome.lost_lines), ("", 0), "{dialect}");
        assert!(outcome.not_kept.is_none(), "{dialect}: {:?}", outcome.not_kept);
    }
}

#[test]
fn a_failure_that_the_client_reports_is_named_in_every_dialect() {
    for dialect in DIALECTS {
        for (status, death) in [
            (401, Death::Auth),
            (403, Death::Auth),
            (429, Death::Quota),
            (500, Death::Overload),
            (529, Death::Overload),
        ] {
            let found = verdict(&format!("dead:{status}"), dialect);
            assert_eq!(found, Verdict::Dead(death), "{dialect} {status}");
        }
    }
}

#[test]
fn a_client_without_a_final_message_did_not_run_whatever_its_exit_code() {
    for dialect in DIALECTS.iter().filter(|dialect| **dialect != "agent-lifecycle") {
        for code in [0, 3] {
            let outcome = Try::new(&format!("silent:{code}"), dialect).run();
            assert_eq!(outcome.judgement.verdict, Verdict::NoSignal, "{dialect} {code}: {:?}", outcome.judgement);
        }
        let crashed = Try::new("crash", dialect).run();
        assert_eq!(crashed.judgement.verdict, Verdict::NoSignal, "{dialect}");
        assert_eq!(crashed.ended, Ended::Signal(6), "{dialect}");
    }
}

#[test]
fn an_exit_code_makes_a_verdict_worse_and_never_better() {
    assert_eq!(verdict("two-faced:1", "scripted"), Verdict::Dead(Death::Model));
    assert_eq!(verdict("two-faced:0", "scripted"), Verdict::Ran);
}

#[test]
fn a_success_without_text_or_a_tool_is_not_accepted() {
    let outcome = Try::new("ghost", "scripted").run();
    assert_eq!(outcome.judgement.verdict, Verdict::NoSignal, "{:?}", outcome.judgement);
}

#[test]
fn denied_tools_and_questions_are_reported() {
    for dialect in DIALECTS {
        let outcome = Try::new("denied", dialect).run();
        assert_eq!(outcome.heard.denied.iter().collect::<Vec<_>>(), ["Bash"], "{dialect}: {outcome:?}");
    }
    for dialect in ["scripted", "result-envelope"] {
        let outcome = Try::new("question", dialect).run();
        assert_eq!(outcome.heard.question.as_deref(), Some("Shall I go on?"), "{dialect}");
    }
}

#[test]
fn noise_between_the_lines_is_skipped() {
    for dialect in DIALECTS {
        assert_eq!(verdict("noisy", dialect), Verdict::Ran, "{dialect}");
    }
}

/// Stops at the first tick after an event, and records when.
struct Stopper(Option<Instant>);

impl Observer for Stopper {
    fn hear(&mut self, _event: &ClientEvent, _heard: &Heard) -> Go {
        Go::On
    }
    fn tick(&mut self, heard: &Heard) -> Go {
        if heard.events == 0 {
            return Go::On;
        }
        self.0 = self.0.or(Some(Instant::now()));
        Go::Stop("paused".to_owned())
    }
}

#[test]
fn no_process_survives_a_session_by_more_than_a_second() {
    for actor in ["hang", "hang-hard", "flood", "drip"] {
        let end = || {
            let mut stopper = Stopper(None);
            let outcome = Try::new(actor, "scripted")
                .limits(|limits| (limits.output, limits.calls_without_tool) = (u64::MAX, u32::MAX))
                .run_seen(&mut stopper);
            let took = stopper.0.unwrap().elapsed();
            assert_eq!(outcome.judgement.verdict, Verdict::Stopped(Reason::Asked("paused".to_owned())), "{actor}");
            took
        };
        // A busy machine may delay some tries.
        let mut tries: Vec<Duration> = Vec::new();
        while tries.len() < 10 && !tries.iter().any(|took| *took < Duration::from_secs(1)) {
            tries.push(end());
        }
        assert!(tries.iter().any(|took| *took < Duration::from_secs(1)), "{actor}: {tries:?}");
    }
}

/// Kills the client from outside.
struct Killer;

impl Observer for Killer {
    fn started(&mut self, id: u32, _mark: &Mark) {
        let line = format!("sleep 0.5; kill -9 {id}");
        std::thread::spawn(move || std::process::Command::new("sh").args(["-c", &line]).status().unwrap());
    }

    fn hear(&mut self, _event: &ClientEvent, _heard: &Heard) -> Go {
        Go::On
    }
}

#[test]
fn processes_of_a_client_are_ended_when_it_exits_or_is_killed() {
    let outcome = Try::new("daemon", "scripted").run();
    assert_eq!(outcome.judgement.verdict, Verdict::Ran, "{outcome:?}");

    let outcome = Try::new("hang", "scripted").run_seen(&mut Killer);
    assert_eq!((outcome.judgement.verdict, outcome.ended), (Verdict::NoSignal, Ended::Signal(9)));
}

#[test]
fn a_client_that_stays_after_its_final_message_is_ended_and_the_message_counts() {
    let outcome =
        Try::new("stubborn", "result-envelope").limits(|limits| limits.after_end = Duration::from_millis(300)).run();
    assert_eq!(outcome.judgement.verdict, Verdict::Ran, "{outcome:?}");
    assert_eq!(outcome.ended, Ended::Signal(9));
    assert!(outcome.decided_in < Duration::from_secs(2), "{:?}", outcome.decided_in);
}

/// An actor, a change of its limits, and the reason why it is stopped then.
type Ceiling = (&'static str, fn(&mut SessionLimits), Reason);

#[test]
fn each_limit_stops_a_session_that_passes_it() {
    let short = Duration::from_millis(600);
    let tries: [Ceiling; 7] = [
        ("drip", |limits| limits.whole = Duration::from_millis(600), Reason::Whole),
        ("hang", |limits| limits.idle = Duration::from_millis(600), Reason::Idle),
        ("flood", |limits| (limits.output, limits.calls_without_tool) = (5000, u32::MAX), Reason::Output),
        ("chatter", |limits| limits.calls_without_tool = 20, Reason::CallsWithoutTool),
        ("mute", |limits| limits.whole = Duration::from_millis(600), Reason::Whole),
        ("hang-hard", |limits| limits.whole = Duration::from_millis(600), Reason::Whole),
        ("mute", |limits| limits.idle = Duration::from_millis(600), Reason::Idle),
    ];
    for (actor, change, reason) in tries {
        let outcome = Try::new(actor, "scripted").limits(change).run();
        assert_eq!(outcome.judgement.verdict, Verdict::Stopped(reason.clone()), "{actor}: {:?}", outcome.judgement);
        assert!(outcome.ran_for < short + Duration::from_secs(3), "{actor} {reason}: {:?}", outcome.ran_for);
    }
    let mut silent = Try::new("ideal", "scripted");
    silent.request.program = Some("sleep".to_owned());
    silent.request.extra.clear();
    silent.request.runner.arguments = vec!["60".to_owned()];
    let outcome = silent.limits(|limits| limits.first_event = Duration::from_millis(400)).run();
    assert_eq!(outcome.judgement.verdict, Verdict::Stopped(Reason::FirstEvent));
}

#[test]
fn a_client_that_keeps_retrying_is_stopped_early_with_the_cause() {
    for dialect in DIALECTS.iter().filter(|dialect| **dialect != "completion") {
        let refused = Try::new("refused", dialect).run();
        assert_eq!(refused.judgement.verdict, Verdict::Dead(Death::Auth), "{dialect}: {:?}", refused.judgement);
        assert!(refused.ran_for < Duration::from_secs(2), "{dialect}: {:?}", refused.ran_for);
        let storm = Try::new("retry-storm", dialect).run();
        assert_eq!(storm.judgement.verdict, Verdict::Dead(Death::Overload), "{dialect}: {:?}", storm.judgement);
        // On a busy machine some more are written before they are read.
        assert!((20..100).contains(&storm.heard.retries), "{dialect}: {}", storm.heard.retries);
    }
    for dialect in ["scripted", "result-envelope", "role-lines", "agent-lifecycle"] {
        let patient = Try::new("patient", dialect).run();
        assert_eq!(patient.judgement.verdict, Verdict::Dead(Death::Quota), "{dialect}");
    }
}

#[test]
fn a_used_up_quota_reports_when_it_is_renewed() {
    for dialect in ["scripted", "result-envelope"] {
        let outcome = Try::new("rate-limited:4000000000", dialect).run();
        let reset = Some(4_000_000_000);
        assert_eq!(outcome.judgement.verdict, Verdict::Dead(Death::Quota), "{dialect}");
        assert_eq!(outcome.heard.resets_at(), reset, "{dialect}");
        assert_eq!(outcome.heard.quota.unwrap().used, Some(1.0));
    }
}

/// Files that change for a while.
struct Changing(Instant, u64);

impl Observer for Changing {
    fn hear(&mut self, _event: &ClientEvent, _heard: &Heard) -> Go {
        Go::On
    }
    fn files(&mut self) -> Option<u64> {
        if self.0.elapsed() < Duration::from_secs(5) {
            self.1 += 1;
        }
        Some(self.1)
    }
}

#[test]
fn a_silent_client_is_not_idle_while_it_works_or_its_files_change() {
    let patience = |limits: &mut SessionLimits| limits.idle = Duration::from_secs(3);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let outcome = Try::new("worker:7000", "scripted").limits(patience).run();
            assert_eq!(outcome.judgement.verdict, Verdict::Ran, "{:?}", outcome.judgement);
        });
        let outcome = Try::new("hang", "scripted").limits(patience).run_seen(&mut Changing(Instant::now(), 0));
        assert_eq!(outcome.judgement.verdict, Verdict::Stopped(Reason::Idle));
        assert!(outcome.ran_for > Duration::from_secs(6), "{:?}", outcome.ran_for);
    });
}

#[test]
fn a_client_without_output_may_work_only_until_its_time_limit() {
    let busy = |seconds: u32| {
        let mut busy = Try::new("ideal", "scripted");
        busy.request.program = Some("bash".to_owned());
        busy.request.extra.clear();
        let line = format!("while [ $SECONDS -lt {seconds} ]; do :; done");
        busy.request.runner.arguments = vec!["-c".to_owned(), line];
        busy.limits(|limits| {
            // Long enough for a machine with other load.
            (limits.first_event, limits.idle) = (Duration::from_secs(6), Duration::from_secs(7));
            limits.whole = Duration::from_secs(16);
        })
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let outcome = busy(12).run();
            assert_eq!(outcome.judgement.verdict, Verdict::NoSignal, "{:?}", outcome.judgement);
        });
        let outcome = busy(3600).run();
        assert_eq!(outcome.judgement.verdict, Verdict::Stopped(Reason::Whole), "{:?}", outcome.judgement);
    });
}

/// Counts how often it is called.
struct Counter(u32);

impl Observer for Counter {
    fn hear(&mut self, _event: &ClientEvent, _heard: &Heard) -> Go {
        Go::On
    }
    fn tick(&mut self, _heard: &Heard) -> Go {
        self.0 += 1;
        Go::On
    }
}

#[test]
fn the_observer_can_stop_at_any_event_and_is_called_while_nothing_happens() {
    let outcome = Try::new("drip", "scripted").run_seen(&mut |event: &ClientEvent, heard: &Heard| {
        if matches!(event, ClientEvent::SignOfLife) && heard.signs_of_life >= 5 {
            Go::Stop("enough".to_owned())
        } else {
            Go::On
        }
    });
    assert_eq!(outcome.judgement.verdict, Verdict::Stopped(Reason::Asked("enough".to_owned())));

    let mut counter = Counter(0);
    let outcome =
        Try::new("hang", "scripted").limits(|limits| limits.whole = Duration::from_secs(2)).run_seen(&mut counter);
    assert!(counter.0 >= 6, "{} in {:?}", counter.0, outcome.ran_for);
}

#[test]
fn the_stream_is_kept_without_its_secrets() {
    let folder = crate::testing::folder();
    let script = folder.path().join("script.json");
    let text = r#"[{"match": {"unit": "plan-* M0*"}, "steps": [{"say": "the key is ghp_abcdefghijklmnop1234"}, {"line": "plain"}]}]"#;
    std::fs::write(&script, text).unwrap();
    let mut tried = Try::new("ideal", "scripted");
    tried.request.extra = ["--script", &script.to_string_lossy()].map(str::to_owned).to_vec();
    let outcome = tried.run();
    assert_eq!(outcome.judgement.verdict, Verdict::Ran, "{outcome:?}");
    let kept = std::fs::read_to_string(tried.request.activity.as_ref().unwrap()).unwrap();
    assert!(kept.contains("the key is [REDACTED]") && kept.contains("\nplain\n"), "{kept}");
}

#[test]
fn usage_written_to_a_separate_file_counts() {
    let mut tried = Try::new("ideal", "session-events");
    tried.request.usage_file = Some(tried.request.folder.beside("usage.json"));
    let outcome = tried.run();
    assert_eq!(outcome.heard.tokens(), Some(Tokens { input: 1000, output: 111, cached: 0 }));
    assert_eq!(outcome.heard.money(), Some((1.0, MoneyUnit::Credits)));
}

#[test]
fn an_agent_of_the_protocol_is_prompted_answered_and_ended_although_it_would_continue() {
    let tried = Try::new("ideal", "client-protocol");
    let outcome = tried.run();
    assert_eq!(outcome.judgement.verdict, Verdict::Ran, "{outcome:?}");
    assert!(tried.file(".gsd/milestones/M001/M001-ROADMAP.md").is_some());
    assert_eq!((outcome.heard.tools, outcome.heard.text.as_str()), (2, "The unit is done."));
    assert_eq!(outcome.heard.tokens(), Some(Tokens { input: 3000, output: 333, cached: 0 }));
    assert!(outcome.decided_in < Duration::from_secs(2), "{:?}", outcome.decided_in);
    let mut safe = Try::new("denied", "client-protocol");
    safe.request.profile = Profile::Safe;
    assert_eq!(safe.run().heard.denied.iter().collect::<Vec<_>>(), ["Bash"]);
    assert_eq!(Try::new("denied", "client-protocol").run().heard.denied.len(), 0, "everything is allowed");
    assert_eq!(verdict("dead:401", "client-protocol"), Verdict::Dead(Death::Auth));
    let stopped = Try::new("hang-hard", "client-protocol").limits(|limits| limits.whole = Duration::from_secs(1)).run();
    assert_eq!(stopped.judgement.verdict, Verdict::Stopped(Reason::Whole));
}

#[test]
fn a_missing_program_is_named_with_a_hint() {
    let mut tried = Try::new("ideal", "scripted");
    tried.request.program = None;
    tried.request.runner.programs = vec!["gsd-no-such-agent".to_owned(), "gsd-nor-this".to_owned()];
    let error = run(&World::real(), &tried.request, &mut |_: &ClientEvent, _: &Heard| Go::On).unwrap_err();
    assert_eq!(
        error.to_string(),
        "none of the programs of `fake` is installed or in PATH: gsd-no-such-agent, gsd-nor-this"
    );
    assert!(error.hint().is_some());
}
