//! Documents of a session that no later step could read: empty ones, and ones that are too large.

use super::drive::Drive;
use super::{Edit, Effects, EngineError};
use crate::auto::memory::Operation;
use crate::disk::DOCUMENT_LIMIT;
use crate::project::files::Files;

/// The endings of what is read as a document or a record.
const DOCUMENTS: &[&str] = &[".md", ".json"];

impl<E: Effects> Drive<'_, E> {
    /// Why documents among the `changed` files are none. One that is too large is put back as it was before: with it nothing
    /// could be read any more.
    pub(super) fn unfit_documents(
        &mut self,
        operation: &Operation,
        changed: &[String],
        planning: &str,
    ) -> Result<Option<String>, EngineError> {
        let mut unfit = Vec::new();
        let is_document = |path: &&String| {
            let is_below = path.strip_prefix(planning).is_some_and(|rest| rest.starts_with('/'));
            is_below && DOCUMENTS.iter().any(|ending| path.to_ascii_lowercase().ends_with(ending))
        };
        for path in changed.iter().filter(is_document) {
            let size = self.effects.size(path);
            if let Some(size) = size.filter(|size| *size > DOCUMENT_LIMIT) {
                self.put_back(&operation.start.tree, path)?;
                let (has, most) = (size.div_ceil(1 << 20), DOCUMENT_LIMIT >> 20);
                unfit.push(format!("`{path}` has {has} MB; a document has at most {most} MB"));
            } else if path.to_ascii_lowercase().ends_with(".md") && is_empty(self.effects.files(), path) {
                unfit.push(format!("`{path}` is empty"));
            }
        }
        Ok((!unfit.is_empty()).then(|| unfit.join("; ")))
    }

    fn put_back(&mut self, tree: &str, path: &str) -> Result<(), EngineError> {
        match self.effects.text_at(tree, path)? {
            Some(text) => self.write(&[Edit { path: path.to_owned(), text }]),
            None => self.effects.remove(path),
        }
    }
}

fn is_empty(files: &dyn Files, path: &str) -> bool {
    matches!(files.read(path), Ok(Some(text)) if text.trim().is_empty())
}
