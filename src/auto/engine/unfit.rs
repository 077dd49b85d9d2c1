//! Finds documents of a session that later steps cannot use: empty ones, ones that are too large, and plans whose
//! checks cannot fail.

use super::drive::Drive;
use super::{Edit, Effects, EngineError};
use crate::auto::memory::Operation;
use crate::disk::DOCUMENT_LIMIT;
use crate::failure::Explain;
use crate::gate::check::Source;
use crate::gate::discovery::{Wanted, discover};
use crate::project::files::Files;

/// The extensions of files that are read as documents or records.
const DOCUMENTS: &[&str] = &[".md", ".json"];

impl<E: Effects> Drive<'_, E> {
    /// Returns why documents among the `changed` files are unusable. A document that is too large is reverted: with it,
    /// nothing could be read any more.
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
            } else {
                unfit.extend(self.idle_checks(&operation.start.tree, path)?);
            }
        }
        Ok((!unfit.is_empty()).then(|| unfit.join("; ")))
    }

    /// Returns checks of a plan that pass whatever the work is, if nothing else checks it and the session has written
    /// them.
    fn idle_checks(&mut self, tree: &str, path: &str) -> Result<Vec<String>, EngineError> {
        let is_plan = path.ends_with("PLAN.md") && !path.contains("/tasks/");
        let Some(text) = self.effects.files().read(path)?.filter(|_| is_plan) else { return Ok(Vec::new()) };
        let before = self.effects.text_at(tree, path)?.unwrap_or_default();
        let mut idle = Vec::new();
        for verify in self.settings.layout.planned_checks(&text) {
            if verify.iter().any(|line| before.contains(line.as_str())) {
                continue;
            }
            let found = discover(self.effects.files(), Wanted { preference: &[], verify: &verify })?;
            if found.source == Source::TaskPlan {
                continue;
            }
            for refused in found.refused.iter().filter(|refused| refused.is_idle()) {
                let way_on = refused.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
                idle.push(format!("`{path}`: {refused}{way_on}"));
            }
        }
        Ok(idle)
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
