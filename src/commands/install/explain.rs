//! `explain`: whose a file of a host is, and each key and line in it.

use crate::acts::project;
use crate::emit::with_short_program;
use crate::failure::{Failure, Reason};
use crate::frame::Context;
use crate::install::{self, ExplainedRow, Explanation, HostFileKind, InstallError, OwnedSince, Target, Whose};
use crate::runtime::Scope;
use crate::text::screen::{Cell, Mark, Screen, Tone, counted};
use crate::text::shell::typed;

/// Which file.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ExplainArgs {
    /// A settings or instruction file of a host, or any file in a host's folder
    file: String,
    /// Show each key and entry, not only the groups
    #[arg(long)]
    verbose: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn explain(context: &mut Context, arguments: &ExplainArgs) -> Result<(), Failure> {
    let path = context.here().resolve(&arguments.file);
    let folder = project::install_folder(context);
    let registry = context.registry()?.clone();
    let mut targets: Vec<Target> = Vec::new();
    for descriptor in registry.all().map_err(InstallError::from)? {
        for scope in [Scope::Local, Scope::Global] {
            // A host without a folder in projects has no files there.
            targets.extend(Target::resolve(descriptor.clone(), scope, &folder, None, context.world()));
        }
    }
    let remembered = install::remembered(context.world())?;
    let remembered = remembered.iter().filter_map(|place| place.target(&registry, &folder, context.world()).ok());
    for target in remembered {
        if !targets.iter().any(|known| known.root == target.root && known.descriptor.id == target.descriptor.id) {
            targets.push(target);
        }
    }
    let explained = install::explain(&targets, &path, context.world())?;
    let is_there = crate::disk::exists(path.as_path());
    let Some(explained) = explained.filter(|explained| is_there || explained.what == HostFileKind::Missing) else {
        let why = if is_there { "is not a file of a host" } else { "does not exist" };
        let failure = Failure::new(Reason::Unknown, format!("`{}` {why}", arguments.file));
        return Err(failure.hint("`gsd-tools status` shows the hosts with an install, and their folders").exits(1));
    };
    if arguments.json {
        return context.emit(&explained);
    }
    let home = context.world().home().map(|home| format!("{}/", home.display())).unwrap_or_default();
    context.text(text(&explained, context.page(), arguments.verbose, &home));
    Ok(())
}

fn text(explained: &Explanation, screen: Screen, verbose: bool, home: &str) -> String {
    let host = format!("{} ({})", explained.host, explained.scope.word());
    let (mark, what) = match (explained.what, explained.whose) {
        (HostFileKind::Installed, _) => (Mark::Done, "ours, as installed"),
        (HostFileKind::Edited, _) => (Mark::Warning, "ours, edited since"),
        (HostFileKind::Missing, _) => (Mark::Failed, "ours, missing"),
        (HostFileKind::Settings, _) => (Mark::Done, "settings that others have entries in too"),
        (HostFileKind::Manifest, _) => (Mark::Done, "our list of what is installed"),
        (HostFileKind::SetAside, _) => (Mark::Open, "yours: a file that an install moved here"),
        (HostFileKind::Other, Whose::Another) => (Mark::Open, "another program's"),
        (HostFileKind::Other, _) => (Mark::Open, "not installed by gsd-tools: yours, or the host's"),
    };
    let name = Cell::new(Tone::Strong, explained.path.as_str());
    let mut text = screen.heading(&[screen.mark(mark), name, Cell::from(host), Cell::from(what)]);
    if let Some(program) = &explained.program {
        text += &screen.prose("    ", "    ", &format!("installed by {program}"));
    }
    if let Some(since) = &explained.since {
        text += &screen.prose("    ", "    ", &format!("ours since {}", shown_since(since)));
    }
    if !explained.shared_with.is_empty() {
        text += &screen.prose("    ", "    ", &format!("also of {}", explained.shared_with.join(", ")));
    }
    if explained.what == HostFileKind::Edited {
        let diff = typed!("gsd-tools install --{} --{} --diff", explained.runtime, explained.scope.word());
        let cure = format!("`{diff}` shows the lines that differ");
        text += &screen.commands(&screen.prose("    ", "    ", &cure));
    }
    if explained.rows.is_empty() {
        return text;
    }
    let rows = if verbose { explained.rows.clone() } else { grouped(&explained.rows) };
    let cells: Vec<Vec<Cell>> = rows.iter().map(|row| cells(row, explained.since.as_ref(), home)).collect();
    text + "\n" + &screen.table("  ", &cells)
}

fn cells(row: &ExplainedRow, usual: Option<&OwnedSince>, home: &str) -> Vec<Cell> {
    let line = match (row.line, row.last_line) {
        (Some(first), Some(last)) if first != last => format!("{first}-{last}"),
        (Some(line), _) => line.to_string(),
        (None, _) => "-".to_owned(),
    };
    let whose = match (row.whose, &row.program, &row.since) {
        (Whose::Ours, _, Some(since)) if Some(since) == usual => Cell::new(Tone::Good, "ours"),
        (Whose::Ours, _, Some(since)) => Cell::new(Tone::Good, format!("ours since {}", shown_since(since))),
        (Whose::Ours, _, None) => Cell::new(Tone::Warning, "ours, not listed in a manifest"),
        (Whose::Another, Some(program), _) => Cell::new(Tone::Warning, program.as_str()),
        (Whose::Another, None, _) => Cell::new(Tone::Warning, "another program"),
        (Whose::Yours, ..) => Cell::new(Tone::Plain, "yours"),
    };
    // The beginning of a path is the same in many rows.
    let value = if home.is_empty() { row.value.clone() } else { row.value.replace(home, "~/") };
    let value = Cell::with_its_end(Tone::Faint, with_short_program(value));
    vec![Cell::new(Tone::Faint, line), whose, Cell::from(row.key.as_str()), value]
}

/// The rows with those of the user below one key of the file as one row, and the texts of a list.
fn grouped(rows: &[ExplainedRow]) -> Vec<ExplainedRow> {
    let top = |row: &ExplainedRow| match row.key.split_once(['.', '[']) {
        Some((top, _)) if !row.key.starts_with('"') => top.to_owned(),
        _ => row.key.clone(),
    };
    let mut found: Vec<(usize, ExplainedRow)> = Vec::new();
    for row in rows {
        let is_yours = row.whose == Whose::Yours && row.last_line.is_none();
        // A list of texts, such as what runs without asking, has hundreds of our entries.
        let is_text = row.key.ends_with("[]") && row.value.starts_with('"');
        match found.last_mut() {
            Some((count, last)) if is_yours && last.whose == Whose::Yours && top(last) == top(row) => {
                *count += 1;
                last.key = top(row);
            }
            Some((count, last))
                if is_text && (&last.key, last.whose, &last.since) == (&row.key, row.whose, &row.since) =>
            {
                *count += 1;
            }
            _ => found.push((1, row.clone())),
        }
    }
    let group = |(count, row): (usize, ExplainedRow)| {
        if count > 1 { ExplainedRow { value: counted(count, "value"), ..row } } else { row }
    };
    found.into_iter().map(group).collect()
}

fn shown_since(since: &OwnedSince) -> String {
    let OwnedSince { version, at, call } = since;
    match (at, call) {
        (Some(at), Some(call)) => {
            let minute = at.get(..16).unwrap_or(at).replace('T', " ");
            format!("{minute}, version {version} (call {call} of `gsd-tools history`)")
        }
        _ => format!("version {version}"),
    }
}
