//! Checks whether the basis of a phase has changed: the database after its schema files, the context after its
//! research.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::files::FileError;
use crate::project::folder::{PhaseFolder, canonical_id, plan_id};
use crate::project::plan::PhasePlan;
use crate::project::view::ProjectView;

/// What `verify schema-drift` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SchemaReport {
    pub(crate) block: bool,
    drift_detected: bool,
    blocking: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema_files: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    orms: Option<Vec<&'static str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unpushed_orms: Option<Vec<&'static str>>,
    pub(crate) message: String,
    /// The commands that update the database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cure: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<bool>,
}

/// A tool that updates a database from files.
struct Mapper {
    name: &'static str,
    owns: fn(&str) -> bool,
    /// The command that updates the database.
    push: &'static str,
    /// Words in a summary that say that it was run.
    pushed: &'static [&'static str],
}

const MAPPERS: &[Mapper] = &[
    Mapper {
        name: "prisma",
        owns: |path| path.ends_with(".prisma"),
        push: "npx prisma db push",
        pushed: &["prisma db push", "prisma migrate deploy", "prisma migrate dev"],
    },
    Mapper {
        name: "drizzle",
        owns: |path| {
            is_script(path)
                && (path.contains("drizzle/") || path.ends_with("/db/schema.ts") || path.contains("/db/schema/"))
        },
        push: "npx drizzle-kit push",
        pushed: &["drizzle-kit push", "drizzle-kit migrate"],
    },
    Mapper {
        name: "supabase",
        owns: |path| path.contains("supabase/migrations/"),
        push: "supabase db push",
        pushed: &["supabase db push", "supabase migration up"],
    },
    Mapper {
        name: "typeorm",
        owns: |path| path.ends_with(".entity.ts") || (is_script(path) && path.contains("migrations/")),
        push: "npx typeorm migration:run",
        pushed: &["typeorm migration:run"],
    },
    Mapper {
        name: "payload",
        owns: |path| is_script(path) && (path.contains("collections/") || path.contains("globals/")),
        push: "npx payload migrate",
        pushed: &["payload migrate"],
    },
];

fn is_script(path: &str) -> bool {
    [".ts", ".js", ".mts", ".mjs"].iter().any(|ending| path.ends_with(ending))
}

/// Checks whether a phase changed schema files and no summary says that the database was updated. `changed` has the
/// files changed by its commits, each with the plans that changed it. For a finished plan without a commit here, the
/// files it lists count.
pub(crate) fn schema(
    view: &ProjectView,
    folder: Option<&PhaseFolder>,
    skip: bool,
    changed: &BTreeMap<&str, BTreeSet<&str>>,
) -> Result<SchemaReport, FileError> {
    let mut files: Vec<String> = changed.keys().map(|file| (*file).to_owned()).collect();
    let committed: BTreeSet<&str> = changed.values().flatten().copied().collect();
    // A phase without a folder has no plans yet, so nothing has drifted.
    let plans = folder.map(|folder| view.current_plans(folder)).transpose()?.unwrap_or_default();
    for (folder, plan) in folder.into_iter().flat_map(|folder| plans.iter().map(move |plan| (folder, plan))) {
        let id = plan_id(plan);
        if folder.summary_of(plan).is_some() && !committed.contains(id) && !committed.contains(canonical_id(id)) {
            let text = view.text(&folder.join(plan))?.unwrap_or_default();
            files.extend(PhasePlan::parse(&text).files_modified());
        }
    }
    let mapper = |file: &String| MAPPERS.iter().find(|mapper| (mapper.owns)(&format!("/{file}")));
    files.retain(|file| mapper(file).is_some());
    let mut seen = BTreeSet::new();
    files.retain(|file| seen.insert(file.clone()));
    let mut mappers: Vec<&Mapper> = Vec::new();
    for found in files.iter().filter_map(mapper) {
        if !mappers.iter().any(|known| known.name == found.name) {
            mappers.push(found);
        }
    }
    let mut done = Vec::new();
    for summary in folder.into_iter().flat_map(|folder| folder.summaries().map(|summary| folder.join(summary))) {
        done.extend(claims(&view.text(&summary)?.unwrap_or_default()));
    }
    let is_pushed = |mapper: &Mapper| done.iter().any(|claim| mapper.pushed.iter().any(|words| claim.contains(words)));
    let unpushed: Vec<&Mapper> = mappers.iter().copied().filter(|mapper| !is_pushed(mapper)).collect();
    let drift = !unpushed.is_empty();
    let names = |mappers: &[&Mapper]| mappers.iter().map(|mapper| mapper.name).collect::<Vec<_>>();
    let calls: Vec<&str> = unpushed.iter().map(|mapper| mapper.push).collect();
    let message = match (drift, skip) {
        (false, _) => String::new(),
        (true, true) => "The database schema drifted, but the check is off (GSD_SKIP_SCHEMA_CHECK=true).".to_owned(),
        (true, false) => format!(
            "The database schema drifted: {} changed, and no summary reports that the schema was pushed. \
             GSD_SKIP_SCHEMA_CHECK=true skips this gate once.",
            files.join(", ")
        ),
    };
    let block = drift && !skip;
    Ok(SchemaReport {
        block,
        drift_detected: drift,
        blocking: block,
        schema_files: Some(files),
        orms: Some(names(&mappers)),
        unpushed_orms: Some(names(&unpushed)),
        message,
        cure: block.then(|| format!("run `{}` and note it in the plan's summary", calls.join("` and `"))),
        skipped: Some(drift && skip),
    })
}

