//! Pages of runs for tests.

use crate::auto::account::page::{HeldOutAccount, KindRow, RunPage, SliceAccount, UnitPage};
use crate::auto::account::summary::{ChangedLines, ClosedUnits, LandingSummary, RunSummary};
use crate::auto::account::{
    CheckAccount, LoggedMoment, PersonsDecision, SessionAccount, SessionEnding, Totals, UnitAccount,
};
use crate::auto::expected::{Estimate, Spread};
use crate::auto::status::QuestionRow;
use crate::auto::stop::{Cause, Stop};
use crate::auto::unit::{Unit, UnitKind};
use crate::text::shell::Typed;

/// Text of a document that tries to be markup and to reverse the order of letters.
pub(crate) const HOSTILE: &str = "</script><img src=x onerror='alert(\"1\")'>|`a`|\u{202e}<b>&amp;\\|\u{0}";
/// 2026-11-27 08:41:07 UTC.
const BEGAN: i64 = 1_795_768_867_000;
const MINUTE: u64 = 60_000;
const COMMIT: &str = "1234abcd5678ef901234abcd5678ef901234abcd";
const DIFF: &str = "diff --git a/src/cart.rs b/src/cart.rs\nindex 1b2c3d4..5e6f7a8 100644\n--- a/src/cart.rs\n\
+++ b/src/cart.rs\n@@ -10,7 +10,12 @@ impl Cart {\n     pub fn total(&self) -> Money {\n-        \
self.lines.iter().map(|line| line.price).sum()\n+        let sum: Money = self.lines.iter().map(Line::price).sum();\n\
+        match &self.voucher {\n+            Some(voucher) => voucher.apply(sum),\n+            None => sum,\n+        }\n     \
}\n \n     pub fn is_empty(&self) -> bool {\n";

struct Clock {
    now: i64,
    operation: u64,
}

impl Clock {
    fn pass(&mut self, milliseconds: u64) {
        self.now += i64::try_from(milliseconds).unwrap();
    }

    fn session(&mut self, attempt: u32, outcome: SessionEnding, milliseconds: u64) -> SessionAccount {
        self.operation += 1;
        let began = self.now;
        self.pass(milliseconds);
        let lost =
            "`cargo test` failed with exit code 101:\n  cart::totals::a_voucher_is_applied_once: left 950, right 900";
        SessionAccount {
            operation: self.operation,
            attempt,
            resumed: outcome == SessionEnding::Counted && attempt > 2,
            began,
            milliseconds: (outcome != SessionEnding::Running).then_some(milliseconds),
            tokens: milliseconds / 9,
            usd: Some(f64::from(u32::try_from(milliseconds / 1000).unwrap()) * 0.0011),
            model: Some("sonnet-4-5".to_owned()),
            tool_calls: 14,
            changed: vec!["src/cart.rs".to_owned(), "tests/totals.rs".to_owned()],
            outcome,
            why: match outcome {
                SessionEnding::Refused => Some(lost.to_owned()),
                SessionEnding::Interrupted => Some("The client's quota was used up.".to_owned()),
                _ => None,
            },
        }
    }
}

fn unit(
    clock: &mut Clock,
    kind: UnitKind,
    id: &str,
    title: Option<&str>,
    outcomes: &[SessionEnding],
    minutes: u64,
) -> UnitPage {
    let began = clock.now;
    let (mut sessions, mut milliseconds) = (Vec::new(), 0);
    for (attempt, outcome) in (1..).zip(outcomes) {
        let lasts = minutes * MINUTE + clock.operation % 7 * 11_000;
        sessions.push(clock.session(attempt, *outcome, lasts));
        milliseconds += lasts;
        if *outcome == SessionEnding::Interrupted {
            clock.pass(52 * MINUTE);
        } else if kind.is_gated() {
            clock.pass(49_000);
            milliseconds += 49_000;
        }
    }
    let commit = (outcomes.last() == Some(&SessionEnding::Counted))
        .then(|| format!("{:08x}{:032x}", clock.operation * 2_654_435_761 % 0x1_0000_0000, clock.operation));
    let parts: Vec<&str> = id.split('/').collect();
    UnitPage {
        title: title.map(str::to_owned),
        slice: parts.get(1).map_or("milestone", |slice| slice).to_owned(),
        changes: commit.is_some().then_some(ChangedLines { files: 3, insertions: 84, deletions: 12 }),
        diff: (commit.is_some() && kind.is_gated()).then(|| DIFF.to_owned()),
        account: UnitAccount {
            unit: Unit::new(kind, id),
            began,
            milliseconds,
            sessions,
            checks: if kind.is_gated() { checks(outcomes.last() != Some(&SessionEnding::Refused)) } else { Vec::new() },
            commit,
        },
    }
}

