//! The result or the plan of an install, in sentences for people.

use std::fmt::Write as _;

use super::report::{HostReport, InstallReport, OWN_IT, OtherReport, Outcome, SetAside, TWICE, TakenOver, some_of};
use crate::failure::{Failure, Reason};
use crate::install::{StatusLine, Wish};
use crate::runtime::Scope;
use crate::text::screen::{Cell, Mark, Screen, Tone, counted};
use crate::text::shell::{Typed, typed};

/// The time at which the text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Telling {
    /// Before the question whether to proceed.
    Proposed,
    /// With `--dry-run`.
    Rehearsed,
    Done,
    /// After the question, so that what it named is not repeated.
    DoneAsAsked,
}

impl Telling {
    fn is_done(self) -> bool {
        matches!(self, Self::Done | Self::DoneAsAsked)
    }
}

/// Options of the call that affect the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    pub(super) all: bool,
    pub(super) verbose: bool,
}

/// A host in a report, and how it is shown.
struct HostSection<'a> {
    host: &'a HostReport,
    wish: Wish,
    telling: Telling,
    screen: Screen,
    /// It is the only host.
    single: bool,
    /// Show everything.
    verbose: bool,
}

/// How many lines of one kind are shown if there are many.
const LINES: usize = 10;

impl InstallReport {
    /// The planned changes, shown before the question.
    pub(super) fn proposal(&self, screen: Screen, names_scope: bool) -> String {
        let title = match self.wish {
            Wish::Install => format!("gsd-tools {} will be installed:", env!("CARGO_PKG_VERSION")),
            Wish::Update => format!("Updates to gsd-tools {}:", env!("CARGO_PKG_VERSION")),
            Wish::Uninstall => "gsd-tools will be uninstalled:".to_owned(),
        };
        let mut text = screen.paint(Tone::Strong, &title) + "\n";
        for host in &self.hosts {
            text += &self.section(host, screen, Telling::Proposed, false).text();
        }
        if let Some(host) = self.hosts.first().filter(|_| !names_scope) {
            let other = match (self.wish, host.scope == Scope::Global.word()) {
                (Wish::Install | Wish::Update, true) => "global, for all your projects (`--local`: only this project)",
                (Wish::Uninstall, true) => "global, for all your projects",
                (_, false) => "local, only this project",
            };
            text += &screen.commands(&screen.prose("  ", "  ", &format!("Scope: {other}")));
        }
        text
    }

    /// The completed or planned changes for the hosts without an error.
    pub(super) fn text(&self, screen: Screen, telling: Telling, named: Named) -> String {
        let hosts = self.hosts.iter().filter(|host| host.error.is_none());
        // Of several hosts, those without an install are one line.
        let is_empty = |host: &&HostReport| {
            self.wish == Wish::Uninstall && self.hosts.len() > 1 && host.outcome == Outcome::Unchanged
        };
        let (empty, hosts): (Vec<&HostReport>, Vec<&HostReport>) = hosts.partition(is_empty);
        let next = if self.wish == Wish::Install && telling.is_done() { self.next(screen) } else { String::new() };
        let mut text = screen.commands(&next);
        text.extend(hosts.into_iter().map(|host| self.section(host, screen, telling, named.verbose).text()));
        if !empty.is_empty() {
            let hosts = empty.iter().map(|host| host.name.as_str()).collect::<Vec<_>>();
            text += &screen.prose("", "  ", &format!("Not installed: {}", hosts.join(", ")));
        }
        if telling == Telling::Rehearsed {
            text += &self.totals(screen, named.verbose);
        }
        if telling.is_done() {
            text += &screen.commands(&self.ways_back(screen, telling, named.all));
        }
        if let Some(history) = &self.history {
            text += &screen.commands(&screen.prose("  ", "  ", &format!("Nothing is installed any longer. {history}")));
        }
        text
    }

    /// The failure for standard error; `None` if nothing failed.
    pub(super) fn failure(&self, screen: Screen) -> Option<Failure> {
        let errors = self.hosts.iter().filter_map(|host| Some((host, host.error.as_ref()?)));
        let messages: Vec<String> =
            errors.clone().map(|(host, error)| format!("{}: {}", host.name, error.message)).collect();
        let mut hints: Vec<&String> = errors.filter_map(|(_, error)| error.hint.as_ref()).collect();
        hints.dedup();
        if messages.is_empty() {
            return None;
        }
        let error = Failure::new(Reason::of_install(self.exit_code()), messages.join("; "));
        let error = hints.into_iter().fold(error, Failure::hint);
        Some(error.exits(self.exit_code()).shown_as(self.failures(screen)))
    }

