//! The prompt of an agent for a unit.
//!
//! A prompt starts with the text that all units of its class share, byte for byte, so that a client's cache can hold
//! it; the text for the kind of unit follows, and then the unit itself: paths, documents, the previous failure.
//! [`compose`] is pure: the caller has read the documents.

pub(crate) mod budget;
pub(crate) mod citation;
mod fence;
pub(crate) mod input;
pub(crate) mod sections;
mod selection;
pub(crate) mod shape;
mod tail;
#[cfg(test)]
mod tests;

use input::{Document, DocumentKind, PromptInput};
use sections::{SectionError, section_of};
use selection::Selection;
use shape::{Shape, Treatment, UnitClass};

use super::permit::Permit;
use crate::failure::Explain;
use crate::library;

/// The prompt for an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prompt {
    pub(crate) text: String,
    pub(crate) class: UnitClass,
    /// The length of the prefix shared by every unit of the class, in bytes.
    pub(crate) prefix_length: usize,
    /// The documents in the prompt, each with its number of characters there.
    pub(crate) inlined: Vec<InlinedDocument>,
    /// The paths that the agent must read.
    pub(crate) must_read: Vec<String>,
    /// The files that the unit must write.
    pub(crate) expected: Vec<String>,
    /// All documents that the unit may write.
    pub(crate) permits: Vec<Permit>,
    /// The number of characters of the text.
    pub(crate) chars: usize,
}

/// A document in a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InlinedDocument {
    pub(crate) path: String,
    pub(crate) chars: usize,
}

/// Why a prompt cannot be composed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PromptError {
    #[error("`{unit}` has no {document}")]
    Missing { unit: String, document: &'static str },
    #[error("`{unit}` is not a unit of this layout: its files have no place")]
    Place { unit: String },
}

impl Explain for PromptError {
    fn hint(&self) -> Option<String> {
        match self {
            PromptError::Missing { .. } => Some("`gsd-tools auto status` shows which unit is next".to_owned()),
            PromptError::Place { .. } => None,
        }
    }
}

/// Composes the prompt of a unit.
pub(crate) fn compose(input: &PromptInput) -> Result<Prompt, PromptError> {
    let unit = || format!("{} {}", input.kind.word(), input.id);
    let shape = shape::shape(input);
    if let Some(document) = missing(input, &shape) {
        return Err(PromptError::Missing { unit: unit(), document: document.word() });
    }
    let targets = tail::targets(input, &shape).ok_or_else(|| PromptError::Place { unit: unit() })?;
    let prefix = texts(shape.prefix);
    let stable = prefix.clone() + &texts(shape.texts);
    let smallest = Selection { inlined: Vec::new(), ..selection::smallest(input, &shape) };
    let fixed = stable.len() + tail::tail(input, &shape, &targets, &smallest).len();
    let selection = selection::select(input, &shape, fixed);
    let text = stable + &tail::tail(input, &shape, &targets, &selection);
    let inlined = selection
        .inlined
        .iter()
        .map(|inlined| InlinedDocument { path: inlined.document.path.clone(), chars: inlined.text.chars().count() });
    Ok(Prompt {
        class: shape.class,
        prefix_length: prefix.len(),
        inlined: inlined.collect(),
        must_read: selection.must_read.iter().map(|document| document.path.clone()).collect(),
        expected: targets.iter().filter(|target| target.is_expected).map(|target| target.permit.path.clone()).collect(),
        permits: targets.into_iter().map(|target| target.permit).collect(),
        chars: text.chars().count(),
        text,
    })
}

/// Returns the section in the first of `documents` that has it, with the document's path: the answer of `auto context`.
pub(crate) fn section_in<'text>(
    documents: &'text [Document],
    heading: &str,
) -> Result<(&'text str, &'text str), SectionError> {
    let mut titles = Vec::new();
    for document in documents {
        match section_of(&document.text, heading) {
            Ok(section) => return Ok((&document.path, section)),
            Err(error) => titles.extend(error.titles),
        }
    }
    Err(SectionError { heading: heading.to_owned(), titles })
}

/// Returns a required document that is missing.
fn missing(input: &PromptInput, shape: &Shape) -> Option<DocumentKind> {
    let is_needed = |kind: DocumentKind, treatment: Treatment| {
        matches!(treatment, Treatment::Whole | Treatment::Excerpt) || kind == DocumentKind::Workflow
    };
    let mut needed = shape.documents.iter().filter(|(kind, treatment)| is_needed(*kind, *treatment));
    needed.find(|(kind, _)| input.first(*kind).is_none()).map(|(kind, _)| *kind)
}

fn texts(names: &[&str]) -> String {
    let texts = names.iter().map(|name| library::prompt_text(name).unwrap_or_default());
    texts.collect::<Vec<_>>().join("\n") + "\n"
}
