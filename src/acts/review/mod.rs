//! Reviews by the agents of other hosts and by model servers. The command lines are built in; a project only chooses
//! among the reviewers.

pub(crate) mod changes;
pub(crate) mod run;

use schemars::JsonSchema;
use serde::Serialize;

use crate::acts::{Call, files};
use crate::disk::{self, AbsolutePath};
use crate::failure::Failure;
use crate::operations::agents::reviewers::{Lane, LaneError, Reviewers, Transport};
use run::{InvokeReport, ReviewPaths};

/// The file with the prompt, in the directory of a run.
pub(crate) const PROMPT: &str = "gsd-review-prompt.md";

pub(crate) fn reviewers() -> Result<Reviewers, Failure> {
    Ok(Reviewers::builtin()?)
}

/// The names in a list separated by commas.
pub(crate) fn names(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty())
}

/// A name, and its reviewer.
pub(crate) type NamedLane<'a> = (String, Result<Lane<'a>, LaneError>);

/// The listed reviewers; all built-in ones without a list.
pub(crate) fn selected<'a>(
    call: &Call,
    reviewers: &'a Reviewers,
    list: Option<&str>,
) -> Result<Vec<NamedLane<'a>>, Failure> {
    let config = call.config()?;
    let mut chosen: Vec<String> = names(list.unwrap_or_default()).map(str::to_owned).collect();
    if chosen.is_empty() {
        chosen = reviewers.iter().map(|reviewer| reviewer.slug.clone()).collect();
    }
    Ok(chosen.into_iter().map(|name| (name.clone(), reviewers.lane(&name, config))).collect())
}

/// The directory of a run: in the project, or in a place that anyone may write to.
pub(crate) fn run_folder(call: &Call, typed: &str) -> Result<AbsolutePath, Failure> {
    let folder = call.here().resolve(typed);
    if !disk::is_folder(&folder) {
        return Err(Failure::usage(format!("the run directory `{folder}` does not exist"))
            .hint(format!("create it, and write the prompt to `{PROMPT}` in it")));
    }
    let boundary = call.project().boundary()?;
    if boundary.is_about(&folder) {
        boundary.check(&folder)?;
    } else {
        files::hold_agents_off(call, &folder)?;
    }
    Ok(folder)
}

pub(crate) fn repository(call: &Call, typed: Option<&str>) -> Result<AbsolutePath, Failure> {
    let Some(typed) = typed else { return Ok(call.root().clone()) };
    let folder = call.here().resolve(typed);
    if disk::is_folder(&folder) {
        return Ok(folder);
    }
    Err(Failure::usage(format!("`{folder}` is not a folder"))
        .hint("set `--repo-root` to the folder of the repository, or leave it out"))
}

/// A reviewer in `review-lane plan`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ReviewPlanReport {
    #[serde(rename_all = "camelCase")]
    Lane {
        slug: String,
        ok: bool,
        section: String,
        transport: Transport,
        /// The most tokens of its prompt; null for no limit.
        prompt_budget: Option<u64>,
        /// The file that is sent; null if the reviewer reads it itself, or takes none.
        prompt_path: Option<String>,
    },
    Refused {
        slug: String,
        ok: bool,
        reason: &'static str,
        detail: String,
        hint: String,
    },
}

/// The listed reviewers, with the files sent to them from the directory of a run.
pub(crate) fn plan(call: &Call, list: Option<&str>, run: &str) -> Result<Vec<ReviewPlanReport>, Failure> {
    let reviewers = reviewers()?;
    let config = call.config()?;
    let report = |(slug, lane): NamedLane<'_>| match lane {
        Ok(lane) => ReviewPlanReport::Lane {
            slug,
            ok: true,
            section: lane.section(),
            transport: lane.reviewer.transport,
            prompt_budget: lane.budget(config),
            prompt_path: lane.reviewer.is_sent_the_prompt().then(|| format!("{run}/{PROMPT}")),
        },
        Err(error) => {
            ReviewPlanReport::Refused { slug, ok: false, reason: error.reason, detail: error.message, hint: error.hint }
        }
    };
    Ok(selected(call, &reviewers, list)?.into_iter().map(report).collect())
}

/// The request for a review.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Invocation<'a> {
    /// The reviewer, or an instance of one.
    pub(crate) slug: &'a str,
    pub(crate) run: &'a str,
    pub(crate) repository: Option<&'a str>,
    /// A file that is sent instead of the prompt of the run.
    pub(crate) prompt: Option<&'a str>,
    pub(crate) model: Option<&'a str>,
    pub(crate) agent: Option<&'a str>,
    /// The base name of the review's files.
    pub(crate) name: Option<&'a str>,
}

/// Asks one reviewer.
pub(crate) fn invoke(call: &Call, asked: Invocation<'_>) -> Result<InvokeReport, Failure> {
    let reviewers = reviewers()?;
    let lane = reviewers
        .lane(asked.slug, call.config()?)
        .and_then(|lane| lane.called(asked.name, asked.model))
        .and_then(|lane| lane.with_agent(asked.agent.map(str::to_owned)));
    let mut report = match lane {
        Err(error) => InvokeReport::refused(asked.slug, error),
        Ok(lane) => {
            let run = run_folder(call, asked.run)?;
            let prompt = asked.prompt.map_or_else(|| run.resolve(PROMPT), |file| call.here().resolve(file));
            let repository = repository(call, asked.repository)?;
            let place = ReviewPaths { prompt, run, repository };
            let work = run::prepare(call, lane, &place)?;
            let outcome = work.run(call.world());
            run::finish(call, &work, outcome, &place)?
        }
    };
    asked.slug.clone_into(&mut report.slug);
    Ok(report)
}
