//! What a client was seen to do in trials against a scripted model server, compared with what its row says.

use super::death::Death;
use super::event::Tokens;
use super::table::Runner;
use super::verdict::{Reason, Verdict};
use crate::text::words::words;

words! {
    /// What the model's server does in a trial.
    pub(crate) enum Trial {
        /// It has the client call one tool, and then says that all is done.
        Work = "work",
        Unauthorized = "401",
        Forbidden = "403",
        /// 429, again in a second.
        Busy = "429",
        /// 429, again in hours.
        Exhausted = "429-for-hours",
        Broken = "500",
        Overloaded = "529",
        /// 400, since the prompt is too long.
        TooLong = "prompt-too-long",
        /// It stops in the middle of an answer.
        Cut = "cut",
        /// Nothing listens.
        Refused = "refused",
        /// It never answers.
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

    /// Whether the verdict is the right one for the trial.
    fn fits(self, verdict: &Verdict) -> bool {
        let has_waited = matches!(verdict, Verdict::Stopped(Reason::Idle | Reason::FirstEvent | Reason::Whole));
        let Verdict::Dead(death) = verdict else {
            return match self {
                Self::Work => *verdict == Verdict::Ran,
                Self::Cut => *verdict == Verdict::NoSignal || has_waited,
                // Some clients wait without a word.
                Self::Exhausted | Self::Refused | Self::Hang => has_waited,
                _ => false,
            };
        };
        match self {
            Self::Work => false,
            Self::Unauthorized | Self::Forbidden => *death == Death::Auth,
            Self::Busy | Self::Exhausted => matches!(death, Death::Quota { .. }),
            Self::Broken | Self::Overloaded => *death == Death::Overload,
            Self::TooLong => *death == Death::Context,
            Self::Cut | Self::Refused => matches!(death, Death::Network | Death::Overload | Death::Model),
            Self::Hang => matches!(death, Death::Network | Death::Overload),
        }
    }
}

/// What was seen in one trial.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) trial: Trial,
    pub(crate) verdict: Verdict,
    /// What the client counted.
    pub(crate) tokens: Option<Tokens>,
    /// What the server gave it.
    pub(crate) served: Tokens,
    pub(crate) has_money: bool,
    pub(crate) tools: u32,
    /// The name that the client gives its session, and the one it was to give it.
    pub(crate) session: Option<String>,
    pub(crate) preset: Option<String>,
    /// How many processes it left that could not be ended.
    pub(crate) survivors: usize,
}

/// One thing in which a client is not as its row says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Drift {
    /// Whether work would be taken for done, or lost, because of it.
    pub(crate) is_grave: bool,
    pub(crate) text: String,
}

/// All differences between the row of a client and what was seen of this version of it.
pub(crate) fn compare(runner: &Runner, version: Option<&str>, seen: &[Seen]) -> Vec<Drift> {
    let mut drifts: Vec<Drift> = of_version(runner, version).into_iter().collect();
    for seen in seen {
        drifts.extend(of_verdict(seen));
        drifts.extend((seen.survivors > 0).then(|| Drift {
            is_grave: true,
            text: format!("trial `{}`: {} processes could not be ended", seen.trial.word(), seen.survivors),
        }));
        if seen.trial == Trial::Work {
            drifts.extend(of_work(runner, seen));
        }
    }
    drifts
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
    Some(Drift { is_grave: least.is_some(), text })
}

/// The numbers of a version, to compare.
fn numbers(version: &str) -> Vec<u64> {
    let version = version.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    let end = version.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(version.len());
    version.get(..end).unwrap_or_default().split('.').filter_map(|part| part.parse().ok()).collect()
}

fn of_verdict(seen: &Seen) -> Option<Drift> {
    let is_false_success = seen.trial != Trial::Work && seen.verdict == Verdict::Ran;
    let text = format!("trial `{}`: the verdict is {:?}", seen.trial.word(), seen.verdict);
    (!seen.trial.fits(&seen.verdict)).then_some(Drift { is_grave: is_false_success || seen.trial == Trial::Work, text })
}

