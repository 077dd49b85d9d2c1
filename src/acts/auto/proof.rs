//! What is known about a landing, and whether it is still true.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::place::RunPlace;
use crate::acts::{Call, user};
use crate::auto::event::{Entry, Event, ProofKept, Tests};
use crate::auto::landing::id::Commit;
use crate::auto::landing::notes::NOTES;
use crate::auto::proof::compare::{CommitRead, of_check, with_commit};
use crate::auto::proof::envelope::Envelope;
use crate::auto::proof::fresh::{Fresh, FreshError};
use crate::auto::proof::signature::signer;
use crate::auto::proof::statement::{Checks, PREDICATE, Statement};
use crate::disk::log::read_log;
use crate::disk::{AbsolutePath, Digest};
use crate::failure::{Failure, Reason};
use crate::project::repository::repository_of;
use crate::world::fence::Fencing;
use crate::world::signals::Requests;
use crate::world::tree::adopt_orphans;
use crate::world::{Finished, Program};

/// What is known about a landing.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProofReport {
    pub(crate) commit: String,
    /// Whether every statement is about this commit and, with `--check`, is still true.
    pub(crate) holds: bool,
    /// Whether signatures were checked and checks were run again.
    pub(crate) checked: bool,
    pub(crate) statements: Vec<StatementReport>,
}

/// A statement in the note of the commit.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StatementReport {
    /// The statement as it was made: in-toto, version 1. `docs/proof.md` describes it.
    pub(crate) statement: Value,
    /// The SHA-256 of its text.
    pub(crate) digest: String,
    /// The fingerprint of the key that it names as its own; `null` if it is not signed.
    pub(crate) key: Option<String>,
    /// The owner of the key according to the file of allowed signers; `null` if no such file names it, and without
    /// `--check`.
    pub(crate) signer: Option<String>,
    /// What is wrong with it, one sentence each.
    pub(crate) problems: Vec<String>,
    /// The checks that were run again.
    pub(crate) checks: Vec<CheckAgain>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CheckAgain {
    pub(crate) command: String,
    pub(crate) recorded: ProofOutcome,
    pub(crate) now: ProofOutcome,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProofOutcome {
    pub(crate) exit_code: i32,
    /// The tests counted in its output.
    pub(crate) tests: Option<Tests>,
}

/// The notes of a repository.
struct Notes<'a> {
    call: &'a Call,
    root: &'a AbsolutePath,
}

impl Notes<'_> {
    /// Runs git on the original objects: `git replace` would substitute others.
    fn git(&self, line: &[&str]) -> Result<Finished, Failure> {
        let program = Program::git(self.root.as_path()).arguments(["--no-replace-objects"]).arguments(line);
        Ok(self.call.world().run(&program)?)
    }

    fn commit(&self, asked: Option<&str>) -> Result<Commit, Failure> {
        let Some(asked) = asked else { return self.newest() };
        let name = format!("{asked}^{{commit}}");
        let found = self.git(&["rev-parse", "--verify", "--quiet", "--end-of-options", &name])?;
        Commit::parse(&found.text()).ok_or_else(|| {
            Failure::usage(format!("there is no commit `{asked}` here"))
                .hint("`git log` lists the commits; leave it out for the newest landing")
        })
    }

    /// The newest commit in the history of HEAD that has a proof.
    fn newest(&self) -> Result<Commit, Failure> {
        let listed = self.git(&["notes", "--ref", NOTES, "list"])?.text();
        let noted: Vec<&str> =
            listed.lines().filter_map(|line| line.split_once(' ').map(|(_, commit)| commit)).collect();
        let none = || {
            Failure::usage("no commit of this branch has a proof here")
                .hint("name the commit; `git fetch origin refs/notes/gsd:refs/notes/gsd` gets the proofs of a clone")
        };
        if noted.is_empty() {
            return Err(none());
        }
        let history = self.git(&["rev-list", "--topo-order", "HEAD", "--"])?.text();
        for commit in history.lines().filter(|commit| noted.contains(commit)) {
            if let Some(commit) = Commit::parse(commit)
                && !self.found(&commit)?.is_empty()
            {
                return Ok(commit);
            }
        }
        Err(none())
    }

    fn found(&self, commit: &Commit) -> Result<Vec<Envelope>, Failure> {
        let note = self.git(&["notes", "--ref", NOTES, "list", commit.as_str()])?;
        if !note.success() {
            return Ok(Vec::new());
        }
        Ok(Envelope::all_in(&self.git(&["cat-file", "blob", &note.text()])?.text()))
    }

    fn envelopes(&self, commit: &Commit) -> Result<Vec<Envelope>, Failure> {
        let found = self.found(commit)?;
        if found.is_empty() {
            let message = format!("`{NOTES}` has no proof of {}", commit.short());
            return Err(Failure::usage(message).hint(
                "only what `gsd-tools auto run` landed has one; `git fetch origin refs/notes/gsd:refs/notes/gsd` gets those of a clone",
            ));
        }
        Ok(found)
    }

    fn read(&self, commit: &Commit) -> Result<CommitRead, Failure> {
        let object = self.git(&["cat-file", "commit", commit.as_str()])?.text();
        CommitRead::of(commit.clone(), &object)
            .ok_or_else(|| Failure::usage(format!("git cannot read the commit {commit}")).hint("run `git fsck`"))
    }

    /// The file of allowed signers that git uses.
    fn signers(&self) -> Result<Option<PathBuf>, Failure> {
        let told = self.git(&["config", "--type=path", "--get", "gpg.ssh.allowedSignersFile"])?.text();
        Ok(Some(told).filter(|told| !told.is_empty()).map(|told| self.root.resolve(told).as_path().to_path_buf()))
    }
}

