//! `review-lane dispatch-step`: reviewers of a code review, asked about the changed files.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use schemars::JsonSchema;
use serde::Serialize;

use super::run::{self, InvokeReport, ReviewOutcome, ReviewPaths, Work};
use super::{PROMPT, names, repository, reviewers, run_folder};
use crate::acts::Call;
use crate::acts::features::features;
use crate::acts::features::shown::{self, HostChoice};
use crate::disk::{AbsolutePath, RelativePath};
use crate::failure::Failure;
use crate::operations::agents::review_text::{self, Depth};
use crate::operations::agents::reviewers::{Lane, Reviewers};
use crate::text::words::of_word;
use crate::world::World;

/// The most bytes of a list of files.
const LONGEST_LIST: u64 = 16 << 20;

/// A step of a feature that is to be reviewed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReviewStep<'a> {
    /// The feature, and the point of the loop.
    pub(crate) feature: Option<&'a str>,
    pub(crate) point: Option<&'a str>,
    /// The reviewers, separated by commas.
    pub(crate) explicit: Option<&'a str>,
    /// The commit before the changes.
    pub(crate) base: Option<&'a str>,
    pub(crate) depth: Option<&'a str>,
    pub(crate) run: Option<&'a str>,
    pub(crate) repository: Option<&'a str>,
}

/// What `review-lane dispatch-step` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DispatchReport {
    /// Whether reviewers were asked.
    dispatched: bool,
    /// Whether all requested reviews were made. Also true if none was requested, or if the step uses no reviewers.
    pub(crate) ok: bool,
    /// Why no reviewer was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    selection: Option<Selection>,
    results: Vec<InvokeReport>,
}

/// The reviewers that the call selects.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Selection {
    source: SelectionSource,
    selected: Vec<String>,
    warnings: Vec<String>,
    infos: Vec<String>,
    errors: Vec<String>,
    resolved_instances: Vec<Resolved>,
    /// Whether two of them are the same program: their reviews are not independent.
    shared_adapter_caveat: bool,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SelectionSource {
    ExplicitFlags,
    None,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Resolved {
    identity: String,
    kind: ReviewerKind,
    cli: String,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ReviewerKind {
    Builtin,
    Instance,
}

/// Why no reviewer was asked.
struct Refused {
    reason: &'static str,
    detail: String,
    hint: String,
}

impl Refused {
    fn new(reason: &'static str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { reason, detail: detail.into(), hint: hint.into() }
    }
}

impl DispatchReport {
    /// The report if no reviewer is to be asked.
    fn nothing(reason: &'static str, detail: String, selection: Option<Selection>) -> Self {
        let detail = Some(detail);
        let ok = selection.as_ref().is_none_or(|selection| selection.errors.is_empty());
        Self { dispatched: false, ok, reason: Some(reason), detail, hint: None, selection, results: Vec::new() }
    }

    fn refused(refused: Refused, selection: Selection) -> Self {
        Self {
            dispatched: false,
            ok: false,
            reason: Some(refused.reason),
            detail: Some(refused.detail),
            hint: Some(refused.hint),
            selection: Some(selection),
            results: Vec::new(),
        }
    }
}

pub(crate) fn dispatch(call: &Call, step: ReviewStep<'_>) -> Result<DispatchReport, Failure> {
    if let Some(why) = not_enabled(call, step)? {
        return Ok(DispatchReport::nothing("trait_not_enabled", why, None));
    }
    let reviewers = reviewers()?;
    let (lanes, selection) = select(call, &reviewers, step.explicit.unwrap_or_default())?;
    if lanes.is_empty() {
        let why = match selection.errors.first() {
            Some(error) => error.clone(),
            None => "no reviewer was asked for: `--explicit` is empty".to_owned(),
        };
        return Ok(DispatchReport::nothing("no_lanes_selected", why, Some(selection)));
    }
    let (place, request) = match request(call, step)? {
        Ok(found) => found,
        Err(refused) => return Ok(DispatchReport::refused(refused, selection)),
    };
    run::write(call, &place.run, [(&place.prompt, request)])?;
    let work = lanes.into_iter().map(|lane| run::prepare(call, lane, &place));
    let work: Vec<Work<'_>> = work.collect::<Result<_, _>>()?;
    let outcomes = run_all(&work, run::at_once(call.config()?), call.world());
    let mut results = Vec::new();
    for (work, outcome) in work.iter().zip(outcomes) {
        results.push(run::finish(call, work, outcome, &place)?);
    }
    let ok = selection.errors.is_empty() && results.iter().all(|result| result.ok);
    let selection = Some(selection);
    Ok(DispatchReport { dispatched: true, ok, reason: None, detail: None, hint: None, selection, results })
}

/// Why the step does not use reviewers; `None` if it does.
fn not_enabled(call: &Call, step: ReviewStep<'_>) -> Result<Option<String>, Failure> {
    let (Some(feature), Some(point)) = (step.feature, step.point) else {
        call.warn("`--cap-id` and `--point` are both needed to know whether the step uses reviewers");
        return Ok(Some("`--cap-id` or `--point` is missing".to_owned()));
    };
    let features = features(call)?;
    let hooks = shown::at(call, point, &features, HostChoice::default())?.active_hooks;
    let uses = hooks.iter().any(|hook| hook.cap_id == feature && hook.supports_reviewer_lanes);
    Ok((!uses).then(|| format!("`{feature}` has no step with reviewers at `{point}`, or it is disabled")))
}

fn select<'a>(call: &Call, reviewers: &'a Reviewers, explicit: &str) -> Result<(Vec<Lane<'a>>, Selection), Failure> {
    let config = call.config()?;
    let mut chosen: Vec<&str> = names(explicit).collect();
    chosen.sort_unstable();
    chosen.dedup();
    let source = if chosen.is_empty() { SelectionSource::None } else { SelectionSource::ExplicitFlags };
    let (mut lanes, mut errors) = (Vec::new(), Vec::new());
    for name in chosen {
        match reviewers.lane(name, config) {
            Ok(lane) => lanes.push(lane),
            Err(error) => errors.push(format!("{}; {}", error.message, error.hint)),
        }
    }
    let resolved = |lane: &Lane<'_>| {
        let cli = lane.reviewer.slug.clone();
        let kind = if lane.name == cli { ReviewerKind::Builtin } else { ReviewerKind::Instance };
        Resolved { identity: lane.name.clone(), kind, cli }
    };
    let resolved_instances: Vec<Resolved> = lanes.iter().map(resolved).collect();
    let mut programs: Vec<&str> = resolved_instances.iter().map(|resolved| resolved.cli.as_str()).collect();
    programs.sort_unstable();
    let shared_adapter_caveat = programs.windows(2).any(|pair| pair[0] == pair[1]);
    let selected = lanes.iter().map(|lane| lane.name.clone()).collect();
    let (warnings, infos) = (Vec::new(), Vec::new());
    let selection = Selection { source, selected, warnings, infos, errors, resolved_instances, shared_adapter_caveat };
    Ok((lanes, selection))
}

