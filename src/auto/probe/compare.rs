//! Compares what a client did in trials against a scripted model server with the tables about it.

use std::collections::BTreeSet;
use std::time::Duration;

use super::facts::ClientFacts;
use crate::auto::runner::death::Death;
use crate::auto::runner::event::Tokens;
use crate::auto::runner::table::Runner;
use crate::auto::runner::verdict::{Reason, Verdict};
use crate::text::words::words;

words! {
    /// What the model server does in a trial.
    pub(crate) enum Trial {
        /// Lets the client call one tool, and then says that everything is done.
        Work = "work",
        Unauthorized = "401",
        Forbidden = "403",
        /// 429, with a retry after one second.
        Busy = "429",
        /// 429, with a retry after hours.
        Exhausted = "429-for-hours",
        Broken = "500",
        Overloaded = "529",
        /// 400, since the prompt is too long.
        TooLong = "prompt-too-long",
        /// Stops in the middle of an answer.
        Cut = "cut",
        /// Nothing listens on the port.
        Refused = "refused",
        /// Never answers.
        Hang = "hang",
    }
}

impl Trial {
    pub(crate) const ALL: [Self; 11] = [
        Self::Work,
        Self::Unauthorized,
        Self::Forbidden,
        Self::Busy,
        Self::Exhausted,
        Self::Broken,
        Self::Overloaded,
        Self::TooLong,
        Self::Cut,
        Self::Refused,
        Self::Hang,
    ];

    /// Describes what the model server does, for display.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Work => "the model has one file made",
            Self::Unauthorized => "the key is refused",
            Self::Forbidden => "the model is refused",
            Self::Busy => "too many requests, again in a second",
            Self::Exhausted => "the quota is used up for three hours",
            Self::Broken => "the server fails",
            Self::Overloaded => "the server is overloaded",
            Self::TooLong => "the prompt is too long",
            Self::Cut => "the answer breaks off",
            Self::Refused => "no server listens",
            Self::Hang => "the server never answers",
        }
    }

    /// True if the verdict is correct for the trial.
    fn fits(self, verdict: &Verdict) -> bool {
        let has_waited = matches!(verdict, Verdict::Stopped(Reason::Idle | Reason::FirstEvent | Reason::Whole));
        let Verdict::Dead(death) = verdict else {
            return match self {
                Self::Work => *verdict == Verdict::Ran,
                Self::Cut => {
                    let goes_on = *verdict == Verdict::Stopped(Reason::CallsWithoutTool);
                    *verdict == Verdict::NoSignal || has_waited || goes_on
                }
                // Some clients wait silently.
                Self::Exhausted | Self::Refused | Self::Hang => has_waited,
                _ => false,
            };
        };
        match self {
            Self::Work => false,
            Self::Unauthorized | Self::Forbidden => *death == Death::Auth,
            Self::Busy | Self::Exhausted => *death == Death::Quota,
            Self::Broken | Self::Overloaded => *death == Death::Overload,
            Self::TooLong => *death == Death::Context,
            Self::Cut | Self::Refused => matches!(death, Death::Network | Death::Overload | Death::Model),
            Self::Hang => matches!(death, Death::Network | Death::Overload),
        }
    }
}

/// Observations from one trial.
#[derive(Clone, Debug)]
pub(crate) struct TrialObservations {
    pub(crate) trial: Trial,
    pub(crate) took: Duration,
    pub(crate) verdict: Verdict,
    /// The evidence of the verdict.
    pub(crate) evidence: String,
    /// Whether the file that the model requested exists.
    pub(crate) made: bool,
    /// Whether the model received the prompt unchanged.
    pub(crate) has_prompt: bool,
    /// The exit code, if the client ended without being stopped.
    pub(crate) code: Option<i32>,
    /// The tokens that the client counted.
    pub(crate) tokens: Option<Tokens>,
    /// The tokens that the server reported to it.
    pub(crate) served: Tokens,
    /// The part of `served` for requests outside the conversation: some clients count it, and some do not.
    pub(crate) beside: Tokens,
    pub(crate) has_money: bool,
    pub(crate) tools: u32,
    /// The name that the client gives its session, and the one that it was asked to use.
    pub(crate) session: Option<String>,
    pub(crate) preset: Option<String>,
    /// How many of its processes could not be ended.
    pub(crate) survivors: usize,
    /// Whether it left processes running when it ended without being stopped.
    pub(crate) has_left_running: bool,
    /// The kinds of line in its stream.
    pub(crate) events: BTreeSet<String>,
    /// How many lines of its stream were not JSON.
    pub(crate) prose: u64,
}

