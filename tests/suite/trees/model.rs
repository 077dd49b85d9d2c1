//! Trees of planning documents, drawn from a seed: the truth about a project, and documents that express it in one of
//! many ways.

use std::fmt::Write as _;

/// Numbers derived from a seed.
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn of(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % most as u64).unwrap()
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    fn one<Item: Copy>(&mut self, of: &[Item]) -> Item {
        of[self.below(of.len())]
    }
}

/// How far a phase is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    Untouched,
    Discussed,
    Planned,
    Partial,
    Executed,
    /// A report of its verification passed, and no document says that the phase is closed.
    Verified,
    Closed,
}

#[derive(Clone, Debug)]
pub(crate) struct Phase {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) stage: Stage,
    pub(crate) plans: usize,
    /// Its folder is in this clone.
    pub(crate) has_folder: bool,
    /// Its folder is in the archive of its milestone.
    pub(crate) is_put_away: bool,
}

impl Phase {
    pub(crate) fn summaries(&self) -> usize {
        match self.stage {
            Stage::Untouched | Stage::Discussed | Stage::Planned => 0,
            Stage::Partial => self.plans - 1,
            Stage::Executed | Stage::Verified | Stage::Closed => self.plans,
        }
    }

    /// The number as used in names of folders and files.
    fn padded(&self) -> String {
        let (number, rest) = self
            .id
            .split_once('.')
            .map_or((self.id.as_str(), String::new()), |(number, rest)| (number, format!(".{rest}")));
        format!("{number:0>2}{rest}")
    }

    fn folder(&self) -> String {
        let words: Vec<String> = self
            .name
            .split(|letter: char| !letter.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        format!("{}-{}", self.padded(), words.join("-"))
    }
}

/// How the roadmap names milestones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Milestones {
    None,
    /// `## v1.1 Name`.
    Sections,
    /// `### 🚧 v1.1 Name (In Progress)`, with earlier ones in folded blocks.
    Marked,
    /// `## Milestone 2: Name`, without a version.
    Numbered,
    /// A list with ranges of phases above the phases, and `## Milestone v1.1: Name`.
    List,
}

/// Where phases are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listing {
    Checklist,
    Headings,
    Table,
    ChecklistAndHeadings,
    All,
}

/// The damage to the documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    Empty,
    /// The roadmap is truncated.
    Cut,
    Conflict,
    /// STATE.md names a milestone that the roadmap does not have.
    OtherVersion,
    /// Phases have another word for `Phase`.
    OtherWord,
    /// The last phase is named in a form that is not read.
    Unread,
    /// The milestones have numbers, and STATE.md has a version.
    Numbered,
    /// STATE.md contains both sides of a merge.
    StateConflict,
    /// The folded block of the last shipped milestone has no end.
    Unclosed,
    /// Only the row in the progress table is left of the last phase.
    RowOnly,
}

/// The truth about a project, and how its documents express it.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) version: String,
    /// The phases of the current milestone, in order.
    pub(crate) phases: Vec<Phase>,
    pub(crate) earlier: Vec<(String, Vec<Phase>)>,
    /// The folders of earlier milestones are next to those of this one.
    pub(crate) left: bool,
    pub(crate) milestones: Milestones,
    pub(crate) listing: Listing,
    pub(crate) has_roadmap: bool,
    pub(crate) damage: Option<Damage>,
    /// The phase that STATE.md names.
    pub(crate) stated: Option<String>,
    pub(crate) files: Vec<(String, String)>,
}

const NAMES: &[&[&str]] = &[
    &["Storage", "Writing Notes", "Sync", "Search by Tag", "Export", "Import v2.0 Files", "Polish: the Rest"],
    &["存储", "写笔记", "同步", "搜索", "导出", "导入", "收尾"],
    &["Хранение", "Заметки", "Обмен", "Поиск", "Вывод", "Ввод", "Остальное"],
    &["Validação", "Żółć w Systemie", "Änderung", "Œuvre", "Île", "Ñandú", "Çeviri"],
    &["تخزين", "ملاحظات", "مزامنة", "بحث", "تصدير", "استيراد", "إنهاء"],
];
const OLD_NAMES: &[&str] = &["First Sketch", "Old Engine", "Early Login", "Former Page"];
const SIGNS: &[&str] = &[":", "：", " —", " -", " –", "."];