/// Decides whether the checks run inside a fence. A note names them, which may come from elsewhere.
fn is_fenced(call: &Call, asked: Option<CheckBy<'_>>) -> Result<bool, Failure> {
    if asked.is_none_or(|asked| asked.no_fence) {
        return Ok(false);
    }
    if call.world().fencing() == Fencing::Unavailable {
        return Err(Failure::usage("this system cannot keep the checks from writing elsewhere")
            .hint("read them with `gsd-tools auto proof`, then run `gsd-tools auto proof --check --no-fence`"));
    }
    Ok(true)
}

/// The digest of the statement about a commit in the log of its run, if it ran on this computer.
fn logged(call: &Call, commit: &Commit) -> Option<String> {
    let log = RunPlace::of(call).ok()?.log();
    let entries = read_log::<Entry>(&log).ok()??.entries;
    entries.iter().rev().find_map(|entry| match &entry.event {
        Event::Landed { commit: landed, proof: Some(kept), .. } if landed == commit.as_str() => match kept {
            ProofKept::Signed { digest, .. } | ProofKept::Unsigned { digest, .. } => Some(digest.clone()),
            ProofKept::Missing { .. } => None,
        },
        _ => None,
    })
}

/// Reports the contents of an envelope, without running anything.
fn row(envelope: &Envelope, read: &CommitRead, logged: Option<&str>) -> StatementReport {
    let payload = envelope.payload().unwrap_or_default();
    let digest = Digest::of(&payload).to_string();
    let mut problems = Vec::new();
    let statement = Statement::read(&payload);
    match &statement {
        None => problems.push(format!("it is not a statement of the type `{PREDICATE}`")),
        Some(statement) => {
            problems.extend(with_commit(statement, read));
            if envelope.signatures().is_empty() && statement.predicate.unsigned.is_none() {
                problems.push("it was made to be signed, and its signature is missing".to_owned());
            }
        }
    }
    if logged.is_some_and(|logged| logged != digest) {
        problems.push("it is not the statement that the log of the run has".to_owned());
    }
    StatementReport {
        statement: serde_json::from_slice(&payload).unwrap_or_default(),
        digest,
        key: envelope.signatures().first().map(|signature| signature.keyid.clone()),
        signer: None,
        problems,
        checks: Vec::new(),
    }
}

