//! The effects of a closed slice on the requirements it owns.

use super::records::SliceRecords;
use crate::project::milestone_layout::requirements::{
    Owner, Requirement, RequirementChange, RequirementSection, Requirements,
};
use crate::project::milestone_layout::roadmap::Roadmap;

/// The requirements that a slice owns, by their result, whether or not the document has that result already.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Owned {
    pub(super) proved: Vec<Requirement>,
    pub(super) advanced: Vec<Requirement>,
}

/// Returns the results of the requirements if the slice is done; `is_checked` means that every task was checked and
/// passed.
pub(super) fn owned(records: &SliceRecords, roadmap: &Roadmap, is_checked: bool) -> Owned {
    let mut owned = Owned::default();
    let Some(document) = &records.requirements else { return owned };
    let all = Requirements::parse(&document.text).entries;
    let counts =
        |entry: &Requirement| matches!(entry.section, Some(RequirementSection::Active | RequirementSection::Validated));
    for entry in all.into_iter().filter(counts) {
        let is_own = entry.owner.as_ref().is_some_and(|owner| owns(records, roadmap, owner));
        if !is_own {
            continue;
        }
        let is_open = entry.supporting.iter().any(|owner| is_open(records, roadmap, owner));
        if is_checked && !is_open { owned.proved.push(entry) } else { owned.advanced.push(entry) }
    }
    owned
}

/// Returns the changes of the document: active requirements that are proved become validated, those that are advanced
/// become partial.
pub(super) fn changes(records: &SliceRecords, owned: &Owned, proof: &str) -> Vec<RequirementChange> {
    let is_active = |entry: &&Requirement| entry.section == Some(RequirementSection::Active);
    let proved = owned.proved.iter().filter(is_active).map(|entry| RequirementChange {
        id: entry.id.clone(),
        status: Some(RequirementSection::Validated),
        validation: Some(format!("validated by {}/{}: {proof}", records.milestone, records.slice)),
        notes: None,
    });
    let in_part = owned.advanced.iter().filter(is_active).filter(|entry| entry.is_unproved());
    let in_part = in_part.map(|entry| RequirementChange {
        id: entry.id.clone(),
        validation: Some("partial".to_owned()),
        ..RequirementChange::default()
    });
    proved.chain(in_part).collect()
}

/// True if the slice is the owner: by name, or as the last open slice of a milestone that owns it.
fn owns(records: &SliceRecords, roadmap: &Roadmap, owner: &Owner) -> bool {
    if !owner.milestone.eq_ignore_ascii_case(&records.milestone) {
        return false;
    }
    match &owner.slice {
        Some(slice) => slice.eq_ignore_ascii_case(&records.slice),
        None => roadmap.slices.iter().all(|row| row.done || row.id.eq_ignore_ascii_case(&records.slice)),
    }
}

/// True if a supporting slice still has to be built.
fn is_open(records: &SliceRecords, roadmap: &Roadmap, owner: &Owner) -> bool {
    if !owner.milestone.eq_ignore_ascii_case(&records.milestone) {
        return !records.complete_milestones.iter().any(|id| id.eq_ignore_ascii_case(&owner.milestone));
    }
    let is_done = |id: &str| id.eq_ignore_ascii_case(&records.slice) || roadmap.slice(id).is_some_and(|row| row.done);
    match &owner.slice {
        Some(slice) => !is_done(slice),
        None => !roadmap.slices.iter().all(|row| is_done(&row.id)),
    }
}
