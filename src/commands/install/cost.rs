//! `cost`: what an install costs a session of its host, with and without us, and what each profile costs.

use schemars::JsonSchema;
use serde::Serialize;

use super::job::{example, installer};
use super::{Which, every_host};
use crate::acts::project;
use crate::emit::bill::{ListedText, LoadedText};
use crate::failure::Failure;
use crate::frame::Context;
use crate::hooks;
use crate::install::{self, InstallBill, InstallError, Installer, OwnBill, Target};
use crate::library::{CommandProfile, ItemKind, Library};
use crate::runtime::{Evidence, Feature, Means, Scope};
use crate::text::screen::{Cell, Mark, Screen, Tone, counted};
use crate::text::shell::{Typed, typed};

/// How many commands and agents are shown without `--verbose`.
const SHOWN: usize = 5;

/// The profiles that are compared.
const COMPARED: [&str; 3] = ["core", "standard", "full"];

/// Which installs.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct CostArgs {
    /// Use this host; repeat it for several. `--codex` is short for `--host codex`
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// Global scope: all your projects
    #[arg(long, short = 'g', conflicts_with = "local")]
    global: bool,
    /// Local scope: only this project
    #[arg(long, short = 'l')]
    local: bool,
    /// Use this config directory instead of the host's default
    #[arg(long, short = 'c', value_name = "FOLDER", conflicts_with = "local")]
    config_dir: Option<String>,
    /// Show what this profile would cost, instead of what is installed
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    profile: Vec<String>,
    /// List every command and agent
    #[arg(long, short = 'v')]
    verbose: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// The bills of installs.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct CostReport {
    hosts: Vec<SessionBill>,
}

/// Bytes of text, and an estimate of tokens: a quarter of the bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
struct TextWeight {
    bytes: usize,
    tokens: usize,
}

impl TextWeight {
    fn of(bytes: usize) -> Self {
        Self { bytes, tokens: bytes.div_ceil(4) }
    }

    /// `2,345 B ~587`.
    fn shown(self) -> String {
        format!("{} B ~{}", with_commas(self.bytes), with_commas(self.tokens))
    }
}

/// What one install costs a session of its host.
#[derive(Debug, Serialize, JsonSchema)]
struct SessionBill {
    runtime: String,
    #[serde(skip)]
    name: String,
    scope: &'static str,
    root: String,
    #[serde(skip)]
    shown: String,
    #[serde(skip)]
    flags: Typed,
    /// Whether the bill is of installed files as they are; otherwise of what an install would write.
    installed: bool,
    /// `full`, or names separated by commas.
    profile: String,
    /// Whether what the host lists was measured in its client.
    measured: bool,
    /// The date of the facts, their source, and the version of the client that was run.
    verified: MeasuredBy,
    files: usize,
    /// What every session loads because of us.
    always: AlwaysBill,
    /// What your own texts in the same folders cost every session.
    yours: AlwaysBill,
    /// The rows that the model always gets.
    rows: Vec<ListedBill>,
    /// What each command loads when it is typed, the largest first; routers too, which the model chooses.
    commands: Vec<LoadedBill>,
    /// What each agent loads when it starts, the largest first.
    agents: Vec<LoadedBill>,
    /// The profiles that can be installed there, side by side.
    profiles: Vec<ProfileBill>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct MeasuredBy {
    by: Evidence,
    date: String,
    version: Option<String>,
}

/// What every session loads.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct AlwaysBill {
    /// Names and descriptions of commands and agents.
    listing: TextWeight,
    /// Permanent instructions: our block, or your files without it.
    instructions: TextWeight,
    /// What our hook says at the start of a session in this folder.
    session_start: TextWeight,
    total: TextWeight,
}

impl AlwaysBill {
    fn of(listing: usize, instructions: usize, session_start: usize) -> Self {
        Self {
            listing: TextWeight::of(listing),
            instructions: TextWeight::of(instructions),
            session_start: TextWeight::of(session_start),
            total: TextWeight::of(listing + instructions + session_start),
        }
    }
}

/// A row that the model always gets.
#[derive(Debug, Serialize, JsonSchema)]
struct ListedBill {
    name: String,
    kind: ItemKind,
    yours: bool,
    #[serde(flatten)]
    weight: TextWeight,
}

