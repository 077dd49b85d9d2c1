//! The record of a landing for others to verify: a statement about the commit, the results of its checks, and their
//! environment.
//!
//! A statement is an in-toto statement in a DSSE envelope. The envelope is one line of the note that `refs/notes/gsd`
//! has for the commit, so that git transports it, and `docs/proof.md` verifies it with only git, `ssh-keygen`, `base64`
//! and `jq`.
//!
//! [`statement`] makes it from the log, without other input: a run that was killed between landing and recording that
//! makes the same statement again, and finds that it exists. [`signature`] signs it with the key that git signs commits
//! with. [`compare`] finds differences between a statement, the commit it is kept for, and the checks that were run
//! again in a [`fresh`] checkout.

pub(crate) mod compare;
pub(crate) mod envelope;
pub(crate) mod fresh;
pub(crate) mod signature;
pub(crate) mod statement;
pub(crate) mod tools;