/// Words that say that something was not done.
const NOT_DONE: &[&str] = &[
    "not ",
    "n't ",
    "never ",
    "skip",
    "fail",
    "pending",
    "later ",
    "todo:",
    "to do:",
    "to be run",
    "must ",
    "should ",
    "needs to",
    "has to ",
    "have to ",
    "remains",
    "user setup",
    "next phase",
    "blocked",
    "- [ ]",
    "| no |",
];

/// The sentences of a summary that say what was done. Text below a heading of open items is left out.
fn claims(summary: &str) -> Vec<String> {
    let (mut blocks, mut is_open): (Vec<String>, bool) = (Vec::new(), false);
    let mut is_new = true;
    for line in summary.lines() {
        let trimmed = line.trim();
        let words = trimmed.to_lowercase();
        if trimmed.starts_with('#') {
            is_open = NOT_DONE.iter().any(|not| format!("{words} ").contains(not));
        }
        let begins = trimmed.starts_with(['#', '|']) || ["- ", "* ", "+ "].iter().any(|mark| trimmed.starts_with(mark));
        match blocks.last_mut() {
            _ if trimmed.is_empty() || is_open => {}
            Some(block) if !is_new && !begins => *block = format!("{block} {words}"),
            _ => blocks.push(words),
        }
        is_new = trimmed.is_empty() || is_open || trimmed.starts_with('#');
    }
    let sentences = blocks.iter().flat_map(|block| block.split(". ").flat_map(|part| part.split("; ")));
    let is_claim = |sentence: &&str| {
        let sentence = format!("{sentence} ").replace(" 0 failed", "").replace("no failures", "");
        !NOT_DONE.iter().any(|not| sentence.contains(not))
    };
    sentences.filter(is_claim).map(str::to_owned).collect()
}

/// What `verify context-drift` answers.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct ContextReport {
    pub(crate) block: bool,
    skipped: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    stale_artifacts: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<&'static str>,
    pub(crate) message: String,
    /// The command that makes the documents again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cure: Option<String>,
}

/// The documents made from the decisions of a phase, in the order in which they are made.
const MADE_FROM_CONTEXT: &[&str] = &["RESEARCH", "PATTERNS", "VALIDATION", "SPEC"];

