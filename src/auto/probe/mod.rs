//! A client that is tried, offline and in a home folder of its own, against a scripted model server that fails in every way
//! that is known; and what differs from the facts about it.
//!
//! [`trial`] runs one session after the other, by the supervisor that `auto run` uses, and [`compare`] is a pure comparison
//! of what was seen with `runners.toml` and `clients.toml`. The server, with [`exchange`], [`dialects`], [`faults`] and
//! [`facts`], is compiled by the test suite too.

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