/// What a command or an agent loads.
#[derive(Debug, Serialize, JsonSchema)]
struct LoadedBill {
    name: String,
    kind: ItemKind,
    /// Its text, what it includes, and what those order to be read first.
    at_once: TextWeight,
    /// The most that it may read later, when a step names it.
    later: TextWeight,
}

/// What one profile costs.
#[derive(Debug, Serialize, JsonSchema)]
struct ProfileBill {
    profile: String,
    /// Whether it is the one that is installed.
    current: bool,
    files: usize,
    commands: usize,
    agents: usize,
    always: TextWeight,
    /// The command that loads most at once.
    largest: Option<LoadedBill>,
}

pub(super) fn cost(context: &mut Context, arguments: &CostArgs) -> Result<(), Failure> {
    let registry = context.registry()?.clone();
    let (library, disk) = (Library::embedded().map_err(InstallError::from)?, context.disk());
    let report = {
        let installer = installer(context, &disk, &registry, &library)?;
        let named = (!arguments.profile.is_empty()).then(|| installer.profiles.typed(&arguments.profile, &library));
        let named = named.transpose()?;
        let mut hosts = Vec::new();
        for target in targets(context, arguments)? {
            let start = said_at_start(context, &target);
            hosts.push(bill(&installer, &target, named.as_ref(), start)?);
        }
        CostReport { hosts }
    };
    if arguments.json {
        return context.emit(&report);
    }
    let screen = context.page();
    let pages: Vec<String> = report.hosts.iter().map(|host| host.page(screen, arguments.verbose)).collect();
    let end = "~ is an estimate of tokens: bytes / 4.";
    let more = if arguments.verbose { String::new() } else { " `--verbose` lists every command and agent.".to_owned() };
    context.text(pages.join("\n") + "\n" + &screen.commands(&screen.prose("", "", &format!("{end}{more}"))));
    Ok(())
}

/// The installs that are named, or that exist; without any, the one that an install would make.
fn targets(context: &Context, arguments: &CostArgs) -> Result<Vec<Target>, Failure> {
    let which = Which {
        hosts: arguments.hosts.clone(),
        global: arguments.global,
        local: arguments.local,
        config_dir: arguments.config_dir.clone(),
        json: arguments.json,
    };
    let registry = context.registry()?;
    let known = every_host(context, registry)?;
    let scopes = match (which.global || which.config_dir.is_some(), which.local) {
        (true, _) => vec![Scope::Global],
        (_, true) => vec![Scope::Local],
        _ => vec![Scope::Global, Scope::Local],
    };
    let first = if which.local { Scope::Local } else { Scope::Global };
    let hosts = if which.hosts.is_empty() { known.clone() } else { which.named(registry)? };
    let mut found = Vec::new();
    for host in &hosts {
        let there = scopes.iter().filter_map(|scope| which.target(context, host.clone(), *scope).ok());
        let there: Vec<Target> = there.filter(install::is_installed).collect();
        if there.is_empty() && !which.hosts.is_empty() {
            found.push(which.target(context, host.clone(), first)?);
        }
        found.extend(there);
    }
    if found.is_empty() {
        let usual = example(&known).to_owned();
        let host = known.into_iter().find(|host| host.id.as_str() == usual);
        found.extend(host.map(|host| which.target(context, host, first)).transpose()?);
    }
    Ok(found)
}

/// What our hook says at the start of a session of the host in this folder.
fn said_at_start(context: &Context, target: &Target) -> usize {
    let is_read = target.descriptor.support(Feature::SessionStart).means == Means::Native;
    if is_read { hooks::at_start(context.world(), project::install_folder(context).as_path()).len() } else { 0 }
}

