//! What a landing leaves for others to check: a statement about the commit, what its checks said, and what they ran with.
//!
//! A statement is an in-toto statement in a DSSE envelope. The envelope is one line of the note that `refs/notes/gsd` has for
//! the commit, so that git carries it, and `docs/proof.md` checks it with git, `ssh-keygen`, `base64` and `jq` alone.
//!
//! [`statement`] makes it from the log, without looking at anything else: a run that was killed between landing and noting so
//! makes the same statement again, and finds it kept. [`signature`] signs it with the key that git signs commits with.
//! [`compare`] says what differs between a statement, the commit it is kept for, and the checks that were run again in a
//! [`fresh`] checkout.

pub(crate) mod compare;
pub(crate) mod envelope;
pub(crate) mod fresh;
pub(crate) mod signature;
pub(crate) mod statement;
pub(crate) mod tools;
