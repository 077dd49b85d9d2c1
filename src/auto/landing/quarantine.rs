//! The separate repository that a session commits to, which borrows the commits of the user's repository.
//!
//! To commit is to write objects, references, an index and more, and a program that can write these in the user's
//! repository can replace existing ones, or name programs for the next git that looks. So while a session runs, `.git`
//! of the worktree leads to a repository that was made for it, in the folder that git keeps for the worktree. The
//! engine runs no git in it. For the commits of the session on the branch of the run, git makes a new pack and checks
//! every object in it; then the engine moves the branch. Everything else is removed with that repository.
//!
//! A call after one that was killed can repeat the steps: the repository of the session stays until everything is done.

use std::collections::BTreeMap;

use super::error::LandingError;
use super::id::Commit;
use super::repository::{Repository, reference_of};
use super::snapshot::STALE;
use super::worktree::Worktree;
use crate::disk::{self, AbsolutePath, DiskError, EntryKind};
use crate::project::repository::OF_SESSION;
use crate::text::untrusted;
use crate::world::in_path_list;

/// Names in the folder that git keeps for the worktree: the references as they were lent, why the work of a session
/// does not count, the repository of a session during its removal, packs in transit, and the submodules that sessions
/// checked out.
const LENT: &str = "gsd-lent";
const STRAYED: &str = "gsd-strayed";
const DONE: &str = "gsd-git-done";
const ARRIVING: &str = "gsd-arriving";
const MODULES: &str = "gsd-modules";

/// Settings of the user's repository that a session does not get: those about the form of the repository, about
/// programs that git runs, and about signing.
const WITHOUT: &[&str] = &[
    "commit.gpgsign",
    "core.bare",
    "core.fsmonitor",
    "core.hookspath",
    "core.repositoryformatversion",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.splitindex",
    "core.worktree",
    "gc.auto",
    "index.sparse",
    "lfs.storage",
    "maintenance.auto",
    "tag.gpgsign",
];

/// Entire sections that it does not get; [`EXTENSIONS`] are excepted.
const WITHOUT_SECTIONS: &[&str] = &["extensions.", "include.", "includeif."];
const EXTENSIONS: &[&str] = &["extensions.objectformat", "extensions.partialclone"];

/// The settings that a session gets instead.
const INSTEAD: &str = "[core]\n\trepositoryFormatVersion = 1\n\tbare = false\n\thooksPath = /dev/null\n\
                       [commit]\n\tgpgSign = false\n[tag]\n\tgpgSign = false\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n";

/// Files besides the objects and settings that decide what git sees.
const COPIED: &[&str] = &["info/attributes", "info/exclude", "shallow"];

/// The variable with further object folders for git.
const ALTERNATES: &str = "GIT_ALTERNATE_OBJECT_DIRECTORIES";

/// Settings for a git that reads the files of a session: only the objects count, and no index of them. Nothing waits
/// for the disk, as for commits by git.
const PLAIN: &[&str] = &[
    "core.multiPackIndex=false",
    "core.commitGraph=false",
    "core.fsync=none",
    "pack.useBitmaps=false",
    "pack.writeReverseIndex=false",
];

/// The maximum size of a reference in bytes, the most folders in its name, and the most characters of it that are
/// shown.
const LONGEST: u64 = 4 << 10;
const DEEPEST: usize = 20;
const SHOWN: usize = 100;

/// References that a person made and may look for.
const OF_A_PERSON: &[&str] = &["refs/heads/", "refs/tags/", "refs/stash"];

/// References and their targets, as text.
type References = BTreeMap<String, String>;

impl Repository {
    /// Returns the repository to which a session in this worktree commits.
    pub(crate) fn place_of_session(&self, worktree: &Worktree) -> Result<AbsolutePath, LandingError> {
        Ok(self.own_folder_of(&worktree.folder)?.resolve(OF_SESSION))
    }

