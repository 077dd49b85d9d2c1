//! How much of the project's documents the agents of one phase are ordered to read, over generated projects of
//! realistic sizes. The orders are taken from the texts: the whole documents that a prompt or a text names, the answers
//! of calls, and the documents of earlier phases that an answer leads to.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::kit::{TestContext, repository};

/// Sizes of generated projects in bytes: PROJECT, ROADMAP and STATE together, and REQUIREMENTS. They include the
/// median, the 75th and the 90th percentile and the maximum of 27 real projects.
const SIZES: &[(usize, usize)] = &[
    (12_000, 3_000),
    (22_000, 4_000),
    (33_000, 5_000),
    (40_000, 5_000),
    (47_000, 6_000),
    (60_000, 12_000),
    (78_000, 17_000),
    (191_000, 5_000),
    (432_000, 30_000),
];

/// The most bytes that the phase of the median project may cost.
const MOST: usize = 60_000;

/// The texts of the main window, from planning to the close.
const MAIN: &[&str] =
    &["workflows/plan-phase.md", "workflows/execute-phase.md", "workflows/execute-phase/steps/close.md"];

/// The calls whose answers are made from the project's documents.
const ANSWERS: &[&str] = &[
    "init plan-phase",
    "init execute-phase",
    "roadmap get-phase",
    "phase-plan-index",
    "state json",
    "roadmap analyze",
];

/// The documents, as texts name them.
const WHOLE: &[(&str, &str)] = &[
    ("PROJECT", "PROJECT.md"),
    ("ROADMAP", "ROADMAP.md"),
    ("REQUIREMENTS", "REQUIREMENTS.md"),
    ("STATE", "STATE.md"),
    ("PROJECT", "project_path"),
    ("ROADMAP", "roadmap_path"),
    ("REQUIREMENTS", "requirements_path"),
    ("STATE", "state_path"),
];

type Texts = BTreeMap<String, String>;

/// The texts that one phase can lead to.
fn texts() -> Texts {
    let mut found = Texts::new();
    let mut open: Vec<_> =
        ["agents", "workflows", "references", "templates"].map(|name| repository().join(name)).into();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|ending| ending == "md") {
            let name = path.strip_prefix(repository()).unwrap().to_string_lossy().replace('\\', "/");
            found.insert(name, std::fs::read_to_string(&path).unwrap());
        }
    }
    found
}

/// A text of about this many bytes, in lines of a list.
fn lines(bytes: usize, line: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for number in 1.. {
        if text.len() >= bytes {
            break;
        }
        writeln!(text, "{}", line(number)).unwrap();
    }
    text
}

const WORDS: &str = "readers find what they look for within two steps, on a phone and on a desk, without an account and when the \
    network is slow";

/// A phase of the roadmap, about 1,300 bytes.
fn section(number: usize, of: usize) -> String {
    let needs = if number > 1 { format!("Phase {}", number - 1) } else { "Nothing (first phase)".to_owned() };
    let criteria: String =
        (1..=4).map(|at| format!("{at}. In case {number}.{at} {WORDS}\n")).collect::<Vec<_>>().concat();
    let box_of = |plan: usize| if number < of { format!("[x] {number:02}-{plan:02}-PLAN.md") } else { String::new() };
    let plans: String = (1..=3)
        .filter(|_| number < of)
        .map(|plan| format!("- {} - part {plan} of the work\n", box_of(plan)))
        .collect::<Vec<_>>()
        .concat();
    format!(
        "### Phase {number}: Subject {number}\n\n**Goal**: {WORDS}\n**Depends on**: {needs}\n**Requirements**: [SUB-{number:02}, \
         ALSO-{number:02}]\n**Success Criteria** (what must be TRUE):\n\n{criteria}\n**Plans**: 3 plans\n\nPlans:\n\n{plans}\n"
    )
}

