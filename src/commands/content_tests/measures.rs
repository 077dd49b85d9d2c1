//! Measures of the texts that need no model: how many instructions are read at once and how many of them can be
//! checked, whether tables have a row for everything else, whether a limit is the same in all texts, which text takes
//! precedence, words that cannot be measured, and repeated passages. `--nocapture` prints the figures.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

/// Texts by their paths.
type Texts = BTreeMap<String, String>;

fn texts() -> Texts {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Texts::new();
    let mut open: Vec<_> = ["agents", "workflows", "references", "templates"].map(|name| root.join(name)).into();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let name = path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
        let is_for_people = ["templates/guide/", "templates/demo/"].iter().any(|folder| name.starts_with(folder));
        if path.extension().is_some_and(|ending| ending == "md") && !is_for_people {
            found.insert(name, std::fs::read_to_string(&path).unwrap());
        }
    }
    found
}

fn body(text: &str) -> &str {
    text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).map_or(text, |(_, body)| body)
}

fn cells(line: &str) -> Vec<&str> {
    line.trim().trim_matches('|').split('|').map(str::trim).collect()
}

fn is_rule(line: &str) -> bool {
    line.trim().starts_with('|') && line.trim().chars().all(|letter| "|-: ".contains(letter))
}

/// The paragraphs, list items and table cells of a text, without its fenced blocks and headings.
fn pieces(text: &str) -> Vec<String> {
    let (mut found, mut open, mut is_fenced) = (Vec::new(), String::new(), false);
    for line in body(text).lines().chain([""]) {
        let bare = line.trim();
        let is_mark = bare.starts_with("```");
        is_fenced ^= is_mark;
        let begins = bare.starts_with("- ") || bare.split_once(". ").is_some_and(|(number, _)| is_number(number));
        let ends = is_mark || bare.is_empty() || bare.starts_with(['#', '|']);
        if (ends || begins) && !open.is_empty() {
            found.push(std::mem::take(&mut open));
        }
        if is_fenced || ends {
            let is_row = !is_fenced && bare.starts_with('|') && !is_rule(bare);
            found.extend(is_row.then(|| cells(bare)).into_iter().flatten().map(str::to_owned));
            continue;
        }
        let item = if begins { bare.split_once(' ').map_or(bare, |(_, item)| item) } else { bare };
        open += if open.is_empty() { "" } else { " " };
        open += item;
    }
    found
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn sentences(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for piece in pieces(text) {
        let mut from = 0;
        for (at, _) in piece.match_indices(' ') {
            let begins = piece[at + 1..].starts_with(|letter: char| letter.is_uppercase() || "`*(".contains(letter));
            if begins && piece[..at].ends_with(['.', '!', '?']) {
                found.push(piece[from..at].to_owned());
                from = at + 1;
            }
        }
        found.push(piece[from..].to_owned());
    }
    found
}

/// The verbs with which a sentence gives an order.
const ORDERS: &str = "add answer append ask begin bring build call carry change check choose classify close collect commit compare \
    complete continue copy count cover create cut delete derive describe discard do draft drop edit end enter fetch fill find fix \
    follow give go group hand hold install judge keep leave let limit link list look make mark measure mention merge move name \
    never note offer open order pass pick plan point prefer prepare prescribe print probe prove put quote rate read record redact \
    remove rename repair replace report research resolve return rewrite route run save say score search see seed set settle show \
    skip solve sort spawn split spell squash stage start stay stop store switch tag take tell test think tick trace treat try turn \
    update use verify wait walk watch weigh work write";

fn is_order(sentence: &str, orders: &BTreeSet<&str>) -> bool {
    let lower = sentence.to_lowercase();
    if ["never ", "must ", "do not ", "at most "].iter().any(|word| lower.contains(word)) {
        return true;
    }
    let clauses = [": ", "; ", ", ", ". ", " — ", " then ", " and "]
        .iter()
        .fold(vec![lower.as_str()], |parts, mark| parts.into_iter().flat_map(|part| part.split(mark)).collect());
    clauses.iter().any(|clause| {
        // The sentence begins after a label such as `**Files.**`.
        let clause = clause.rsplit("** ").next().unwrap_or(clause);
        let word = clause.trim_start_matches(|letter: char| !letter.is_alphabetic());
        let word = word.split(|letter: char| !letter.is_alphabetic()).next().unwrap_or_default();
        orders.contains(word)
    })
}

/// Whether a sentence names a path, command, number, status, heading or id.
fn is_checkable(sentence: &str) -> bool {
    let is_state = |word: &str| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    sentence.contains(['`', '"'])
        || sentence.contains("**")
        || sentence.contains(|letter: char| letter.is_ascii_digit())
        || ["[B]", "[W]", "[I]"].iter().any(|mark| sentence.contains(mark))
        || sentence.split(|letter: char| !letter.is_ascii_alphanumeric()).any(is_state)
}

/// How many instructions a text has, and how many of them can be checked.
fn measure(text: &str) -> (usize, usize) {
    let orders: BTreeSet<&str> = ORDERS.split_whitespace().collect();
    let found: Vec<String> = sentences(text).into_iter().filter(|sentence| is_order(sentence, &orders)).collect();
    (found.len(), found.iter().filter(|sentence| is_checkable(sentence)).count())
}

/// The texts that a text refers to.
fn named<'texts>(texts: &'texts Texts, text: &str) -> BTreeSet<&'texts str> {
    texts.keys().map(String::as_str).filter(|path| text.contains(&format!("`{path}`"))).collect()
}