/// The folders of the reviews, and the prompt.
fn request(call: &Call, step: ReviewStep<'_>) -> Result<Result<(ReviewPaths, String), Refused>, Failure> {
    let missing =
        |flag: &str| Refused::new("missing_provenance", format!("`{flag}` is missing"), format!("add `{flag}`"));
    let Some(run) = step.run else { return Ok(Err(missing("--run-dir"))) };
    let Some(base) = step.base else { return Ok(Err(missing("--base-sha"))) };
    let repository = repository(call, step.repository)?;
    let commit = format!("{base}^{{commit}}");
    let looked_up =
        call.world().git(repository.as_path(), ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit])?;
    if !looked_up.success() {
        let detail = format!("`{base}` is not a commit in `{repository}`");
        let hint = "set `--base-sha` to the commit before the changes";
        return Ok(Err(Refused::new("unknown_base", detail, hint)));
    }
    let usual = call.config()?.text("workflow.code_review_depth").unwrap_or(Depth::Standard.word());
    let depth = step.depth.unwrap_or(usual);
    let depth: Depth = of_word(depth).ok_or_else(|| {
        Failure::usage(format!("`{depth}` is not a depth")).hint("the depths are quick, standard and deep")
    })?;
    let files = match files(call, &repository)? {
        Ok(files) => files,
        Err(refused) => return Ok(Err(refused)),
    };
    let base = looked_up.text();
    let request = review_text::request_for_changes(&repository.to_string(), &base, depth, &files);
    let run = run_folder(call, run)?;
    Ok(Ok((ReviewPaths { prompt: run.resolve(PROMPT), run, repository }, request)))
}

/// The files on standard input, relative to the root of the repository.
fn files(call: &Call, repository: &AbsolutePath) -> Result<Result<Vec<String>, Refused>, Failure> {
    let hint = "write the paths of the changed files to standard input, one a line";
    let input = call.world().input(LONGEST_LIST).map_err(|error| {
        Failure::usage(format!("cannot read the list of files from standard input: {error}")).hint(hint)
    })?;
    let invalid = |detail: String| Ok(Err(Refused::new("invalid_paths", detail, hint)));
    let Ok(input) = String::from_utf8(input) else { return invalid("a path is not UTF-8".to_owned()) };
    let mut files = Vec::new();
    for line in input.lines().map(|line| line.trim_end_matches('\r')).filter(|line| !line.trim().is_empty()) {
        if line.chars().any(char::is_control) {
            return invalid(format!("the path {line:?} has control characters"));
        }
        let file = repository.resolve(line).relative_to(repository);
        let Some(file) = file.filter(|_| RelativePath::parse(line).is_ok() || line.starts_with('/')) else {
            let detail = format!("`{line}` is not in `{repository}`");
            return Ok(Err(Refused::new("path_escapes_repo_root", detail, hint)));
        };
        files.push(file.to_string());
    }
    if files.is_empty() {
        return invalid("there is no path on standard input".to_owned());
    }
    Ok(Ok(files))
}

/// Asks all reviewers, `at_once` of them in parallel.
fn run_all(work: &[Work<'_>], at_once: usize, world: &World) -> Vec<ReviewOutcome> {
    let next = AtomicUsize::new(0);
    let done: Vec<Mutex<ReviewOutcome>> = work.iter().map(|_| Mutex::default()).collect();
    std::thread::scope(|scope| {
        for _ in 0..at_once.min(work.len()) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some((work, done)) = work.get(index).zip(done.get(index)) else { break };
                    let outcome = work.run(world);
                    *done.lock().unwrap_or_else(PoisonError::into_inner) = outcome;
                }
            });
        }
    });
    done.into_iter().map(|done| done.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}