    /// The failures, as text.
    fn failures(&self, screen: Screen) -> String {
        let failed: Vec<&HostReport> = self.hosts.iter().filter(|host| host.error.is_some()).collect();
        let mut text: String =
            failed.iter().map(|host| self.section(host, screen, Telling::Done, false).text()).collect();
        if self.hosts.len() > 1 && !failed.is_empty() {
            let others = match (failed.len() == self.hosts.len(), self.dry_run) {
                (true, _) => "",
                (false, true) => "; the others can be done",
                (false, false) => "; the others are done",
            };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{} of {} hosts failed{others}", failed.len(), self.hosts.len());
        }
        text
    }

    fn section<'a>(&self, host: &'a HostReport, screen: Screen, telling: Telling, verbose: bool) -> HostSection<'a> {
        HostSection { host, wish: self.wish, telling, screen, single: self.hosts.len() == 1, verbose }
    }

    /// The hosts where something was changed.
    fn done(&self) -> Vec<&HostReport> {
        self.hosts.iter().filter(|host| host.outcome == Outcome::Done).collect()
    }

    /// What to type next.
    fn next(&self, screen: Screen) -> String {
        let done = self.done();
        let Some(first) = done.first() else { return String::new() };
        let typed = |commands: &[String; 2]| {
            let typed: Vec<&str> = commands.iter().map(String::as_str).filter(|command| !command.is_empty()).collect();
            if typed.is_empty() { "one of the commands".to_owned() } else { typed.join(", then ") }
        };
        let mut line = format!("Open a new session and type {}.", typed(&first.shown.commands));
        let mut others: Vec<(&[String; 2], Vec<&str>)> = Vec::new();
        for host in done.iter().filter(|host| host.shown.commands != first.shown.commands) {
            match others.iter_mut().find(|(commands, _)| **commands == host.shown.commands) {
                Some((_, names)) => names.push(&host.name),
                None => others.push((&host.shown.commands, vec![&host.name])),
            }
        }
        for (commands, names) in others {
            let _ = write!(line, " In {}: {}.", names.join(", "), typed(commands));
        }
        screen.prose("", "  ", &line)
    }

    /// How to undo the call, and how to uninstall.
    fn ways_back(&self, screen: Screen, telling: Telling, all: bool) -> String {
        let done = self.done();
        let Some(first) = done.first() else { return String::new() };
        let mut text = String::new();
        if let Some(why) = &self.not_kept {
            text += &screen.prose("  ", "  ", &format!("This call cannot be undone: {why}"));
        }
        let undo = self.call.map(|_| "Undo: `gsd-tools undo`");
        if self.wish == Wish::Uninstall {
            return text + &undo.map(|undo| screen.prose("  ", "  ", undo)).unwrap_or_default();
        }
        let grants = done.iter().any(|host| !host.permissions.is_empty());
        if done.len() > 1 && grants && telling == Telling::Done {
            text += &screen.prose("  ", "  ", "`--no-permissions` leaves permission lists unchanged.");
        }
        let flags = match (done.as_slice(), all) {
            ([only], _) => only.shown.flags.clone(),
            (_, true) => typed!("--all --{}", first.scope),
            (several, false) => {
                let hosts = several.iter().map(|host| format!("--{}", host.runtime));
                typed!("{} --{}", hosts.fold(Typed::default(), Typed::word), first.scope)
            }
        };
        let uninstall = format!("Uninstall: `{}`", typed!("gsd-tools uninstall {}", flags));
        let ways = undo.map(|undo| format!("{undo}. {uninstall}")).unwrap_or(uninstall);
        text + &screen.prose("  ", "  ", &ways)
    }

    /// The total of all changes.
    fn totals(&self, screen: Screen, verbose: bool) -> String {
        let sum = |count: fn(&HostReport) -> usize| self.hosts.iter().map(count).sum::<usize>();
        let counts = [
            ("write", sum(|host| host.created), "file"),
            ("update", sum(|host| host.updated), "file"),
            ("remove", sum(|host| host.removed), "file"),
            ("edit", sum(|host| host.merged.len()), "settings file"),
        ];
        let counts = counts.into_iter().filter(|(_, count, _)| *count > 0);
        let mut parts: Vec<String> =
            counts.map(|(verb, count, what)| format!("{verb} {}", counted(count, what))).collect();
        let more = if parts.is_empty() || verbose { "" } else { " `--verbose` lists each file." };
        let is = |outcome: Outcome| self.hosts.iter().filter(|host| host.outcome == outcome).count();
        if parts.is_empty() && is(Outcome::Done) > 0 {
            // Its files are there, and only their list is written.
            parts.push(if self.wish.installs() { "update the manifest" } else { "remove the manifest" }.to_owned());
        }
        let told = match (parts.is_empty(), is(Outcome::Failed)) {
            (false, _) => format!("would {}", parts.join(", ")),
            (true, 0) => "nothing to do".to_owned(),
            (true, _) => "nothing can be done".to_owned(),
        };
        let failed = match is(Outcome::Failed) {
            0 => String::new(),
            failed => format!("; {} would fail", counted(failed, "host")),
        };
        screen.commands(&screen.prose("", "  ", &format!("Dry run: {told}{failed}. Nothing was written.{more}")))
    }
}

