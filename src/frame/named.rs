//! Arguments that name something: phases and phase folders.

use std::ops::Deref;
use std::str::FromStr;

/// An argument that must contain more than white space.
#[derive(Clone, Debug)]
pub(crate) struct NonBlank(String);

impl FromStr for NonBlank {
    type Err = &'static str;

    fn from_str(typed: &str) -> Result<Self, Self::Err> {
        if typed.trim().is_empty() { Err("it is empty") } else { Ok(Self(typed.to_owned())) }
    }
}

impl Deref for NonBlank {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// A phase, for calls that cannot do without one.
#[derive(Debug, clap::Args)]
pub(crate) struct PhaseArg {
    /// The phase, such as `3` or `3.1`
    // Not missing if the flag overrides it.
    #[arg(required = true)]
    phase: Option<NonBlank>,
    /// The phase, as a flag
    #[arg(long = "phase", id = "phase_flag", value_name = "PHASE", overrides_with = "phase")]
    flag: Option<NonBlank>,
}

impl Deref for PhaseArg {
    type Target = str;

    fn deref(&self) -> &str {
        self.flag.as_ref().or(self.phase.as_ref()).map_or("", |phase| phase)
    }
}

/// A phase or its folder, for calls that cannot do without one.
#[derive(Debug, clap::Args)]
pub(crate) struct PhaseFolderArg {
    /// The phase: its number, such as `3`, or its folder
    pub(crate) phase: NonBlank,
}
