//! Orders for a run in another process: one file each, in the order of their names.

use crate::auto::engine::EngineError;
use crate::auto::slices::orders::Order;
use crate::disk::{self, AbsolutePath};
use crate::failure::{Failure, Reason};
use crate::text::shell::typed;

/// The folder of the orders among the notes.
const FOLDER: &str = "orders";

fn folder(notes: &AbsolutePath) -> AbsolutePath {
    notes.resolve(FOLDER)
}

/// Leaves an order for the run. Orders are sorted by `id`.
pub(crate) fn leave(notes: &AbsolutePath, id: &str, order: &Order) -> Result<(), EngineError> {
    let text = serde_json::to_string(order)?;
    disk::write_fleeting(&folder(notes).resolve(format!("{id}.json")), text.as_bytes())?;
    Ok(())
}

/// Returns the pending orders. A file that is not an order is not touched, and is reported.
pub(crate) fn waiting(notes: &AbsolutePath) -> Result<Vec<(String, Order)>, EngineError> {
    let folder = folder(notes);
    let entries = disk::list(&folder)?.unwrap_or_default();
    let mut names: Vec<String> = entries.into_iter().filter(disk::Entry::is_file).map(|entry| entry.name).collect();
    names.sort_unstable();
    let mut orders = Vec::new();
    for name in names {
        let Some(id) = name.strip_suffix(".json") else { continue };
        let path = folder.resolve(&name);
        let Some(text) = disk::read_text(&path)? else { continue };
        let order = serde_json::from_str(&text).map_err(|error| {
            let remove = typed!("rm {}", path);
            Failure::new(Reason::Unknown, format!("`{path}` is not an order: {error}"))
                .hint(format!("remove it: `{remove}`"))
        })?;
        orders.push((id.to_owned(), order));
    }
    Ok(orders)
}

/// True if the order is still pending.
pub(crate) fn waits(notes: &AbsolutePath, id: &str) -> bool {
    disk::is_file(folder(notes).resolve(format!("{id}.json")))
}

pub(crate) fn forget(notes: &AbsolutePath, id: &str) -> Result<(), EngineError> {
    disk::remove_note(&folder(notes).resolve(format!("{id}.json")))?;
    Ok(())
}