impl Model {
    pub(crate) fn draw(seed: u64) -> Self {
        let mut draw = Draw::of(seed);
        let milestones = draw.one(&[
            Milestones::None,
            Milestones::Sections,
            Milestones::Marked,
            Milestones::Numbered,
            Milestones::List,
        ]);
        let listing = draw.one(&[
            Listing::Checklist,
            Listing::Headings,
            Listing::Table,
            Listing::ChecklistAndHeadings,
            Listing::All,
        ]);
        let count = if milestones == Milestones::None { 0 } else { draw.below(3) };
        let restarts = draw.one_in(2);
        let mut number = 1;
        let mut earlier = Vec::new();
        for index in 0..count {
            number = if restarts { 1 } else { number };
            let phases = (0..=draw.below(3)).map(|_| {
                let name = OLD_NAMES[draw.below(OLD_NAMES.len())].to_owned();
                number += 1;
                Phase {
                    id: (number - 1).to_string(),
                    name,
                    stage: Stage::Closed,
                    plans: 1 + draw.below(2),
                    has_folder: true,
                    is_put_away: false,
                }
            });
            earlier.push((format!("v1.{index}"), phases.collect()));
        }
        number = if restarts { 1 } else { number };
        let phases = Self::draw_phases(&mut draw, number, listing);
        let has_roadmap = draw.below(12) != 0;
        let damage = (has_roadmap && draw.one_in(4)).then(|| {
            draw.one(&[
                Damage::Empty,
                Damage::Cut,
                Damage::Conflict,
                Damage::OtherVersion,
                Damage::OtherWord,
                Damage::Unread,
                Damage::StateConflict,
                Damage::Unclosed,
                Damage::RowOnly,
            ])
        });
        let damage = damage.filter(|damage| match damage {
            Damage::OtherVersion => milestones != Milestones::None,
            Damage::Unclosed => milestones == Milestones::Marked && count > 0,
            Damage::RowOnly => listing == Listing::All && phases.len() > 1,
            _ => true,
        });
        let is_numbered = has_roadmap && milestones == Milestones::Numbered && count > 0;
        let damage = damage.or(is_numbered.then_some(Damage::Numbered));
        let left = draw.one_in(3);
        let mut model = Self {
            version: format!("v1.{count}"),
            phases,
            earlier,
            left,
            milestones,
            listing,
            has_roadmap,
            damage,
            stated: None,
            files: Vec::new(),
        };
        if !has_roadmap {
            // Only the folders exist, and no document closes a phase.
            model.earlier.clear();
            model.phases.retain(|phase| phase.has_folder);
        }
        if !model.can_close() {
            for phase in model.phases.iter_mut().filter(|phase| phase.stage == Stage::Closed) {
                (phase.stage, phase.has_folder, phase.is_put_away) = (Stage::Verified, true, false);
            }
        }
        if milestones == Milestones::None {
            model.phases.iter_mut().for_each(|phase| phase.is_put_away = false);
        }
        let open: Vec<&Phase> = model.phases.iter().filter(|phase| model.is_open(phase)).collect();
        model.stated = match draw.below(6) {
            0 => None,
            1 => model.phases.first().map(|phase| phase.id.clone()),
            2 if !open.is_empty() => Some(draw.one(&open).id.clone()),
            _ => open.first().or(model.phases.iter().collect::<Vec<_>>().last()).map(|phase| phase.id.clone()),
        };
        model.files = model.write(&mut draw);
        model
    }

