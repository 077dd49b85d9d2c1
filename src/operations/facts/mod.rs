//! Facts: what an answer can say about a phase, the project, its configuration or the host.
//!
//! A fact is computed in one place, and has one name, one type and one sentence of documentation: a row of [`facts!`].
//! An answer is a list of names. Only what it names is computed; what several facts are read from is a [`Part`], and is
//! found once for each answer. Paths are absolute.

mod code;
mod completion;
mod documents;
mod host;
mod milestone;
mod phase;
mod plans;
mod settings;
mod verify_commands;
mod work;

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

#[cfg(test)]
use schemars::{Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;

use crate::library::{self, FrontMatter};
use crate::project::auto_chain::AutoMode;
use crate::project::config::Config;
use crate::project::files::FileError;
use crate::project::layout::Layout;
use crate::project::view::ProjectView;

use crate::operations::agents::models;
use crate::operations::state;

pub(crate) use code::{CodeFacts, CodeMap, MapReadiness, SearchFacts};
pub(crate) use completion::Completion;
pub(crate) use documents::Documents;
pub(crate) use milestone::MilestoneHistory;
pub(crate) use phase::{Found, last_built};

/// Something that answers can say.
pub(crate) struct Fact {
    pub(crate) name: &'static str,
    /// Without a value, the key is left out of the answer.
    pub(crate) value: fn(&Given<'_>) -> Result<Option<Value>, FileError>,
}

/// What the schemas say about a fact.
#[cfg(test)]
pub(crate) struct Described {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) form: fn(&mut SchemaGenerator) -> Schema,
    /// Whether the key may be left out.
    pub(crate) is_optional: bool,
}

/// Makes a table of facts, `FACTS`. The value of one that says `if any` is an option, and its key is left out without it.
///
/// ```ignore
/// facts! { |given, found: Found|
///     /// The folder of the phase; null if it has none.
///     phase_dir: Option<String> = found.folder().map(|folder| given.shown(&folder.path));
///     /// The goal of the phase in ROADMAP.md.
///     goal: String, if any = found.entry().and_then(|entry| entry.goal.clone());
/// }
/// ```
macro_rules! facts {
    (|$given:ident| $($rows:tt)+) => {
        $crate::operations::facts::facts! { |$given, _nothing: ()| $($rows)+ }
    };
    (|$given:ident, $part:ident: $kind:ty| $(
        $(#[doc = $about:literal])+
        $name:ident: $form:ty $(, if $any:ident)? = $value:expr;
    )+) => {
        /// The facts of this file.
        pub(crate) const FACTS: &[$crate::operations::facts::Fact] = &[$($crate::operations::facts::Fact {
            name: stringify!($name),
            value: |$given| {
                let $part = $given.part::<$kind>()?;
                let _ = &$part;
                $crate::operations::facts::facts!(@value $form, $value $(, $any)?)
            },
        }),+];

        /// The facts of this file, as schemas have them.
        #[cfg(test)]
        pub(crate) const DESCRIBED: &[$crate::operations::facts::Described] =
            &[$($crate::operations::facts::Described {
                name: stringify!($name),
                about: concat!($($about),+),
                form: |generator| generator.subschema_for::<$form>(),
                is_optional: $crate::operations::facts::facts!(@optional $($any)?),
            }),+];
    };
    (@value $form:ty, $value:expr) => {{
        let value: $form = $value;
        Ok(Some($crate::operations::facts::json(&value)))
    }};
    (@value $form:ty, $value:expr, any) => {{
        let value: Option<$form> = $value;
        Ok(value.as_ref().map($crate::operations::facts::json))
    }};
    (@optional) => { false };
    (@optional any) => { true };
}

pub(crate) use facts;

/// The tables of this folder.
pub(crate) const TABLES: &[&[Fact]] = &[
    code::FACTS,
    completion::FACTS,
    documents::FACTS,
    host::FACTS,
    milestone::FACTS,
    phase::FACTS,
    plans::FACTS,
    settings::FACTS,
    work::FACTS,
];

#[cfg(test)]
pub(crate) const DESCRIBED: &[&[Described]] = &[
    code::DESCRIBED,
    completion::DESCRIBED,
    documents::DESCRIBED,
    host::DESCRIBED,
    milestone::DESCRIBED,
    phase::DESCRIBED,
    plans::DESCRIBED,
    settings::DESCRIBED,
    work::DESCRIBED,
];

/// What several facts are read from.
pub(crate) trait Part: Sized + 'static {
    fn of(given: &Given<'_>) -> Result<Self, FileError>;
}

impl Part for () {
    fn of(_: &Given<'_>) -> Result<Self, FileError> {
        Ok(())
    }
}

/// What comes from outside the project's documents.
#[derive(Clone, Debug, Default)]
pub(crate) struct Host {
    /// The host of the call.
    pub(crate) runtime: String,
    /// What comes before the name of a command where people type it, such as `/gsd-`.
    pub(crate) command_prefix: String,
    /// Where the host looks for agents.
    pub(crate) agents_folder: Option<String>,
    /// The profile of the user, if there is one.
    pub(crate) user_profile: Option<String>,
    /// The agents of ours that are missing.
    pub(crate) missing_agents: Vec<String>,
    /// Whether git ignores the project's documents.
    pub(crate) documents_ignored: bool,
    /// Whether workflows continue without asking.
    pub(crate) auto: AutoMode,
    /// What the next step rests on.
    pub(crate) next: state::Facts,
    /// The second since midnight where the user is.
    pub(crate) second_of_day: u32,
}

/// What was asked, by which workflow, and what commands found out for it.
#[derive(Default)]
pub(crate) struct Call {
    pub(crate) workflow: String,
    pub(crate) front_matter: FrontMatter,
    /// The phase as it was typed.
    pub(crate) phase: Option<String>,
    /// The flags that were given, without hyphens.
    pub(crate) flags: Vec<String>,
    /// What was typed besides: a task, an area, a granularity.
    pub(crate) text: Option<String>,
    parts: RefCell<HashMap<TypeId, Rc<dyn Any>>>,
}

impl Call {
    /// A call for the workflow of this name, whose front matter says when its sections run.
    pub(crate) fn of(workflow: &str) -> Self {
        let front_matter = library::front_matter_of(&format!("workflows/{workflow}.md")).unwrap_or_default();
        Self::new(workflow.to_owned(), front_matter)
    }

    pub(crate) fn new(workflow: String, front_matter: FrontMatter) -> Self {
        Self { workflow, front_matter, ..Self::default() }
    }

    pub(crate) fn phase(self, typed: Option<&str>) -> Self {
        Self { phase: typed.map(str::to_owned), ..self }
    }

    pub(crate) fn text(self, typed: Option<String>) -> Self {
        Self { text: typed, ..self }
    }

    pub(crate) fn flag(mut self, name: &str, is_given: bool) -> Self {
        self.flags.extend(is_given.then(|| name.to_owned()));
        self
    }

    /// Adds what was found out already.
    pub(crate) fn with<P: Part>(self, part: P) -> Self {
        self.parts.borrow_mut().insert(TypeId::of::<P>(), Rc::new(part));
        self
    }
}

/// Everything that facts are computed from.
pub(crate) struct Given<'call> {
    pub(crate) view: &'call ProjectView,
    pub(crate) config: &'call Config,
    pub(crate) host: &'call Host,
    pub(crate) call: Call,
}

impl Given<'_> {
    /// A part, found once.
    pub(crate) fn part<P: Part>(&self) -> Result<Rc<P>, FileError> {
        let known = self.call.parts.borrow().get(&TypeId::of::<P>()).cloned();
        if let Some(known) = known.and_then(|known| known.downcast().ok()) {
            return Ok(known);
        }
        let found = Rc::new(P::of(self)?);
        self.call.parts.borrow_mut().insert(TypeId::of::<P>(), found.clone());
        Ok(found)
    }

    pub(crate) fn asked(&self, flag: &str) -> bool {
        self.call.flags.iter().any(|given| given == flag)
    }

    pub(crate) fn flag(&self, key: &str) -> bool {
        self.config.flag(key)
    }

    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.config.text(key).map(str::to_owned)
    }

    pub(crate) fn model(&self, agent: &str) -> String {
        models::model(self.config, &self.host.runtime, agent).model
    }

    /// A command as people type it.
    pub(crate) fn command(&self, name: &str) -> String {
        format!("{}{name}", self.host.command_prefix)
    }

    /// A path as answers show it.
    pub(crate) fn shown(&self, path: &str) -> String {
        self.view.layout().shown(path)
    }

    /// The path of a document or folder.
    pub(crate) fn path(&self, of: fn(&Layout) -> String) -> String {
        self.shown(&of(self.view.layout()))
    }

    /// The path of a document or folder; none if it does not exist.
    pub(crate) fn path_if_there(&self, of: fn(&Layout) -> String) -> Option<String> {
        self.has(of).then(|| self.path(of))
    }

    pub(crate) fn has(&self, of: fn(&Layout) -> String) -> bool {
        self.view.exists(&of(self.view.layout()))
    }
}

/// A value of an answer. Only maps whose keys are not texts have none in JSON, and no fact is such a map.
pub(crate) fn json<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
