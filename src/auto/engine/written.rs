//! Compares what a session wrote below the planning folder with what its unit may write.

use super::drive::Drive;
use super::{Effects, EngineError};
use crate::auto::decide::is_below;
use crate::auto::event::{SessionVerdict, UnitEnded};
use crate::auto::memory::Operation;
use crate::auto::permit::{DocumentTexts, Permit, Rule, Trespass};
use crate::auto::slices::replanned::{self, Both};

impl<E: Effects> Drive<'_, E> {
    /// Returns the changes below the planning folder that the unit may not make. A session that did not end well is
    /// continued or taken back entirely.
    pub(super) fn trespasses(
        &mut self,
        operation: &Operation,
        ended: &UnitEnded,
    ) -> Result<Vec<Trespass>, EngineError> {
        let Some(permits) = operation.start.may_write.as_ref().filter(|_| ended.verdict == SessionVerdict::Ran) else {
            return Ok(Vec::new());
        };
        let planning = self.settings.layout.folder();
        let mut found = Vec::new();
        for path in ended.changed.iter().filter(|path| is_below(path, planning)) {
            let before = self.effects.text_at(&operation.start.tree, path)?;
            let after = self.effects.text_at(&ended.tree, path)?;
            let texts = DocumentTexts { before: before.as_deref(), after: after.as_deref() };
            found.extend(self.settings.layout.trespass(permits, &operation.start, path, texts));
        }
        if !found.iter().any(|trespass| trespass.decides) {
            found.extend(self.without_owner(operation, ended)?);
        }
        Ok(found)
    }

    /// Returns how the session changed the slices of a roadmap, in one line.
    pub(super) fn replanned(
        &mut self,
        operation: &Operation,
        ended: &UnitEnded,
    ) -> Result<Option<String>, EngineError> {
        let Some(path) = roadmap(operation).filter(|path| ended.changed.contains(path)) else { return Ok(None) };
        let (before, after) = self.both(operation, ended, &path)?;
        Ok(replanned::in_words(Both { before: &before, after: &after }))
    }

    /// Returns a requirement left without its slice, from the changes to the roadmap and the owners together.
    fn without_owner(&mut self, operation: &Operation, ended: &UnitEnded) -> Result<Option<Trespass>, EngineError> {
        let is_of = |permit: &&Permit| {
            permit.path.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case("REQUIREMENTS.md"))
        };
        let permits = operation.start.may_write.iter().flatten();
        let requirements = permits.clone().find(is_of).map(|permit| permit.path.clone());
        let (Some(roadmap), Some(requirements)) = (roadmap(operation), requirements) else { return Ok(None) };
        let is_changed = |path: &String| ended.changed.contains(path);
        let Some(path) = [&roadmap, &requirements].into_iter().find(|path| is_changed(path)) else { return Ok(None) };
        let rows = self.both(operation, ended, &roadmap)?;
        let entries = self.both(operation, ended, &requirements)?;
        let (rows, entries) =
            (Both { before: &rows.0, after: &rows.1 }, Both { before: &entries.0, after: &entries.1 });
        let why = replanned::without_owner(operation.start.unit.parts().0, rows, entries);
        Ok(why.map(|why| Trespass { path: path.clone(), why: Some(why), decides: *path == roadmap }))
    }

    /// Returns the text of a document before and after the session.
    fn both(&mut self, operation: &Operation, ended: &UnitEnded, path: &str) -> Result<(String, String), EngineError> {
        let before = self.effects.text_at(&operation.start.tree, path)?.unwrap_or_default();
        Ok((before, self.effects.text_at(&ended.tree, path)?.unwrap_or_default()))
    }
}

/// Returns the roadmap whose slices the unit may change.
fn roadmap(operation: &Operation) -> Option<String> {
    let is_roadmap = |permit: &&Permit| matches!(permit.rule, Rule::OpenSlices | Rule::Course);
    operation.start.may_write.iter().flatten().find(is_roadmap).map(|permit| permit.path.clone())
}