/// Checks whether documents made from the decisions of a phase are older than them. `blocks` says whether that blocks.
pub(crate) fn context(
    view: &ProjectView,
    folder: Option<&PhaseFolder>,
    number: &str,
    blocks: bool,
    command_prefix: &str,
) -> ContextReport {
    let skipped = |reason| ContextReport { skipped: true, reason: Some(reason), ..ContextReport::default() };
    let found = folder.and_then(|folder| Some((folder, folder.artifact_path("CONTEXT")?)));
    let Some((folder, context)) = found else { return skipped("no-context-md") };
    // The specifications of user interfaces and of models are separate kinds.
    let other_kind = |file: &&str| file.ends_with("UI-SPEC.md") || file.ends_with("AI-SPEC.md");
    let made = MADE_FROM_CONTEXT.iter().flat_map(|kind| folder.artifacts(kind));
    let made: Vec<&str> = made.filter(|file| !other_kind(file)).collect();
    if made.is_empty() {
        return skipped("no-upstream-artifacts");
    }
    let asked: Vec<String> = std::iter::once(context).chain(made.iter().map(|file| folder.join(file))).collect();
    let times = view.changed_at(&asked);
    let older = |time: &Option<i64>| matches!((times[0], time), (Some(context), Some(time)) if context > *time);
    let stale_artifacts: Vec<String> =
        made.iter().zip(&times[1..]).filter(|(_, time)| older(time)).map(|(file, _)| (*file).to_owned()).collect();
    let message = if stale_artifacts.is_empty() {
        String::new()
    } else {
        format!("CONTEXT.md is newer than {}", stale_artifacts.join(", "))
    };
    let cure = (!stale_artifacts.is_empty()).then(|| format!("{command_prefix}plan-phase {number} --research"));
    ContextReport {
        block: blocks && !stale_artifacts.is_empty(),
        skipped: false,
        reason: None,
        stale_artifacts,
        action: Some(if blocks { "block" } else { "warn" }),
        message,
        cure,
    }
}

/// What `verify codebase-drift` answers.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct CodebaseReport {
    pub(crate) block: bool,
    skipped: bool,
    reason: Option<&'static str>,
    action_required: bool,
    directive: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    spawn_mapper: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    affected_paths: Option<Vec<String>>,
    elements: Vec<Element>,
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<String>,
    last_mapped_commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
    /// The command that updates the map.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cure: Option<String>,
}

/// A file that the map of the source does not cover.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct Element {
    category: &'static str,
    path: String,
}

/// The state of the map of the source.
#[derive(Debug)]
pub(crate) enum Mapped<'text> {
    /// The map does not exist.
    Missing,
    /// The map does not name its commit.
    Undated,
    /// The repository does not have that commit.
    Unknown(&'text str),
    /// The map, its commit, and the files added since.
    Since { map: &'text str, commit: &'text str, added: Vec<String> },
}

/// The threshold for drift, and what to do above it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DriftPolicy<'text> {
    pub(crate) threshold: u64,
    /// `warn` or `auto-remap`.
    pub(crate) action: &'text str,
    /// The command with which a person maps the code again; `None` if it is not installed.
    pub(crate) mapper: Option<&'text str>,
}

/// Checks whether the source has grown in places that its map does not cover.
pub(crate) fn codebase(mapped: Mapped<'_>, policy: DriftPolicy<'_>) -> CodebaseReport {
    let skipped = |reason, commit: Option<&str>| CodebaseReport {
        skipped: true,
        reason: Some(reason),
        directive: "none",
        last_mapped_commit: commit.map(str::to_owned),
        ..CodebaseReport::default()
    };
    let (map, commit, added) = match mapped {
        Mapped::Missing => return skipped("no-structure-md", None),
        Mapped::Undated => return skipped("no-mapped-commit", None),
        Mapped::Unknown(commit) => return skipped("unresolvable-mapped-commit", Some(commit)),
        Mapped::Since { map, commit, added } => (map, commit, added),
    };
    let mut elements: Vec<Element> = added.into_iter().filter_map(|path| element(map, path)).collect();
    elements.sort_by(|left, right| (left.category, &left.path).cmp(&(right.category, &right.path)));
    let required = elements.len() as u64 >= policy.threshold.max(1);
    let mut affected: Vec<String> = Vec::new();
    let mut message = String::new();
    if required {
        affected.extend(elements.iter().map(|element| area(&element.path)));
        affected.sort();
        affected.dedup();
        let paths: Vec<&str> = elements.iter().map(|element| element.path.as_str()).collect();
        message =
            format!("Codebase drift: {} new element(s) since the last mapping: {}", elements.len(), paths.join(", "));
    }
    let cure = required.then(|| match policy.mapper {
        Some(command) => format!("{command} --paths {}", affected.join(",")),
        None => "add them to `.planning/codebase/STRUCTURE.md`, then run `gsd-tools stamp-codebase-map`".to_owned(),
    });
    let remaps = required && policy.action == "auto-remap";
    CodebaseReport {
        block: required,
        skipped: false,
        reason: None,
        action_required: required,
        directive: match (required, remaps) {
            (false, _) => "none",
            (true, false) => "warn",
            (true, true) => "auto-remap",
        },
        spawn_mapper: Some(remaps),
        affected_paths: Some(affected),
        elements,
        threshold: Some(policy.threshold),
        action: Some(policy.action.to_owned()),
        last_mapped_commit: Some(commit.to_owned()),
        message: Some(message),
        cure,
    }
}