    fn draw_phases(draw: &mut Draw, first: usize, listing: Listing) -> Vec<Phase> {
        let names = draw.one(NAMES);
        let count = 1 + draw.below(6);
        let closed = draw.below(count + 1);
        (0..count)
            .map(|index| {
                let stage = match index {
                    _ if index < closed => Stage::Closed,
                    _ if index == closed => draw.one(&[
                        Stage::Untouched,
                        Stage::Discussed,
                        Stage::Planned,
                        Stage::Partial,
                        Stage::Executed,
                        Stage::Verified,
                    ]),
                    _ => draw.one(&[Stage::Untouched, Stage::Untouched, Stage::Discussed, Stage::Planned]),
                };
                let id = if index == 2 && index != closed && listing != Listing::Table {
                    format!("{}.1", first + 1)
                } else {
                    (first + index - usize::from(index > 2)).to_string()
                };
                let has_folder = if stage == Stage::Closed { !draw.one_in(6) } else { stage > Stage::Untouched };
                let is_put_away = stage == Stage::Closed && has_folder && draw.one_in(6);
                Phase { id, name: names[index].to_owned(), stage, plans: 1 + draw.below(3), has_folder, is_put_away }
            })
            .map(|mut phase| {
                if phase.stage < Stage::Planned {
                    phase.plans = 0;
                }
                phase
            })
            .scan(None, |seen: &mut Option<usize>, mut phase| {
                // After a phase between two numbers, the next one continues the count.
                let integer = phase.id.parse::<usize>().ok();
                if let (Some(last), Some(own)) = (*seen, integer)
                    && own <= last
                {
                    phase.id = (last + 1).to_string();
                }
                *seen = phase.id.parse().ok().or(*seen);
                Some(phase)
            })
            .collect()
    }

    /// True if a box or a row can say that a phase is closed.
    pub(crate) fn can_close(&self) -> bool {
        self.has_roadmap && self.listing != Listing::Headings
    }

    pub(crate) fn is_open(&self, phase: &Phase) -> bool {
        phase.stage < Stage::Verified || (phase.stage == Stage::Verified && self.can_close())
    }

    fn write(&self, draw: &mut Draw) -> Vec<(String, String)> {
        let mut files = vec![
            (".planning/PROJECT.md".to_owned(), "# Pocket\n".to_owned()),
            (".planning/config.json".to_owned(), "{\"hooks\": {\"community\": true}}\n".to_owned()),
        ];
        let mut old = String::from("# Roadmap\n\n");
        for (version, phases) in &self.earlier {
            for phase in phases {
                let _ = write!(old, "### Phase {}: {}\n\n**Goal**: g\n\n", phase.id, phase.name);
                let root = if self.left {
                    ".planning/phases".to_owned()
                } else {
                    format!(".planning/milestones/{version}-phases")
                };
                write_folder(&mut files, &root, phase);
            }
            files.push((
                format!(".planning/milestones/{version}-ROADMAP.md"),
                std::mem::replace(&mut old, String::from("# Roadmap\n\n")),
            ));
        }
        for phase in self.phases.iter().filter(|phase| phase.has_folder) {
            let archive = format!(".planning/milestones/{}-phases", self.version);
            write_folder(&mut files, if phase.is_put_away { &archive } else { ".planning/phases" }, phase);
        }
        if self.has_roadmap {
            files.push((".planning/ROADMAP.md".to_owned(), self.roadmap(draw)));
        }
        files.push((".planning/STATE.md".to_owned(), self.state(draw)));
        files
    }

    fn state(&self, draw: &mut Draw) -> String {
        let version = if self.damage == Some(Damage::OtherVersion) { "v7.3" } else { &self.version };
        let done = self.phases.iter().filter(|phase| phase.stage >= Stage::Verified).count();
        let (plans, summaries) = self
            .phases
            .iter()
            .fold((0, 0), |(plans, summaries), phase| (plans + phase.plans, summaries + phase.summaries()));
        let milestone =
            if self.milestones == Milestones::None { String::new() } else { format!("milestone: {version}\n") };
        let mut text = format!(
            "---\ngsd_state_version: \"1.0\"\n{milestone}status: executing\nprogress:\n  total_phases: {}\n  completed_phases: {done}\n  total_plans: {plans}\n  completed_plans: {summaries}\n  percent: 0\n---\n\n# Project State\n\n## Current Position\n\n",
            self.phases.len()
        );
        if self.damage == Some(Damage::StateConflict) {
            text.push_str("<<<<<<< HEAD\n=======\nPhase: 9\n>>>>>>> theirs\n");
        }
        if let Some(stated) = &self.stated {
            let _ = writeln!(text, "Phase: {stated}\nPlan: -\nStatus: In progress");
        }
        if draw.one_in(4) {
            text.push_str(
                "\n## Accumulated Context\n\n### Blockers/Concerns\n\n- ~~Wait for v9.9 of the compiler~~ RESOLVED\n",
            );
        }
        text
    }

