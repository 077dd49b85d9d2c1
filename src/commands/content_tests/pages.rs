//! Pages of `docs/` that are generated from the content and its tables: agents, configuration, and the list of all
//! texts.

use std::fmt::Write as _;
use std::path::Path;

use crate::library::{Item, ItemKind, Library};
use crate::project::config::{ConfigTexts, facts, unused};
use crate::project::milestone_layout::preference_table::{KEYS, PreferenceKey, PreferenceUse};

const MADE: &str = "A test writes this page:\n`SNAPSHOTS=overwrite cargo test --lib pages`.";

#[test]
fn pages_generated_from_the_content_are_those_in_docs() {
    let library = Library::embedded().unwrap();
    for (name, page) in [
        ("agents", agents(&library)),
        ("configuration", configuration(&library)),
        ("inventory", inventory(&library)),
        ("preferences", preferences()),
    ] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("docs/{name}.md"));
        snapbox::assert_data_eq!(page, snapbox::Data::read_from(&file, None).raw());
    }
}

/// The names of those items whose texts contain `word` as a whole word.
fn naming<'a>(library: &'a Library, word: &str) -> Vec<&'a Item> {
    let has = |text: &str| {
        text.match_indices(word).any(|(at, _)| {
            let inside = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
            let goes_on =
                text[at + word.len()..].starts_with(|next: char| next.is_alphanumeric() || "-_".contains(next));
            !text[..at].ends_with(inside) && !goes_on
        })
    };
    let reads = |item: &&Item| {
        let front = ["settings", "agents"].iter().flat_map(|key| item.front_matter.names(key));
        has(&item.body) || front.into_iter().any(|name| name == word)
    };
    library.items().filter(|item| !item.path.starts_with("templates/guide/")).filter(reads).collect()
}

/// The workflows of some items, each once: a step counts for its workflow.
fn workflows<'a>(items: &[&'a Item]) -> Vec<&'a str> {
    let mut names: Vec<&str> = items
        .iter()
        .filter(|item| matches!(item.kind, ItemKind::Workflow | ItemKind::Command))
        .filter_map(|item| item.name.as_str().split('/').next())
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn list(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

fn agents(library: &Library) -> String {
    let mut page = format!(
        "# Agents\n\nThe subagents that workflows start, each with a fresh context and the paths of what it reads. {MADE}\n\n\
         Returns: the headings that a workflow waits for; an agent without one is judged by the file it writes. `models.*` \
         and\n`model_profile` of the [configuration](configuration.md) choose the model.\n\n\
         | agent | what it does | started by | returns |\n|---|---|---|---|\n"
    );
    for agent in library.of_kind(ItemKind::Agent) {
        let about = agent.front_matter.text("description").unwrap_or_default();
        let name = format!("gsd-{}", agent.name);
        let mut starters = naming(library, &name);
        starters.extend(
            naming(library, agent.name.as_str())
                .into_iter()
                .filter(|item| item.front_matter.names("agents").contains(&agent.name.as_str())),
        );
        let returns = agent.front_matter.names("returns");
        let _ = writeln!(page, "| `{name}` | {about} | {} | {} |", list(&workflows(&starters)), list(&returns));
    }
    page
}

fn configuration(library: &Library) -> String {
    let mut page = format!(
        "# Configuration\n\nEvery key of `.planning/config.json`. {MADE}\n\n`gsd-tools config list` shows the keys that are set, \
         `gsd-tools config explain KEY` one of them, `gsd-tools config-set KEY VALUE`\nsets it. A key with `*` takes any name \
         in its place. The program itself reads keys that no text is listed for.\n\n\
         | key | what it does | accepts | default | read by |\n|---|---|---|---|---|\n"
    );
    for key in facts::list(ConfigTexts::default(), true, None).unwrap() {
        let cell = |text: &str| text.replace('|', "\\|");
        let last = key.key.rsplit('.').next().unwrap_or(&key.key);
        let mut readers = naming(library, &key.key);
        if last.contains('_') {
            readers.extend(naming(library, last).into_iter().filter(|item| item.body.contains(&format!("`{last}`"))));
        }
        let read_by = match unused(&key.key) {
            Some(reason) => format!("nothing: {reason}"),
            None => list(&workflows(&readers)),
        };
        let default = if key.default.is_null() { String::new() } else { format!("`{}`", key.default) };
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} | {} |",
            key.key,
            cell(key.about.unwrap_or_default()),
            cell(&key.accepts.unwrap_or_default()),
            cell(&default),
            read_by
        );
    }
    page
}

