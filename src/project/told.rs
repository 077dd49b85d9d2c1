//! Remembers answers about documents while these do not change: a large project has thousands of plans and summaries,
//! and most calls ask one question about each.
//!
//! The key of an answer is computed from the question, the path of the document and its stamp, so another file, or the
//! same file after a change, has no answer. Answers about files that changed just now are not stored. A memory is
//! ignored if another version wrote it, if it is damaged, or if other users can write to it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::files::Looked;
use super::local_state::LocalState;
use crate::disk::{self, AbsolutePath, Stamp};

/// The name of the file.
const FILE: &str = "told.bin";
/// The first bytes of the file. The number changes when the meaning of an answer does.
const HEAD: &str = concat!("answers 4 by ", env!("CARGO_PKG_VERSION"), "\n");
/// The maximum number of answers.
const MOST: usize = 50_000;
/// The size in bytes of an answer's key, and of the checksum at the end of the file.
const WORD: usize = size_of::<u64>();

/// The answers of one project.
#[derive(Debug)]
pub(crate) struct Told {
    file: AbsolutePath,
    /// When the call began, in milliseconds since 1970.
    at: i64,
    answers: Mutex<KnownAnswers>,
}

#[derive(Debug, Default)]
struct KnownAnswers {
    known: HashMap<u64, u8>,
    /// In the order in which they were added.
    all: Vec<(u64, u8)>,
    is_read: bool,
    is_new: bool,
}

impl Told {
    /// The answers about the project at `root`; `None` without a place that only this user can write to.
    pub(crate) fn of(state_folder: &Path, root: &Path, at: i64) -> Option<Self> {
        let file = LocalState::of(state_folder, &AbsolutePath::parse(root).ok()?).ok()?.file(FILE);
        let folder = file.parent()?;
        let others_write = disk::is_everybodys(folder.as_path()) || folder.parent().is_some_and(disk::is_everybodys);
        (!others_write).then(|| Self { file, at, answers: Mutex::default() })
    }

    /// Looks up the answer to a question about the document at `path`, whose stamp is `stamp`. `None` if the file could
    /// still change without a new stamp.
    pub(crate) fn look(&self, question: u8, path: &str, stamp: Stamp) -> Option<Looked> {
        if !stamp.is_settled(self.at) {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        (question, path, stamp).hash(&mut hasher);
        let key = hasher.finish();
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::mem::replace(&mut answers.is_read, true) {
            answers.all =
                disk::read_up_to(&self.file, LARGEST).ok().flatten().and_then(|bytes| read(&bytes)).unwrap_or_default();
            answers.known = answers.all.iter().copied().collect();
        }
        Some(Looked { key, known: answers.known.get(&key).copied() })
    }

    /// Stores the answer about a document that was looked up before it was read.
    pub(crate) fn note(&self, looked: Looked, answer: u8) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if answers.known.insert(looked.key, answer).is_none() {
            answers.all.push((looked.key, answer));
            answers.is_new = true;
        }
    }
}

/// A failed write only means that the documents are read again.
impl Drop for Told {
    fn drop(&mut self) {
        let answers = self.answers.get_mut().unwrap_or_else(PoisonError::into_inner);
        if answers.is_new {
            let old = answers.all.len().checked_sub(MOST).map_or(0, |more| more + MOST / 2);
            let _ = disk::write_fleeting(&self.file, &printed(&answers.all[old..]));
        }
    }
}

/// The maximum size of the file that is read, in bytes.
const LARGEST: u64 = ((WORD + 1) * MOST + 100) as u64;

fn printed(answers: &[(u64, u8)]) -> Vec<u8> {
    let mut bytes = HEAD.as_bytes().to_vec();
    for (key, answer) in answers {
        bytes.extend(key.to_le_bytes());
        bytes.push(*answer);
    }
    bytes.extend(sum(&bytes).to_le_bytes());
    bytes
}

/// Parses the file; `None` if this version did not write it.
fn read(bytes: &[u8]) -> Option<Vec<(u64, u8)>> {
    let (inside, said) = bytes.split_at_checked(bytes.len().checked_sub(WORD)?)?;
    let records = inside.strip_prefix(HEAD.as_bytes()).filter(|_| sum(inside).to_le_bytes() == said)?;
    let record = |record: &[u8]| Some((u64::from_le_bytes(record.get(..WORD)?.try_into().ok()?), *record.get(WORD)?));
    records.chunks(WORD + 1).map(record).collect()
}