    fn roadmap(&self, draw: &mut Draw) -> String {
        let mut text = String::from("# Roadmap: Pocket\n\nWhat v3.0 may bring is not said here.\n\n");
        if draw.one_in(3) {
            text.push_str("<!--\n- [ ] **Phase 91: A comment**\n-->\n\n");
        }
        if draw.one_in(3) {
            text.push_str("```\n### Phase 92: An example\n- [ ] **Phase 93: An example**\n```\n\n");
        }
        let range = |phases: &[Phase]| format!("Phases {}-{}", phases[0].id, phases.last().unwrap().id);
        if self.milestones == Milestones::List {
            text.push_str("## Milestones\n\n");
            for (version, phases) in &self.earlier {
                let _ = writeln!(text, "- ✅ **{version} Before** - {} (shipped 2026-01-02)", range(phases));
            }
            let _ = writeln!(text, "- 🚧 **{} Now** - {} (in progress)\n", self.version, range(&self.phases));
        }
        for (version, phases) in &self.earlier {
            match self.milestones {
                Milestones::Marked => {
                    let _ = write!(
                        text,
                        "<details>\n<summary>✅ {version} Before (Phases) - SHIPPED 2026-01-02</summary>\n\n"
                    );
                    for phase in phases {
                        let _ = writeln!(text, "- [x] Phase {}: {}", phase.id, phase.name);
                    }
                    let is_last = self.earlier.last().is_some_and(|last| last.0 == *version);
                    let is_closed = self.damage != Some(Damage::Unclosed) || !is_last;
                    text.push_str(if is_closed { "\n</details>\n\n" } else { "\n" });
                }
                Milestones::Numbered => {
                    let _ = write!(text, "## Milestone {}: Before\n\n", &version[3..]);
                    for phase in phases {
                        let _ = writeln!(text, "- [x] **Phase {}: {}**", phase.id, phase.name);
                    }
                    text.push('\n');
                }
                Milestones::Sections if draw.one_in(2) => {
                    let _ = write!(text, "## ✅ {version} Before\n\n");
                    for phase in phases {
                        let _ = writeln!(text, "- [x] **Phase {}: {}**", phase.id, phase.name);
                    }
                    text.push('\n');
                }
                _ => {}
            }
        }
        let _ = match self.milestones {
            Milestones::None => writeln!(text, "## Phases\n"),
            Milestones::Sections => writeln!(text, "## {} Now\n", self.version),
            Milestones::Marked => writeln!(text, "### 🚧 {} Now (In Progress)\n", self.version),
            Milestones::Numbered => writeln!(text, "## Milestone {}: Now\n", self.earlier.len()),
            Milestones::List => writeln!(text, "## Milestone {}: Now\n", self.version),
        };
        let start = text.len();
        self.phase_lines(&mut text, draw);
        match self.damage {
            Some(Damage::Empty) => return String::new(),
            Some(Damage::Cut) => {
                let lines: Vec<&str> = text[start..].split_inclusive('\n').collect();
                let kept: usize = lines[..draw.below(lines.len())].iter().map(|line| line.len()).sum();
                text.truncate(start + kept);
            }
            Some(Damage::Conflict) => {
                text.insert_str(start, "<<<<<<< HEAD\n=======\n- [x] **Phase 1: Theirs**\n>>>>>>> theirs\n");
            }
            Some(Damage::OtherWord) => {
                let word = draw.one(&["Étape ", "阶段 ", "Фаза ", "Hase "]);
                text = text[..start].to_owned() + &text[start..].replace("Phase ", word);
            }
            Some(Damage::Unread) => {
                let last = self.phases.last().unwrap();
                let _ = writeln!(text, "### Phase {} {}\n", last.id, last.name);
            }
            Some(
                Damage::OtherVersion | Damage::Numbered | Damage::StateConflict | Damage::Unclosed | Damage::RowOnly,
            )
            | None => {}
        }
        if draw.one_in(3) {
            text.push_str("\n## Backlog\n\n### Phase 999.1: Some day\n\n**Goal**: not now\n");
        }
        if draw.one_in(5) {
            text = text.replace('\n', "\r\n");
        }
        if draw.one_in(5) { format!("\u{feff}{text}") } else { text }
    }

