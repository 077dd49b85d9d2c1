//! Checks `docs/artifacts.md` as the graph of the documents: each document that a text writes has a row, and each
//! reader in a row knows the document's name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::library::{Item, ItemKind, Library};
use crate::operations::capability;

/// A row of the tables: documents, each by the last part of its path, and their readers.
struct ArtifactRow {
    documents: Vec<String>,
    readers: Vec<String>,
}

/// Documents for people only, and why nothing reads them.
const FOR_PEOPLE: &[(&str, &str)] = &[
    ("STATE-ARCHIVE.md", "what was taken out of STATE.md to keep it short"),
    ("MILESTONES.md", "what was shipped; `validate health` compares it with the archive"),
    ("{NN}-DISCUSSION-LOG.md", "what was not chosen; CONTEXT.md has what was"),
    ("{NN}-REVIEW.iter{n}.md", "an older review, replaced"),
    ("{version}-quick/", "an archive"),
    ("ws-{slug}-{date}/", "an archive"),
    ("MILESTONE_SUMMARY-{version}.md", "written for a new colleague"),
    ("before-import-{date}/", "an archive"),
    ("SUMMARY.md", "of onboarding: an introduction for new people"),
    ("questions.md", "for the person who explores further"),
    ("{slug}.md", "a bug hunt that is closed; the knowledge base has its result"),
    ("report-{date}.md", "what went wrong, for the person who asked"),
    ("completed/", "todos that are done"),
    ("{date}-TRIAGE.md", "for the person who sorts the issues"),
    ("{date}-SESSION_REPORT.md", "for the person who asked"),
];

fn page() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/artifacts.md")).unwrap()
}

fn rows(page: &str) -> Vec<ArtifactRow> {
    let mut rows = Vec::new();
    for line in page.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let Some(readers) = cells.get(4).filter(|_| cells.len() >= 6) else { continue };
        let readers = readers.split(", ").map(|reader| reader.trim_matches('`').to_owned()).collect();
        let last = |path: &str| {
            let slash = if path.ends_with('/') { "/" } else { "" };
            path.trim_end_matches('/').rsplit('/').next().map(|last| format!("{last}{slash}"))
        };
        let documents = cells[1].split('`').skip(1).step_by(2).filter_map(last).collect();
        rows.push(ArtifactRow { documents, readers });
    }
    assert!(rows.len() > 90, "{}", rows.len());
    rows
}

/// The word by which texts name a document: `UI-REVIEW` of `{NN}-UI-REVIEW.md`.
fn stem(document: &str) -> &str {
    let name = document.trim_end_matches('/');
    let name = name.rsplit_once("}-").map_or(name, |(_, rest)| rest);
    name.strip_suffix(".md").unwrap_or(name)
}

/// The texts that a command or an agent has read: its own text, the prompts that start the agent, the texts that
/// features add, and the steps and pages named there. `None` for a reader that is neither.
fn texts_of<'a>(library: &'a Library, reader: &str) -> Option<Vec<&'a str>> {
    let mut items: Vec<&Item> = Vec::new();
    let mut added: Vec<&str> = Vec::new();
    let hooks = || capability::all().iter().flat_map(|feature| &feature.hooks);
    if let Some(command) = reader.split(' ').next().and_then(|word| word.strip_prefix("/gsd-")) {
        items.push(library.at(&format!("commands/{command}.md"))?);
        added.extend(hooks().filter_map(|hook| hook.text.as_deref()));
    } else {
        let role = reader.to_lowercase().replace(' ', "-").replace("document-", "doc-");
        items.push(library.at(&format!("agents/{role}.md"))?);
        let name = format!("gsd-{role}");
        items.extend(library.of_kind(ItemKind::Workflow).filter(|item| item.body.contains(&name)));
        added
            .extend(hooks().filter(|hook| hook.into.as_deref() == Some(&role)).filter_map(|hook| hook.text.as_deref()));
    }
    // A command, its workflow, the steps and pages of that workflow, and the texts that these name.
    for _ in 0..3 {
        let is_named = |item: &&Item| {
            let owner = item.path.split_once("/steps/").map(|(workflow, _)| format!("{workflow}.md"));
            let is_step = owner.is_some_and(|owner| items.iter().any(|known| known.path == owner));
            is_step || items.iter().any(|known| known.body.contains(&item.path))
        };
        let pages = [ItemKind::Workflow, ItemKind::Reference, ItemKind::Template];
        let named: Vec<&Item> = library
            .items()
            .filter(|item| pages.contains(&item.kind) && !items.iter().any(|known| known.path == item.path))
            .filter(is_named)
            .collect();
        items.extend(named);
    }
    Some(items.into_iter().map(|item| item.body.as_str()).chain(added).collect())
}

/// Rows that only people read, or whose reader knows none of the documents; and documents without a row.
fn faults(library: &Library, page: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut known: BTreeMap<String, Option<Vec<&str>>> = BTreeMap::new();
    let rows = rows(page);
    for ArtifactRow { documents, readers } in &rows {
        let shown = documents.join(", ");
        let may_be = documents.iter().any(|document| FOR_PEOPLE.iter().any(|(known, _)| known == document));
        if readers.iter().all(|reader| reader == "people") && !may_be {
            faults.push(format!("{shown}: nobody reads it"));
        }
        let names: Vec<&str> = documents.iter().map(|document| stem(document)).collect();
        if names.iter().any(|name| name.is_empty() || name.contains(['{', '*'])) {
            continue;
        }
        for reader in readers {
            let texts = known.entry(reader.clone()).or_insert_with(|| texts_of(library, reader));
            if texts
                .as_ref()
                .is_some_and(|texts| !texts.iter().any(|text| names.iter().any(|name| text.contains(name))))
            {
                faults.push(format!("{shown}: {reader} does not know it"));
            }
        }
    }
    let documents: BTreeSet<&str> = rows.iter().flat_map(|row| &row.documents).map(|document| stem(document)).collect();
    for item in library.items().filter(|item| matches!(item.kind, ItemKind::Workflow | ItemKind::Agent)) {
        for name in written(&item.body).into_iter().filter(|name| !documents.contains(name)) {
            faults.push(format!("{}: writes {name}.md, which has no row in docs/artifacts.md", item.path));
        }
    }
    faults
}

/// The documents of a phase that a text names by their full names, such as `{NN}-UI-SPEC.md`.
fn written(text: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    for (at, form) in text.match_indices("{NN}-") {
        let rest = &text[at + form.len()..];
        let end = rest.find(|letter: char| !letter.is_ascii_uppercase() && letter != '-').unwrap_or(rest.len());
        if end > 2 && rest[end..].starts_with(".md") {
            found.insert(&rest[..end]);
        }
    }
    found
}

#[test]
fn each_document_has_a_row_and_each_reader_knows_its_name() {
    let faults = faults(&Library::embedded().unwrap(), &page());
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn a_document_without_a_row_or_a_reader_is_found() {
    let library = Library::embedded().unwrap();
    for (old, new, told) in [
        ("| verifier | none | - |\n", "| people | none | - |\n", "{NN}-DOM-VERIFY.md: nobody reads it"),
        ("| `{NN}-DOM-VERIFY.md`", "| `{NN}-OTHER.md`", "writes DOM-VERIFY.md, which has no row"),
        ("| planner, `/gsd-eval-review` |", "| intel updater |", "{NN}-AI-SPEC.md: intel updater does not know it"),
    ] {
        let page = page();
        assert!(page.contains(old), "{old}");
        let found = faults(&library, &page.replacen(old, new, 1));
        assert!(found.iter().any(|fault| fault.contains(told)), "{told}: {found:?}");
    }
}