/// A project of this size, and the number of its last phase.
fn project(whole: usize, requirements: usize) -> (TestContext, usize) {
    let context = TestContext::new();
    // The roadmap is more than half of the three.
    let phases = (whole * 55 / 100 / 1_400).max(3);
    let list: String = (1..=phases)
        .map(|number| {
            format!("- [{}] **Phase {number}: Subject {number}** - {number}\n", if number < phases { 'x' } else { ' ' })
        })
        .collect::<Vec<_>>()
        .concat();
    let details: String = (1..=phases).map(|number| section(number, phases)).collect();
    context.write(
        ".planning/ROADMAP.md",
        &format!("# Roadmap: Sample\n\n## Milestones\n\n- v1.0 Sample - Phases 1-{phases}\n\n## Phases\n\n{list}\n## Phase Details\n\n{details}"),
    );
    let decided = lines(whole / 5, |number| format!("- [Phase {}]: decision {number}: {WORDS}", number % phases + 1));
    context.write(
        ".planning/STATE.md",
        &format!(
            "---\ngsd_state_version: \"1.0\"\nmilestone: v1.0\nmilestone_name: Sample\nstatus: planning\n---\n\n# Project State\n\n\
             ## Current Position\n\nPhase: {phases} of {phases} (Subject {phases})\nStatus: Ready to plan\n\n\
             ## Accumulated Context\n\n### Decisions\n\n{decided}\n## Session Continuity\n\nLast session: 2026-01-05\n"
        ),
    );
    let limits = lines((whole / 40).min(4_000), |number| format!("- **Limit {number}**: {WORDS} - it is so"));
    let known = lines(whole / 5, |number| format!("- ✓ Capability {number}: {WORDS} - Phase {number}"));
    context.write(
        ".planning/PROJECT.md",
        &format!(
            "# Sample\n\n## What This Is\n\n{WORDS}.\n\n## Core Value\n\n{WORDS}.\n\n## Requirements\n\n### Validated\n\n{known}\n\
             ## Constraints\n\n{limits}\n"
        ),
    );
    let wanted: String = (1..=phases)
        .map(|number| format!("- [ ] **SUB-{number:02}**: {WORDS}\n- [ ] **ALSO-{number:02}**: {WORDS}\n"))
        .collect::<Vec<_>>()
        .concat();
    let more =
        lines(requirements.saturating_sub(wanted.len()), |number| format!("- [ ] **MORE-{number:02}**: {WORDS}"));
    context
        .write(".planning/REQUIREMENTS.md", &format!("# Requirements: Sample\n\n## v1 Requirements\n\n{wanted}{more}"));
    for number in [phases - 1, phases] {
        let folder = format!(".planning/phases/{number:02}-subject-{number}");
        context.write(
            &format!("{folder}/{number:02}-CONTEXT.md"),
            &lines(5_000, |at| format!("- **D-{at:02}:** {WORDS}")),
        );
        for plan in (1..=3).filter(|_| number < phases) {
            let body = lines(2_500, |at| format!("- result {at}: {WORDS}"));
            context.write(
                &format!("{folder}/{number:02}-{plan:02}-SUMMARY.md"),
                &format!("---\nphase: {number:02}-subject-{number}\nplan: {plan:02}\nkey-decisions:\n  - \"{WORDS}: so\"\nstatus: complete\n---\n\n# Summary\n\n**It works**\n\n{body}"),
            );
        }
        for plan in 1..=3 {
            context.write(
                &format!("{folder}/{number:02}-{plan:02}-PLAN.md"),
                &format!(
                    "---\nphase: {number:02}-subject-{number}\nplan: {plan:02}\nwave: {plan}\ndepends_on: []\nfiles_modified: [src/{plan}.js]\n---\n\n\
                     <objective>\n{WORDS}\n</objective>\n\n<tasks>\n<task type=\"auto\">\n<name>Task 1: build {plan}</name>\n</task>\n</tasks>\n"
                ),
            );
        }
    }
    (context, phases)
}

/// The sentences and list items of a text.
fn sentences(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for line in text.lines() {
        let bare = line.trim();
        if bare.is_empty()
            || bare.starts_with(['-', '|', '#'])
            || bare.starts_with(|letter: char| letter.is_ascii_digit())
        {
            pieces.push(String::new());
        }
        let last = pieces.last_mut().unwrap();
        *last += bare;
        *last += " ";
    }
    pieces.iter().flat_map(|piece| piece.split(". ")).map(str::to_owned).collect()
}