    /// Makes a new repository for a session and points `.git` of the worktree to it, with the current branches,
    /// settings and index.
    pub(crate) fn lend(&self, worktree: &Worktree) -> Result<(), LandingError> {
        self.mend(&worktree.folder)?;
        let own = self.own_folder_of(&worktree.folder)?;
        let place = own.resolve(OF_SESSION);
        disk::remove_folder(&place)?;
        disk::remove_note(&own.resolve(STRAYED))?;
        let references = self.git.ask(["for-each-ref", "--format=%(objectname) %(refname)"])?;
        let references = [&b"# pack-refs with: sorted \n"[..], &references].concat();
        disk::write_fleeting(&own.resolve(LENT), &references)?;
        for folder in ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info"] {
            disk::make_folder(&place.resolve(folder))?;
        }
        let write = |name: &str, text: &[u8]| disk::write_fleeting(&place.resolve(name), text);
        write("packed-refs", &references)?;
        write("objects/info/alternates", format!("{}\n", self.common().resolve("objects")).as_bytes())?;
        write("config", self.settings_for_session()?.as_bytes())?;
        for name in COPIED {
            if let Some(bytes) = disk::read_bytes(self.common().resolve(name))? {
                write(name, &bytes)?;
            }
        }
        if self.has_mark(&worktree.folder, STALE)? {
            self.renew_index(worktree, false)?;
        }
        disk::copy_as_old(&own.resolve("index"), &place.resolve("index"))?;
        if disk::is_folder(own.resolve(MODULES)) {
            disk::rename(&own.resolve(MODULES), &place.resolve("modules"))?;
        }
        let branch = worktree.branch.as_deref().unwrap_or_default();
        write("HEAD", format!("ref: {}\n", reference_of(branch)).as_bytes())?;
        Ok(disk::write_fleeting(&worktree.folder.resolve(".git"), format!("gitdir: {place}\n").as_bytes())?)
    }

    /// Takes over the commits of a session that has ended, and removes its repository. Returns the other branches and
    /// tags that are removed with it.
    pub(crate) fn reclaim(&self, worktree: &Worktree) -> Result<Vec<String>, LandingError> {
        self.mend(&worktree.folder)?;
        let own = self.own_folder_of(&worktree.folder)?;
        disk::remove_folder(&own.resolve(DONE))?;
        let place = own.resolve(OF_SESSION);
        if disk::is_link(&place) {
            disk::remove_note(&place)?;
        }
        let Some(branch) = worktree.branch.as_deref().filter(|_| disk::is_folder(&place)) else {
            return Ok(Vec::new());
        };
        disk::loosen(&place)?;
        remove_links_below(&place)?;
        let lent = packed(&disk::read_text(own.resolve(LENT))?.unwrap_or_default()).unwrap_or_default();
        let now = references(&place);
        let taken = match why_not(&place, branch, &lent, now.as_ref()) {
            None => self.take_over(worktree, (&own, &place), (&lent, now.as_ref()))?,
            Some(why) => Err(why),
        };
        match taken {
            Ok(is_moved) if is_moved => disk::write_fleeting(&own.resolve(STALE), b"")?,
            Ok(_) => {}
            Err(why) => disk::write_fleeting(&own.resolve(STRAYED), why.as_bytes())?,
        }
        self.part_from_submodules(worktree, &place)?;
        if let Some(left) = part_from_worktrees(&worktree.folder, &place)? {
            let why = format!("the session left a worktree that it made, `{}`", untrusted::line(&left, SHOWN));
            disk::write_fleeting(&own.resolve(STRAYED), why.as_bytes())?;
        }
        let modules = (place.resolve("modules"), own.resolve(MODULES));
        if disk::is_folder(&modules.0) {
            disk::remove_folder(&modules.1)?;
            disk::rename(&modules.0, &modules.1)?;
        }
        disk::rename(&place, &own.resolve(DONE))?;
        disk::remove_folder(&own.resolve(DONE))?;
        // Other references come and go with each fetch.
        let is_own = |name: &String| OF_A_PERSON.iter().any(|start| name.starts_with(start));
        let now = now.unwrap_or_default();
        let gone = beside(branch, &lent, &now).filter(is_own).collect();
        Ok(gone)
    }

    /// Returns why the work of the last session in its repository does not count, whatever else it did.
    pub(super) fn noted_as_strayed(&self, worktree: &Worktree) -> Result<Option<String>, LandingError> {
        Ok(disk::read_text(self.own_folder_of(&worktree.folder)?.resolve(STRAYED))?)
    }

    /// Moves the branch to where the session left it. Returns whether it moved, or in the inner `Err` why it could not.
    fn take_over(
        &self,
        worktree: &Worktree,
        (own, place): (&AbsolutePath, &AbsolutePath),
        (lent, now): (&References, Option<&References>),
    ) -> Result<Result<bool, String>, LandingError> {
        let branch = worktree.branch.as_deref().unwrap_or_default();
        let reference = reference_of(branch);
        let of = |all: &References| all.get(&reference).and_then(|name| Commit::parse(name));
        let (Some(start), Some(head)) = (of(lent), now.and_then(of)) else { return Ok(Ok(false)) };
        let is = worktree.head(self)?;
        if is == head {
            // Also if a killed call had moved it.
            return Ok(Ok(start != head));
        }
        if is != start {
            return Ok(Err(format!("`{branch}` was moved while the session ran")));
        }
        let damaged = |why: &str| format!("what the session committed is damaged: {}", untrusted::line(why, SHOWN));
        if let Err(why) = self.bring_objects((own, place), &start, &head)? {
            return Ok(Err(damaged(&why)));
        }
        match self.git.swap(&reference, Some(&start), Some(&head), "gsd-tools auto: take over") {
            Ok(Ok(())) => Ok(Ok(true)),
            Ok(Err(_)) => Err(LandingError::Moved { reference }),
            // The session has stored something other than a commit there.
            Err(LandingError::Git { why, .. }) => Ok(Err(damaged(&why))),
            Err(error) => Err(error),
        }
    }

    /// Copies all objects of `head` that `start` does not have into the repository. Git reads each object, packs it,
    /// and computes its name from its content, so an object under a false name is then missing.
    fn bring_objects(
        &self,
        (own, place): (&AbsolutePath, &AbsolutePath),
        start: &Commit,
        head: &Commit,
    ) -> Result<Result<(), String>, LandingError> {
        let (arriving, kept) = (own.resolve(ARRIVING), self.common().resolve("objects/pack"));
        disk::remove_folder(&arriving)?;
        disk::make_folder(&arriving.resolve("pack"))?;
        // Files that point to further objects, or that describe commits without being them.
        disk::remove_folder(&place.resolve("objects/info"))?;
        let settings = || PLAIN.iter().flat_map(|setting| ["-c", setting]);
        let reading = |objects: &AbsolutePath| self.git.with(ALTERNATES, in_path_list(&objects.to_string()));
        let packs = arriving.resolve("pack/pack").to_string();
        let line = ["pack-objects", "--revs", "--quiet", "--delta-base-offset", "--non-empty", &packs];
        let wanted = format!("{head}\n^{start}\n").into_bytes();
        let packed = reading(&place.resolve("objects")).told(settings().chain(line), wanted)?;
        if !packed.success() {
            return Ok(Err(packed.error_text()));
        }
        let name = packed.text();
        let files = [".pack", ".idx"].map(|ending| format!("pack-{name}{ending}"));
        let [pack, index] = files.each_ref().map(|file| arriving.resolve("pack").resolve(file));
        // A partial clone may lack objects that its remote promised.
        let lacks = disk::list(&kept)?.unwrap_or_default().iter().any(|entry| entry.name.ends_with(".promisor"));
        if !name.is_empty() {
            // This index has the names that the session gave.
            disk::remove_note(&index)?;
            let check = if lacks { "--fsck-objects" } else { "--strict" };
            let (pack, index) = (pack.to_string(), index.to_string());
            let checked = self.git.run(settings().chain(["index-pack", check, "-o", &index, &pack]))?;
            if !checked.success() {
                return Ok(Err(checked.error_text()));
            }
        }
        if lacks {
            let line = ["rev-list", "--objects", "--quiet", "--exclude-promisor-objects", head.as_str()];
            let whole = reading(&arriving).run(line.into_iter().chain([format!("^{start}").as_str()]))?;
            if !whole.success() {
                return Ok(Err(whole.error_text()));
            }
        }
        if !name.is_empty() {
            disk::make_shared_folder(&kept)?;
            // Git treats a pack with an index as complete.
            for (from, file) in [&pack, &index].into_iter().zip(&files) {
                disk::rename(from, &kept.resolve(file))?;
            }
        }
        disk::remove_folder(&arriving)?;
        Ok(Ok(()))
    }

    /// Removes links from submodules in the worktree to the repository of a session: git would run in each of them,
    /// with settings that the session could write. Their files stay.
    fn part_from_submodules(&self, worktree: &Worktree, place: &AbsolutePath) -> Result<(), LandingError> {
        for path in self.submodules(&worktree.head(self)?)? {
            let Ok(folder) = AbsolutePath::parse(path.below(worktree.folder.as_path())) else { continue };
            let mark = folder.resolve(".git");
            if disk::passes_no_link(&mark, &worktree.folder).is_err() || disk::is_folder(&mark) {
                continue;
            }
            if super::git::own_folder(folder.as_path()).is_some_and(|own| own.is_within(place)) {
                disk::remove_note(&mark)?;
            }
        }
        Ok(())
    }

    /// Returns the settings of a session's repository.
    fn settings_for_session(&self) -> Result<String, LandingError> {
        let told = self.git.run(["config", "--local", "--includes", "--null", "--list"])?.stdout;
        let told = String::from_utf8_lossy(&told).into_owned();
        let mut text = String::new();
        for setting in told.split('\0').filter(|setting| !setting.is_empty()) {
            let (key, value) = setting.split_once('\n').map_or((setting, None), |(key, value)| (key, Some(value)));
            let is_kept = EXTENSIONS.contains(&key)
                || !(WITHOUT.contains(&key) || WITHOUT_SECTIONS.iter().any(|section| key.starts_with(section)));
            if is_kept {
                text += &setting_line(key, value).unwrap_or_default();
            }
        }
        // The filter for large files would look for them next to the new objects.
        let large = self.common().resolve("lfs");
        if disk::is_folder(&large) {
            text += &setting_line("lfs.storage", Some(&large.to_string())).unwrap_or_default();
        }
        Ok(text + INSTEAD)
    }
}

