//! Makes, signs and keeps the statement about a landing.

use super::{Real, joined};
use crate::auto::engine::EngineError;
use crate::auto::event::{Environment, ProofKept};
use crate::auto::landing::error::LandingError;
use crate::auto::memory::Memory;
use crate::auto::proof::envelope::Envelope;
use crate::auto::proof::signature::sign;
use crate::auto::proof::statement::Statement;
use crate::auto::proof::tools;
use crate::disk::{AbsolutePath, Digest};
use crate::failure::Failure;
use crate::gate::check::Check;
use crate::world::tree::Mark;

/// What a statement says about a key that did not sign. The reason is in the output of the run: it may contain paths of
/// this computer.
const KEY_FAILED: &str = "the key that git signs commits with could not sign it";

/// Why nothing was kept.
#[derive(Debug, thiserror::Error)]
enum ProofError {
    #[error(transparent)]
    Landing(#[from] LandingError),
    #[error("its text cannot be made")]
    Text(#[from] serde_json::Error),
}

impl Real<'_> {
    /// Returns the environment of the checks of a candidate.
    pub(super) fn environment(
        &self,
        folder: &AbsolutePath,
        checks: &[Check],
        mark: Option<&Mark>,
    ) -> Result<Environment, EngineError> {
        let is_fenced = self.driver.is_fenced;
        self.in_place(folder, mark, |place| tools::environment(self.world, checks, place, is_fenced))
    }

    /// Keeps the statement about the candidate, which has landed. A failure here does not undo the landing: only if
    /// another git has a lock does the next call try again.
    pub(super) fn proof_of(&mut self, memory: &Memory) -> Result<Option<ProofKept>, EngineError> {
        match self.keep_proof(memory) {
            Ok(kept) => Ok(kept),
            Err(ProofError::Landing(error @ LandingError::Locked { .. })) => Err(error.into()),
            Err(error) => Ok(Some(ProofKept::Missing { why: super::with_causes(&error) })),
        }
    }

    fn keep_proof(&self, memory: &Memory) -> Result<Option<ProofKept>, ProofError> {
        let key = self.repository.signing_key()?;
        let Some(statement) = Statement::of(memory, key.as_ref().err().cloned()) else { return Ok(None) };
        let Ok(key) = key else { return self.keep_unsigned(memory, statement.predicate.unsigned).map(Some) };
        let payload = statement.payload()?;
        match sign(self.world, &key, &payload) {
            Ok(signature) => {
                let (digest, key) = (Digest::of(&payload).to_string(), signature.keyid.clone());
                self.keep_envelope(memory, &Envelope::new(&payload, Some(signature)))?;
                Ok(Some(ProofKept::Signed { digest, key }))
            }
            Err(error) => {
                let kept = self.keep_unsigned(memory, Some(KEY_FAILED.to_owned()))?;
                Ok(Some(told(kept, error)))
            }
        }
    }

    fn keep_unsigned(&self, memory: &Memory, why: Option<String>) -> Result<ProofKept, ProofError> {
        let payload = Statement::of(memory, why.clone()).map(|statement| statement.payload()).transpose()?;
        let payload = payload.unwrap_or_default();
        self.keep_envelope(memory, &Envelope::new(&payload, None))?;
        Ok(ProofKept::Unsigned { digest: Digest::of(&payload).to_string(), why: why.unwrap_or_default() })
    }

    /// Adds an envelope to the note of the commit that landed, unless one with the same statement is there.
    fn keep_envelope(&self, memory: &Memory, envelope: &Envelope) -> Result<(), ProofError> {
        let Some(candidate) = &memory.candidate else { return Ok(()) };
        let commit = crate::auto::landing::id::Commit::parse(&candidate.commit);
        let commit = commit.ok_or(LandingError::Answer { command: "git commit-tree" })?;
        let is_same = |note: &str| Envelope::all_in(note).iter().any(|other| other.payload() == envelope.payload());
        Ok(self.repository.note(&commit, &envelope.line()?, self.world.now().milliseconds(), is_same)?)
    }
}

/// Sets the reason why a statement was not signed, for the output of the run.
fn told(kept: ProofKept, failure: Failure) -> ProofKept {
    let why = joined(failure.message, failure.causes);
    match kept {
        ProofKept::Unsigned { digest, .. } => ProofKept::Unsigned { digest, why },
        kept => kept,
    }
}