/// The documents that a text orders to read as a whole: in a prompt each that it names, elsewhere each that a sentence
/// with `read` names.
fn whole<'name>(text: &str, is_prompt: bool) -> BTreeSet<&'name str> {
    let mut found = BTreeSet::new();
    for sentence in sentences(text) {
        let lower = sentence.to_lowercase();
        let reads = lower.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(|word| word == "read");
        let refuses = ["open none", "open neither", "open no "].iter().any(|word| lower.contains(word));
        for (document, name) in WHOLE {
            // `Core Value of PROJECT.md`: a part of it.
            let is_part = |at: usize| sentence[..at].ends_with("of ") || sentence[..at].ends_with("of `");
            let is_named = sentence.match_indices(name).any(|(at, _)| !is_part(at));
            if is_named && !refuses && (is_prompt || reads) {
                found.insert(*document);
            }
        }
    }
    found
}

/// The spawned agents, each with its prompt.
fn spawns(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for part in text.split("Task(subagent_type=\"gsd-").skip(1) {
        let agent = part.split('"').next().unwrap().to_owned();
        found.push((agent, part.split("```").next().unwrap().to_owned()));
    }
    found
}

/// The calls in a text whose answers are made from the project's documents.
fn calls(text: &str) -> BTreeSet<&'static str> {
    ANSWERS
        .iter()
        .copied()
        .filter(|call| text.contains(&format!("gsd-tools {call} ")) || text.contains(&format!("gsd-tools {call}`")))
        .collect()
}

/// What one context window reads: the bytes, and their sources.
struct Window {
    name: String,
    bytes: usize,
    parts: Vec<(String, usize)>,
}

impl Window {
    fn add(&mut self, part: &str, bytes: usize) {
        self.bytes += bytes;
        self.parts.push((part.to_owned(), bytes));
    }
}

/// What one context window in a project is ordered to read.
fn window(name: &str, text: &str, prompt: &str, context: &TestContext, phase: usize) -> Window {
    let mut window = Window { name: name.to_owned(), bytes: 0, parts: Vec::new() };
    let documents: BTreeSet<&str> = whole(text, false).into_iter().chain(whole(prompt, true)).collect();
    for document in documents {
        window.add(document, context.read(&format!(".planning/{document}.md")).len());
    }
    let phase = phase.to_string();
    let text = format!("{text}\n{prompt}");
    for call in calls(&text) {
        // The list of all phases is only needed if a phase is not found; with `--pick` it is short.
        let sentence = sentences(&text).into_iter().find(|sentence| sentence.contains(&format!("gsd-tools {call}")));
        let sentence = sentence.unwrap_or_default();
        if call == "roadmap analyze" && (sentence.contains("--pick") || sentence.contains("false"))
            || call == "state json" && sentence.contains("--pick")
        {
            continue;
        }
        let mut words: Vec<&str> = call.split(' ').collect();
        if !matches!(call, "state json" | "roadmap analyze") {
            words.push(&phase);
        }
        let ran = context.gsd_of_many(&words, &[]);
        assert_eq!(ran.code, 0, "{call}: {}{}", ran.stdout, ran.stderr);
        window.add(call, ran.stdout.len());
        if call == "roadmap get-phase" {
            follow(&mut window, &text, &ran.stdout, context);
        }
    }
    window
}

/// Adds the documents of earlier phases that a text orders to read from the answer about a phase.
fn follow(window: &mut Window, text: &str, answer: &str, context: &TestContext) {
    let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
    let reads = |what: &str| {
        sentences(text).iter().any(|sentence| sentence.to_lowercase().contains("read") && sentence.contains(what))
    };
    for dependency in answer["dependencies"].as_array().into_iter().flatten() {
        for document in ["context", "learnings"].into_iter().filter(|document| reads(&format!("`{document}`"))) {
            if let Some(path) = dependency[document].as_str() {
                window.add(path, context.read(path).len());
            }
        }
        let summaries = dependency["summaries"].as_array().into_iter().flatten().filter(|_| reads("its SUMMARYs"));
        for path in summaries.filter_map(|summary| summary["path"].as_str()).take(4) {
            window.add(path, context.read(path).len());
        }
    }
}