/// One difference between a client and the tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Drift {
    /// The trial that showed it; `None` for a difference outside of trials.
    pub(crate) trial: Option<Trial>,
    /// Whether work could count as done wrongly, or be lost, because of it.
    pub(crate) is_grave: bool,
    pub(crate) text: String,
}

/// Returns all differences between the tables about a client and the observations of this version.
pub(crate) fn compare(
    runner: &Runner,
    facts: &ClientFacts,
    version: Option<&str>,
    seen: &[TrialObservations],
) -> Vec<Drift> {
    let of_trial = |seen: &TrialObservations| {
        let mut drifts = of_verdict(facts, seen);
        drifts.extend(of_processes(facts, seen));
        if seen.trial == Trial::Work {
            drifts.extend(of_work(runner, facts, seen));
            drifts.extend(of_stream(facts, seen));
        }
        let at = |(is_grave, text)| Drift { trial: Some(seen.trial), is_grave, text };
        drifts.into_iter().map(at).collect::<Vec<_>>()
    };
    of_version(runner, version).into_iter().chain(seen.iter().flat_map(of_trial)).collect()
}

fn of_version(runner: &Runner, version: Option<&str>) -> Option<Drift> {
    let found = version.map(numbers)?;
    let least = runner.least_version.as_deref().filter(|least| numbers(least) > found);
    let text = match (least, &runner.version) {
        (Some(least), _) => format!("version {} is older than {least}, which is required", version?),
        (None, Some(known)) if numbers(known) != found => {
            format!("version {} is not the measured {known}", version?)
        }
        _ => return None,
    };
    Some(Drift { trial: None, is_grave: least.is_some(), text })
}

/// Returns the numbers of a version, for comparison.
fn numbers(version: &str) -> Vec<u64> {
    let version = version.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    let end = version.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(version.len());
    version.get(..end).unwrap_or_default().split('.').filter_map(|part| part.parse().ok()).collect()
}

/// Whether a difference is grave, and its description.
type RatedDifference = (bool, String);

fn of_verdict(facts: &ClientFacts, seen: &TrialObservations) -> Vec<RatedDifference> {
    let (trial, verdict) = (seen.trial, &seen.verdict);
    let said = verdict.in_short();
    let usual = facts.verdicts.get(trial.word());
    let is_usual = usual.is_some_and(|usual| *usual == said || (usual == "stopped" && verdict.words().0 == "stopped"));
    let has_worked = seen.made || seen.tools > 0;
    if *verdict == Verdict::Ran && trial != Trial::Work && (!is_usual || has_worked) {
        return vec![(true, format!("a failed session is taken for a success: {}", seen.evidence))];
    }
    let mut found = Vec::new();
    if !is_usual && !trial.fits(verdict) {
        found.push((trial == Trial::Work, format!("the verdict is `{said}`: {}", seen.evidence)));
    }
    let is_success = trial == Trial::Work || *verdict == Verdict::Ran;
    if let Some(code) = seen.code.filter(|code| !is_success && !facts.failure_codes.contains(code)) {
        let known: Vec<String> = facts.failure_codes.iter().map(ToString::to_string).collect();
        found.push((false, format!("it ends with exit code {code}, not {}", known.join(" or "))));
    }
    if trial == Trial::Work && *verdict == Verdict::Ran && !seen.made {
        found.push((true, "it reports success, and the file that the model had made is not there".to_owned()));
    }
    found
}

fn of_processes(facts: &ClientFacts, seen: &TrialObservations) -> Vec<RatedDifference> {
    let mut found = Vec::new();
    if seen.survivors > 0 {
        found.push((true, format!("{} processes could not be ended", seen.survivors)));
    }
    if seen.has_left_running && !facts.leaves_processes {
        found.push((false, "it left processes running when it ended; they were ended".to_owned()));
    }
    found
}

/// Compares the stream of a working session with the known one.
fn of_stream(facts: &ClientFacts, seen: &TrialObservations) -> Vec<RatedDifference> {
    let known: BTreeSet<&String> = facts.events.iter().collect();
    let now: BTreeSet<&String> = seen.events.iter().collect();
    let named = |kinds: Vec<&&String>| kinds.iter().map(|kind| format!("`{kind}`")).collect::<Vec<_>>().join(", ");
    let (new, missing) = (named(now.difference(&known).collect()), named(known.difference(&now).collect()));
    let mut found = Vec::new();
    if !new.is_empty() {
        found.push((false, format!("new in its stream: {new}")));
    }
    if !missing.is_empty() {
        found.push((false, format!("no longer in its stream: {missing}")));
    }
    if seen.prose > 0 && !facts.writes_prose {
        found.push((false, format!("{} lines of its stream are not JSON", seen.prose)));
    }
    found
}

