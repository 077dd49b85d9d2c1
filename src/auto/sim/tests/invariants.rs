//! Properties of every run.

use super::*;
use crate::auto::slices::reading::{Extent, snapshot};
use crate::auto::unit::Class;

fn begun(files: MemoryFiles, actor: impl Actor + 'static, forecast: u32) -> Simulated {
    let mut simulated = Simulated::new(files, actor);
    simulated.begin(MILESTONE, false, forecast, &Ceilings::default());
    simulated
}

fn resume(simulated: &mut Simulated) {
    let at = simulated.now();
    let (runner, profile) = (String::new(), String::new());
    let event = Event::Resumed {
        engine: 1,
        process: 2,
        runner,
        profile,
        ceilings: Ceilings::default(),
        allowed_keys: Vec::new(),
        fenced: None,
        reviewed: None,
        means: crate::auto::event::Means::default(),
    };
    simulated.log.push(Entry { at, event });
}

fn with_override() -> MemoryFiles {
    let mut files = project();
    let text = "# Overrides\n\n## Override: 2026-01-02T03:04:05Z\n\n**Change:** use another store\n\n**Scope:** active\n\n---\n";
    files.texts.insert(".gsd/OVERRIDES.md".to_owned(), text.to_owned());
    files
}

/// Returns the work that is left, compared in this order: open milestones, slices without a plan, open tasks, documents
/// that close something.
fn left(files: &MemoryFiles, preferences: &Preferences) -> [usize; 4] {
    let snapshot = snapshot(files, Extent::All);
    let milestone = snapshot.milestone(MILESTONE).unwrap();
    if milestone.summary.is_some() {
        return [0; 4];
    }
    let Some(slices) = milestone.roadmap.as_deref().filter(|slices| !slices.is_empty()) else {
        let is_researched = preferences.skip_research || milestone.has_research;
        return [1, usize::MAX, usize::MAX, usize::from(!is_researched)];
    };
    let mut unplanned = 0;
    let mut tasks = 0;
    let mut closers = usize::from(milestone.validation.is_none());
    for (index, slice) in slices.iter().enumerate() {
        let planned = snapshot.detail(MILESTONE, &slice.id).and_then(|detail| detail.tasks.as_ref());
        unplanned += usize::from(planned.is_none());
        tasks += planned.into_iter().flatten().filter(|task| !task.is_done()).count();
        let is_covered = preferences.skip_slice_research || index == 0 && milestone.has_research;
        let uat = slice.uat.as_ref().and_then(|uat| uat.verdict.as_ref());
        closers += usize::from(!slice.done);
        closers += usize::from(!is_covered && !slice.has_research);
        closers += usize::from(preferences.uat_dispatch && uat.is_none());
        closers += usize::from(preferences.reassess_after_slice && !slice.has_assessment && index + 1 < slices.len());
    }
    [1, unplanned, tasks, closers]
}

#[derive(Debug)]
struct Wild {
    ideal: Ideal,
    ends: Vec<u8>,
}

impl Actor for Wild {
    fn act(&mut self, session: &Session, files: &BTreeMap<String, String>) -> SessionActs {
        let dead = |cause| SessionActs::ended(SessionVerdict::Dead { cause, resets_at: None, text: String::new() });
        let halted = |why| SessionActs::ended(SessionVerdict::Halted { why, text: String::new() });
        let mut whole = self.ideal.act(session, files);
        match self.ends.pop() {
            Some(0) => SessionActs::done(Vec::new()),
            Some(1) => {
                SessionActs::ended(SessionVerdict::NoSignal { exit: Some(0), signal: None, text: String::new() })
            }
            Some(2) => dead(Death::Network),
            Some(3) => dead(Death::Context),
            Some(4) => halted(Halt::Idle),
            Some(5) => SessionActs::done(vec![("src/outside.txt".to_owned(), format!("{}", session.operation))]),
            Some(6) => {
                whole.edits.truncate(whole.edits.len() / 2);
                whole
            }
            Some(7) => {
                for edit in &mut whole.edits {
                    edit.text = edit
                        .text
                        .as_ref()
                        .map(|text| text.replace("blocker_discovered: false", "blocker_discovered: true"));
                }
                whole
            }
            Some(8) => {
                for edit in &mut whole.edits {
                    edit.text = edit.text.as_ref().map(|text| text.chars().rev().collect());
                }
                whole
            }
            Some(9) => {
                whole.edits.iter_mut().for_each(|edit| edit.text = None);
                whole
            }
            Some(10) => dead(Death::Quota),
            Some(11) => halted(Halt::Question),
            _ => whole,
        }
    }

