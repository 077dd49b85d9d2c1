//! Tries a client offline, in a separate home folder, against a scripted model server with every known fault, and
//! compares it with the facts about it.
//!
//! [`trial`] runs one session after another, with the supervisor that `auto run` uses, and [`compare`] is a pure
//! comparison of the observations with `runners.toml` and `clients.toml`. The test suite also compiles the server, with
//! [`exchange`], [`dialects`], [`faults`] and [`facts`].
//!
//! [`trial`] gives the client a home folder, an environment from the list of `Program::apart`, proxies that lead
//! nowhere, and a fence around that folder, and runs one session for each `Trial`. The server listens on loopback and
//! answers in the protocols of the services. The files that the test suite compiles too use nothing of the crate but
//! each other.

pub(crate) mod compare;
pub(crate) mod dialects;
pub(crate) mod exchange;
pub(crate) mod facts;
pub(crate) mod faults;
mod script;
pub(crate) mod server;
#[cfg(test)]
mod server_tests;
pub(crate) mod trial;

use facts::FactsError;

crate::failure::unexplained!(FactsError);