fn sum(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "files are changed in all the ways that people change them")]
    use std::path::PathBuf;

    use proptest::prelude::*;

    use super::super::files::Pending;
    use super::super::layout::Layout;
    use super::super::view::{PlanProgress, ProjectView};
    use super::super::{Project, files::FileError};
    use super::*;

    /// A time so late that every file is old.
    const LATE: i64 = 9_000_000_000_000;

    struct ToldBench {
        _temporary: tempfile::TempDir,
        root: PathBuf,
        state: PathBuf,
    }

    impl ToldBench {
        fn new() -> Self {
            let temporary = crate::testing::folder();
            let base = temporary.path().canonicalize().unwrap();
            let (root, state) = (base.join("p"), base.join("state"));
            std::fs::create_dir_all(root.join(".planning/phases/01-a")).unwrap();
            Self { _temporary: temporary, root, state }
        }

        fn told(&self, at: i64) -> Told {
            Told::of(&self.state, &self.root, at).unwrap()
        }

        fn memory(&self) -> PathBuf {
            self.told(LATE).file.as_path().to_path_buf()
        }

        fn view(&self, remembers: bool) -> ProjectView {
            let project = Project::new(Layout::new(&self.root, None, None), Some(self.state.clone()));
            let times = || -> super::super::CommitTimes {
                Box::new(|_, _| -> Pending<HashMap<String, i64>> { Box::new(HashMap::new) })
            };
            if remembers { project.view_that_remembers(times(), LATE) } else { project.view(times()) }
        }
    }

    #[test]
    fn an_answer_is_only_valid_for_the_same_question_about_the_same_file() {
        let bench = ToldBench::new();
        let (file, other) = (bench.root.join("a.md"), bench.root.join("b.md"));
        std::fs::write(&file, "one").unwrap();
        std::fs::write(&other, "one").unwrap();
        let stamp = |file: &Path| disk::file_stamp(file).unwrap();
        let look = |at: i64| disk::file_stamp(&file).and_then(|stamp| bench.told(at).look(b'?', "a.md", stamp));
        let keep = || {
            let told = bench.told(LATE);
            told.note(told.look(b'?', "a.md", stamp(&file)).unwrap(), b'!');
        };
        assert_eq!(look(LATE).unwrap().known, None);
        keep();
        assert_eq!(look(LATE).unwrap().known, Some(b'!'));
        let told = bench.told(LATE);
        assert_eq!(told.look(b'.', "a.md", stamp(&file)).unwrap().known, None);
        assert_eq!(told.look(b'?', "b.md", stamp(&file)).unwrap().known, None);
        assert_eq!(told.look(b'?', "a.md", stamp(&other)).unwrap().known, None);
        assert_eq!(look(0), None, "it was changed just now");
        let ways: [(&str, &dyn Fn()); 4] = [
            ("of one length", &|| std::fs::write(&file, "two").unwrap()),
            ("longer", &|| std::fs::write(&file, "three").unwrap()),
            ("another file", &|| std::fs::rename(&other, &file).unwrap()),
            ("time set back", &|| {
                let old = std::time::UNIX_EPOCH;
                std::fs::File::options().write(true).open(&file).unwrap().set_modified(old).unwrap();
            }),
        ];
        for (way, change) in ways {
            keep();
            std::thread::sleep(std::time::Duration::from_millis(20));
            change();
            assert_eq!(look(LATE).unwrap().known, None, "{way}");
        }
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink(bench.root.join("c.md"), &file).unwrap();
        assert_eq!(look(LATE), None, "a link");
    }

    #[test]
    fn a_damaged_or_foreign_memory_is_ignored_and_replaced() {
        let bench = ToldBench::new();
        let file = bench.root.join("a.md");
        std::fs::write(&file, "one").unwrap();
        let stamp = || disk::file_stamp(&file).unwrap();
        let known = || bench.told(LATE).look(b'?', "a.md", stamp()).unwrap().known;
        let keep = || {
            let told = bench.told(LATE);
            told.note(told.look(b'?', "a.md", stamp()).unwrap(), b'!');
        };
        keep();
        let whole = std::fs::read(bench.memory()).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            std::fs::write(bench.memory(), &bytes).unwrap();
            assert_eq!(known(), None, "byte {at}");
            std::fs::write(bench.memory(), &whole[..at]).unwrap();
            assert_eq!(known(), None, "{at} bytes");
        }
        keep();
        assert_eq!(known(), Some(b'!'));
        let many: Vec<(u64, u8)> = (0..=MOST as u64).map(|key| (key, 0)).collect();
        let told = bench.told(LATE);
        *told.answers.lock().unwrap() =
            KnownAnswers { all: many, is_read: true, is_new: true, ..KnownAnswers::default() };
        drop(told);
        let kept = read(&std::fs::read(bench.memory()).unwrap()).unwrap();
        assert_eq!((kept.len(), kept.last()), (MOST / 2, Some(&(MOST as u64, 0))), "the last ones stay");
    }

    fn plans(view: &ProjectView) -> Result<(Vec<String>, Vec<PlanProgress>), FileError> {
        let folder = view.phase_folders()?[0].clone();
        let current = view.current_plans(&folder)?;
        let progress = current.iter().map(|plan| view.plan_progress(&folder, plan)).collect::<Result<_, _>>()?;
        Ok((current, progress))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        #[test]
        fn a_remembered_answer_equals_one_that_is_read(edits in prop::collection::vec((0..4_usize, 0..6_usize), 1..20)) {
            const FILES: [&str; 4] = ["01-01-PLAN.md", "01-02-PLAN.md", "01-01-SUMMARY.md", "01-02-SUMMARY.md"];
            const TEXTS: [&str; 5] = ["---\nstatus: superseded\n---\n", "---\nstatus: complete\n---\n", "---\nstatus: halted\n---\n", "---\nstatus: blocked\n---\n", "x"];
            let bench = ToldBench::new();
            let folder = bench.root.join(".planning/phases/01-a");
            for (file, text) in edits {
                // The clocks of disks are coarse, and these calls pretend that all files are old.
                std::thread::sleep(std::time::Duration::from_millis(12));
                match TEXTS.get(text) {
                    Some(text) => std::fs::write(folder.join(FILES[file]), text).unwrap(),
                    None => drop(std::fs::remove_file(folder.join(FILES[file]))),
                }
                let read = plans(&bench.view(false));
                prop_assert_eq!(&read, &plans(&bench.view(true)));
                prop_assert_eq!(&read, &plans(&bench.view(true)), "asked again");
            }
        }
    }
}