fn bill(
    installer: &Installer<'_>,
    target: &Target,
    named: Option<&CommandProfile>,
    start: usize,
) -> Result<SessionBill, Failure> {
    let there = installer.bill_of_install(target)?;
    let current = there.as_ref().map(|bill| bill.profile.clone());
    let wanted = named.cloned().or_else(|| current.clone()).unwrap_or_default();
    let chosen = match there.filter(|bill| bill.profile == wanted) {
        Some(there) => there,
        None => installer.bill(target, &wanted)?,
    };
    let mut compared = COMPARED.map(CommandProfile::read).to_vec();
    if !compared.contains(&wanted) {
        compared.insert(0, wanted.clone());
    }
    let mut profiles = Vec::new();
    for profile in compared {
        let bill = installer.bill(target, &profile)?;
        profiles.push(ProfileBill::new(&bill, current.as_ref() == Some(&profile), start));
    }
    let own = installer.own_bill(target)?;
    let verified = &target.descriptor.verified;
    Ok(SessionBill {
        runtime: target.descriptor.id.to_string(),
        name: target.descriptor.name.clone(),
        scope: target.scope.word(),
        root: target.root.to_string(),
        shown: target.shown(&target.root),
        flags: target.flags(),
        installed: current.as_ref() == Some(&wanted),
        profile: wanted.to_string(),
        measured: verified.by == Evidence::Client,
        verified: MeasuredBy { by: verified.by, date: verified.date.clone(), version: verified.version.clone() },
        files: chosen.files,
        always: AlwaysBill::of(chosen.listing(), chosen.instructions, start),
        yours: AlwaysBill::of(
            own.listed.iter().map(|row| row.bytes).sum(),
            own.instructions.iter().map(|(_, bytes)| bytes).sum(),
            0,
        ),
        rows: rows(&chosen, &own),
        commands: loaded(&chosen, &[ItemKind::Command, ItemKind::Router]),
        agents: loaded(&chosen, &[ItemKind::Agent]),
        profiles,
    })
}

fn rows(bill: &InstallBill, own: &OwnBill) -> Vec<ListedBill> {
    let row = |yours| {
        move |row: &ListedText| ListedBill {
            name: row.name.clone(),
            kind: row.kind,
            yours,
            weight: TextWeight::of(row.bytes),
        }
    };
    bill.listed.iter().map(row(false)).chain(own.listed.iter().map(row(true))).collect()
}

/// What the texts of these kinds load, the largest first.
fn loaded(bill: &InstallBill, kinds: &[ItemKind]) -> Vec<LoadedBill> {
    let of_kinds = bill.texts.iter().filter(|(text, _)| kinds.contains(&text.kind));
    let mut found: Vec<LoadedBill> =
        of_kinds.map(|(text, loaded)| LoadedBill::new(&text.name, text.kind, *loaded)).collect();
    found.sort_by(|one, other| (other.at_once.bytes, &one.name).cmp(&(one.at_once.bytes, &other.name)));
    found
}

impl LoadedBill {
    fn new(name: &str, kind: ItemKind, loaded: LoadedText) -> Self {
        let (at_once, later) = (TextWeight::of(loaded.at_once()), TextWeight::of(loaded.later));
        Self { name: name.to_owned(), kind, at_once, later }
    }

    fn row(&self) -> Vec<Cell> {
        [self.name.clone(), self.at_once.shown(), self.later.shown()].map(Cell::from).to_vec()
    }
}

impl ProfileBill {
    fn new(bill: &InstallBill, current: bool, start: usize) -> Self {
        let count = |kind| bill.texts.iter().filter(|(text, _)| text.kind == kind).count();
        Self {
            profile: bill.profile.to_string(),
            current,
            files: bill.files,
            commands: count(ItemKind::Command),
            agents: count(ItemKind::Agent),
            always: TextWeight::of(bill.listing() + bill.instructions + start),
            largest: bill.largest().map(|(text, loaded)| LoadedBill::new(&text.name, text.kind, *loaded)),
        }
    }

    fn row(&self, screen: Screen) -> Vec<Cell> {
        // The number comes first: a narrow terminal cuts the end.
        let largest = self.largest.as_ref().map(|it| format!("{} B {}", with_commas(it.at_once.bytes), it.name));
        let largest = largest.unwrap_or_default();
        let mark = if self.current { screen.sign(Mark::Done) } else { " ".to_owned() };
        let name = format!("{mark} {}", self.profile);
        let counts = [self.files, self.commands, self.agents].map(|count| count.to_string());
        std::iter::once(name).chain(counts).chain([self.always.shown(), largest]).map(Cell::from).collect()
    }
}