    fn checks(&mut self, _unit: &Unit, _attempt: u32, _files: &BTreeMap<String, String>) -> Checks {
        if self.ends.last().is_some_and(|end| end % 3 == 0) {
            Checks::failed("1 test failed")
        } else {
            Checks::passed()
        }
    }
}

/// An agent that sometimes changes files that it may not change.
#[derive(Debug)]
struct Vandal {
    ideal: Ideal,
    marks: Vec<Option<&'static str>>,
}

impl Actor for Vandal {
    fn act(&mut self, session: &Session, files: &BTreeMap<String, String>) -> SessionActs {
        let mut act = self.ideal.act(session, files);
        if let Some(Some(path)) = self.marks.pop() {
            let text = format!("{:?} {}\n", session.unit.kind.class(), session.operation);
            act.edits.push(ActorEdit { path: path.to_owned(), text: Some(text) });
        }
        act
    }
}

const PLACES: &[&str] = &[
    ".gsd/notes.md",
    ".gsd-notes.md",
    "a/.gsd/b.txt",
    "src/a.rs",
    "docs/a.txt",
    "README.md",
    "CHANGELOG.md",
    "package.json",
    ".gsdx",
    "docs.txt",
];

/// True if a unit of this class may change the file; written independently of the engine's rule.
fn may(class: Class, path: &str) -> bool {
    let is_planning = path.split('/').next() == Some(".gsd") && path.contains('/');
    let is_text = path.split('/').next() == Some("docs") && path.contains('/') || path.rsplit('.').next() == Some("md");
    match class {
        Class::Work => true,
        Class::Documents => is_planning || is_text,
        Class::Planning | Class::Verification => is_planning,
    }
}

/// An agent that never writes a change of course to the documents.
#[derive(Debug)]
struct Never {
    ideal: Ideal,
    acts: Vec<SessionActs>,
}

impl Actor for Never {
    fn act(&mut self, session: &Session, files: &BTreeMap<String, String>) -> SessionActs {
        if session.unit.kind == UnitKind::RewriteDocs {
            return self.acts.pop().unwrap_or_else(|| SessionActs::done(Vec::new()));
        }
        self.ideal.act(session, files)
    }
}