/// The maximum number of instructions in one context window.
const MOST: usize = 150;

/// Counts the instructions that an agent reads: in its own text, in every page it refers to, and in the pages of its
/// workflow. For a workflow: in its pages and its three longest steps.
fn window(texts: &Texts, path: &str) -> usize {
    let count = |path: &str| measure(&texts[path]).0;
    let mut read = BTreeSet::from([path]);
    let mut pages = named(texts, &texts[path]);
    if path.starts_with("agents/") {
        for workflow in pages.clone().into_iter().filter(|page| page.starts_with("workflows/")) {
            pages.extend(named(texts, &texts[workflow]));
        }
        read.extend(pages);
        return read.into_iter().map(count).sum();
    }
    read.extend(pages.into_iter().filter(|page| page.starts_with("references/")));
    let folder = path.replace(".md", "/steps/");
    let mut steps: Vec<usize> = texts.keys().filter(|step| step.starts_with(&folder)).map(|step| count(step)).collect();
    steps.sort_unstable_by(|one, other| other.cmp(one));
    read.into_iter().map(count).sum::<usize>() + steps.iter().take(3).sum::<usize>()
}

#[test]
fn no_window_holds_more_instructions_than_a_model_follows() {
    let texts = texts();
    let roles = texts
        .keys()
        .filter(|path| path.starts_with("agents/") || path.starts_with("workflows/") && !path.contains("/steps/"));
    let mut windows: Vec<(usize, &String)> = roles.map(|path| (window(&texts, path), path)).collect();
    windows.sort_unstable_by(|one, other| other.cmp(one));
    for (count, path) in windows.iter().take(12) {
        println!("{count} instructions: {path}, {} of its own", measure(&texts[*path]).0);
    }
    let faults: Vec<_> = windows.iter().filter(|(count, _)| *count > MOST).collect();
    assert!(faults.is_empty(), "{faults:?}");
    assert!(windows[0].0 > 80, "{windows:?}");
}

/// For each kind of text: the percentage of instructions that must name something that can be checked, which may only
/// increase; and the bar for each text.
const CHECKABLE: &[(&str, usize, usize)] = &[("agents/", 55, 70), ("workflows/", 67, 80), ("references/", 50, 70)];

/// Texts with fifteen instructions or more that are below the bar of their kind, each with a floor. A floor may only be
/// raised.
const BELOW: &str = include_str!("shares.txt");