/// Turns folders in `folder` that a session made into worktrees of its repository at `place` back into plain folders,
/// since that repository is about to be removed. Returns the last of them.
fn part_from_worktrees(folder: &AbsolutePath, place: &AbsolutePath) -> Result<Option<String>, DiskError> {
    let mut left = None;
    for entry in disk::list(place.resolve("worktrees"))?.unwrap_or_default() {
        let text = disk::read_text(entry.path.join("gitdir")).ok().flatten().unwrap_or_default();
        let Ok(mark) = AbsolutePath::parse(text.trim_end()) else { continue };
        let is_in = mark.name() == ".git" && disk::passes_no_link(&mark, folder).is_ok();
        let Some(around) = mark.parent().filter(|around| is_in && around != folder && disk::is_file(&mark)) else {
            continue;
        };
        disk::remove_note(&mark)?;
        left = around.relative_to(folder).map(|path| path.to_string()).or(left);
    }
    Ok(left)
}

/// Returns a setting as git writes it into a file; `None` for a key without a section.
fn setting_line(key: &str, value: Option<&str>) -> Option<String> {
    let (section, rest) = key.split_once('.')?;
    let (below, name) = rest.rsplit_once('.').map_or((None, rest), |(below, name)| (Some(below), name));
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let below = below.map(|below| format!(" \"{}\"", quoted(below))).unwrap_or_default();
    let value = value.map(|value| format!(" = \"{}\"", quoted(value).replace('\n', "\\n").replace('\t', "\\t")));
    Some(format!("[{section}{below}]\n\t{name}{}\n", value.unwrap_or_default()))
}