    fn phase_lines(&self, text: &mut String, draw: &mut Draw) {
        let unread = usize::from(self.damage == Some(Damage::Unread));
        let all = &self.phases[..self.phases.len() - unread];
        let phases = &all[..all.len() - usize::from(self.damage == Some(Damage::RowOnly))];
        let sign = draw.one(SIGNS);
        let done = |phase: &Phase| phase.stage == Stage::Closed;
        if matches!(self.listing, Listing::Checklist | Listing::ChecklistAndHeadings | Listing::All) {
            let (item, mark, bold) =
                (draw.one(&["-", "*", "+", "1."]), draw.one(&["x", "X"]), draw.one(&["**", "", "**"]));
            for phase in phases {
                let told = if draw.one_in(3) { " - needs v4.0 of it" } else { "" };
                let tick = if done(phase) { mark } else { " " };
                let _ = writeln!(text, "{item} [{tick}] {bold}Phase {}: {}{bold}{told}", phase.id, phase.name);
            }
            if draw.one_in(4) {
                let _ = writeln!(text, "{item} [ ] ~~{bold}Phase 80: Given Up{bold}~~");
            }
            text.push('\n');
        }
        if matches!(self.listing, Listing::Headings | Listing::ChecklistAndHeadings | Listing::All) {
            let (level, decorated) = (draw.one(&["###", "####"]), draw.one(&["", "", "🚀 ", "**"]));
            for phase in phases {
                let end = if decorated == "**" { "**" } else { "" };
                let _ = write!(
                    text,
                    "{level} {decorated}Phase {}{sign} {}{end}\n\n**Goal**: what it brings\n**Success Criteria** (what must be TRUE):\n  1. it works\n\n",
                    phase.id, phase.name
                );
            }
        }
        if matches!(self.listing, Listing::Table | Listing::All) {
            text.push_str(if self.listing == Listing::Table {
                "| Phase | Name | Status |\n|---|---|---|\n"
            } else {
                "### Progress\n\n| Phase | Plans Complete | Status | Completed |\n|---|---|---|---|\n"
            });
            for phase in all {
                let status = if done(phase) {
                    draw.one(&["Complete", "✅ Done", "Complete (2026-01-02)"])
                } else {
                    draw.one(&["Not started", "In Progress", "Planned"])
                };
                let _ = match self.listing {
                    Listing::Table => writeln!(text, "| {} | {} | {status} |", phase.id, phase.name),
                    _ => writeln!(
                        text,
                        "| {}. {} | {}/{} | {status} | - |",
                        phase.id,
                        phase.name,
                        phase.summaries(),
                        phase.plans
                    ),
                };
            }
            text.push('\n');
        }
    }
}

/// Writes the folder of a phase with the files of its stage. The report is written last, so that it is the newest.
fn write_folder(files: &mut Vec<(String, String)>, root: &str, phase: &Phase) {
    let (folder, number) = (format!("{root}/{}", phase.folder()), phase.padded());
    if phase.stage > Stage::Untouched {
        files.push((format!("{folder}/{number}-CONTEXT.md"), "# Context\n".to_owned()));
    }
    for plan in 1..=phase.plans {
        files.push((
            format!("{folder}/{number}-{plan:02}-PLAN.md"),
            format!("---\nphase: {}\nplan: {plan}\nwave: 1\n---\n", phase.folder()),
        ));
        if plan <= phase.summaries() {
            files.push((format!("{folder}/{number}-{plan:02}-SUMMARY.md"), "---\nstatus: complete\n---\n".to_owned()));
        }
    }
    if phase.stage >= Stage::Verified {
        files.push((format!("{folder}/{number}-VERIFICATION.md"), "---\nstatus: passed\n---\n".to_owned()));
    }
}