#[test]
fn instructions_name_what_can_be_checked() {
    let texts = texts();
    let floors: BTreeMap<&str, usize> = BELOW
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(share, path)| (path, share.parse().unwrap()))
        .collect();
    let mut faults = Vec::new();
    for (kind, floor, bar) in CHECKABLE {
        let (mut all, mut named) = (0, 0);
        for (path, text) in texts.iter().filter(|(path, _)| path.starts_with(kind)) {
            let (count, checkable) = measure(text);
            (all, named) = (all + count, named + checkable);
            if count < 15 || 100 * checkable >= count * bar {
                continue;
            }
            let share = 100 * checkable / count;
            match floors.get(path.as_str()) {
                Some(known) if share >= *known => {}
                known => faults.push(format!("{share} {path}: below {}", known.unwrap_or(bar))),
            }
        }
        let share = 100 * named / all;
        println!("{kind}: {share} of 100 of {all} instructions can be checked");
        if share < *floor {
            faults.push(format!("{kind}: {share} of 100, and it was {floor}"));
        }
    }
    let gone = floors.keys().filter(|path| !texts.contains_key(**path));
    faults.extend(gone.map(|path| format!("{path}: there is no such text")));
    assert!(faults.is_empty(), "src/commands/content_tests/shares.txt:\n{}", faults.join("\n"));
}

/// A table in a text: its first and last heading, and the first cells of its rows.
struct MeasuredTable<'text> {
    first: &'text str,
    last: &'text str,
    keys: Vec<&'text str>,
}

fn tables(text: &str) -> Vec<MeasuredTable<'_>> {
    let lines: Vec<&str> = body(text).lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if is_rule(line) && at > 0 && lines[at - 1].trim().starts_with('|') {
            let heads = cells(lines[at - 1]);
            let rows = lines[at + 1..].iter().take_while(|row| row.trim().starts_with('|'));
            let (Some(first), Some(last)) = (heads.first(), heads.last()) else { continue };
            found.push(MeasuredTable {
                first,
                last,
                keys: rows.filter_map(|row| cells(row).first().copied()).collect(),
            });
        }
    }
    found
}

/// The last headings of tables that say what to do.
const ROUTES: &[&str] = &["do", "then", "command", "record", "counts as", "next up"];

/// The words of a row for everything else.
const ELSE: &[&str] = &["else", "any", "anything", "other", "none", "otherwise", "neither", "nothing", "no such"];

/// Tables without a row for everything else, if the value comes from an agent, or the text does not refer to the rule
/// for a missing row.
fn open_tables(texts: &Texts) -> Vec<String> {
    const RULE: &str = "no row of a table fits: continue after it";
    let mut faults = Vec::new();
    if !texts["references/ui.md"].split_whitespace().collect::<Vec<_>>().join(" ").contains(RULE) {
        faults.push("references/ui.md does not say what to do if no row fits".to_owned());
    }
    for (path, text) in texts.iter().filter(|(path, _)| !path.starts_with("templates/")) {
        for table in tables(text) {
            let is_route = ROUTES.contains(&table.last.to_lowercase().as_str());
            let last = table.keys.last().copied().unwrap_or_default().to_lowercase();
            let mut words = last.split(|letter: char| !letter.is_alphabetic());
            let is_total = words.any(|word| ELSE.contains(&word)) || last.contains("no such");
            let is_closed =
                table.keys.iter().all(|key| key.starts_with("**") || key.starts_with("`## ") || is_word(key));
            let knows = path.starts_with("workflows/");
            let is_return = table.first == "return";
            if is_route && !is_total && (is_return || !is_closed && !knows) {
                faults.push(format!(
                    "{path}: the table by {} has no row for everything else: {:?}",
                    table.first, table.keys
                ));
            }
        }
    }
    faults
}

/// Whether a key is a word of a closed set, such as `quick` or `4 Architecture`, or the name of a field.
fn is_word(key: &str) -> bool {
    let bare = |letter: char| letter.is_alphanumeric() || "`_-., ".contains(letter);
    key.chars().all(bare) && key.split(", ").all(|word| word.split(' ').count() <= 3)
}

#[test]
fn tables_that_route_have_a_row_for_everything() {
    let texts = texts();
    let faults = open_tables(&texts);
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    for (path, old, new) in [
        ("workflows/secure-phase.md", "| none of them |", "| `## LATER` |"),
        ("references/ui.md", "continue after it", "ask"),
        ("agents/debug-session-manager.md", "| nothing usable |", "| `## LATER` |"),
    ] {
        let mut changed = texts.clone();
        let text = changed.get_mut(path).unwrap();
        assert!(text.contains(old), "{path}: {old}");
        *text = text.replacen(old, new, 1);
        assert!(open_tables(&changed).iter().any(|fault| fault.starts_with(path)), "{path}");
    }
}