/// Returns why the session's changes to references disqualify its work.
fn why_not(place: &AbsolutePath, branch: &str, lent: &References, now: Option<&References>) -> Option<String> {
    let reference = reference_of(branch);
    let head = disk::read_up_to(place.resolve("HEAD"), LONGEST).ok().flatten().unwrap_or_default();
    if String::from_utf8_lossy(&head).trim_end() != format!("ref: {reference}") {
        return Some(format!("the session left the branch `{branch}`"));
    }
    let Some(now) = now else { return Some("the session left branches that cannot be read".to_owned()) };
    match now.get(&reference) {
        None => return Some(format!("the session removed the branch `{branch}`")),
        Some(name) if Commit::parse(name).is_none() => {
            return Some(format!("`{branch}` was made another name of a branch"));
        }
        Some(_) => {}
    }
    let (folder, _) = branch.rsplit_once('/')?;
    let folder = format!("refs/heads/{folder}/");
    let made = beside(branch, lent, now).find(|name| name.starts_with(&folder))?;
    let made = made.strip_prefix("refs/heads/").unwrap_or(&made);
    Some(format!("the session made the branch `{}`", untrusted::line(made, SHOWN)))
}

/// Returns the references that differ from those that were lent, except the branch of the run.
fn beside<'a>(branch: &str, lent: &'a References, now: &'a References) -> impl Iterator<Item = String> + 'a {
    let own = reference_of(branch);
    let changed = now.iter().filter(|(name, id)| lent.get(*name) != Some(*id)).map(|(name, _)| name);
    changed.filter(move |name| **name != own).cloned()
}

