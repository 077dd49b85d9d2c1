//! The state of a project on one screen: progress, phases, unfinished work, the next step, open items.

use super::stats::Stats;
use crate::operations::audit::{self, OpenTests};
use crate::operations::notes::todos;
use crate::operations::state::next::NextReport;
use crate::operations::state::{Commands, read};
use crate::project::files::FileError;
use crate::project::standing::first_few;
use crate::project::view::ProjectView;
use crate::text::screen::{Cell, Mark, Screen, Tone, counted};

/// The contents of the screen.
#[derive(Debug)]
pub(crate) struct Dashboard {
    title: String,
    stats: Stats,
    next: NextReport,
    /// An entry in STATE.md blocks the work.
    is_blocked: bool,
    /// Work that was started and not finished, in a session that ended or is still running.
    unfinished: Option<String>,
    /// The workstreams of the project, if none is active.
    workstreams: Vec<String>,
    /// How the phases can be run without a person, if some are open and the host has commands for it.
    unattended: Option<String>,
    todos: usize,
    /// Tests, gaps and deferred items that are not settled.
    tests: OpenTests,
    /// The blockers and concerns in STATE.md.
    concerns: Vec<String>,
}

impl Dashboard {
    /// The dashboard of the project.
    pub(crate) fn of(
        view: &ProjectView,
        stats: Stats,
        next: NextReport,
        title: String,
        unfinished: Option<String>,
        workstreams: Vec<String>,
    ) -> Result<Self, FileError> {
        Ok(Self {
            title,
            stats,
            next,
            is_blocked: read::snapshot(view)?.is_some_and(|snapshot| !snapshot.stopping.is_empty()),
            unfinished,
            workstreams,
            unattended: None,
            todos: todos::list(view, None)?.count,
            tests: audit::open_tests(view)?,
            concerns: read::concerns(view)?,
        })
    }

    /// Adds the commands that run open phases without a person.
    pub(crate) fn with_unattended(self, commands: &Commands) -> Self {
        let has = |name: &&str| commands.installed.iter().any(|installed| installed == name);
        let is_offered = self.next.phase.is_some() && ["yolo", "auto"].iter().all(has);
        let prefix = &commands.prefix;
        let unattended = is_offered
            .then(|| format!("Without you: {prefix}yolo in this session, {prefix}auto with checks and a fence"));
        Self { unattended, ..self }
    }

    pub(crate) fn shown(&self, screen: Screen) -> String {
        let mut page = self.stats.head(screen, &self.title);
        page += &self.stats.rows(screen);
        if self.stats.has_phases() {
            page += "\n";
        }
        let unfinished = self.unfinished.as_deref().map(|what| ("Unfinished", Cell::new(Tone::Warning, what)));
        page + &self.next.shown(screen, unfinished.as_slice()) + &self.open(screen)
    }

    /// Other open items.
    fn open(&self, screen: Screen) -> String {
        let noun = if self.is_blocked { "blocker" } else { "concern" };
        let counts = |count: usize, noun: &str| (count > 0).then(|| counted(count, noun));
        let mut open: Vec<String> = counts(self.todos, "todo").into_iter().collect();
        open.extend(self.tests.words());
        open.extend(counts(self.concerns.len(), noun));
        let mut lines = String::new();
        if !open.is_empty() {
            lines = format!("\n{}", screen.prose("", "", &open.join(screen.between())));
        }
        if let Some(unattended) = &self.unattended {
            lines += &screen.prose("\n", "", unattended);
        }
        for concern in self.concerns.iter().take(CONCERNS) {
            lines += &screen.item("  ", Mark::Warning, concern);
        }
        if !self.workstreams.is_empty() {
            let names = first_few(&self.workstreams);
            let what = format!("{}: {names}; `--ws NAME` shows one", counted(self.workstreams.len(), "workstream"));
            lines += &screen.prose("\n", "  ", &what);
        }
        lines
    }
}