/// Limits by the thing they count: the numbers that texts may give, in all their spellings. Sample verdicts have other
/// numbers.
const LIMITS: &[(&str, &[&str])] = &[
    ("tries", &["three"]),
    ("truths", &["3-7", "3 to 7"]),
    // "Two" means a pair.
    ("tasks", &["2-3", "3", "1-3", "one to three", "three", "two"]),
    ("success criteria", &["two to five", "5"]),
    ("checks in all", &["three"]),
];

/// Numbers for a limit that differ from those in the list.
fn clashes(texts: &Texts) -> Vec<String> {
    const NUMBERS: &[&str] = &["one", "two", "three", "four", "five", "six", "seven", "eight", "ten", "twice", "once"];
    let is_figure = |word: &str| {
        NUMBERS.contains(&word)
            || !word.is_empty() && word.chars().all(|letter| letter.is_ascii_digit() || letter == '-')
    };
    let mut faults = Vec::new();
    for (path, text) in texts.iter().filter(|(path, _)| !path.contains("verdicts-")) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        for (noun, allowed) in LIMITS {
            for (at, _) in text.match_indices(&format!(" {noun}")) {
                let before: Vec<&str> = text[..at].rsplit(' ').take(3).collect();
                let Some(last) = before.first().filter(|word| is_figure(word)) else { continue };
                let is_range = before.len() == 3 && before[1] == "to" && is_figure(before[2]);
                let number = if is_range { format!("{} to {last}", before[2]) } else { (*last).to_owned() };
                if !allowed.contains(&number.as_str()) {
                    faults.push(format!("{path}: {number} {noun}, elsewhere {allowed:?}"));
                }
            }
        }
    }
    faults
}

#[test]
fn a_limit_is_the_same_in_all_texts() {
    let mut texts = texts();
    assert_eq!(clashes(&texts), [""; 0]);
    for (path, old, new) in [
        ("agents/verifier.md", "3 to 7 truths", "4 to 8 truths"),
        ("workflows/execute-plan.md", "three tries", "two tries"),
    ] {
        let text = texts.get_mut(path).unwrap();
        assert!(text.contains(old), "{path}: {old}");
        *text = text.replacen(old, new, 1);
    }
    assert_eq!(clashes(&texts).len(), 2, "{:?}", clashes(&texts));
}

/// Every text that names an order of precedence has the same: the text, the instruction file, then the plan.
#[test]
fn texts_agree_on_the_order_of_precedence() {
    let texts = texts();
    let mut orders = Vec::new();
    for (path, text) in &texts {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let Some((_, order)) = text.split_once("the first wins: ") else { continue };
        let order = order.split(". ").next().unwrap_or_default();
        let place = |words: &[&str]| words.iter().find_map(|word| order.find(word));
        let [own, project, plan] = [
            place(&["these texts", "this text"]),
            place(&["instruction file"]),
            place(&["the plan", "the unit's documents"]),
        ];
        assert!(own.is_some() && own < project && project < plan, "{path}: {order}");
        orders.push(path.as_str());
    }
    assert_eq!(orders, ["agents/executor.md", "templates/auto/common.md"], "who binds is said in each pipeline once");
}

/// Words that make it impossible to check whether a thing was done. `tests/suite/faults.rs` has those with a plain
/// replacement.
const UNMEASURABLE: &[&str] = &[
    "appropriate",
    "appropriately",
    "properly",
    "minutes",
    "minute",
    "as needed",
    "if necessary",
    "sufficiently",
    "reasonable",
    "reasonably",
    "carefully",
    "robust",
    "adequate",
];

/// Whether such a word is harmless here: quoted as a bad example, after a number, or about something else.
fn is_meant(before: &str, after: &str) -> bool {
    let number = before.split(' ').rev().nth(1).unwrap_or_default();
    before.ends_with(['"', '_', '`', '['])
        || after.starts_with(['"', '_', '`'])
        || number == "two"
        || is_number(number)
        || before.ends_with("meeting ")
}