/// What all context windows of a phase of three plans are ordered to read in a project.
fn phase_of_three_plans(texts: &Texts, context: &TestContext, phase: usize) -> Vec<Window> {
    let mut windows = Vec::new();
    let main: String = MAIN.iter().map(|path| texts[*path].as_str()).collect();
    let without_prompts: String =
        main.split("```\nTask(").map(|part| part.split_once("\n```").map_or(part, |(_, rest)| rest)).collect();
    let own = format!("{}{without_prompts}", main.split("```\nTask(").next().unwrap());
    windows.push(window("main", &own, "", context, phase));
    // A plan brings its context to each executor.
    let plan: String = texts["templates/plan.md"].lines().filter(|line| line.starts_with("@.planning/")).collect();
    for (agent, prompt) in spawns(&main) {
        let mut text = texts[&format!("agents/{agent}.md")].clone();
        let (mut prompt, mut times) = (prompt, 1);
        if agent == "executor" {
            text += &texts["workflows/execute-plan.md"];
            prompt += &plan;
            times = 3;
        }
        for _ in 0..times {
            windows.push(window(&agent, &text, &prompt, context, phase));
        }
    }
    windows
}

/// The bytes of the phase in each project, in order of the projects.
fn costs(texts: &Texts, projects: &[(TestContext, usize)]) -> Vec<(usize, Vec<Window>)> {
    let of = |(context, phase): &(TestContext, usize)| phase_of_three_plans(texts, context, *phase);
    let windows = projects.iter().map(of);
    windows.map(|windows| (windows.iter().map(|window| window.bytes).sum(), windows)).collect()
}

#[test]
fn the_agents_of_a_phase_read_slices_of_the_project() {
    let texts = texts();
    let projects: Vec<_> = SIZES.iter().map(|(whole, requirements)| project(*whole, *requirements)).collect();
    for ((context, _), (whole, requirements)) in projects.iter().zip(SIZES) {
        let bytes = |name: &str| context.read(&format!(".planning/{name}.md")).len();
        let three = bytes("PROJECT") + bytes("ROADMAP") + bytes("STATE");
        assert!(three.abs_diff(*whole) * 5 < *whole + 10_000, "{three} instead of {whole}");
        assert!(bytes("REQUIREMENTS") + 500 > *requirements, "{requirements}");
    }
    let found = costs(&texts, &projects);
    for ((bytes, windows), (whole, _)) in found.iter().zip(SIZES) {
        let of = |window: &Window| format!("{} {}", window.name, window.bytes);
        println!("{whole}: {bytes} a phase: {}", windows.iter().map(of).collect::<Vec<_>>().join(", "));
    }
    for window in &found[SIZES.len() / 2].1 {
        println!("  {}: {:?}", window.name, window.parts);
    }
    assert!(found[0].1.len() >= 7, "a main window, three executors, and those who research, plan, check and verify");
    let median = |found: &[(usize, Vec<Window>)]| {
        let mut bytes: Vec<usize> = found.iter().map(|(bytes, _)| *bytes).collect();
        bytes.sort_unstable();
        bytes[bytes.len() / 2]
    };
    let bytes = median(&found);
    assert!(bytes <= MOST, "{bytes} bytes of the project's documents for a phase of three plans");
    // The largest project costs little more than the median one.
    assert!(
        found.iter().all(|(cost, _)| *cost <= 2 * MOST),
        "{:?}",
        found.iter().map(|(bytes, _)| bytes).collect::<Vec<_>>()
    );

    // Each additional whole document that a text orders increases the cost.
    for (path, old, new) in [
        ("workflows/execute-phase.md", "{dir}/{id}-PLAN.md\n", "{dir}/{id}-PLAN.md\n.planning/STATE.md\n"),
        ("workflows/execute-phase/steps/close.md", "<required_reading>\n", "<required_reading>\n{roadmap_path}\n"),
        ("workflows/plan-phase.md", "Read: of {dir} CONTEXT,", "Read: {requirements_path}; of {dir} CONTEXT,"),
        (
            "agents/plan-checker.md",
            "1. Read every file the prompt lists,",
            "1. Read every file the prompt lists, PROJECT.md,",
        ),
        ("templates/plan.md", "<context>\n", "<context>\n@.planning/ROADMAP.md\n"),
    ] {
        let mut changed = texts.clone();
        let text = changed.get_mut(path).unwrap();
        assert!(text.contains(old), "{path} has no `{old}`");
        *text = text.replacen(old, new, 1);
        let at = SIZES.len() / 2;
        let more = costs(&changed, &projects[at..=at])[0].0;
        assert!(more > found[at].0 + 2_000, "{path} with {new} costs no more: {more}");
    }
}