/// The sections of the page about preferences.
const SECTIONS: [&str; 4] = [
    "Preferences that a run follows",
    "Only in your own file",
    "Compared with the run",
    "Accepted if they ask for what happens anyway",
];

fn preferences() -> String {
    let mut page = format!(
        "# Preferences of runs\n\nEvery key of `PREFERENCES.md`, which says how [`auto run`](auto-mode.md) works. {MADE}\n\n\
         The preferences of a project are in `.gsd/PREFERENCES.md`, which is committed, in both layouts. Those for all your \
         projects are in\n`~/.gsd/PREFERENCES.md`; what the project sets counts first. The keys are between two lines `---`:\n\n\
         ```\n{}```\n\n\
         `gsd-tools config list` shows the preferences that are set, with file and line, and marks those that are wrong; \
         `--all` adds the rest.\n`gsd-tools config explain KEY` explains one. `auto run` does not start with a value that \
         a key does not accept, or that asks for\nsomething that a run does not do (exit code 64): it names each with its \
         file and line. A run that has begun continues and names them.\nA key that differs from a known one in one or two \
         letters is named too, and a line says how many keys belong to other programs.\nA document that is not YAML is \
         refused with its line.\n\nFor programs they are `preferences` of `config list` and `preference` of `config explain`: \
         `key`, `value`, `default`, `source`, `file`,\n`line`, the `problem` with what is written, and, if the key is `known`, \
         `about`, `accepts`, the default in words (`unset`), what a run\ndoes with it (`handling`), an `example` and where it may \
         be written (`written_in`).\n",
        "---\nverification_commands: [cargo test, npm run lint]\ngit:\n  worktree_post_create: npm ci\n---\n"
    );
    let section = |key: &PreferenceKey| match key.handled {
        PreferenceUse::Followed => SECTIONS[0],
        PreferenceUse::Users(_) => SECTIONS[1],
        PreferenceUse::Target | PreferenceUse::Model => SECTIONS[2],
        PreferenceUse::Only(..) | PreferenceUse::Idle(_) => SECTIONS[3],
    };
    for title in SECTIONS {
        let _ = write!(
            page,
            "\n## {title}\n\n| key | what it does | accepts | default | in a run | example |\n|---|---|---|---|---|---|\n"
        );
        for key in KEYS.iter().filter(|key| section(key) == title) {
            let example = if key.example.starts_with('\n') { "below".to_owned() } else { format!("`{}`", key.example) };
            let _ = writeln!(
                page,
                "| `{}` | {} | {} | {} | {} | {example} |",
                key.name,
                key.about,
                key.kind,
                key.default_in_words(),
                key.use_in_words(),
            );
        }
    }
    for key in KEYS.iter().filter(|key| key.example.starts_with('\n')) {
        let _ = write!(page, "\nAn example of `{}`:\n\n```\n{}```\n", key.name, key.document());
    }
    page
}

fn inventory(library: &Library) -> String {
    let mut page =
        format!("# What is installed\n\nEvery text of the library, by kind, with its size in bytes. {MADE}\n");
    let kinds = [
        (ItemKind::Command, "Commands"),
        (ItemKind::Router, "Routers"),
        (ItemKind::Workflow, "Workflows and their steps"),
        (ItemKind::Agent, "Agents"),
        (ItemKind::Reference, "References"),
        (ItemKind::Template, "Templates"),
    ];
    for (kind, title) in kinds {
        let _ = write!(page, "\n## {title}\n\n| text | what it is | bytes |\n|---|---|---|\n");
        for item in library.of_kind(kind).filter(|item| !item.path.starts_with("templates/guide/")) {
            let heading = item.body.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default();
            let about = item.front_matter.text("description").unwrap_or(heading).replace('|', "\\|");
            let _ = writeln!(page, "| `{}` | {about} | {} |", item.path, item.body.len());
        }
    }
    let _ = write!(page, "\n## Hooks\n\n| hook | what it does |\n|---|---|\n");
    for hook in &library.hooks().rows {
        let _ = writeln!(page, "| `{}` | {} |", hook.name, hook.purpose.replace('|', "\\|"));
    }
    page
}