fn checks(passed: bool) -> Vec<CheckAccount> {
    let check = |command: &str, exit_code, passed, milliseconds| CheckAccount {
        command: command.to_owned(),
        exit_code,
        passed,
        milliseconds,
    };
    vec![
        check("cargo fmt --check", 0, true, 1_200),
        check("cargo clippy --locked --all-targets -- -D warnings", 0, true, 14_700),
        check("cargo test --locked", if passed { 0 } else { 101 }, passed, 31_400),
        check("npm --prefix web run lint", 1, true, 2_100),
    ]
}

fn estimate() -> Estimate {
    let spread = |low, likely, high| Spread { low, likely, high };
    Estimate {
        runs: 6,
        sessions: spread(15.0, 18.0, 24.0),
        tokens: spread(410_000.0, 560_000.0, 790_000.0),
        milliseconds: spread(4_100_000.0, 5_400_000.0, 7_900_000.0),
        usd: Some(spread(4.1, 5.6, 8.2)),
    }
}

fn assemble(units: Vec<UnitPage>, latest: i64, state: &'static str, slices: &[(&str, &str)]) -> RunPage {
    let totals = units.iter().map(|unit| unit.account.totals()).fold(Totals::default(), Totals::and);
    let sum = |is_it: &dyn Fn(&UnitPage) -> bool| {
        units.iter().filter(|unit| is_it(unit)).map(|unit| unit.account.totals()).fold(Totals::default(), Totals::and)
    };
    let kinds: std::collections::BTreeSet<UnitKind> = units.iter().map(|unit| unit.account.unit.kind).collect();
    let kinds = kinds.into_iter().map(|kind| {
        let totals = sum(&|unit| unit.account.unit.kind == kind);
        KindRow { kind, forecast: Some(totals.units + usize::from(kind == UnitKind::CompleteSlice)), totals }
    });
    let slices = slices.iter().map(|(id, title)| SliceAccount {
        id: (*id).to_owned(),
        title: Some((*title).to_owned()).filter(|title| !title.is_empty()),
        totals: sum(&|unit| unit.slice == *id),
    });
    let sessions = units.iter().flat_map(|unit| &unit.account.sessions);
    let lost = |session: &&SessionAccount| {
        matches!(session.outcome, SessionEnding::Refused | SessionEnding::Interrupted | SessionEnding::Asked)
    };
    let timeline = units.iter().flat_map(|unit| {
        let at = unit.account.began;
        [(at, unit.account.unit.to_string()), (at + 60_000, "ended after 214 s, 23800 tokens, $0.24".to_owned())]
    });
    let committed = |is_task: bool| {
        let is_it = |unit: &&UnitPage| unit.account.commit.is_some() && unit.account.unit.kind.is_gated() == is_task;
        units.iter().filter(is_it).count()
    };
    let closed = ClosedUnits { tasks: committed(true), phases: 0, others: committed(false) };
    RunPage {
        kinds: kinds.collect(),
        slices: slices.collect(),
        timeline: timeline.map(|(at, text)| LoggedMoment { at, text }).collect(),
        summary: RunSummary {
            run: "20261127-084107-9f3c".to_owned(),
            milestone: "M001".to_owned(),
            title: Some("Vouchers in the cart".to_owned()),
            target: "main".to_owned(),
            branch: "gsd/M001-vouchers".to_owned(),
            worktree: "/home/ada/shop/.gsd/worktrees/M001".to_owned(),
            began: BEGAN,
            latest,
            totals,
            waited: 0,
            lost_sessions: sessions.filter(lost).count(),
            closed,
            forecast: 18,
            estimate: Some(estimate()),
            decisions: 0,
            undelivered: Vec::new(),
            landing: None,
        },
        state,
        client: "client".to_owned(),
        client_version: Some("2.1.330".to_owned()),
        model: Some("sonnet-4-5".to_owned()),
        profile: "balanced".to_owned(),
        fenced: true,
        stop: None,
        decisions: Vec::new(),
        questions: Vec::new(),
        checks: Vec::new(),
        held_out: Vec::new(),
        units,
    }
}

const SLICES: &[(&str, &str)] = &[
    ("milestone", ""),
    ("S01", "A cart knows its voucher"),
    ("S02", "Vouchers expire, and the customer sees why one was refused"),
    ("S03", "The back office issues vouchers"),
    ("S04", "Reports"),
];

/// The kind and the identifier of a unit, its title, how its sessions end, and how many minutes each takes.
type UnitRow<'a> = (UnitKind, &'a str, Option<&'a str>, &'a [SessionEnding], u64);