fn of_work(runner: &Runner, seen: &Seen) -> Vec<Drift> {
    let mut drifts = Vec::new();
    let mut add = |is_grave, text: String| drifts.push(Drift { is_grave, text });
    if seen.tools == 0 {
        add(true, "the stream shows no tool".to_owned());
    }
    match (runner.reports_tokens, seen.tokens) {
        (true, None) => add(true, "no tokens are reported".to_owned()),
        (false, Some(_)) => add(false, "tokens are reported, which is new".to_owned()),
        (true, Some(tokens)) if tokens != seen.served => {
            add(true, format!("{tokens:?} are reported where {:?} were used", seen.served));
        }
        _ => {}
    }
    match (runner.reports_money.is_some(), seen.has_money) {
        (true, false) => add(false, "no cost is reported".to_owned()),
        (false, true) => add(false, "a cost is reported, which is new".to_owned()),
        _ => {}
    }
    let preset = seen.preset.as_ref().filter(|_| runner.can_preset());
    match (&seen.session, preset) {
        (None, _) if runner.can_resume() => add(true, "the name of the session is not reported".to_owned()),
        (Some(session), Some(preset)) if session != preset => {
            add(true, format!("the session is `{session}`, not `{preset}`"));
        }
        _ => {}
    }
    drifts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auto::runner::table::Runners;

    fn runner() -> Runner {
        Runners::builtin().unwrap().find("claude").unwrap().clone()
    }

    fn seen(trial: Trial) -> Seen {
        let verdict = match trial {
            Trial::Work => Verdict::Ran,
            Trial::Unauthorized | Trial::Forbidden => Verdict::Dead(Death::Auth),
            Trial::Busy | Trial::Exhausted => Verdict::Dead(Death::Quota { resets_at: None }),
            Trial::Broken | Trial::Overloaded => Verdict::Dead(Death::Overload),
            Trial::TooLong => Verdict::Dead(Death::Context),
            Trial::Cut => Verdict::NoSignal,
            Trial::Refused => Verdict::Dead(Death::Network),
            Trial::Hang => Verdict::Stopped(Reason::Idle),
        };
        let served = Tokens { input: 20, output: 10, cached: 0 };
        let session = Some("an-id".to_owned());
        let preset = session.clone();
        Seen { trial, verdict, tokens: Some(served), served, has_money: true, tools: 1, session, preset, survivors: 0 }
    }

    fn compared(version: &str, change: impl Fn(&mut Seen)) -> Vec<Drift> {
        let mut seen: Vec<Seen> = Trial::ALL.into_iter().map(seen).collect();
        seen.iter_mut().for_each(change);
        compare(&runner(), Some(version), &seen)
    }

    #[test]
    fn a_client_that_is_as_its_row_says_has_not_changed() {
        assert_eq!(compared("2.1.330 (a client)", |_| {}), []);
    }

    #[test]
    fn each_change_is_named_once_in_its_own_trial() {
        let changes: [fn(&mut Seen); 7] = [
            |seen| seen.tools = 0,
            |seen| seen.tokens = None,
            |seen| seen.served.output += 1,
            |seen| seen.session = None,
            |seen| seen.session = Some("another".to_owned()),
            |seen| seen.survivors = usize::from(seen.trial == Trial::Hang),
            |seen| {
                if seen.trial == Trial::Unauthorized {
                    seen.verdict = Verdict::Ran;
                }
            },
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let drifts = compared("2.1.330", change);
            assert_eq!(drifts.len(), 1, "{number}: {drifts:?}");
            assert!(drifts[0].is_grave, "{number}: {drifts:?}");
        }
        assert!(!compared("2.1.330", |seen| seen.has_money = false)[0].is_grave);
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
}
