//! Arguments that name something: phases, phase folders, workflows.

use std::ops::Deref;
use std::str::FromStr;

use super::Context;
use crate::disk;
use crate::failure::{Failure, Reason};
use crate::library::Library;
use crate::project::folder::PhaseFolder;
use crate::project::view::{NamedPhase, ProjectView};

/// An argument that has to say something: more than white space.
#[derive(Clone, Debug)]
pub(in crate::commands) struct NonBlank(String);

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
pub(in crate::commands) struct PhaseArg {
    /// The phase, such as `3` or `3.1`
    // What the flag overrides is not missing.
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
pub(in crate::commands) struct PhaseFolderArg {
    /// The phase: its number, such as `3`, or its folder
    pub(in crate::commands) phase: NonBlank,
}

/// The error about a phase that is not there.
pub(in crate::commands) fn no_phase(typed: &str) -> Failure {
    Failure::new(Reason::PhaseNotFound, format!("there is no phase `{typed}`"))
        .hint("`gsd-tools roadmap analyze` lists the phases")
}

impl Context {
    /// The phase that a gate is asked about: by its number, the name of its folder, or the path of its folder. One that is
    /// not there is an error, never a pass.
    pub(in crate::commands) fn phase_named(&self, view: &ProjectView, typed: &str) -> Result<NamedPhase, Failure> {
        if let Some(named) = view.phase_named(typed)? {
            return Ok(named);
        }
        if typed.contains(['/', '\\']) {
            // A path from where the caller is, and one through a link.
            let path = disk::canonical(&self.here().resolve(typed))?;
            let inside = path.relative_to(&disk::canonical(self.root())?);
            if let Some(named) = inside.map(|inside| view.phase_named(inside.as_str())).transpose()?.flatten() {
                return Ok(named);
            }
        }
        let ambiguous = view.find_phase(typed)?.ambiguous;
        if !ambiguous.is_empty() {
            let message = format!("`{typed}` fits several phase folders: {}", ambiguous.join(", "));
            return Err(Failure::new(Reason::PhaseNotFound, message).hint("name one of the folders"));
        }
        Err(no_phase(typed))
    }

    /// The folder that a person named by its path.
    pub(in crate::commands) fn folder_named(
        &self,
        view: &ProjectView,
        typed: &str,
    ) -> Result<Option<PhaseFolder>, Failure> {
        match self.layout().inside(typed) {
            Some(path) => Ok(view.folder_at(&path, None)?),
            None => Ok(None),
        }
    }

    /// The folder of a phase, for checks whose answer has a word for one that is not there.
    pub(in crate::commands) fn folder_of(
        &self,
        view: &ProjectView,
        typed: &str,
    ) -> Result<Option<PhaseFolder>, Failure> {
        match self.phase_named(view, typed) {
            Ok(phase) => Ok(phase.folder),
            Err(error) if error.reason == Reason::PhaseNotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// How a person calls a workflow here, such as `/gsd-plan-phase`; none where it is not installed.
    pub(in crate::commands) fn installed_command(&self, workflow: &str) -> Result<Option<String>, Failure> {
        let there = Library::embedded()?.at(&format!("workflows/{workflow}.md")).is_some();
        Ok(if there { Some(format!("{}{workflow}", self.command_prefix()?)) } else { None })
    }
}
