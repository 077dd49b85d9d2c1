//! The clients that are installed, tried offline.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::acts::Call;
use crate::auto::probe::compare::{Drift, Trial, TrialObservations, compare};
use crate::auto::probe::facts::{self, ClientFacts};
use crate::auto::probe::trial::{ProbeError, TrialBench};
use crate::auto::runner::table::{Runner, Runners};
use crate::failure::{Failure, Reason};
use crate::text::shell::typed;
use crate::text::words::of_word;
use crate::world::signals::Requests;
use crate::world::tree::adopt_orphans;

/// The behaviour of the clients, and how it differs from the recorded facts.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProbeReport {
    pub(crate) clients: Vec<ClientReport>,
    /// How many differences could lose work, or let unfinished work count as done.
    pub(crate) grave: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ClientReport {
    pub(crate) client: String,
    pub(crate) title: String,
    pub(crate) program: String,
    /// The version that it reports.
    pub(crate) version: Option<String>,
    /// The version that the facts are about.
    pub(crate) measured_version: Option<String>,
    /// The day of the facts.
    pub(crate) facts_date: String,
    /// Whether it could not write outside its temporary folder.
    pub(crate) fenced: bool,
    pub(crate) trials: Vec<TrialReport>,
    /// Differences that do not belong to a trial.
    pub(crate) differs: Vec<Difference>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TrialReport {
    pub(crate) trial: &'static str,
    /// What the model's server did.
    pub(crate) about: &'static str,
    pub(crate) verdict: String,
    /// The evidence of the verdict.
    pub(crate) evidence: String,
    pub(crate) seconds: f64,
    pub(crate) differs: Vec<Difference>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Difference {
    /// Whether work would count as done, or be lost, because of it.
    pub(crate) grave: bool,
    pub(crate) text: String,
}

/// A client to try.
struct Chosen<'a> {
    runner: &'a Runner,
    facts: &'static ClientFacts,
    program: String,
}

/// Tries one client, or all that are installed.
pub(crate) fn probe(
    call: &Call,
    client: Option<&str>,
    program: Option<&str>,
    wanted: &[String],
) -> Result<ProbeReport, Failure> {
    let trials = trials(wanted)?;
    let runners = Runners::builtin().map_err(|error| Failure::because(Reason::Unknown, &error))?;
    let chosen = match client {
        Some(client) => vec![named(call, &runners, client, program)?],
        None => installed(call, &runners)?,
    };
    // Processes that cleared their environment and left their parent can only be found this way.
    adopt_orphans();
    let signals = Requests::watch().ok();
    let mut clients = Vec::new();
    for chosen in &chosen {
        clients.push(probe_one(call, chosen, &trials, signals.as_ref())?);
    }
    let all =
        clients.iter().flat_map(|client| client.differs.iter().chain(client.trials.iter().flat_map(|it| &it.differs)));
    let grave = all.filter(|difference| difference.grave).count();
    Ok(ProbeReport { clients, grave })
}

fn trials(names: &[String]) -> Result<Vec<Trial>, Failure> {
    if names.is_empty() {
        return Ok(Trial::ALL.to_vec());
    }
    let known = || Trial::ALL.map(Trial::word).join(", ");
    let one = |name: &String| {
        of_word(name).ok_or_else(|| {
            Failure::usage(format!("`{name}` is not a trial")).hint(format!("the trials are {}", known()))
        })
    };
    let wanted: Vec<Trial> = names.iter().map(one).collect::<Result<_, _>>()?;
    Ok(Trial::ALL.into_iter().filter(|trial| wanted.contains(trial)).collect())
}

fn all_facts() -> Result<&'static BTreeMap<String, ClientFacts>, Failure> {
    facts::all().map_err(|error| Failure::because(Reason::Unknown, &error))
}

fn named<'a>(call: &Call, runners: &'a Runners, client: &str, program: Option<&str>) -> Result<Chosen<'a>, Failure> {
    let runner = runners.find(client).map_err(|error| Failure::because(Reason::Usage, &error))?;
    let all = all_facts()?;
    let Some(facts) = all.get(client) else {
        let known: Vec<&str> = all.keys().map(String::as_str).collect();
        let message =
            format!("{} cannot be probed: it is not known how it is pointed at another model server", runner.title);
        return Err(Failure::usage(message).hint(format!("choose one of {}", known.join(", "))));
    };
    let program = match program {
        Some(program) if program.contains(std::path::is_separator) => call.here().resolve(program).to_string(),
        Some(program) => program.to_owned(),
        None => runner.installed(call.world()).ok_or_else(|| {
            let message = format!("{} is not installed or not in PATH: {}", runner.title, runner.programs.join(", "));
            let hint = format!(
                "install it, or name its program: `{}`",
                typed!("gsd-tools auto probe {} --program PROGRAM", client)
            );
            Failure::usage(message).hint(hint)
        })?,
    };
    Ok(Chosen { runner, facts, program })
}

fn installed<'a>(call: &Call, runners: &'a Runners) -> Result<Vec<Chosen<'a>>, Failure> {
    let all = all_facts()?;
    let there = |runner: &'a Runner| {
        let facts = all.get(&runner.name)?;
        Some(Chosen { runner, facts, program: runner.installed(call.world())? })
    };
    let chosen: Vec<Chosen<'a>> = runners.iter().filter_map(there).collect();
    if chosen.is_empty() {
        let known: Vec<&str> = all.keys().map(String::as_str).collect();
        let message = format!("none of the clients that can be probed is in PATH: {}", known.join(", "));
        return Err(Failure::usage(message)
            .hint("install one, or name its program: `gsd-tools auto probe NAME --program PROGRAM`"));
    }
    Ok(chosen)
}

fn probe_one(
    call: &Call,
    chosen: &Chosen<'_>,
    trials: &[Trial],
    signals: Option<&Requests>,
) -> Result<ClientReport, Failure> {
    let Chosen { runner, facts, program } = chosen;
    let failed = |error: ProbeError| Failure::because(Reason::Unknown, &error);
    let mut bench = TrialBench::new(call.world(), runner, facts, program, signals).map_err(failed)?;
    let version = bench.version().map_err(failed)?;
    let mut seen = Vec::new();
    for trial in trials {
        let one = bench.run(*trial).map_err(failed)?;
        let (name, verdict) = (&runner.name, one.verdict.in_short());
        call.tell(format!("{name} {}: {verdict} in {:.1} s", trial.word(), one.took.as_secs_f32()));
        seen.push(one);
    }
    let drifts = compare(runner, facts, version.as_deref(), &seen);
    Ok(ClientReport {
        client: runner.name.clone(),
        title: runner.title.clone(),
        program: program.clone(),
        version,
        measured_version: runner.version.clone(),
        facts_date: facts.date.clone(),
        fenced: bench.is_fenced(),
        trials: seen.iter().map(|seen| of_trial(seen, &drifts)).collect(),
        differs: differences(&drifts, None),
    })
}

fn of_trial(seen: &TrialObservations, drifts: &[Drift]) -> TrialReport {
    TrialReport {
        trial: seen.trial.word(),
        about: seen.trial.meaning(),
        verdict: seen.verdict.in_short(),
        evidence: seen.evidence.clone(),
        seconds: (seen.took.as_secs_f64() * 10.0).round() / 10.0,
        differs: differences(drifts, Some(seen.trial)),
    }
}

fn differences(drifts: &[Drift], trial: Option<Trial>) -> Vec<Difference> {
    let here = drifts.iter().filter(|drift| drift.trial == trial);
    here.map(|drift| Difference { grave: drift.is_grave, text: drift.text.clone() }).collect()
}
