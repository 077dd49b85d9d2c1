//! The verdict on a unit, whatever goes wrong: a failed client never counts as done, and a working one always does.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::json;

use super::drive::{Desk, Order, Report};
use super::script::{Act, Script};
use super::subjects::Subject;
use super::{each_subject, table, wish};
use crate::clients::faults::{Fault, ServiceError, Usage, Window};

/// One way in which a unit goes wrong, or right.
pub(crate) struct Trouble {
    /// The heading of its column.
    pub(crate) name: &'static str,
    /// True if it belongs to the small part.
    is_of_few: bool,
    /// True if the client has done the unit, to its knowledge.
    is_done: bool,
    /// What goes wrong, and after how many acts.
    fault: Option<(usize, Fault)>,
    /// The acceptable kinds of verdict if it is not done.
    kinds: &'static [&'static str],
    acts: fn() -> Vec<Act>,
    order: fn(&Subject) -> Option<Order>,
    /// The client may not use the shell. It may ignore that, but it must report the denial.
    is_denied: bool,
}

const HOUR: Duration = Duration::from_secs(3600);

/// The usual unit: one file, by the shell.
fn usual() -> Vec<Act> {
    vec![Act::shell("echo done > made")]
}

#[expect(clippy::unnecessary_wraps, reason = "some clients have no order for some troubles")]
fn as_usual(_subject: &Subject) -> Option<Order> {
    Some(Order::default())
}

/// The client that treats the beginning of an answer as the whole, and reports it in its stream like any other answer:
/// the stream does not show the difference. Only its work does.
const TAKES_PART_FOR_WHOLE: &str = "kimi";

/// The limits at which a client is stopped if it does not report the fault.
const LIMITS: [&str; 4] = ["idle", "whole", "first-event", "calls-without-tool"];

