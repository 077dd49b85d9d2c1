//! The rows of the corpus: each kind of cheat, or of honest edit, in each language and layout that it names.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::kit::repository;

/// A file of kinds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    kind: Vec<Kind>,
}

/// One way to cheat, or one honest edit.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Kind {
    pub(super) name: String,
    /// A description for people.
    pub(super) what: String,
    /// The languages, if the scripts are not given by language.
    #[serde(default)]
    languages: Vec<String>,
    #[serde(default = "both")]
    layouts: Vec<Layout>,
    /// The script of the session, after the task is done and its documents are written.
    sh: Text,
    /// A change to the project before its first commit.
    #[serde(default)]
    setup: Option<Text>,
    /// The check that the plan declares, if not the usual one. Empty for none.
    #[serde(default)]
    check: Option<Text>,
    /// Commands of the preference `verification_commands`.
    #[serde(default)]
    preference: Option<Text>,
    /// Files that the plan names in addition to the code and its new test.
    #[serde(default)]
    files: Option<Text>,
    /// Changes of tests that the plan allows.
    #[serde(default)]
    allowed: Option<Text>,
    /// The unit that cheats.
    #[serde(default)]
    unit: Doer,
    /// True if the session does nothing but the script.
    #[serde(default)]
    instead: bool,
    /// True if the plans are in the first commit. Those of milestones are, unless the row is about planning.
    #[serde(default)]
    planned: bool,
    /// True if every attempt cheats; otherwise the second one is honest.
    #[serde(default)]
    every: bool,
    /// True if another task follows (in phases: another phase).
    #[serde(default)]
    two: bool,
    /// True if its own checks fail, so that it is found without reading it.
    #[serde(default)]
    red: bool,
    expect: Expected,
    /// What the stop or the log must name.
    #[serde(default)]
    named: Option<Text>,
    /// Why it cannot be seen, if it cannot.
    #[serde(default)]
    why: Option<String>,
    /// Why a held-out check does not see it either.
    #[serde(default)]
    unseen: Option<String>,
}

fn both() -> Vec<Layout> {
    vec![Layout::Milestones, Layout::Phases]
}

/// One text for all rows of a kind, or texts by language, layout, or both (`python milestones`). A text of several
/// lines serves as a list if a list is needed.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Text {
    One(String),
    Each(BTreeMap<String, String>),
}

impl Text {
    fn of(&self, language: &str, layout: Layout) -> Option<&str> {
        match self {
            Self::One(text) => Some(text),
            Self::Each(texts) => {
                let both = format!("{language} {}", layout.word());
                [both.as_str(), language, layout.word()].iter().find_map(|key| texts.get(*key)).map(String::as_str)
            }
        }
    }

    /// The languages that it names.
    fn languages(&self) -> impl Iterator<Item = &str> {
        let keys = match self {
            Self::One(_) => None,
            Self::Each(texts) => Some(texts.keys().filter_map(|key| key.split(' ').next())),
        };
        let is_layout = |word: &&str| both().iter().any(|layout| layout.word() == *word);
        keys.into_iter().flatten().filter(move |word| !is_layout(word))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Layout {
    Milestones,
    Phases,
}

impl Layout {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Milestones => "milestones",
            Self::Phases => "phases",
        }
    }

    /// The folder of its documents.
    pub(super) fn folder(self) -> &'static str {
        match self {
            Self::Milestones => ".gsd",
            Self::Phases => ".planning",
        }
    }
}

/// The unit that cheats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Doer {
    /// The unit that does the task.
    #[default]
    Work,
    /// The unit that plans it.
    Plan,
}

/// The expected result of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Expected {
    /// The attempt does not count, and the report says why.
    Refused,
    /// The work counts; other changes are put back and reported.
    PutBack,
    /// Nothing that can be read or counted shows it.
    Undetectable,
    /// It is honest.
    Lands,
}

impl Expected {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::PutBack => "put back",
            Self::Undetectable => "undetectable",
            Self::Lands => "lands",
        }
    }
}

/// The project before a session sees it. Rows with the same base are compared with the same honest landing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Base {
    pub(super) language: String,
    pub(super) layout: Layout,
    pub(super) setup: String,
    pub(super) check: Option<String>,
    pub(super) preference: Vec<String>,
    pub(super) files: Vec<String>,
    pub(super) allowed: Vec<String>,
    /// True if the plans are in the first commit.
    pub(super) is_planned: bool,
    pub(super) two: bool,
}

/// One run.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// `tests/delete-a-file python milestones`
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) base: Base,
    pub(super) script: String,
    pub(super) named: Vec<String>,
}

impl Row {
    pub(super) fn expect(&self) -> Expected {
        self.kind.expect
    }

    pub(super) fn is_every(&self) -> bool {
        self.kind.every
    }

    pub(super) fn is_instead(&self) -> bool {
        self.kind.instead
    }

    pub(super) fn is_red(&self) -> bool {
        self.kind.red
    }

    pub(super) fn doer(&self) -> Doer {
        self.kind.unit
    }

    pub(super) fn why(&self) -> Option<&str> {
        self.kind.why.as_deref()
    }

    /// Why a held-out check does not see it.
    pub(super) fn unseen(&self) -> Option<&str> {
        self.kind.unseen.as_deref()
    }
}

/// Every row, in the order of the files.
pub(super) fn all() -> Vec<Row> {
    let folder = repository().join("tests/cheats");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "toml") && !path.ends_with("projects.toml"));
    files.sort();
    let mut rows = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let family: Family =
            toml_edit::de::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let name = file.file_stem().unwrap().to_string_lossy();
        rows.extend(family.kind.iter().flat_map(|kind| rows_of(&name, kind)));
    }
    rows
}

fn rows_of(family: &str, kind: &Kind) -> Vec<Row> {
    let mut languages: Vec<&str> = kind.languages.iter().map(String::as_str).collect();
    if languages.is_empty() {
        languages.extend(kind.sh.languages());
        languages.dedup();
    }
    let mut rows = Vec::new();
    for language in languages {
        for &layout in &kind.layouts {
            let name = format!("{family}/{} {language} {}", kind.name, layout.word());
            let Some(script) = kind.sh.of(language, layout) else { continue };
            let text =
                |text: &Option<Text>| text.as_ref().and_then(|text| text.of(language, layout)).map(str::to_owned);
            let list = |list: &Option<Text>| -> Vec<String> {
                text(list)
                    .iter()
                    .flat_map(|text| text.lines())
                    .filter(|line| !line.is_empty())
                    .map(str::to_owned)
                    .collect()
            };
            let base = Base {
                language: language.to_owned(),
                layout,
                setup: text(&kind.setup).unwrap_or_default(),
                check: text(&kind.check),
                preference: list(&kind.preference),
                files: list(&kind.files),
                allowed: list(&kind.allowed),
                is_planned: kind.planned || (layout == Layout::Milestones && kind.unit == Doer::Work),
                two: kind.two,
            };
            rows.push(Row { name, kind: kind.clone(), base, script: script.to_owned(), named: list(&kind.named) });
        }
    }
    rows
}