#[test]
fn no_text_has_an_unmeasurable_word() {
    let mut found = Vec::new();
    for (path, text) in texts() {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        for word in UNMEASURABLE {
            for (at, _) in text.match_indices(word) {
                let (before, after) = (&text[..at], &text[at + word.len()..]);
                let is_word = !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric);
                // The template of a plan shows an example to avoid.
                let is_sample = path == "templates/plan.md" && *word == "properly";
                if is_word && !is_meant(before, after) && !is_sample {
                    found.push(format!("{path}: {word}"));
                }
            }
        }
    }
    assert_eq!(found, [""; 0]);
}

/// The maximum share of the library that may be in two files, in hundredths of a percent of its runs of twelve words.
const SAID_TWICE: usize = 300;

#[test]
fn few_passages_are_repeated() {
    let mut texts = texts();
    texts.retain(|path, _| !path.starts_with("templates/"));
    let words: Vec<(&str, Vec<&str>)> =
        texts.iter().map(|(path, text)| (path.as_str(), text.split_whitespace().collect())).collect();
    let mut homes: HashMap<&[&str], &str> = HashMap::new();
    let mut shared: BTreeSet<&[&str]> = BTreeSet::new();
    for (path, words) in &words {
        for run in words.windows(12) {
            if *homes.entry(run).or_insert(path) != *path {
                shared.insert(run);
            }
        }
    }
    let runs = || words.iter().flat_map(|(_, words)| words.windows(12));
    let (all, twice) = (runs().count(), runs().filter(|run| shared.contains(run)).count());
    println!("{twice} of {all} runs of twelve words are in two files");
    assert!(all > 50_000 && twice * 10_000 <= all * SAID_TWICE, "{twice} of {all}");
}

/// Names of whole documents of the project, in a sentence that asks to read them.
const WHOLE: &[&str] = &[
    "PROJECT.md",
    "ROADMAP.md",
    "REQUIREMENTS.md",
    "STATE.md",
    "`project_path`",
    "`roadmap_path`",
    "`requirements_path`",
    "`state_path`",
    "`{project_path}`",
    "`{roadmap_path}`",
    "`{requirements_path}`",
    "`{state_path}`",
];

/// Sentences that ask to read a whole document, although a verb returns the part that is needed.
fn whole_reads(texts: &Texts) -> Vec<String> {
    // An interrupted start of a project reads the files it has already written.
    const MAKES_THEM: &[&str] = &["workflows/new-project.md"];
    let mut found = Vec::new();
    for (path, text) in
        texts.iter().filter(|(path, _)| !path.starts_with("templates/") && !MAKES_THEM.contains(&path.as_str()))
    {
        for sentence in sentences(text) {
            let lower = sentence.to_lowercase();
            let reads =
                lower.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(|word| word == "read");
            let writes = ["write ", "open none", "open neither", "open no"].iter().any(|word| lower.contains(word));
            if !reads || writes {
                continue;
            }
            for name in WHOLE {
                let is_whole = |at: usize| {
                    let before = &sentence[..at];
                    // `Core Value of PROJECT.md`; the archive of a milestone; its lines about something.
                    let is_part = before.ends_with("of ")
                        || before.ends_with("Of ")
                        || sentence[at..].contains(", only its lines");
                    !is_part && !before.ends_with(['-', '/', '}'])
                };
                if sentence.match_indices(name).any(|(at, _)| is_whole(at)) {
                    found.push(format!("{path}: {sentence}"));
                }
            }
        }
    }
    found
}

#[test]
fn no_text_asks_to_read_a_whole_document_of_the_project() {
    let mut texts = texts();
    assert_eq!(whole_reads(&texts), [""; 0]);
    for (path, old, new) in [
        (
            "agents/pattern-mapper.md",
            "Of the phase directory CONTEXT.md,",
            "Read ROADMAP.md, of the phase directory CONTEXT.md,",
        ),
        ("workflows/spike.md", "Core Value and Constraints of `project_path`", "`project_path`"),
    ] {
        let text = texts.get_mut(path).unwrap();
        assert!(text.contains(old), "{path}: {old}");
        *text = text.replacen(old, new, 1);
    }
    assert_eq!(whole_reads(&texts).len(), 2, "{:?}", whole_reads(&texts));
}
