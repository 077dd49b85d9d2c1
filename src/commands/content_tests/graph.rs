//! The graph of document parts: each section, block and front matter key that a document's form asks for has a reader,
//! and each part that a text refers to has a writer. `readers.txt` lists the readers of each part, and the words they
//! use.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const TABLE: &str = include_str!("readers.txt");

/// How many sections and blocks are not named anywhere: they are read with the whole document, or with the part around
/// them. The number may only decrease.
const UNNAMED: usize = 203;

/// A person, as a reader.
const PERSON: &str = "a person";

/// Texts whose forms are shown and not stored as documents.
const SHOWN: &[&str] = &["workflows/resume-project.md", "workflows/progress.md", "workflows/manager.md"];

/// The maximum distance in bytes between a document's name and the words about one of its parts.
const NEAR: usize = 600;

/// How many bytes at the beginning of a text name the subject of all of it.
const SUBJECT: usize = 700;

/// Texts by their paths.
type Texts = BTreeMap<String, String>;

#[derive(Default)]
struct DocumentRow<'table> {
    name: &'table str,
    forms: Vec<&'table str>,
    /// The words with which a reader names it.
    named: Vec<&'table str>,
    /// Files and folders of the program that read it.
    code: Vec<&'table str>,
    readers: Vec<PartReader<'table>>,
}

struct PartReader<'table> {
    units: Vec<&'table str>,
    by: &'table str,
    words: &'table str,
    /// Whether it reads the units without naming them.
    as_part: bool,
}

/// A named part of a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    /// `must_haves.truths`
    Key(String),
    /// A heading, or a block such as `<tasks>`.
    Section(String),
}

impl Unit {
    fn name(&self) -> &str {
        match self {
            Self::Key(name) | Self::Section(name) => name,
        }
    }

    /// The name without the keys around it.
    fn leaf(&self) -> &str {
        match self {
            Self::Key(name) => name.rsplit('.').next().unwrap_or(name),
            Self::Section(name) => name,
        }
    }

    /// Whether a name in the table means this unit: its own name, or `KEY.*` for a key above it.
    fn is_called(&self, name: &str) -> bool {
        let above = name.strip_suffix('*').filter(|above| above.ends_with('.'));
        self.name() == name || above.is_some_and(|above| self.name().starts_with(above))
    }
}

fn parse(table: &str) -> Vec<DocumentRow<'_>> {
    let mut documents: Vec<DocumentRow<'_>> = Vec::new();
    for line in table.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            documents.push(DocumentRow { name, ..DocumentRow::default() });
            continue;
        }
        let Some(last) = documents.last_mut().filter(|_| !line.is_empty() && !line.starts_with('#')) else { continue };
        let words = |list: &'static str| line.strip_prefix(list).map(|rest| rest.split(' ').collect::<Vec<_>>());
        if let Some(forms) = words("form: ") {
            last.forms = forms;
        } else if let Some(named) = words("named: ") {
            last.named = named;
        } else if let Some(code) = words("code: ") {
            last.code = code;
        } else {
            let as_part = line.contains(" <~ ");
            let (units, rest) = line.split_once(if as_part { " <~ " } else { " <- " }).expect(line);
            let (by, words) = rest.split_once(": ").expect(line);
            last.readers.push(PartReader { units: units.split("; ").collect(), by, words, as_part });
        }
    }
    documents
}

/// The texts of some folders, and the source code without tests.
fn texts() -> (Texts, Texts) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut texts, mut sources) = (Texts::new(), Texts::new());
    let mut open: Vec<_> = ["agents", "workflows", "references", "templates", "src"].map(|name| root.join(name)).into();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let name = path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
        let ending = path.extension().unwrap_or_default();
        if name.starts_with("src/") {
            if !name.contains("test") && (ending == "rs" || ending == "toml") {
                let text = std::fs::read_to_string(&path).unwrap();
                let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
                let lines: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
                sources.insert(name, lines.join("\n"));
            }
        } else if ending == "md" && !["guide", "demo", "auto"].iter().any(|kind| name.contains(&format!("/{kind}/"))) {
            texts.insert(name, std::fs::read_to_string(&path).unwrap());
        }
    }
    (texts, sources)
}