fn useless() -> impl Strategy<Value = SessionActs> {
    prop_oneof![
        Just(SessionActs::done(Vec::new())),
        "[a-z]{1,8}".prop_map(|text| SessionActs::done(vec![("docs/tries.md".to_owned(), text)])),
        Just(SessionActs::done(vec![("src/tries.rs".to_owned(), "x".to_owned())])),
        Just(SessionActs::ended(SessionVerdict::NoSignal { exit: Some(0), signal: None, text: String::new() })),
        Just(SessionActs::ended(SessionVerdict::Halted { why: Halt::Idle, text: String::new() })),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn with_an_ideal_agent_each_unit_leaves_less_to_do(
        sizes in (1_usize..4, 1_usize..4), is_classic in any::<bool>(), is_tested in any::<bool>(), is_assessed in any::<bool>(),
    ) {
        let pipeline = if is_classic { Pipeline::Classic } else { Pipeline::Simple };
        let mut options = Options { preferences: Preferences::of(pipeline, Profile::Quality), ..simple(sizes) };
        options.preferences.uat_dispatch = is_tested;
        options.preferences.reassess_after_slice |= is_assessed;
        let forecast = run(&options).forecast;
        let mut simulated = begun(project(), options.ideal(), 40);
        let mut before = left(&simulated.files, &options.preferences);
        let mut units = 0;
        loop {
            let stop = simulated.go_on(&Settings { most_units: Some(1), ..options.settings() }).unwrap();
            if stop.cause == Cause::Complete {
                break;
            }
            prop_assert_eq!(stop.cause, Cause::UnitsDone, "{:?}", stop);
            units += 1;
            let now = left(&simulated.files, &options.preferences);
            prop_assert!(now < before, "{now:?} after {:?}, from {before:?}", simulated.sessions.last());
            before = now;
            resume(&mut simulated);
        }
        prop_assert_eq!((units, simulated.sessions.len()), (forecast, forecast));
    }

    #[test]
    fn a_run_ends_in_a_stop_whatever_its_sessions_do(
        ends in proptest::collection::vec(0_u8..16, 0..60), is_classic in any::<bool>(), is_tested in any::<bool>(),
        steers in any::<bool>(),
    ) {
        let pipeline = if is_classic { Pipeline::Classic } else { Pipeline::Simple };
        let mut options = Options { preferences: Preferences::of(pipeline, Profile::Quality), ..small() };
        options.preferences.uat_dispatch = is_tested;
        let files = if steers { with_override() } else { project() };
        let mut simulated = begun(files, Wild { ideal: options.ideal(), ends }, 40);
        let stop = simulated.go_on(&options.settings()).unwrap();
        prop_assert!(!stop.text.is_empty() && stop.next.as_str().starts_with("gsd-tools auto "), "{:?}", stop);
        prop_assert_eq!(stop.cause == Cause::Complete, simulated.landed.len() == 1);
        let memory = Memory::of(&simulated.log);
        for (unit, attempts) in &memory.attempts {
            prop_assert!(attempts.refused.len() <= 3, "{unit}: {:?}", attempts.refused);
            prop_assert!(attempts.interrupted <= 6, "{unit}");
        }
        // The same log leads to the same end.
        prop_assert_eq!(Memory::of(&simulated.log).stop, Some(stop));
        prop_assert!(simulated.sessions.len() <= 63, "{}", simulated.sessions.len());
    }

    #[test]
    fn a_change_of_course_counts_as_made_after_three_sessions(
        acts in proptest::collection::vec(useless(), 0..4),
    ) {
        let mut simulated = begun(with_override(), Never { ideal: small().ideal(), acts }, 6);
        let stop = simulated.go_on(&small().settings()).unwrap();
        prop_assert_eq!(stop.cause, Cause::Complete, "{:?}", stop);
        let tried = simulated.sessions.iter().filter(|unit| unit.kind == UnitKind::RewriteDocs).count();
        prop_assert_eq!((tried, simulated.sessions.len()), (3, 9));
        let landed = simulated.landed_texts().unwrap();
        prop_assert!(!landed[".gsd/OVERRIDES.md"].contains("**Scope:** active"));
        prop_assert!(landed[".gsd/OVERRIDES.md"].contains("use another store"));
        prop_assert!(!landed.keys().any(|path| path.contains("tries")));
    }

    #[test]
    fn no_unit_leaves_a_change_that_its_class_may_not_make(
        marks in proptest::collection::vec(proptest::option::weighted(0.4, proptest::sample::select(PLACES)), 0..30),
        is_classic in any::<bool>(), steers in any::<bool>(),
    ) {
        let pipeline = if is_classic { Pipeline::Classic } else { Pipeline::Simple };
        let mut options = Options { preferences: Preferences::of(pipeline, Profile::Quality), ..small() };
        options.preferences.uat_dispatch = true;
        let files = if steers { with_override() } else { project() };
        let mut simulated = begun(files, Vandal { ideal: options.ideal(), marks }, 40);
        simulated.go_on(&options.settings()).unwrap();
        let mut last = None;
        for entry in &simulated.log {
            match &entry.event {
                Event::UnitStarted(start) => last = Some((start.clone(), Vec::new())),
                Event::UnitEnded(ended) => last = last.map(|(start, _)| (start, ended.changed.clone())),
                Event::Accepted { .. } => {
                    let (start, changed) = last.clone().unwrap();
                    let class = start.unit.kind.class();
                    let outside: Vec<&String> = changed.iter().filter(|path| !may(class, path)).collect();
                    prop_assert!(outside.is_empty(), "{}: {outside:?}", start.unit);
                }
                _ => {}
            }
        }
        for (path, text) in &simulated.files.texts {
            let classes = [("Planning", Class::Planning), ("Verification", Class::Verification), ("Documents", Class::Documents)];
            for (word, class) in classes {
                prop_assert!(!text.starts_with(&format!("{word} ")) || may(class, path), "{path} has {text}");
            }
        }
    }

    #[test]
    fn both_pipelines_end_with_the_same_code(sizes in (1_usize..4, 1_usize..4)) {
        let code = |pipeline| {
            let options = Options { preferences: Preferences::of(pipeline, Profile::Quality), ..simple(sizes) };
            let (_, project) = simulate_with(&options, options.ideal()).unwrap();
            let texts = project.landed_texts().unwrap().clone().into_iter();
            texts.filter(|(path, _)| !path.starts_with(".gsd/")).collect::<BTreeMap<_, _>>()
        };
        let (simple, classic) = (code(Pipeline::Simple), code(Pipeline::Classic));
        prop_assert_eq!(simple.len(), 1 + sizes.0 * sizes.1);
        prop_assert_eq!(simple, classic);
    }
}
