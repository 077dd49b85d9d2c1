//! Selects the documents in the prompt, those that the agent must read, and those that it may read.

use std::borrow::Cow;

use super::budget::Budget;
use super::fence::{fenced, name_of};
use super::input::{Document, PromptInput};
use super::sections::{cut, slice_excerpt};
use super::shape::{Shape, Treatment};
use crate::project::milestone_layout::preferences::InlineLevel;

/// A document in the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Inlined<'input> {
    pub(super) document: &'input Document,
    pub(super) text: Cow<'input, str>,
}

/// How each document is used, in the order of the shape.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Selection<'input> {
    pub(super) inlined: Vec<Inlined<'input>>,
    pub(super) must_read: Vec<&'input Document>,
    pub(super) offered: Vec<&'input Document>,
}

/// A document with its treatment, and its text in the prompt.
struct TreatedDocument<'input> {
    treatment: Treatment,
    document: &'input Document,
    text: Option<Cow<'input, str>>,
}

impl<'input> TreatedDocument<'input> {
    /// Returns the bytes of this row in the prompt.
    fn size(&self, text: &str) -> usize {
        let mut out = String::new();
        fenced(&mut out, &name_of(self.document), text);
        out.len()
    }

    /// Puts `text` into the prompt if there is room for it.
    fn take(&mut self, text: Cow<'input, str>, room: &mut usize) -> bool {
        let size = self.size(&text);
        if size > *room {
            return false;
        }
        *room -= size;
        self.text = Some(text);
        true
    }
}

/// Selects the documents with only those inlined that are always in the prompt.
pub(super) fn smallest<'input>(input: &'input PromptInput, shape: &Shape) -> Selection<'input> {
    selection(rows(input, shape))
}

/// Selects the documents within the budget of a prompt that has `fixed` bytes without them.
pub(super) fn select<'input>(input: &'input PromptInput, shape: &Shape, fixed: usize) -> Selection<'input> {
    let mut rows = rows(input, shape);
    let budget = Budget::of(input.level, input.window, fixed);
    let always: usize = rows.iter().filter_map(|row| Some(row.size(row.text.as_deref()?))).sum();
    let mut room = budget.inline.saturating_sub(always);
    if input.level != InlineLevel::Minimal {
        carry(&mut rows, Treatment::Carry, budget.carried, &mut room);
        carry(&mut rows, Treatment::Digest, budget.summaries, &mut room);
        take_whole(&mut rows, Treatment::Inline, &mut room);
    }
    if input.level == InlineLevel::Full {
        take_whole(&mut rows, Treatment::Read, &mut room);
    }
    selection(rows)
}

fn rows<'input>(input: &'input PromptInput, shape: &Shape) -> Vec<TreatedDocument<'input>> {
    let of_table = shape.documents.iter().flat_map(|(kind, treatment)| {
        let documents = input.documents.iter().filter(move |document| document.kind == *kind);
        documents.map(move |document| (*treatment, document))
    });
    let is_known = |document: &Document| shape.documents.iter().any(|(kind, _)| *kind == document.kind);
    let others = input.documents.iter().filter(|document| !is_known(document));
    let all = of_table.chain(others.map(|document| (Treatment::Offer, document)));
    all.map(|(treatment, document)| {
        let text = match treatment {
            Treatment::Whole => Some(Cow::Borrowed(document.text.as_str())),
            Treatment::Excerpt => Some(Cow::Owned(slice_excerpt(&document.text))),
            _ => None,
        };
        TreatedDocument { treatment, document, text }
    })
    .collect()
}

/// Cuts summaries to their share, starting with the last: those nearest to the unit matter most.
fn carry(rows: &mut [TreatedDocument<'_>], treatment: Treatment, share: usize, room: &mut usize) {
    let mut share = share.min(*room);
    let mut left = rows.iter().filter(|row| row.treatment == treatment).count();
    for row in rows.iter_mut().rev().filter(|row| row.treatment == treatment) {
        let around = row.size("");
        let text = cut(&row.document.text, (share / left.max(1)).saturating_sub(around));
        let before = share;
        if row.take(Cow::Owned(text.text), &mut share) {
            *room -= before - share;
        }
        left -= 1;
    }
}

/// Inlines what fits. A document without text, of which only the path is known, still has to be read.
fn take_whole(rows: &mut [TreatedDocument<'_>], treatment: Treatment, room: &mut usize) {
    for row in rows.iter_mut().filter(|row| row.treatment == treatment && !row.document.text.is_empty()) {
        row.take(Cow::Borrowed(&row.document.text), room);
    }
}

fn selection(rows: Vec<TreatedDocument<'_>>) -> Selection<'_> {
    let mut selection = Selection::default();
    // Summaries that did not fit are read after the documents that they summarize.
    let mut summaries = Vec::new();
    for row in rows {
        match (row.text, row.treatment) {
            (Some(text), _) => selection.inlined.push(Inlined { document: row.document, text }),
            (None, Treatment::Digest) => summaries.push(row.document),
            (None, Treatment::Inline | Treatment::Read) => selection.must_read.push(row.document),
            (None, _) => selection.offered.push(row.document),
        }
    }
    selection.must_read.append(&mut summaries);
    selection
}