/// A run that landed: 16 units in four slices, some repeated, one after a wait.
pub(crate) fn landed() -> RunPage {
    use SessionEnding::{Counted, Interrupted, Refused};
    use UnitKind::{CompleteMilestone, CompleteSlice, ExecuteTask, PlanMilestone, PlanSlice};
    let mut clock = Clock { now: BEGAN + 90_000, operation: 0 };
    let rows: &[UnitRow<'_>] = &[
        (PlanMilestone, "M001", None, &[Counted], 4),
        (PlanSlice, "M001/S01", None, &[Counted], 3),
        (ExecuteTask, "M001/S01/T01", Some("Add the voucher to the cart"), &[Counted], 5),
        (
            ExecuteTask,
            "M001/S01/T02",
            Some("Apply a voucher once, also if lines change"),
            &[Refused, Refused, Counted],
            4,
        ),
        (CompleteSlice, "M001/S01", None, &[Counted], 1),
        (PlanSlice, "M001/S02", None, &[Counted], 2),
        (ExecuteTask, "M001/S02/T01", Some("Refuse vouchers after their last day"), &[Counted], 6),
        (ExecuteTask, "M001/S02/T02", Some("Show why a voucher was refused"), &[Interrupted, Counted], 7),
        (ExecuteTask, "M001/S02/T03", Some("Translate the reasons"), &[Counted], 2),
        (CompleteSlice, "M001/S02", None, &[Counted], 1),
        (PlanSlice, "M001/S03", None, &[Counted], 3),
        (ExecuteTask, "M001/S03/T01", Some("Issue vouchers in batches"), &[Refused, Counted], 6),
        (ExecuteTask, "M001/S03/T02", Some("Limit who may issue them"), &[Counted], 4),
        (PlanSlice, "M001/S04", None, &[Counted], 2),
        (ExecuteTask, "M001/S04/T01", Some("Report redeemed vouchers by month"), &[Counted], 5),
        (CompleteMilestone, "M001", None, &[Counted], 2),
    ];
    let units =
        rows.iter().map(|(kind, id, title, outcomes, minutes)| unit(&mut clock, *kind, id, *title, outcomes, *minutes));
    let units: Vec<UnitPage> = units.collect();
    let mut page = assemble(units, clock.now + 95_000, "landed", SLICES);
    page.summary.waited = 52 * MINUTE;
    page.checks = checks(true);
    page.held_out = vec![
        HeldOutAccount { place: "S01".to_owned(), passed: true, milliseconds: 8_100 },
        HeldOutAccount { place: "candidate".to_owned(), passed: true, milliseconds: 9_000 },
    ];
    page.summary.landing = Some(LandingSummary {
        commit: COMMIT.to_owned(),
        subject: Some("Add vouchers to the cart".to_owned()),
        changes: Some(ChangedLines { files: 31, insertions: 1_204, deletions: 187 }),
        checks: [4, 4],
        proof: "signed",
    });
    page.decisions = vec![
        PersonsDecision { at: BEGAN + 1_900_000, text: "answer M001/S01/T02 with `once`".to_owned(), refused: None },
        PersonsDecision {
            at: BEGAN + 2_400_000,
            text: "skip M001/S03".to_owned(),
            refused: Some("S04 depends on it".to_owned()),
        },
    ];
    page.summary.decisions = 2;
    page.timeline.push(LoggedMoment {
        at: clock.now + 95_000,
        text: "M001 landed as 1234abcd5678, with a signed proof".to_owned(),
    });
    page
}

/// A run that stopped in its first unit. The client reports no money, and there were no earlier runs.
pub(crate) fn failed() -> RunPage {
    use SessionEnding::Refused;
    let mut clock = Clock { now: BEGAN + 4_000, operation: 2 };
    let title = Some("Add the voucher to the cart");
    let mut first = unit(&mut clock, UnitKind::ExecuteTask, "M001/S01/T01", title, &[Refused, Refused, Refused], 3);
    for session in &mut first.account.sessions {
        session.usd = None;
    }
    let mut page = assemble(vec![first], clock.now, "stopped", &SLICES[1..2]);
    page.summary.estimate = None;
    page.model = None;
    page.stop = Some(
        Stop::new(Cause::ChecksFailed, "the checks of `M001/S01/T01` failed 3 times", "gsd-tools auto run")
            .shown(["`cargo test --locked` exits with 101".to_owned(), "kept in refs/gsd/kept/9f3c-3".to_owned()]),
    );
    page
}