/// The fenced blocks of a language, without their indentation.
fn fences(text: &str, language: &str) -> Vec<String> {
    let opening = format!("```{language}");
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let bare = line.trim_start();
        if bare.trim_end() == opening {
            let indent = line.len() - bare.len();
            let inside = lines.by_ref().take_while(|line| line.trim_start() != "```");
            let inside = inside.flat_map(|line| [line.get(indent..).unwrap_or_default(), "\n"]);
            found.push(inside.collect());
        }
    }
    found
}

/// The document forms in a text: the whole text or its blocks if it is a template, else the blocks that begin like a
/// document.
fn forms(path: &str, text: &str) -> Vec<String> {
    let blocks = fences(text, "markdown");
    if !path.starts_with("templates/") {
        let is_document = |block: &String| block.starts_with("---\n") || block.starts_with("# ");
        return blocks.into_iter().filter(is_document).collect();
    }
    let lists = fences(text, "yaml").into_iter().map(|list| format!("---\n{list}---\n"));
    let own = if blocks.is_empty() { vec![text.to_owned()] } else { blocks };
    own.into_iter().chain(lists).collect()
}

/// The keys and sections with fixed names in a form.
fn units(form: &str) -> BTreeSet<Unit> {
    let mut found = BTreeSet::new();
    let (head, body) = match form.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---")) {
        Some((head, body)) => (head, body),
        None => ("", form),
    };
    let mut above: Vec<(usize, &str)> = Vec::new();
    for line in head.lines() {
        let bare = line.trim_start_matches([' ', '-']);
        let Some((key, _)) = bare.split_once(':').filter(|(key, _)| is_key(key)) else { continue };
        let indent = line.len() - bare.len();
        above.retain(|(outer, _)| *outer < indent);
        above.push((indent, key));
        found.insert(Unit::Key(above.iter().map(|(_, key)| *key).collect::<Vec<_>>().join(".")));
    }
    let mut is_fenced = false;
    for line in body.lines() {
        is_fenced ^= line.starts_with("```");
        let heading = line.strip_prefix("##").map(|rest| rest.trim_start_matches('#').trim());
        let block = line.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
        let block = block.filter(|name| is_key(name));
        found.extend(
            heading
                .or(block)
                .filter(|name| !is_fenced && !name.is_empty() && !name.contains('{'))
                .map(|name| Unit::Section(name.to_owned())),
        );
    }
    found
}