fn of_work(runner: &Runner, facts: &ClientFacts, seen: &TrialObservations) -> Vec<RatedDifference> {
    let mut found = Vec::new();
    if !seen.has_prompt {
        found.push((true, "the model is not given the prompt as it is".to_owned()));
    }
    if seen.tools == 0 {
        found.push((true, "the stream shows no tool".to_owned()));
    }
    match (runner.reports_tokens, seen.tokens) {
        (true, None) => found.push((true, "no tokens are reported".to_owned())),
        (false, Some(_)) => found.push((false, "tokens are reported, which is new".to_owned())),
        (true, Some(tokens)) if tokens != seen.served && tokens.plus(seen.beside) != seen.served => {
            found.push((true, format!("{} are reported, and {} were used", counted(tokens), counted(seen.served))));
        }
        _ => {}
    }
    match (runner.reports_money.is_some() && !facts.names_no_cost, seen.has_money) {
        (true, false) => found.push((false, "no cost is reported".to_owned())),
        (false, true) => found.push((false, "a cost is reported, which is new".to_owned())),
        _ => {}
    }
    let preset = seen.preset.as_ref().filter(|_| runner.can_preset());
    match (&seen.session, preset) {
        (None, _) if runner.can_resume() => found.push((true, "the name of the session is not reported".to_owned())),
        (Some(session), Some(preset)) if session != preset => {
            found.push((true, format!("the session is called `{session}` instead of `{preset}`")));
        }
        _ => {}
    }
    found
}

