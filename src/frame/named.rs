//! Arguments that several verbs have.

use std::ops::Deref;
use std::str::FromStr;

use crate::acts::features::shown::HostChoice;

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

/// Of verbs that answer with a word.
#[derive(Debug, clap::Args)]
pub(crate) struct JsonArgs {
    /// Print the full report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct FileArg {
    /// The file, relative to the project root
    pub(crate) file: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PhaseFlag {
    /// The phase, such as `3` or `3.1`
    #[arg(long)]
    pub(crate) phase: Option<String>,
}

/// Which host a call is about.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct HostFlags {
    /// Use this config directory of the host instead of the default
    #[arg(long)]
    config_dir: Option<String>,
    /// The host (default: the one that runs this call)
    #[arg(long)]
    runtime: Option<String>,
}

impl HostFlags {
    pub(crate) fn choice(&self) -> HostChoice<'_> {
        HostChoice { config_dir: self.config_dir.as_deref(), runtime: self.runtime.as_deref() }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct OptionalPhaseArgs {
    /// The phase, such as `3` or `3.1`
    phase: Option<String>,
    /// The phase, as a flag
    #[arg(long = "phase", value_name = "PHASE", conflicts_with = "phase")]
    named: Option<String>,
}

impl OptionalPhaseArgs {
    pub(crate) fn phase(&self) -> Option<&str> {
        self.phase.as_deref().or(self.named.as_deref()).filter(|phase| !phase.trim().is_empty())
    }
}
