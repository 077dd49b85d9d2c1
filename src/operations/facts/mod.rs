//! Facts: the values that answers can contain about a phase, the project, its configuration or the host.
//!
//! A fact is computed in one place, with one name, one type and one sentence of documentation: a row of [`facts!`]. An
//! answer is a list of names, and only those facts are computed. Data that several facts need is a [`FactBasis`], computed
//! once for each answer. Paths are absolute.

mod code;
mod completion;
mod documents;
mod host;
pub(crate) mod listed;
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
pub(crate) use documents::Documents;
pub(crate) use milestone::MilestoneHistory;
pub(crate) use phase::{AskedPhase, last_built};

/// A value that answers can contain.
pub(crate) struct Fact {
    pub(crate) name: &'static str,
    /// Without a value, the key is absent from the answer.
    pub(crate) value: fn(&Given<'_>) -> Result<Option<Value>, FileError>,
}

/// The description of a fact in the schemas.
#[cfg(test)]
pub(crate) struct Described {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) form: fn(&mut SchemaGenerator) -> Schema,
    /// True if the key may be absent.
    pub(crate) is_optional: bool,
}

/// Creates a table of facts, `FACTS`. The value of a fact with `if any` is an `Option`, and its key is absent if that
/// is `None`.
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

        /// The descriptions of these facts for the schemas.
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

/// The tables of facts in this folder.
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

/// Data that several facts need, computed once for each answer.
pub(crate) trait FactBasis: Sized + 'static {
    fn of(given: &Given<'_>) -> Result<Self, FileError>;
}

impl FactBasis for () {
    fn of(_: &Given<'_>) -> Result<Self, FileError> {
        Ok(())
    }
}

/// Inputs from outside the project's documents.
#[derive(Clone, Debug, Default)]
pub(crate) struct Host {
    /// The calling host.
    pub(crate) runtime: String,
    /// The prefix of a command's name as people type it, such as `/gsd-`.
    pub(crate) command_prefix: String,
    /// Where the host looks for agents.
    pub(crate) agents_folder: Option<String>,
    /// The path of the user's profile, if it exists.
    pub(crate) user_profile: Option<String>,
    /// Our agents that are missing.
    pub(crate) missing_agents: Vec<String>,
    /// True if git ignores the project's documents.
    pub(crate) documents_ignored: bool,
    /// True if workflows continue without asking.
    pub(crate) auto: AutoMode,
    /// The inputs for choosing the next step.
    pub(crate) next: state::Facts,
    /// Seconds since midnight in the user's time zone.
    pub(crate) second_of_day: u32,
}

/// The call: what was asked, by which workflow, and what the command has already found out.
#[derive(Default)]
pub(crate) struct FactsCall {
    pub(crate) workflow: String,
    pub(crate) front_matter: FrontMatter,
    /// The phase as it was typed.
    pub(crate) phase: Option<String>,
    /// The flags that were given, without hyphens.
    pub(crate) flags: Vec<String>,
    /// Other typed text: a task, an area, a granularity.
    pub(crate) text: Option<String>,
    parts: RefCell<HashMap<TypeId, Rc<dyn Any>>>,
}

impl FactsCall {
    /// A call for the workflow of this name. Its front matter has the conditions of its sections.
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

    /// Adds a part that is already known.
    pub(crate) fn with<P: FactBasis>(self, part: P) -> Self {
        self.parts.borrow_mut().insert(TypeId::of::<P>(), Rc::new(part));
        self
    }
}

/// Everything that facts are computed from.
pub(crate) struct Given<'call> {
    pub(crate) view: &'call ProjectView,
    pub(crate) config: &'call Config,
    pub(crate) host: &'call Host,
    pub(crate) call: FactsCall,
}

impl Given<'_> {
    /// Returns a part; it is computed only once.
    pub(crate) fn part<P: FactBasis>(&self) -> Result<Rc<P>, FileError> {
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

    /// The path of a document or folder; `None` if it does not exist.
    pub(crate) fn path_if_there(&self, of: fn(&Layout) -> String) -> Option<String> {
        self.has(of).then(|| self.path(of))
    }

    pub(crate) fn has(&self, of: fn(&Layout) -> String) -> bool {
        self.view.exists(&of(self.view.layout()))
    }
}

/// Serializes a value of an answer. Serialization fails only for maps with non-string keys, and no fact is such a map.
pub(crate) fn json<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