/// The element that a new file adds to the source but not to the map: any migration; a folder that the map does not
/// name; or, in a folder it names, an entry point: the barrel file of a workspace member, or a route.
fn element(map: &str, path: String) -> Option<Element> {
    if path.starts_with(".planning/") || path.starts_with('.') {
        return None;
    }
    let (folders, name) = path.rsplit_once('/')?;
    let has = |wanted: &[&str]| folders.split('/').any(|folder| wanted.contains(&folder));
    let category = if has(&["migrations"]) {
        "migration"
    } else if !is_mapped(map, &area(&path)) {
        "new_dir"
    } else if is_barrel(&path) {
        "barrel"
    } else if has(&["routes", "api"]) && is_source(name) && !has(&["tests", "test", "__tests__", "__mocks__"]) {
        "route"
    } else {
        return None;
    };
    Some(Element { category, path })
}

/// True if others import the workspace member through this file.
fn is_barrel(path: &str) -> bool {
    let inside = path.strip_prefix(&area(path)).and_then(|rest| rest.strip_prefix("/src/index."));
    area(path).contains('/') && inside.is_some_and(|ending| SCRIPTS.contains(&ending))
}

const SCRIPTS: &[&str] = &["ts", "tsx", "js", "jsx", "mjs", "cjs", "mts", "cts"];

/// True if a file is source code but not a test.
fn is_source(name: &str) -> bool {
    const OTHERS: &[&str] =
        &["py", "go", "rs", "rb", "php", "java", "kt", "cs", "ex", "svelte", "vue", "scala", "swift"];
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    let is_test =
        [".test", ".spec", "_test", "_spec"].iter().any(|end| stem.ends_with(end)) || stem.starts_with("test_");
    (SCRIPTS.contains(&ending) || OTHERS.contains(&ending)) && !is_test && stem.rsplit('.').next() != Some("d")
}

/// True if the map names a part of the source: as a path, or, for a workspace member, in a tree below its folder.
fn is_mapped(map: &str, area: &str) -> bool {
    let names = |folder: &str| {
        map.match_indices(folder).any(|(at, _)| {
            let before = map[..at].strip_suffix("./").unwrap_or(&map[..at]);
            let is_whole = !before.ends_with(|letter: char| letter.is_alphanumeric() || "_-./".contains(letter));
            let rest = &map[at + folder.len()..];
            is_whole && (rest.starts_with('/') || before.ends_with('`') && rest.starts_with('`'))
        })
    };
    match area.split_once('/') {
        _ if names(area) => true,
        Some((top, member)) => names(top) && names(member),
        None => false,
    }
}

