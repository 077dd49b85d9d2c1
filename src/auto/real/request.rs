//! Pull requests of a run: the branch at the remote, and the program of the forge.

use std::collections::BTreeSet;
use std::time::Duration;

use super::Real;
use crate::auto::engine::EngineError;
use crate::auto::event::{PullRequest, RequestPlace, RequestState};
use crate::auto::landing::remote::Push;
use crate::auto::memory::{LoggedCandidate, Memory};
use crate::auto::proof::statement::Statement;
use crate::auto::pull_request::body;
use crate::auto::pull_request::forge::{Forge, FoundRequest, RequestWords};
use crate::auto::stop::{Cause, Stop};
use crate::disk;
use crate::text::screen::counted;
use crate::text::shell::typed;
use crate::text::untrusted;
use crate::world::Program;

/// How long the program of a forge may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The file with the text of a pull request.
const BODY: &str = "pull-request.md";

/// The most letters of what a program says about a failure.
const LETTERS: usize = 300;

const NOT_LANDED: &str = "it is part of a pull request, and nothing has landed yet";

impl Real<'_> {
    pub(super) fn place_of_request(&self) -> Result<Result<RequestPlace, Stop>, EngineError> {
        let Some(branch) = self.worktree.branch.clone() else {
            return Err(EngineError::new("the worktree of the run has no branch"));
        };
        if let Some((remote, base)) = self.repository.remote_of_target()? {
            return Ok(Ok(RequestPlace { remote, branch, base }));
        }
        let target = &self.repository.target().branch;
        let text = format!("a pull request needs a remote, and `{target}` has none");
        Ok(Err(Stop::new(Cause::PushRefused, text, "gsd-tools auto run").shown([
            "add one: `git remote add origin URL`".to_owned(),
            "or let it land here: `gsd-tools auto land`".to_owned(),
        ])))
    }

    pub(super) fn push_candidate(
        &mut self,
        candidate: &LoggedCandidate,
        place: &RequestPlace,
        pushed: &BTreeSet<String>,
    ) -> Result<Option<Stop>, EngineError> {
        let candidate = Self::candidate_of(candidate)?;
        let RequestPlace { remote, branch, .. } = place;
        let outcome = self.repository.push(&candidate, (remote, branch), |commit| pushed.contains(commit))?;
        let stop = |text: String| Stop::new(Cause::PushRefused, text, "gsd-tools auto run");
        let here = "or let it land here: `gsd-tools auto land`".to_owned();
        Ok(match outcome {
            Push::Done => None,
            Push::Foreign(commit) => {
                let short = commit.get(..12).unwrap_or(&commit);
                let text =
                    format!("`{branch}` at `{remote}` has {short}, which this run did not push, so nothing was pushed");
                let pull = typed!("git -C {} pull --no-rebase --no-edit {} {}", self.places.worktree, remote, branch);
                let remove = typed!("git push --delete {} {}", remote, branch);
                Some(stop(text).shown([
                    format!("to take it into the work: `{pull}`, then run again"),
                    format!("if nobody needs it: `{remove}`, then run again"),
                    here,
                ]))
            }
            Push::Refused(why) => {
                let text = format!("`{branch}` cannot be pushed to `{remote}`: {}", untrusted::line(&why, LETTERS));
                Some(stop(text).shown(["when that is settled, run again".to_owned(), here]))
            }
        })
    }

    pub(super) fn request_opened(&mut self, memory: &Memory, place: &RequestPlace) -> Result<PullRequest, EngineError> {
        let Some(candidate) = &memory.candidate else {
            return Err(EngineError::new("the log has no candidate for a pull request"));
        };
        let commit = Self::commit_named(&candidate.commit)?;
        let title = untrusted::line(&self.repository.subject_of(&commit)?, 200);
        let text = self.text_of_request(memory, candidate)?;
        let file = self.places.notes.resolve(BODY);
        disk::replace(&file, text.as_bytes())?;
        let file = file.to_string();
        let words = RequestWords {
            branch: &place.branch,
            base: &place.base,
            title: &title,
            body: &text,
            file: &file,
            number: "",
        };
        let mut notes = self.notes_on(place)?;
        let forges = Forge::of_address(&self.repository.address_of(&place.remote)?);
        let installed = forges.iter().find(|forge| self.world.finds(&forge.program));
        let opened = installed.map(|forge| self.opened(forge, &words));
        let by_hand = |notes: &mut Vec<String>| {
            for forge in &forges {
                notes.push(format!("open the {}: `{}`", forge.name, forge.by_hand(&words)));
            }
            notes.push(format!("its text is in `{file}`"));
        };
        let url = match opened {
            None => {
                by_hand(&mut notes);
                None
            }
            Some(Err((found, why))) => {
                notes.push(why);
                let url = found.and_then(|found| found.url);
                if url.is_none() {
                    by_hand(&mut notes);
                }
                url
            }
            Some(Ok(found)) => found.url,
        };
        Ok(PullRequest { commit: candidate.commit.clone(), place: place.clone(), url, notes })
    }

    pub(super) fn state_of_request(&self, request: &PullRequest) -> Result<RequestState, EngineError> {
        let PullRequest { place, .. } = request;
        let words = RequestWords { branch: &place.branch, ..RequestWords::default() };
        let forges = Forge::of_address(&self.repository.address_of(&place.remote)?);
        let Some(forge) = forges.iter().find(|forge| self.world.finds(&forge.program)) else {
            return Ok(RequestState::Unknown);
        };
        let found = self.asked_forge(forge, forge.list(&words)).and_then(|answer| forge.read(&answer));
        Ok(found.ok().flatten().map_or(RequestState::Unknown, |found| found.state))
    }

    /// Opens a pull request, or updates the one that is open for the branch. The error has the one that is there.
    fn opened(&self, forge: &Forge, words: &RequestWords<'_>) -> Result<FoundRequest, (Option<FoundRequest>, String)> {
        let list = || self.asked_forge(forge, forge.list(words)).and_then(|answer| forge.read(&answer));
        let nothing = |why: String| (None, why);
        let Some(found) = list().map_err(nothing)?.filter(|found| found.state == RequestState::Open) else {
            self.asked_forge(forge, forge.open(words)).map_err(nothing)?;
            let made = list().map_err(nothing)?;
            return made
                .ok_or_else(|| (None, format!("`{}` does not show the {} it opened", forge.program, forge.name)));
        };
        let words = RequestWords { number: &found.number, ..words.clone() };
        match self.asked_forge(forge, forge.update(&words)) {
            Ok(_) => Ok(found),
            Err(why) => Err((Some(found), why)),
        }
    }

    /// Runs the program of a forge, and returns what it prints; the error is why it failed.
    fn asked_forge(&self, forge: &Forge, line: Vec<String>) -> Result<String, String> {
        let call: Vec<String> = line.iter().take(2).cloned().collect();
        let program = Program::new(&forge.program)
            .arguments(line)
            .folder(self.repository.root().as_path())
            .timeout(PATIENCE)
            .variable("NO_COLOR", "1")
            .variable("GH_PROMPT_DISABLED", "1")
            .variable("NO_PROMPT", "1")
            .detached();
        let failed =
            |why: &str| format!("`{} {}` failed: {}", forge.program, call.join(" "), untrusted::line(why, LETTERS));
        match self.world.run(&program) {
            Ok(ended) if ended.success() => Ok(ended.text()),
            Ok(ended) => Err(failed(&ended.error_text())),
            Err(error) => Err(failed(&error.to_string())),
        }
    }

    /// Returns what a person has to know about the branch that a pull request is for.
    fn notes_on(&self, place: &RequestPlace) -> Result<Vec<String>, EngineError> {
        let RequestPlace { remote, base, .. } = place;
        let target = &self.repository.target().branch;
        let Ok(there) = self.repository.remote_tip(remote, base)? else { return Ok(Vec::new()) };
        let Some(there) = there else {
            return Ok(vec![format!(
                "`{remote}` has no branch `{base}` yet: push it first, `{}`",
                typed!("git push {} {}", remote, target)
            )]);
        };
        let pull = typed!("git pull {} {}", remote, base);
        Ok(match self.repository.apart_from(&there)? {
            None => vec![format!("`{base}` at `{remote}` has commits that are not here: `{pull}`, then run again")],
            Some((ours, theirs)) => {
                let ahead = (ours > 0).then(|| {
                    format!(
                        "`{target}` has {} that `{remote}` does not have: they are part of it too",
                        counted(ours, "commit")
                    )
                });
                let behind = (theirs > 0).then(|| {
                    format!(
                        "`{base}` at `{remote}` has {} that `{target}` does not have: `{pull}`, then run again",
                        counted(theirs, "commit")
                    )
                });
                ahead.into_iter().chain(behind).collect()
            }
        })
    }

    fn text_of_request(&mut self, memory: &Memory, candidate: &LoggedCandidate) -> Result<String, EngineError> {
        let statement = Statement::of(memory, Some(NOT_LANDED.to_owned()));
        let statement = statement.map(|statement| serde_json::to_string_pretty(&statement)).transpose()?;
        let report = (self.parts.report)()?;
        Ok(body(&report, statement.as_deref(), candidate))
    }
}