const fn failing(name: &'static str, fault: Fault, kinds: &'static [&'static str]) -> Trouble {
    let fault = Some((0, fault));
    Trouble { name, is_of_few: false, is_done: false, fault, kinds, acts: usual, order: as_usual, is_denied: false }
}

const fn working(name: &'static str, acts: fn() -> Vec<Act>) -> Trouble {
    Trouble { name, is_of_few: false, is_done: true, fault: None, kinds: &[], acts, order: as_usual, is_denied: false }
}

pub(crate) const TROUBLES: &[Trouble] = &[
    Trouble { is_of_few: true, ..working("success", usual) },
    working("tool fails", || vec![Act::shell("echo oops >&2; exit 7"), Act::shell("echo done > made")]),
    working("no tool", Vec::new),
    working("12 tools", || (0..12).map(|number| Act::Shell(format!("echo {number} >> made"))).collect()),
    working("huge result", || vec![Act::shell("head -c 2000000 /dev/zero | tr '\\0' x; echo done > made")]),
    Trouble { fault: Some((0, Fault::Drip(Duration::from_millis(5)))), ..working("slow answer", usual) },
    Trouble { is_of_few: true, ..failing("401", Fault::Status(ServiceError::BadKey), &["auth"]) },
    failing("403", Fault::Status(ServiceError::Forbidden), &["auth"]),
    failing("429, 1 s", Fault::Status(ServiceError::TooMany(Duration::from_secs(1))), &["quota"]),
    failing("429, 3 h", Fault::Status(ServiceError::UsedUp(HOUR.saturating_mul(3))), &["quota"]),
    failing("500", Fault::Status(ServiceError::Broken), &["overload"]),
    failing("529", Fault::Status(ServiceError::Overloaded), &["overload"]),
    failing("too long", Fault::Status(ServiceError::PromptTooLong), &["context"]),
    Trouble { is_of_few: true, ..failing("cut", Fault::Cut, &["network", "overload"]) },
    failing("dropped", Fault::Drop, &["network", "overload"]),
    Trouble {
        order: |_| Some(Order { refuses: true, ..Order::default() }),
        ..failing("refused", Fault::Drop, &["network", "overload"])
    },
    failing("no answer", Fault::Hang, &[]),
    Trouble {
        fault: Some((1, Fault::Status(ServiceError::Broken))),
        ..failing("500 later", Fault::Drop, &["overload"])
    },
    Trouble { fault: Some((1, Fault::Hang)), ..failing("no answer later", Fault::Drop, &[]) },
    Trouble {
        fault: None,
        acts: || (0..6).map(|number| Act::Shell(format!("echo {number} >> made"))).collect(),
        order: |subject| subject.two_turns.map(|_| Order { has_two_turns: true, ..Order::default() }),
        ..failing("2 turns", Fault::Drop, &["limit"])
    },
    Trouble {
        is_denied: true,
        order: |_| Some(Order { profile: "safe", ..Order::default() }),
        ..working("tool denied", usual)
    },
];

/// One cell: the verdict, or what was wrong with it.
fn judge(desk: &Desk<'_>, trouble: &Trouble) -> Option<(Report, Result<String, String>)> {
    let order = (trouble.order)(desk.subject)?;
    desk.clear();
    let script = Script::new(desk.subject.hands, &(trouble.acts)());
    let script = match trouble.fault {
        Some((after, fault)) => script.failing(after, fault),
        None => script,
    };
    let report = desk.give(script, &order);
    let judged = check(desk, trouble, &report);
    Some((report, judged))
}

fn check(desk: &Desk<'_>, trouble: &Trouble, report: &Report) -> Result<String, String> {
    let wrong = |what: &str| Err(format!("{}: {what}: {}", trouble.name, report.text()));
    let made = desk.context.project().join("made").exists();
    if trouble.is_denied {
        let names = report.outcome["denied"].as_array().map_or(0, Vec::len);
        return match (made, names) {
            (true, 0) => Ok("is not denied".to_owned()),
            (true, _) => wrong("what was made is said to be denied"),
            (false, 0) => Ok(format!("{}, not named", report.in_short())),
            (false, _) => Ok(format!("{}, named", report.in_short())),
        };
    }
    if trouble.name == "cut" && desk.subject.name == TAKES_PART_FOR_WHOLE {
        let is_so = report.verdict() == "ran" && !made && report.outcome["tools"] == 0;
        return if is_so {
            Ok("ran, made nothing".to_owned())
        } else {
            wrong("it has learned to tell part from whole")
        };
    }
    if trouble.is_done != (report.verdict() == "ran") {
        return wrong(if trouble.is_done {
            "a unit that was done is doubted"
        } else {
            "a client that failed is believed"
        });
    }
    if trouble.is_done && report.has_prompt != Some(true) {
        return wrong("the model was not given the prompt as it is");
    }
    if trouble.is_done && made == (trouble.acts)().is_empty() {
        return wrong("it is said to be done and is not");
    }
    let (kind, stopped) = (report.outcome["kind"].as_str().unwrap_or_default(), report.verdict() == "stopped");
    // Some clients report nothing and are stopped at a limit, and some report a failure without its reason. But none
    // may report another trouble.
    let is_unknown = kind == "model" || (stopped && LIMITS.contains(&kind));
    if !trouble.kinds.is_empty() && !trouble.kinds.contains(&kind) && !is_unknown {
        return wrong("the reason is another one");
    }
    if report.outcome["decided-in"].as_u64().is_none_or(|took| took > 2000) {
        return wrong("it took more than 2 s to decide");
    }
    if report.outcome["survivors"] != json!([]) || report.outcome["lost-lines"] != 0 {
        return wrong("something is left");
    }
    Ok(if stopped { "stopped".to_owned() } else { report.in_short() })
}

#[test]
#[ignore = "slow: a client"]
fn a_failed_client_never_counts_as_done_and_a_working_one_always_does() {
    let cells = Mutex::new(BTreeMap::new());
    let failures = each_subject("verdicts", &["claude", "codex"], |subject| {
        let desk = Desk::new(subject)?;
        let mut failures = Vec::new();
        for trouble in TROUBLES.iter().filter(|trouble| wish().has(trouble.name, trouble.is_of_few)) {
            let Some((report, judged)) = judge(&desk, trouble) else {
                cells.lock().unwrap().insert((subject.name, trouble.name), "–".to_owned());
                continue;
            };
            crate::clients::say(&format!("runners: {}, {}: {}", subject.name, trouble.name, report.in_short()));
            let cell = judged.unwrap_or_else(|why| {
                failures.push(why);
                "✗".to_owned()
            });
            cells.lock().unwrap().insert((subject.name, trouble.name), cell);
        }
        assert!(failures.is_empty(), "{}", failures.join("\n"));
        Ok(())
    });
    table::expect_in_document("verdicts", &cells.into_inner().unwrap(), &failures);
}

#[test]
#[ignore = "slow: a client"]
fn the_usage_that_a_client_reports_is_what_the_model_counted() {
    let failures = each_subject("usage", &["claude", "codex"], |subject| {
        let desk = Desk::new(subject)?;
        let usage = Usage { input: 1000, cached: 0, output: 111 };
        let script = Script::new(subject.hands, &usual()).costing(usage);
        let report = desk.give(script, &Order::default());
        let told = &report.outcome["tokens"];
        if subject.is_silent_on_tokens {
            assert!(told.is_null(), "{}", report.text());
            return Ok(());
        }
        let told = (told["input"].as_u64(), told["output"].as_u64());
        let (all, beside) = (report.count.usage, report.count.beside);
        // Some clients count their requests outside the conversation, and some do not.
        let conversation = (Some(all.input - beside.input), Some(all.output - beside.output));
        assert!(told == (Some(all.input), Some(all.output)) || told == conversation, "{}", report.text());
        Ok(())
    });
    assert_eq!(failures, [""; 0]);
}

#[test]
#[ignore = "slow: a client"]
fn a_used_up_subscription_reports_when_it_resets() {
    let failures = each_subject("quota", &["claude"], |subject| {
        if subject.name != "claude" {
            return Err(super::NotRun("only one client says so in its stream".to_owned()));
        }
        let desk = Desk::new(subject)?.of_subscription();
        let window = Window { used: 0.93, resets_at: 1_900_000_000 };
        let warned = desk.give(Script::new(subject.hands, &usual()).of_subscription(window), &Order::default());
        assert_eq!(warned.verdict(), "ran", "{}", warned.text());
        assert_eq!(warned.outcome["quota"]["resets-at"], 1_900_000_000, "{}", warned.text());
        assert_eq!(warned.outcome["quota"]["used"], 0.93, "{}", warned.text());
        let used_up = Fault::Status(ServiceError::UsedUp(HOUR.saturating_mul(3)));
        let refused = desk.give(Script::new(subject.hands, &usual()).failing(0, used_up), &Order::default());
        assert_eq!(refused.in_short(), "dead: quota", "{}", refused.text());
        let resets_at = refused.outcome["quota"]["resets-at"].as_u64().unwrap();
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
        assert!((now + 3 * 3600 - 120..=now + 3 * 3600).contains(&resets_at), "{}", refused.text());
        Ok(())
    });
    assert_eq!(failures, [""; 0]);
}