fn is_key(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// The keys of a table of front matter.
fn listed_keys(text: &str) -> BTreeSet<Unit> {
    let rows = text.split_once("| front matter | rule |\n").map_or("", |(_, rows)| rows);
    let rows = rows.lines().take_while(|line| line.starts_with('|'));
    let names = rows.flat_map(|row| row.split('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2));
    names.map(|name| Unit::Key(name.to_owned())).collect()
}

/// The units that the forms of a document ask for.
fn units_of(document: &DocumentRow<'_>, texts: &Texts) -> BTreeSet<Unit> {
    let mut found = BTreeSet::new();
    for path in &document.forms {
        let text = texts.get(*path).unwrap_or_else(|| panic!("{}: there is no {path}", document.name));
        found.extend(forms(path, text).iter().flat_map(|form| units(form)));
        found.extend(listed_keys(text));
    }
    found
}

fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The texts between quotation marks in some files of the program.
fn literals(sources: &Texts, paths: &[&str]) -> BTreeSet<String> {
    let is_in = |name: &str| paths.iter().any(|path| name == *path || name.starts_with(&format!("{path}/")));
    let files = sources.iter().filter(|(name, _)| is_in(name));
    let lines = files.flat_map(|(_, text)| text.lines());
    lines.flat_map(|line| line.split('"').skip(1).step_by(2)).map(str::to_lowercase).collect()
}

/// Whether the program reads a unit: a key by its name, a section by a literal that begins with its name.
fn is_read_by(literals: &BTreeSet<String>, unit: &Unit) -> bool {
    let name = unit.leaf().to_lowercase();
    match unit {
        Unit::Key(_) => literals.contains(&name),
        Unit::Section(_) => literals.iter().any(|text| text.trim_start_matches(['#', '<', ' ']).starts_with(&name)),
    }
}

/// Sections and keys without a reader, and outdated lines of the table. Also counts the units that are not named
/// anywhere.
fn readers(texts: &Texts, sources: &Texts, documents: &[DocumentRow<'_>]) -> (Vec<String>, usize) {
    let (mut faults, mut unnamed) = (Vec::new(), 0);
    let any = documents.iter().find(|document| document.name == "any").unwrap();
    for document in documents.iter().filter(|document| !document.forms.is_empty()) {
        let DocumentRow { name, readers, .. } = document;
        let units = units_of(document, texts);
        let literals = literals(sources, &document.code);
        for unit in &units {
            let mut of_unit = readers
                .iter()
                .chain(&any.readers)
                .filter(|reader| reader.units.iter().any(|called| unit.is_called(called)));
            match of_unit.next() {
                Some(reader) => unnamed += usize::from(reader.as_part && of_unit.all(|reader| reader.as_part)),
                None if is_read_by(&literals, unit) => {}
                None if matches!(unit, Unit::Section(_)) && readers.iter().any(|reader| reader.units == ["*"]) => {
                    unnamed += usize::from(!readers.iter().any(|reader| reader.units == ["*"] && reader.by == PERSON));
                }
                None => faults.push(format!("{name}: nobody reads `{}`", unit.name())),
            }
        }
        for reader in readers {
            let gone = reader.units.iter().filter(|called| **called != "*");
            let gone = gone.filter(|called| !units.iter().any(|unit| unit.is_called(called)));
            faults.extend(gone.map(|called| format!("{name}: no form has `{called}`, which {} reads", reader.by)));
            faults.extend(untrue(reader, document, texts, sources));
        }
    }
    (faults, unnamed)
}

/// The fault in a line of the table, if it is outdated.
fn untrue(reader: &PartReader<'_>, document: &DocumentRow<'_>, texts: &Texts, sources: &Texts) -> Option<String> {
    let PartReader { units, by, words, as_part } = reader;
    if *by == PERSON {
        return None;
    }
    let of_document = |what: &str| Some(format!("{}: {by} {what}: {words}", document.name));
    if by.starts_with("src/") {
        let is_there = literals(sources, &[by]).iter().any(|text| text.contains(&words.to_lowercase()));
        return (!is_there).then(|| of_document("has no such text"))?;
    }
    let Some(text) = texts.get(*by) else { return of_document("is not there") };
    let text = plain(text);
    let Some(at) = text.find(words) else { return of_document("does not say any more") };
    let cut = |at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let near = [&text[cut(at.saturating_sub(NEAR))..cut(at + words.len() + NEAR)], &text[..cut(SUBJECT)]];
    if !document.named.iter().any(|name| near.iter().any(|near| near.contains(name))) {
        return of_document("does not name the document near");
    }
    let words = words.to_lowercase();
    let says = |called: &&str| {
        let own = called.trim_end_matches(".*").rsplit('.').next().unwrap_or_default().to_lowercase();
        own.split(|letter: char| !letter.is_alphanumeric())
            .filter(|word| word.len() > 2)
            .any(|word| words.contains(word.trim_end_matches('s')))
    };
    let silent = units.iter().filter(|called| **called != "*").find(|called| !as_part && !says(called));
    silent.and_then(|called| of_document(&format!("does not name `{called}`")))
}

/// Templates, and other texts with forms, that the table does not list.
fn unlisted(texts: &Texts, documents: &[DocumentRow<'_>]) -> Vec<String> {
    let listed: BTreeSet<&str> = documents.iter().flat_map(|document| document.forms.iter().copied()).collect();
    // Templates that `template fill` and `template select` start from; another test compares their keys.
    let begun = |path: &str| path.starts_with("templates/fill/") || path.starts_with("templates/summary-");
    let has_form = |path: &str, text: &str| {
        path.starts_with("templates/") || forms(path, text).iter().any(|form| !units(form).is_empty())
    };
    let missing = texts.iter().filter(|(path, text)| {
        !listed.contains(path.as_str()) && !begun(path) && !SHOWN.contains(&path.as_str()) && has_form(path, text)
    });
    missing.map(|(path, _)| format!("{path}: a form that readers.txt does not have")).collect()
}

/// A text without its fenced blocks, in paragraphs.
fn paragraphs(text: &str) -> Vec<String> {
    let mut is_fenced = false;
    let outside = text.lines().filter(|line| {
        let is_mark = line.trim_start().starts_with("```");
        is_fenced ^= is_mark;
        !is_fenced && !is_mark
    });
    outside.collect::<Vec<_>>().join("\n").split("\n\n").map(plain).collect()
}

/// The names in the program: its string literals, and its identifiers with an underscore.
struct ProgramTexts {
    literals: BTreeSet<String>,
    names: BTreeSet<String>,
}

impl ProgramTexts {
    fn of(sources: &Texts) -> Self {
        let words = |text: &String| -> Vec<String> {
            let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
            words.filter(|word| word.contains('_')).map(str::to_owned).collect()
        };
        Self { literals: literals(sources, &["src"]), names: sources.values().flat_map(words).collect() }
    }
}

/// Sections and keys that a text refers to but that are never written.
fn writers(texts: &Texts, program: &ProgramTexts, documents: &[DocumentRow<'_>]) -> Vec<String> {
    let mut faults = Vec::new();
    let (mut keys, mut sections) = (BTreeSet::new(), BTreeSet::new());
    for document in documents {
        for unit in units_of(document, texts) {
            match unit {
                Unit::Key(_) => keys.insert(unit.leaf().to_owned()),
                Unit::Section(name) => sections.insert(name),
            };
        }
    }
    let passing = documents.iter().find(|document| document.name == "written in passing").unwrap();
    for writer in &passing.readers {
        let says = |text: &String| plain(text).contains(writer.words);
        if !texts.get(writer.by).is_some_and(says) {
            faults.push(format!("{} does not write any more: {}", writer.by, writer.words));
        }
        keys.extend(writer.units.iter().map(|unit| (*unit).to_owned()));
        sections.extend(writer.units.iter().map(|unit| (*unit).to_owned()));
    }
    let is_section = |title: &str| {
        sections.iter().any(|known| known.starts_with(title))
            || is_read_by(&program.literals, &Unit::Section(title.to_owned()))
    };
    let fields = fields(texts);
    for (path, text) in texts.iter().filter(|(path, _)| !path.starts_with("templates/")) {
        for paragraph in paragraphs(text) {
            for code in paragraph.split('`').skip(1).step_by(2) {
                let heading = code.strip_prefix("## ").or_else(|| code.strip_prefix("### "));
                // The texts that agents return begin with headings in capitals.
                let heading = heading.filter(|title| title.contains(char::is_lowercase) && !title.contains('{'));
                if let Some(title) = heading.filter(|title| !is_return(title) && !is_section(title)) {
                    faults.push(format!("{path}: speaks of `## {title}`, which nobody writes"));
                }
            }
            let named = keys_named(&paragraph);
            let unknown = named
                .into_iter()
                .filter(|key| ![&keys, &fields, &program.names].iter().any(|known| known.contains(*key)));
            faults.extend(unknown.map(|key| format!("{path}: speaks of the key `{key}`, which nobody writes")));
        }
        let called = text.split("--field ").skip(1).filter_map(|rest| rest.split([' ', '\n', '`']).next());
        let unknown = called.filter(|key| is_key(key) && !keys.contains(*key));
        faults.extend(unknown.map(|key| format!("{path}: asks for the key `{key}`, which nobody writes")));
    }
    faults
}

/// Whether a heading is returned by an agent, or is only shown.
fn is_return(title: &str) -> bool {
    const SAID: &[&str] = &["Integration Check Complete", "Verification Complete", "⚠ Source Audit", "GSD ►"];
    SAID.iter().any(|known| title.starts_with(known))
}

/// The keys that a paragraph names with a word as value, and those it searches for.
fn keys_named(paragraph: &str) -> BTreeSet<&str> {
    let code = || paragraph.split('`').skip(1).step_by(2);
    let with_value = code().filter_map(|code| code.split_once(": "));
    let is_word =
        |value: &str| !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let with_value = with_value.filter(|(key, value)| is_key(key) && is_word(value)).map(|(key, _)| key);
    let searched = code().filter(|code| code.contains("grep ")).filter_map(|code| code.split_once("'^"));
    let searched = searched.filter_map(|(_, rest)| rest.split([':', '\'']).next());
    let searched = searched.flat_map(|keys| keys.trim_matches(['(', ')']).split('|'));
    with_value.chain(searched).collect()
}

/// Words with a value that are neither keys nor fields of prompts and answers.
const OTHER_WORDS: &[&str] = &["condition", "run_in_background", "onError"];

/// The fields of prompts: words before a colon in a fenced block, and words in code type in an agent's text.
fn fields(texts: &Texts) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = OTHER_WORDS.iter().map(|&word| word.to_owned()).collect();
    for (path, text) in texts.iter().filter(|(path, _)| !path.starts_with("templates/")) {
        let words = fences(text, "").concat();
        let words = words.split_whitespace().filter_map(|word| word.strip_suffix(':'));
        found.extend(words.map(str::to_owned));
        if path.starts_with("agents/") {
            found.extend(
                paragraphs(text)
                    .iter()
                    .flat_map(|paragraph| paragraph.split('`').skip(1).step_by(2))
                    .map(str::to_owned),
            );
        }
    }
    found
}

#[test]
fn each_section_and_key_has_a_reader_and_a_writer() {
    let (texts, sources) = texts();
    let documents = parse(TABLE);
    let (faults, unnamed) = readers(&texts, &sources, &documents);
    let faults =
        [faults, unlisted(&texts, &documents), writers(&texts, &ProgramTexts::of(&sources), &documents)].concat();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    assert_eq!(unnamed, UNNAMED, "sections that nobody names: name the new one in a reader, or lower the number");
    let units: usize = documents.iter().map(|document| units_of(document, &texts).len()).sum();
    let for_people: usize = documents.iter().flat_map(|d| &d.readers).filter(|reader| reader.by == PERSON).count();
    println!("{units} sections and keys, {unnamed} of them read without their names, {for_people} lines for people");
    assert!(units > 400 && for_people <= 25, "{units}, {for_people}");
}

#[test]
fn the_documents_a_verb_starts_have_the_keys_of_the_form() {
    let (texts, _) = texts();
    let keys = |path: &str| -> BTreeSet<String> {
        let found = forms(path, &texts[path]).iter().flat_map(|form| units(form)).collect::<BTreeSet<_>>();
        found
            .into_iter()
            .filter(|unit| matches!(unit, Unit::Key(key) if !key.contains('.')))
            .map(|unit| unit.name().to_owned())
            .collect()
    };
    let plan: BTreeSet<String> =
        listed_keys(&texts["templates/plan.md"]).iter().map(|unit| unit.name().to_owned()).collect();
    for (begun, form) in [
        ("summary-minimal", "summary"),
        ("summary-standard", "summary"),
        ("summary-complex", "summary"),
        ("fill/plan", "plan"),
        ("fill/verification", "verification-report"),
    ] {
        let whole: BTreeSet<String> = &keys(&format!("templates/{form}.md")) | &plan;
        let begun = keys(&format!("templates/{begun}.md"));
        assert!(!begun.is_empty() && begun.is_subset(&whole), "{begun:?} has more than {whole:?}");
    }
}

#[test]
fn a_part_without_reader_or_writer_is_found() {
    let (texts, sources) = texts();
    let program = ProgramTexts::of(&sources);
    let documents = parse(TABLE);
    for (path, old, new, told) in [
        ("templates/validation.md", "status: draft\n", "status: draft\nowner: x\n", "VALIDATION: nobody reads `owner`"),
        (
            "templates/research.md",
            "## Open Questions",
            "## Sources\n\n## Open Questions",
            "RESEARCH: nobody reads `Sources`",
        ),
        ("templates/plan.md", "<tasks>\n", "<notes>\n<tasks>\n", "PLAN: nobody reads `notes`"),
        ("templates/plan.md", "| `agent_hint` |", "| `colour` |", "PLAN: nobody reads `colour`"),
        ("agents/dom-verifier.md", "outcome: ", "mood: ", "DOM-VERIFY: nobody reads `mood`"),
        ("templates/research.md", "## Assumptions Log", "## Assumed", "no form has `Assumptions Log`"),
        ("agents/verifier.md", "where Known Stubs,", "where", "agents/verifier.md does not say any more"),
        (
            "workflows/plan-phase.md",
            "`## Validation Architecture` in",
            "`## Tests of All` in",
            "speaks of `## Tests of All`",
        ),
        ("workflows/audit-milestone.md", "`nyquist_compliant: true`", "`all_tested: true`", "the key `all_tested`"),
        ("workflows/execute-phase.md", "'^gap_closure: true'", "'^closes: true'", "the key `closes`"),
        ("agents/planner.md", "--field status", "--field standing", "asks for the key `standing`"),
        ("workflows/stats.md", "# ", "```markdown\n---\nmood: x\n---\n```\n# ", "stats.md: a form that readers.txt"),
    ] {
        let mut changed = texts.clone();
        let text = changed.get_mut(path).unwrap();
        assert!(text.contains(old), "{path} has no `{old}`");
        *text = text.replacen(old, new, 1);
        let faults = [
            readers(&changed, &sources, &documents).0,
            unlisted(&changed, &documents),
            writers(&changed, &program, &documents),
        ]
        .concat();
        assert!(faults.iter().any(|fault| fault.contains(told)), "{told}: {faults:?}");
    }
}