/// Checks the signatures of an envelope and, if nothing is wrong so far, runs the checks that it names.
fn check(
    call: &Call,
    (root, commit, is_fenced): (&AbsolutePath, &Commit, bool),
    envelope: &Envelope,
    (asked, signers): (CheckBy<'_>, Option<&Path>),
    row: &mut StatementReport,
) -> Result<(), Failure> {
    let world = call.world();
    let payload = envelope.payload().unwrap_or_default();
    for signature in envelope.signatures() {
        match signer(world, &payload, signature, signers) {
            Ok(found) => row.signer = row.signer.take().or(found),
            Err(failure) => row.problems.push(failure.message),
        }
    }
    if asked.signers.is_some() && envelope.signatures().is_empty() {
        row.problems.push("it is not signed".to_owned());
    }
    let Some(statement) = Statement::read(&payload).filter(|_| row.problems.is_empty()) else { return Ok(()) };
    let recorded = &statement.predicate.checks;
    if recorded.commands.is_empty() {
        return Ok(());
    }
    // This is the only way to find a process that has cleared its environment and left its parent.
    adopt_orphans();
    let signals = Requests::watch().ok();
    let is_over = || signals.as_ref().is_some_and(|signals| signals.asked().is_some());
    let openings = is_fenced.then(|| user::openings(call.world())).transpose()?;
    let fresh = Fresh::of(world, root, commit, openings.as_ref()).map_err(|error| failed(&error))?;
    for wanted in &recorded.commands {
        call.tell(format!("Running `{}`", wanted.command));
        let one = Checks { commands: vec![wanted.clone()], ..recorded.clone() };
        let ran = match fresh.run(world, &one, &is_over) {
            Ok(ran) => ran,
            Err(FreshError::Refused(refused)) => {
                row.problems.push(refused.to_string());
                continue;
            }
            Err(error) => return Err(failed(&error)),
        };
        if is_over() {
            return Err(Failure::usage("interrupted, so that not all checks were run").hint("run it again"));
        }
        for now in &ran.checks {
            row.problems.extend(of_check(wanted, now));
            row.checks.push(CheckAgain {
                command: wanted.command.clone(),
                recorded: ProofOutcome { exit_code: wanted.exit_code, tests: wanted.tests },
                now: ProofOutcome { exit_code: now.exit_code, tests: now.counts.as_ref().map(Tests::from) },
            });
        }
    }
    Ok(())
}

fn failed(error: &FreshError) -> Failure {
    Failure::because(Reason::Unknown, error).hint("run `git fsck`; `gsd-tools auto proof` shows what it says")
}

/// How a proof is checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckBy<'a> {
    /// A file of allowed signers; only signatures with a key in it count.
    pub(crate) signers: Option<&'a str>,
    /// Let the checks write everywhere.
    pub(crate) no_fence: bool,
}

/// Reports what is known about a landing: that of a commit, or the newest one with a proof.
pub(crate) fn proof(call: &Call, commit: Option<&str>, asked: Option<CheckBy<'_>>) -> Result<ProofReport, Failure> {
    let here = call.here().clone();
    let Some(root) = repository_of(&here) else {
        return Err(Failure::usage(format!("`{here}` is not in a git repository"))
            .hint("run it in the repository that the milestone landed in"));
    };
    let source = Notes { call, root: &root };
    let commit = source.commit(commit)?;
    let envelopes = source.envelopes(&commit)?;
    let read = source.read(&commit)?;
    let signers = match asked.and_then(|asked| asked.signers) {
        Some(file) => Some(call.here().resolve(file).as_path().to_path_buf()),
        None => source.signers()?,
    };
    let is_fenced = is_fenced(call, asked)?;
    let logged = logged(call, &commit);
    let mut statements = Vec::new();
    for envelope in &envelopes {
        let mut row = row(envelope, &read, logged.as_deref());
        if let Some(asked) = asked {
            check(call, (&root, &commit, is_fenced), envelope, (asked, signers.as_deref()), &mut row)?;
        }
        statements.push(row);
    }
    let holds = statements.iter().all(|statement| statement.problems.is_empty());
    Ok(ProofReport { commit: commit.to_string(), holds, checked: asked.is_some(), statements })
}