/// The number of concerns that are shown.
const CONCERNS: usize = 5;

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;
    use crate::operations::overview::stats::{self, Commits};
    use crate::operations::state::Facts;
    use crate::project::files::MemoryFiles;

    const SCREEN: Screen = Screen { width: 80, color: false, signs: true };

    const ROADMAP: &str = "# R\n\n## v1.0 Notes\n\n- [x] **Phase 1: Foundation** - a\n- [ ] **Phase 2: Notes Core** - b\n\
                           - [ ] **Phase 3: Sync** - c\n\n### Phase 1: Foundation\n### Phase 2: Notes Core\n\
                           **Depends on**: Phase 1\n### Phase 3: Sync\n**Depends on**: Phase 2\n";

    const STATE: &str = "---\nmilestone: v1.0\n---\n# S\n\n## Current Position\n\nPhase: 2 of 3 (Notes Core)\nStatus: Executing\n\n\
                         ### Blockers/Concerns\n\n- The API counts requests\n";

    /// The page for a project with these files and its usual ones.
    fn page(screen: Screen, files: &[(&str, &str)], unfinished: Option<&str>) -> String {
        page_with(&["progress", "quick", "verify-work"], screen, files, unfinished)
    }

    /// As [`page`], with these commands installed.
    fn page_with(installed: &[&str], screen: Screen, files: &[(&str, &str)], unfinished: Option<&str>) -> String {
        let folder = ".planning/phases/02-notes-core";
        let plans =
            ["01-PLAN.md", "01-SUMMARY.md", "02-PLAN.md", "03-PLAN.md"].map(|file| format!("{folder}/02-{file}"));
        let usual =
            [(".planning/ROADMAP.md", ROADMAP), (".planning/STATE.md", STATE), (".planning/todos/pending/a.md", "")];
        let plans = plans.iter().map(|path| (path.as_str(), "---\nphase: 2\n---\n"));
        let files = MemoryFiles::new(usual.into_iter().chain(plans).chain(files.iter().copied()));
        let view = files.view();
        let installed = installed.iter().map(|name| (*name).to_owned()).collect();
        let commands = Commands { prefix: "$gsd-".into(), installed, skip_discussion: false };
        let facts = Facts { commands, ..Facts::default() };
        let next = NextReport::in_project(&view, &facts).unwrap();
        let stats = stats::stats(&view, Commits::default()).unwrap();
        let unfinished = unfinished.map(str::to_owned);
        let dashboard = Dashboard::of(&view, stats, next, "Acme Notes".to_owned(), unfinished, Vec::new()).unwrap();
        dashboard.with_unattended(&facts.commands).shown(screen)
    }

    #[test]
    fn a_project_in_progress_fits_every_width() {
        let unfinished = Some("02-02 has no SUMMARY (1 commit)");
        assert_data_eq!(
            page(Screen { width: 60, ..SCREEN }, &[], unfinished),
            str![[r"
Acme Notes  v1.0 Notes
██████░░░░░░░░░░░░░░ 33%  1/3 plans · 1/3 phases

  ✓  1  Foundation       complete
  ▸  2  Notes Core  1/3  in progress: 02-02, 02-03 left
  ○  3  Sync             waits for 2

Unfinished  02-02 has no SUMMARY (1 commit)
Next        $gsd-execute-phase 2
            Phase 2 (Notes Core) has 2 plans to execute:
            02-02, 02-03

1 todo · 1 concern
  ! The API counts requests

"]]
        );
        assert_data_eq!(
            page(SCREEN, &[], unfinished),
            str![[r"
Acme Notes  v1.0 Notes   ██████░░░░░░░░░░░░░░ 33%  1/3 plans · 1/3 phases

  ✓  1  Foundation       complete
  ▸  2  Notes Core  1/3  in progress: 02-02, 02-03 left
  ○  3  Sync             waits for 2

Unfinished  02-02 has no SUMMARY (1 commit)
Next        $gsd-execute-phase 2
            Phase 2 (Notes Core) has 2 plans to execute: 02-02, 02-03

1 todo · 1 concern
  ! The API counts requests

"]]
        );
        let wide = page(Screen { width: 120, ..SCREEN }, &[], unfinished);
        assert_data_eq!(
            wide.clone(),
            str![[r"
Acme Notes  v1.0 Notes   ██████░░░░░░░░░░░░░░ 33%  1/3 plans · 1/3 phases

  ✓  1  Foundation       complete
  ▸  2  Notes Core  1/3  in progress: 02-02, 02-03 left
  ○  3  Sync             waits for 2

Unfinished  02-02 has no SUMMARY (1 commit)
Next        $gsd-execute-phase 2
            Phase 2 (Notes Core) has 2 plans to execute: 02-02, 02-03

1 todo · 1 concern
  ! The API counts requests

"]]
        );
        assert_eq!(page(Screen { width: 200, ..SCREEN }, &[], unfinished), wide);
    }

    #[test]
    fn open_phases_lead_to_the_commands_that_run_them_without_the_person() {
        let line = "Without you: $gsd-yolo in this session, $gsd-auto with checks and a fence";
        let shown = |installed: &[&str], files: &[(&str, &str)]| page_with(installed, SCREEN, files, None);
        assert!(shown(&["progress", "yolo", "auto"], &[]).contains(line), "{}", shown(&["yolo", "auto"], &[]));
        assert!(!shown(&["progress", "yolo"], &[]).contains("Without you"));
        let all = ROADMAP.replace("[ ]", "[x]");
        let summaries = ["02", "03"].map(|plan| format!(".planning/phases/02-notes-core/02-{plan}-SUMMARY.md"));
        let done: Vec<(&str, &str)> = summaries.iter().map(|path| (path.as_str(), "x")).collect();
        let done = [&done[..], &[(".planning/ROADMAP.md", all.as_str())]].concat();
        assert!(!shown(&["progress", "yolo", "auto"], &done).contains("Without you"));
    }

    #[test]
    fn a_terminal_that_shows_only_ascii_gets_only_ascii() {
        let shown = page(Screen { signs: false, ..SCREEN }, &[], None);
        assert!(shown.is_ascii(), "{shown}");
        let colored = page(Screen { color: true, ..SCREEN }, &[], None);
        assert!(colored.contains("\u{1b}[36m$gsd-execute-phase 2\u{1b}[0m"), "{colored}");
    }

    #[test]
    fn the_next_command_is_that_of_the_open_phase() {
        let next = |files: &[(&str, &str)]| {
            let shown = page(SCREEN, files, None);
            let lines: Vec<&str> = shown.lines().skip_while(|line| !line.starts_with("Next")).take(2).collect();
            lines.iter().map(|line| line.trim_start_matches("Next").trim()).collect::<Vec<_>>().join(": ")
        };
        let state = |position: &str| format!("---\nmilestone: v1.0\n---\n# S\n\n## Current Position\n\n{position}\n");
        assert_eq!(next(&[]), "$gsd-execute-phase 2: Phase 2 (Notes Core) has 2 plans to execute: 02-02, 02-03");
        // Phase 1 is closed and phase 2 is the first open one.
        let first = state("Phase: 1 of 3 (Foundation)\nStatus: Executing");
        assert!(next(&[(".planning/STATE.md", &first)]).starts_with("$gsd-execute-phase 2: "));
        let third = state("Phase: 3 of 3 (Sync)\nStatus: Ready to plan");
        let third = (".planning/STATE.md", third.as_str());
        assert_eq!(next(&[third]), "$gsd-discuss-phase 3: Phase 3 (Sync) has not been discussed yet");
        let discussed = (".planning/phases/03-sync/03-CONTEXT.md", "x");
        assert_eq!(next(&[third, discussed]), "$gsd-plan-phase 3: Phase 3 (Sync) has no plans yet");
        let all = ROADMAP.replace("[ ]", "[x]");
        let summaries = ["02", "03"].map(|plan| format!(".planning/phases/02-notes-core/02-{plan}-SUMMARY.md"));
        let done: Vec<(&str, &str)> = summaries.iter().map(|path| (path.as_str(), "x")).collect();
        let done = [&done[..], &[(".planning/ROADMAP.md", all.as_str())]].concat();
        assert!(next(&done).starts_with("$gsd-progress: All phases are complete"), "{}", next(&done));
    }

    #[test]
    fn a_long_roadmap_fits_on_a_screen() {
        let bullets = (101..=140)
            .map(|number| format!("- [{}] **Phase {number}: P** - x\n", if number < 109 { 'x' } else { ' ' }));
        let sections = (101..=140).map(|number| format!("### Phase {number}: P\n"));
        let roadmap = format!("# R\n\n## v1.0\n\n{}{}", bullets.collect::<String>(), sections.collect::<String>());
        let state = "---\nmilestone: v1.0\n---\n# S\n\n## Current Position\n\nPhase: 109 of 140 (P)\n";
        let shown = page(SCREEN, &[(".planning/ROADMAP.md", &roadmap), (".planning/STATE.md", state)], None);
        assert!(shown.lines().count() < 30, "{shown}");
        assert!(shown.contains("and 16 more: `gsd-tools roadmap analyze --json` lists them all"), "{shown}");
    }
}