impl SessionBill {
    fn page(&self, screen: Screen, verbose: bool) -> String {
        let what = if self.installed { "installed" } else { "not installed: as an install would write it" };
        let mut page = screen.heading(&[
            Cell::new(Tone::Strong, format!("{} ({})", self.name, self.scope)),
            Cell::from(format!("profile {}", self.profile)),
            Cell::from(self.shown.as_str()),
            Cell::from(what),
        ]);
        page += &screen.prose("  ", "  ", &self.basis());
        let heading = |cells: &[&str]| cells.iter().map(|text| Cell::new(Tone::Strong, *text)).collect::<Vec<Cell>>();
        let weights = |what: &str, of: fn(&AlwaysBill) -> TextWeight| {
            let (ours, yours) = (of(&self.always), of(&self.yours));
            let both = TextWeight::of(ours.bytes + yours.bytes);
            [what.to_owned(), ours.shown(), yours.shown(), both.shown()].map(Cell::from).to_vec()
        };
        let always = [
            heading(&["every session", "gsd", "yours", "both"]),
            weights(&self.counts(), |bill| bill.listing),
            weights("instructions", |bill| bill.instructions),
            weights("session start", |bill| bill.session_start),
            weights("all", |bill| bill.total),
        ];
        let profiles =
            std::iter::once(heading(&["  profile", "files", "commands", "agents", "every session", "largest command"]))
                .chain(self.profiles.iter().map(|profile| profile.row(screen)));
        page += "\n";
        page += &screen.table("  ", &always);
        page += "\n";
        page += &screen.table("  ", &profiles.collect::<Vec<_>>());
        for (title, bills) in [("command, when typed", &self.commands), ("agent, when started", &self.agents)] {
            let shown = if verbose { bills.len() } else { SHOWN };
            let rows: Vec<Vec<Cell>> = std::iter::once(heading(&[title, "at once", "later, at most"]))
                .chain(bills.iter().take(shown).map(LoadedBill::row))
                .collect();
            if rows.len() > 1 {
                page += "\n";
                page += &screen.table("  ", &rows);
            }
        }
        if !self.installed {
            let profile = if self.profile == "full" { String::new() } else { format!(" --profile={}", self.profile) };
            let install = format!("Install: `{}{profile}`", typed!("gsd-tools install {}", self.flags));
            page += "\n";
            page += &screen.commands(&screen.prose("  ", "  ", &install));
        }
        page
    }

    /// What is known about the lists of the host.
    fn basis(&self) -> String {
        let version = self.verified.version.as_deref().unwrap_or_default();
        if self.measured {
            format!("Lists as measured in {} {version} ({})", self.name, self.verified.date)
        } else {
            let source = match self.verified.by {
                Evidence::VendorDoc => "its maker's documents",
                Evidence::Client | Evidence::Secondary => "other sources",
            };
            format!("Not measured: what {} lists is known from {source} ({})", self.name, self.verified.date)
        }
    }

    fn counts(&self) -> String {
        let count = |kinds: &[ItemKind]| self.rows.iter().filter(|row| !row.yours && kinds.contains(&row.kind)).count();
        let (commands, agents) = (count(&[ItemKind::Command, ItemKind::Router]), count(&[ItemKind::Agent]));
        format!("lists: {}, {}", counted(commands, "command"), counted(agents, "agent"))
    }
}

/// A number with a comma after each three digits, from the right.
fn with_commas(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_terminal_shows_the_bytes_of_the_largest_command() {
        let (at_once, later) = (TextWeight::of(13_412), TextWeight::of(0));
        let largest =
            LoadedBill { name: "gsd-plan-review-convergence".to_owned(), kind: ItemKind::Command, at_once, later };
        let bill = ProfileBill {
            profile: "ui,quick,standard".to_owned(),
            current: true,
            files: 417,
            commands: 91,
            agents: 34,
            always: TextWeight::of(123_456),
            largest: Some(largest),
        };
        for width in [70, 80] {
            let screen = Screen { width, color: false, signs: true };
            let table = screen.table("  ", &[bill.row(screen)]);
            assert!(table.contains("123,456 B ~30,864  13,412 B"), "{width}: {table}");
        }
    }

    #[test]
    fn weights_are_shown_with_commas_and_an_estimate() {
        assert_eq!(TextWeight::of(0).shown(), "0 B ~0");
        assert_eq!(TextWeight::of(999).shown(), "999 B ~250");
        assert_eq!(TextWeight::of(1_234_567).shown(), "1,234,567 B ~308,642");
    }
}