/// The part of the source that a file belongs to: its top folder, and in a workspace also the member.
fn area(path: &str) -> String {
    let mut parts = path.split('/');
    let top = parts.next().unwrap_or_default();
    match (parts.next(), parts.next()) {
        (Some(member), Some(_)) if matches!(top, "packages" | "apps") => format!("{top}/{member}"),
        _ => top.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;

    fn view(plan: &str, summary: &str) -> ProjectView {
        let mut files = MemoryFiles::new([
            (".planning/phases/01-a/01-01-PLAN.md", plan),
            (".planning/phases/01-a/01-01-SUMMARY.md", summary),
            (".planning/phases/01-a/01-CONTEXT.md", "x"),
            (".planning/phases/01-a/01-RESEARCH.md", "x"),
        ]);
        files.changed.insert(".planning/phases/01-a/01-CONTEXT.md".into(), 9);
        files.view()
    }

    fn folder(view: &ProjectView) -> PhaseFolder {
        view.phase_folders().unwrap()[0].clone()
    }

    #[test]
    fn schema_files_without_a_push_block_unless_skipped() {
        let plan = "---\nfiles_modified: [prisma/schema.prisma, src/db/schema.ts, src/entities/user.entity.ts, README.md]\n---\n";
        let report = |summary: &str, skip| {
            let view = view(plan, summary);
            schema(&view, Some(&folder(&view)), skip, &BTreeMap::new()).unwrap()
        };
        let drifted = report("ran `npx prisma db push`", false);
        assert_eq!(drifted.orms.unwrap(), ["prisma", "drizzle", "typeorm"]);
        assert_eq!(drifted.unpushed_orms.unwrap(), ["drizzle", "typeorm"]);
        assert!(drifted.block && drifted.cure.unwrap().contains("`npx drizzle-kit push` and `npx typeorm"));
        let skipped = report("", true);
        assert!(!skipped.block && skipped.drift_detected && skipped.skipped == Some(true));
        let whole = report("prisma db push, drizzle-kit migrate, typeorm migration:run", false);
        assert!(!whole.drift_detected && whole.message.is_empty());
        let unplanned = schema(&view("", ""), None, false, &BTreeMap::new()).unwrap();
        assert!(!unplanned.block && unplanned.cure.is_none());
    }

    #[test]
    fn only_executed_work_counts_as_a_schema_change() {
        const PLAN: &str = "---\nfiles_modified: [prisma/schema.prisma]\n---\n";
        let of = |files: &[(&str, &str)], changed: &[(&str, &[&str])]| {
            let files: Vec<(String, &str)> =
                files.iter().map(|(file, text)| (format!(".planning/phases/01-a/{file}"), *text)).collect();
            let view = MemoryFiles::new(files.iter().map(|(path, text)| (path.as_str(), *text))).view();
            let changed = changed.iter().map(|(file, by)| (*file, by.iter().copied().collect())).collect();
            schema(&view, Some(&folder(&view)), false, &changed).unwrap().drift_detected
        };
        assert!(!of(&[("01-01-PLAN.md", PLAN)], &[]), "a plan that nobody has begun");
        assert!(of(&[("01-01-PLAN.md", PLAN), ("01-01-SUMMARY.md", "done")], &[]), "done, without git");
        let done: &[(&str, &str)] = &[("01-01-PLAN.md", PLAN), ("01-01-SUMMARY.md", "done")];
        assert!(!of(done, &[("src/a.ts", &["01-01"])]), "its commits did not touch the schema");
        let unplanned: &[(&str, &str)] = &[("01-01-PLAN.md", ""), ("01-01-SUMMARY.md", "done")];
        assert!(of(unplanned, &[("prisma/schema.prisma", &["01-01"])]), "a commit did, whatever the plan says");
    }

    #[test]
    fn a_push_that_was_not_run_does_not_count() {
        let drifts = |summary: &str| {
            let view = view("---\nfiles_modified: [prisma/schema.prisma]\n---\n", summary);
            schema(&view, Some(&folder(&view)), false, &BTreeMap::new()).unwrap().drift_detected
        };
        for told in [
            "not run: prisma db push",
            "`npx prisma db push` was skipped: no database.",
            "`prisma db push` failed",
            "I could not start a database, so that `prisma db push`\nis still to be run.",
            "| `prisma db push` | not run |",
            "- [ ] prisma db push",
            "## User Setup Required\n\nprisma db push",
            "Run the tests. `prisma db push` must be run on deploy.",
        ] {
            assert!(drifts(told), "{told}");
        }
        for told in [
            "Ran `npx prisma db push`.",
            "## Not Run\n\n- e2e\n\n## Done\n\n- prisma db push",
            "The browser tests were not run. Pushed with prisma db push.",
            "| `prisma db push` | ok |",
        ] {
            assert!(!drifts(told), "{told}");
        }
    }

    #[test]
    fn research_older_than_its_context_is_stale() {
        let view = view("", "");
        let report = context(&view, Some(&folder(&view)), "1", true, "/gsd-");
        assert_eq!((report.block, report.stale_artifacts), (true, vec!["01-RESEARCH.md".to_owned()]));
        assert_eq!(report.cure.as_deref(), Some("/gsd-plan-phase 1 --research"));
        assert!(!context(&view, Some(&folder(&view)), "1", false, "/gsd-").block);
        assert_eq!(context(&view, None, "9", true, "").reason, Some("no-context-md"));
        let skipped = |files: &[&str]| {
            let files: Vec<(String, &str)> =
                files.iter().map(|file| (format!(".planning/phases/01-a/{file}"), "x")).collect();
            let files = MemoryFiles::new(files.iter().map(|(path, text)| (path.as_str(), *text)));
            let view = files.view();
            context(&view, Some(&folder(&view)), "1", true, "").reason
        };
        assert_eq!(skipped(&["01-RESEARCH.md"]), Some("no-context-md"));
        assert_eq!(skipped(&["01-CONTEXT.md", "01-UI-SPEC.md"]), Some("no-upstream-artifacts"));
        assert_eq!(skipped(&["01-CONTEXT.md", "01-SPEC.md"]), None);
    }

    const POLICY: DriftPolicy<'_> = DriftPolicy { threshold: 3, action: "warn", mapper: None };

    #[test]
    fn entry_points_count_in_mapped_folders_too() {
        const MAP: &str = "- `src/lib/`\n- src/\n```\n├── packages/\n│   ├── web/\n├── apps/api/\n```\n";
        for (path, category) in [
            ("packages/web/src/index.ts", Some("barrel")),
            ("apps/api/src/index.mjs", Some("barrel")),
            ("packages/web/src/index.d.ts", None),
            ("packages/web/index.ts", None),
            ("src/index.ts", None),
            ("packages/other/src/index.ts", Some("new_dir")),
            ("packages/README.md", None),
            ("lib/a.ts", Some("new_dir")),
            ("src/routes/users/list.ts", Some("route")),
            ("src/server/api/users.py", Some("route")),
            ("packages/web/src/api/a.svelte", Some("route")),
            ("src/routes/users.test.ts", None),
            ("src/api/tests/users.ts", None),
            ("src/api/README.md", None),
            ("src/routes/a.d.ts", None),
            ("src/other/a.ts", None),
            ("lib/migrations/1.sql", Some("migration")),
            ("top.ts", None),
        ] {
            assert_eq!(element(MAP, path.to_owned()).map(|element| element.category), category, "{path}");
        }
    }

    #[test]
    fn new_places_in_the_source_are_counted_against_the_threshold() {
        let since = |added: &[&str]| Mapped::Since {
            map: "- src/\n- `docs`\n",
            commit: "abc",
            added: added.iter().map(|path| (*path).to_owned()).collect(),
        };
        let few = codebase(since(&["lib/a.ts", "src/b.ts", "docs/c.md", "top.ts", ".planning/x/y"]), POLICY);
        assert_eq!((few.elements.len(), few.block, few.directive), (1, false, "none"));
        let many = codebase(since(&["lib/a.ts", "packages/x/src/b.ts", "src/migrations/1.sql"]), POLICY);
        assert_eq!(
            (many.block, many.affected_paths.unwrap()),
            (true, vec!["lib".to_owned(), "packages/x".into(), "src".into()])
        );
        assert_eq!(many.elements[0].category, "migration");
        assert!(many.cure.unwrap().contains("gsd-tools stamp-codebase-map"));
        let mapped = DriftPolicy { mapper: Some("/x"), ..POLICY };
        assert_eq!(
            codebase(since(&["lib/a", "app/b", "web/c"]), mapped).cure.as_deref(),
            Some("/x --paths app,lib,web")
        );
        for (mapped, reason) in [
            (Mapped::Missing, "no-structure-md"),
            (Mapped::Undated, "no-mapped-commit"),
            (Mapped::Unknown("x"), "unresolvable-mapped-commit"),
        ] {
            assert_eq!(codebase(mapped, POLICY).reason, Some(reason));
        }
    }
}