/// Reads the references of a repository that is not in use; `None` if git could not read them either.
fn references(place: &AbsolutePath) -> Option<References> {
    let bytes = disk::read_bytes(place.resolve("packed-refs")).ok()?.unwrap_or_default();
    let mut found = packed(&String::from_utf8_lossy(&bytes))?;
    let mut open = vec![("refs".to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        for entry in disk::list(place.resolve(&folder)).ok()?.unwrap_or_default() {
            let name = format!("{folder}/{}", entry.name);
            match entry.kind {
                EntryKind::Folder if depth < DEEPEST => open.push((name, depth + 1)),
                // Git writes references this way, and no other way.
                EntryKind::File if name.strip_suffix(".lock").is_none() => {
                    let bytes = disk::read_up_to(&entry.path, LONGEST).ok()??;
                    found.insert(name, String::from_utf8_lossy(&bytes).trim_end().to_owned());
                }
                _ => {}
            }
        }
    }
    Some(found)
}

/// Parses the lines of packed references.
fn packed(text: &str) -> Option<References> {
    let lines = text.lines().filter(|line| !line.starts_with(['#', '^']));
    lines.map(|line| line.split_once(' ').map(|(id, name)| (name.to_owned(), id.to_owned()))).collect()
}

fn remove_links_below(folder: &AbsolutePath) -> Result<(), DiskError> {
    for entry in disk::list(folder)?.unwrap_or_default() {
        let path = AbsolutePath::parse(&entry.path)?;
        match entry.kind {
            EntryKind::Link => disk::remove_note(&path)?,
            EntryKind::Folder => remove_links_below(&path)?,
            EntryKind::File | EntryKind::Other => {}
        }
    }
    Ok(())
}