impl HostSection<'_> {
    fn text(&self) -> String {
        let screen = self.screen;
        if let Some(error) = &self.host.error {
            let failed = if error.half_way { "failed half-way" } else { "failed; nothing was changed" };
            let mut text = self.heading(Mark::Failed, failed);
            text += &screen.commands(&screen.prose("    ", "    ", &error.message));
            if let Some(hint) = &error.hint {
                text += &screen.commands(&screen.prose("    hint: ", "      ", hint));
            }
            return text;
        }
        let mark = match (self.telling, self.warnings().is_empty()) {
            (Telling::Proposed | Telling::Rehearsed, _) => Mark::Open,
            (_, true) => Mark::Done,
            (_, false) => Mark::Warning,
        };
        let mut text = self.heading(mark, &self.facts());
        if self.telling != Telling::DoneAsAsked {
            text += &self.lines(&self.host.detected.iter().map(ToString::to_string).collect::<Vec<_>>());
        }
        if self.telling == Telling::Rehearsed {
            text += &self.lines(&self.kept());
            text += &self.host.shown.groups.iter().map(|group| group.text(screen, self.verbose)).collect::<String>();
        } else if self.telling != Telling::DoneAsAsked {
            text += &self.lines(&self.added());
        }
        if self.telling != Telling::DoneAsAsked {
            text += &self.lines(&self.replaced());
            for warning in self.warnings() {
                text += &screen.commands(&screen.item("  ", Mark::Warning, &warning));
            }
        }
        text + &self.lines(&self.moved())
    }

    /// The host, its folder, and the changes there.
    fn heading(&self, mark: Mark, facts: &str) -> String {
        let cells = [
            self.screen.mark(mark),
            Cell::new(Tone::Strong, &self.host.name),
            Cell::from(self.host.shown.root.as_str()),
            Cell::from(facts),
        ];
        let cells: Vec<Cell> = cells.into_iter().filter(|cell| !cell.is_empty()).collect();
        let line = self.screen.heading(&cells);
        if line.trim_end().lines().count() == 1 {
            return line;
        }
        // The facts get their own lines.
        self.screen.heading(&cells[..cells.len() - 1]) + &self.screen.prose("    ", "    ", facts)
    }

    fn lines(&self, lines: &[String]) -> String {
        lines.iter().map(|line| self.screen.commands(&self.screen.prose("    ", "      ", line))).collect()
    }

    /// The final state, in a few words.
    fn facts(&self) -> String {
        let host = self.host;
        match (self.wish, host.outcome) {
            (Wish::Install | Wish::Update, Outcome::Unchanged) => {
                format!("already up to date ({})", host.version.as_deref().unwrap_or_default())
            }
            (Wish::Uninstall, Outcome::Unchanged) => "not installed".to_owned(),
            (Wish::Install | Wish::Update, _) => {
                let mut facts = vec![self.files()];
                let profile = host.profile.as_ref().filter(|_| host.left_out > 0);
                facts.extend(profile.map(|names| format!("profile {names}")));
                facts.extend((host.hooks > 0).then(|| counted(host.hooks, "hook")));
                facts.extend((host.status_line == Some(StatusLine::Ours)).then(|| "status line".to_owned()));
                self.upgrade() + &facts.join(", ")
            }
            (Wish::Uninstall, _) => {
                let verb = if self.telling.is_done() { "removed" } else { "removes" };
                let mut parts = Vec::new();
                parts.extend((host.removed > 0).then(|| counted(host.removed, "file")));
                parts.extend((!host.merged.is_empty()).then(|| format!("our entries in {}", host.merged.join(", "))));
                if parts.is_empty() {
                    format!("{verb} what was left")
                } else {
                    format!("{verb} {}", parts.join(" and "))
                }
            }
        }
    }

    /// The old and the new version, if they differ.
    fn upgrade(&self) -> String {
        match (&self.host.from_version, &self.host.version) {
            (Some(from), Some(to)) if from != to => {
                let verb = match (self.host.downgrade, self.telling.is_done()) {
                    (false, true) => "updated",
                    (false, false) => "updates",
                    (true, true) => "downgraded",
                    (true, false) => "downgrades",
                };
                format!("{verb} {from} -> {to}: ")
            }
            _ => String::new(),
        }
    }

    fn files(&self) -> String {
        let host = self.host;
        if host.created == host.files && host.removed == 0 {
            return counted(host.files, if self.telling.is_done() { "file" } else { "new file" });
        }
        let counts = [(host.created, "new"), (host.updated, "updated"), (host.removed, "removed")];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
        let changed = if counts.is_empty() { "all unchanged".to_owned() } else { counts.join(", ") };
        format!("{} ({changed})", counted(host.files, "file"))
    }

    /// The edited files and the added permissions.
    fn added(&self) -> Vec<String> {
        let host = self.host;
        if host.outcome != Outcome::Done || self.wish == Wish::Uninstall {
            return Vec::new();
        }
        let mut lines = Vec::new();
        let without = if self.single { " (`--no-permissions` leaves this out)" } else { "" };
        for path in &host.permissions {
            lines.push(format!("{path}: agents may run `gsd-tools` without asking{without}"));
        }
        let others: Vec<&str> =
            host.merged.iter().filter(|path| !host.permissions.contains(path)).map(String::as_str).collect();
        if !others.is_empty() {
            let verb = if self.telling.is_done() { "edited" } else { "edits" };
            lines.push(format!("{verb}: {}", others.join(", ")));
        }
        lines.extend(self.kept());
        lines
    }

    /// The user's settings that an install does not replace.
    fn kept(&self) -> Vec<String> {
        let kept = self.host.status_line == Some(StatusLine::Kept);
        let kept = kept.then(|| "your own status line is unchanged".to_owned());
        let left_out = (self.host.left_out > 0).then(|| {
            let full = typed!("gsd-tools install {} --profile=full", self.host.shown.flags);
            format!("{} left out: `{full}` adds them", counted(self.host.left_out, "command"))
        });
        left_out.into_iter().chain(kept).collect()
    }

    /// The files of another program, or of a repository, that were replaced.
    fn replaced(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let (replaced, removed) = match self.telling {
            Telling::Proposed | Telling::Rehearsed => ("replaces", "removes"),
            Telling::Done | Telling::DoneAsAsked => ("replaced", "removed"),
        };
        for TakenOver { root, program, version, permissions, unsure, profile } in &self.host.taken_over {
            let version = version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
            lines.push(format!("{replaced} {program}{version} in {root}"));
            lines.extend(profile.as_ref().map(|names| match &self.host.profile {
                Some(ours) if ours == names => format!("its profile stays: {names}"),
                _ => format!("its profile `{names}` has no equal here: the profile is {}", self.profile()),
            }));
            if !permissions.is_empty() {
                lines.push(format!("{removed} its permissions: {}", some_of(permissions, self.verbose)));
            }
            if !unsure.is_empty() {
                lines.push(format!("left, because it may be yours: {}", some_of(unsure, self.verbose)));
            }
        }
        if let Some(unlisted) = &self.host.unlisted {
            let (what, are) = (unlisted.what(), unlisted.verb());
            lines.push(match (self.wish, self.telling.is_done()) {
                (Wish::Install | Wish::Update, true) => {
                    format!("the manifest was missing: {what} from an earlier install {are} listed again")
                }
                (Wish::Install | Wish::Update, false) => {
                    format!("the manifest is missing: {what} from an earlier install {are} listed again")
                }
                (Wish::Uninstall, true) => format!("the manifest was missing: removed what is certainly ours, {what}"),
                (Wish::Uninstall, false) => format!("the manifest is missing: removes what is certainly ours, {what}"),
            });
            lines.extend(unlisted.stays(self.verbose));
        }
        for path in &self.host.claimed {
            let fix = if self.wish.installs() { String::new() } else { format!("; {OWN_IT}") };
            lines.push(format!("{path} came with this repository: the files it lists count as yours{fix}"));
        }
        lines
    }

    fn profile(&self) -> &str {
        self.host.profile.as_deref().unwrap_or_default()
    }

    /// Problems that keep the install from working properly.
    fn warnings(&self) -> Vec<String> {
        let host = self.host;
        let mut warnings: Vec<String> = host.downgrade().into_iter().collect();
        warnings.extend(host.not_loaded.iter().map(ToString::to_string));
        warnings.extend(host.kept_out.iter().cloned());
        if host.other_scope.is_some() {
            let root = &host.shown.other_scope;
            let (also, other) = if host.scope == Scope::Global.word() {
                (format!("in this project ({root})"), Scope::Local.word())
            } else {
                (format!("globally ({root})"), Scope::Global.word())
            };
            let what = if host.hooks > 0 { "every command and hook" } else { "every command" };
            warnings.push(format!(
                "also installed {also}: {what} is registered twice; remove that one with `{}`",
                typed!("gsd-tools uninstall --{} --{}", host.runtime, other)
            ));
        }
        warnings.extend(host.others.iter().map(OtherReport::warning));
        warnings.extend(host.left_in_place.iter().map(OtherReport::left));
        warnings.extend(host.without_effect.iter().cloned());
        if host.plugin {
            warnings.push(TWICE.to_owned());
        }
        if let Some(why) = &host.plugin_unknown {
            warnings.push(format!("cannot check whether the gsd plugin is also enabled there: {why}"));
        }
        warnings
    }

    /// Files of the user that were in the way.
    fn moved(&self) -> Vec<String> {
        let host = self.host;
        let saved = if self.telling.is_done() { "was" } else { "will be" };
        let what = if host.from_version.is_some() { "You had edited" } else { "There was already a file" };
        let moved = host.set_aside.iter();
        let moved = moved.map(|SetAside { path, to }| format!("{what} {path}. Your version {saved} saved to {to}"));
        let are = |done: &'static str, planned: &'static str| if self.telling.is_done() { done } else { planned };
        let moved_like = are("files were moved like this", "files will be moved like this");
        let mut lines = self.first_of(moved.collect(), moved_like);
        let edited =
            host.edited.iter().map(|path| format!("your edits stay, with the changes of this version: {path}"));
        lines.extend(
            self.first_of(edited.collect(), are("files were merged like this", "files will be merged like this")),
        );
        let left = host.left.iter().map(|path| format!("not removed, because you had edited it: {path}"));
        lines.extend(self.first_of(left.collect(), are("files were left like this", "files will be left like this")));
        lines.extend(host.leftovers.iter().map(ToString::to_string));
        let elsewhere = host.elsewhere.iter();
        lines.extend(elsewhere.map(|path| format!("not removed, because a link leads out of the folder: {path}")));
        let gave_way = host.gave_way.iter();
        lines.extend(gave_way.map(|path| format!("not written, because a file of yours has this name: {path}")));
        lines
    }

    /// The first of many lines, and how many more there are.
    fn first_of(&self, mut lines: Vec<String>, like_this: &str) -> Vec<String> {
        if !self.verbose && lines.len() > LINES {
            let more = lines.len() - LINES;
            lines.truncate(LINES);
            lines.push(format!("{more} more {like_this}; `--json` lists them all"));
        }
        lines
    }
}