fn counted(tokens: Tokens) -> String {
    format!("{} tokens of input, {} from a cache, {} of output", tokens.input, tokens.cached, tokens.output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auto::probe::facts;
    use crate::auto::runner::table::Runners;

    fn runner() -> Runner {
        Runners::builtin().unwrap().find("claude").unwrap().clone()
    }

    #[test]
    fn every_fact_has_a_date_and_a_source() {
        for (client, facts) in facts::all().unwrap() {
            assert!(facts.date.starts_with("20") && !facts.source.trim().is_empty(), "{client}");
        }
    }

    fn facts_of(client: &str) -> &'static ClientFacts {
        &facts::all().unwrap()[client]
    }

    fn seen(trial: Trial) -> TrialObservations {
        let verdict = match trial {
            Trial::Work => Verdict::Ran,
            Trial::Unauthorized | Trial::Forbidden => Verdict::Dead(Death::Auth),
            Trial::Busy | Trial::Exhausted => Verdict::Dead(Death::Quota),
            Trial::Broken | Trial::Overloaded => Verdict::Dead(Death::Overload),
            Trial::TooLong => Verdict::Dead(Death::Context),
            Trial::Cut => Verdict::NoSignal,
            Trial::Refused => Verdict::Dead(Death::Network),
            Trial::Hang => Verdict::Stopped(Reason::Idle),
        };
        let session = Some("an-id".to_owned());
        TrialObservations {
            trial,
            took: Duration::from_secs(1),
            evidence: "the client said so".to_owned(),
            made: trial == Trial::Work,
            has_prompt: true,
            code: (!matches!(verdict, Verdict::Stopped(_))).then_some(i32::from(trial != Trial::Work)),
            verdict,
            tokens: Some(Tokens { input: 20, output: 10, cached: 0 }),
            served: Tokens { input: 25, output: 11, cached: 0 },
            beside: Tokens { input: 5, output: 1, cached: 0 },
            has_money: true,
            tools: u32::from(trial == Trial::Work),
            preset: session.clone(),
            session,
            survivors: 0,
            has_left_running: false,
            events: facts_of("claude").events.iter().cloned().collect(),
            prose: 0,
        }
    }

    fn compared(version: &str, change: impl Fn(&mut TrialObservations)) -> Vec<Drift> {
        let mut seen: Vec<TrialObservations> = Trial::ALL.into_iter().map(seen).collect();
        seen.iter_mut().for_each(change);
        compare(&runner(), facts_of("claude"), Some(version), &seen)
    }

    #[test]
    fn a_client_that_matches_the_tables_has_no_differences() {
        assert_eq!(compared("2.1.330 (a client)", |_| {}), []);
        assert_eq!(compared("2.1.330", |seen| seen.tokens = Some(seen.served)), [], "all was counted");
    }

    #[test]
    fn each_change_is_reported_once_in_its_trial() {
        type SeenChange = fn(&mut TrialObservations);
        let changes: [(Trial, bool, &str, SeenChange); 19] = [
            (Trial::Work, true, "the prompt", |seen| seen.has_prompt = false),
            (Trial::Work, true, "no tool", |seen| seen.tools = 0),
            (Trial::Work, true, "no tokens", |seen| seen.tokens = None),
            (Trial::Work, true, "26 tokens of input", |seen| seen.served.input += 1),
            (Trial::Work, true, "12 of output", |seen| seen.served.output += 1),
            (Trial::Work, true, "3 from a cache", |seen| {
                seen.tokens = seen.tokens.map(|it| Tokens { cached: 3, ..it });
            }),
            (Trial::Work, true, "not reported", |seen| seen.session = None),
            (Trial::Work, true, "`another`", |seen| seen.session = Some("another".to_owned())),
            (Trial::Work, true, "not there", |seen| seen.made = false),
            (Trial::Work, true, "`no-signal`", |seen| seen.verdict = Verdict::NoSignal),
            (Trial::Work, false, "no cost", |seen| seen.has_money = false),
            (Trial::Work, false, "2 lines", |seen| seen.prose = 2),
            (Trial::Work, false, "`other thing`", |seen| {
                seen.events.insert("other thing".to_owned());
            }),
            (Trial::Work, false, "no longer", |seen| {
                seen.events.pop_first();
            }),
            (Trial::Hang, true, "3 processes", |seen| seen.survivors = 3),
            (Trial::Work, false, "running", |seen| seen.has_left_running = true),
            (Trial::Unauthorized, true, "success", |seen| seen.verdict = Verdict::Ran),
            (Trial::Broken, false, "`dead: quota`", |seen| {
                seen.verdict = Verdict::Dead(Death::Quota);
            }),
            (Trial::TooLong, false, "exit code 0, not 1", |seen| seen.code = Some(0)),
        ];
        for (trial, is_grave, words, change) in changes {
            let drifts = compared("2.1.330", |seen| {
                if seen.trial == trial {
                    change(seen);
                }
            });
            let [drift] = drifts.as_slice() else { panic!("{words}: {drifts:?}") };
            assert_eq!((drift.trial, drift.is_grave), (Some(trial), is_grave), "{drift:?}");
            assert!(drift.text.contains(words), "{words}: {drift:?}");
        }
    }

    #[test]
    fn usual_behaviour_of_a_client_and_success_of_a_working_session_are_not_changes() {
        let fail = |trial, verdict: Verdict| TrialObservations { verdict, code: None, ..seen(trial) };
        let usual = fail(Trial::Forbidden, Verdict::Dead(Death::Model));
        let of =
            |client, seen: &TrialObservations| compare(&runner(), facts_of(client), None, std::slice::from_ref(seen));
        assert_eq!(of("codex", &usual), []);
        assert_eq!(of("claude", &usual).len(), 1);
        assert_eq!(of("qwen", &fail(Trial::Broken, Verdict::Stopped(Reason::Idle))), []);
        let known = toml_edit::de::from_str::<ClientFacts>(
            "date = ''\nsource = ''\nfailure_codes = []\nevents = []\nshell = { name = 'a', arguments = {} }\n\
             verdicts = { cut = 'ran' }\n",
        );
        let known = known.unwrap();
        let cut = fail(Trial::Cut, Verdict::Ran);
        assert_eq!(compare(&runner(), &known, None, std::slice::from_ref(&cut)), []);
        let worked = TrialObservations { made: true, ..cut };
        assert!(compare(&runner(), &known, None, &[worked])[0].is_grave);
    }

    #[test]
    fn a_version_is_compared_by_its_numbers() {
        assert_eq!(compared("2.1.331", |_| {})[0].text, "version 2.1.331 is not the measured 2.1.330");
        let old = Runner { least_version: Some("2.1.100".to_owned()), ..runner() };
        assert!(of_version(&old, Some("v2.1.99")).unwrap().is_grave);
        assert_eq!(of_version(&old, None), None);
    }

    #[test]
    fn no_verdict_of_a_fault_is_a_success() {
        assert!(Trial::ALL.iter().all(|trial| trial.fits(&Verdict::Ran) == (*trial == Trial::Work)));
    }

    #[test]
    fn every_client_with_facts_has_a_runner_and_names_only_existing_trials() {
        let runners = Runners::builtin().unwrap();
        for (client, facts) in facts::all().unwrap() {
            let runner = runners.find(client).unwrap();
            assert!(runner.verified && !runner.programs.is_empty(), "{client}");
            let is_trial = |word: &String| Trial::ALL.iter().any(|trial| trial.word() == word);
            assert!(facts.verdicts.keys().all(is_trial), "{client}: {:?}", facts.verdicts);
            assert!(!facts.events.is_empty() && !facts.failure_codes.is_empty(), "{client}");
        }
    }
}