/// A run that works on its third unit, with an open question.
pub(crate) fn running() -> RunPage {
    use SessionEnding::{Counted, Running};
    let mut clock = Clock { now: BEGAN + 4_000, operation: 0 };
    let units = vec![
        unit(&mut clock, UnitKind::PlanSlice, "M001/S01", None, &[Counted], 3),
        unit(&mut clock, UnitKind::ExecuteTask, "M001/S01/T01", Some("Add the voucher"), &[Counted], 4),
        unit(&mut clock, UnitKind::ExecuteTask, "M001/S01/T02", Some("Apply it once"), &[Running], 2),
    ];
    let mut page = assemble(units, clock.now, "running", &SLICES[1..2]);
    page.questions = vec![QuestionRow {
        task: "M001/S01/T02".to_owned(),
        text: "May two vouchers be used for one order?".to_owned(),
        options: vec!["one: only one voucher".to_owned(), "many: each once".to_owned()],
        recommended: "one".to_owned(),
        waits: false,
    }];
    page
}

/// A run of this many units, stopped by a ceiling, after a night without work.
pub(crate) fn many(count: usize) -> RunPage {
    use SessionEnding::{Counted, Refused};
    let mut clock = Clock { now: BEGAN, operation: 0 };
    let names: Vec<(String, String)> =
        (1..=count.div_ceil(12)).map(|slice| (format!("S{slice:02}"), format!("PagePart {slice}"))).collect();
    let units = (0..count).map(|number| {
        if number == count / 2 {
            clock.pass(9 * 60 * MINUTE);
        }
        let (slice, task) = (number / 12 + 1, number % 12);
        let outcomes: &[SessionEnding] = if number % 9 == 4 { &[Refused, Counted] } else { &[Counted] };
        let (id, kind) = match task {
            0 => (format!("M001/S{slice:02}"), UnitKind::PlanSlice),
            11 => (format!("M001/S{slice:02}"), UnitKind::CompleteSlice),
            task => (format!("M001/S{slice:02}/T{task:02}"), UnitKind::ExecuteTask),
        };
        let mut unit = unit(&mut clock, kind, &id, Some("A task of one of many slices"), outcomes, 2);
        unit.diff = unit
            .diff
            .map(|diff| diff + &"+        let sum: Money = self.lines.iter().map(Line::price).sum();\n".repeat(380));
        unit
    });
    let units: Vec<UnitPage> = units.collect();
    let slices: Vec<(&str, &str)> = names.iter().map(|(id, title)| (id.as_str(), title.as_str())).collect();
    let mut page = assemble(units, clock.now, "stopped", &slices);
    page.stop = Some(Stop::new(Cause::Ceiling, "the budget of $90.00 is used up", "gsd-tools auto run --budget 180"));
    page
}

/// A run whose documents, sessions and programs are hostile.
pub(crate) fn hostile() -> RunPage {
    let mut page = landed();
    let text = |place: &str| format!("{place} {HOSTILE} {}", "W".repeat(220));
    for unit in &mut page.units {
        unit.title = Some(text("title"));
        unit.account.unit.id += "<b>|";
        unit.diff = unit.diff.take().map(|diff| diff + "+" + HOSTILE + "\n-" + &"W".repeat(900) + "\n");
        for session in &mut unit.account.sessions {
            session.why = Some(text("why"));
            session.model = Some(text("model"));
            session.changed = vec![text("file"), "a b\nc".to_owned()];
        }
        for check in &mut unit.account.checks {
            check.command = text("check");
        }
    }
    for slice in &mut page.slices {
        slice.title = Some(text("slice"));
    }
    page.timeline.iter_mut().for_each(|moment| moment.text = text("moment"));
    page.decisions
        .iter_mut()
        .for_each(|decision| (decision.text, decision.refused) = (text("wish"), Some(text("refused"))));
    page.checks.iter_mut().for_each(|check| check.command = text("command"));
    page.held_out.iter_mut().for_each(|run| run.place = text("place"));
    let summary = &mut page.summary;
    (summary.run, summary.milestone, summary.target) = (text("run"), "M001<b>|".to_owned(), text("target"));
    (summary.title, summary.branch, summary.worktree) = (Some(text("milestone")), text("branch"), text("worktree"));
    summary.landing = None;
    (page.client, page.client_version, page.profile) = (text("client"), Some(text("version")), text("profile"));
    page.state = "stopped";
    page.stop = Some(Stop {
        cause: Cause::Question,
        text: text("stop"),
        evidence: vec![text("evidence")],
        next: Typed::of_quoted(text("next")),
    });
    page.questions = vec![QuestionRow {
        task: text("task"),
        text: text("question"),
        options: vec![text("option")],
        recommended: text("recommended"),
        waits: true,
    }];
    page
}

/// A run that did nothing.
pub(crate) fn empty() -> RunPage {
    assemble(Vec::new(), BEGAN, "interrupted", &[])
}
