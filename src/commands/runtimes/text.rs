//! The matrix and the page of one host, for people, in lines of at most 100 characters.

use std::fmt::Write as _;

use super::{FeatureRow, RuntimeRow, RuntimesReport};
use crate::runtime::{Evidence, Feature, Means, Scope};
use crate::text::screen::{Cell, Screen, Tone};
use crate::text::shell::typed;

/// The width of the matrix, and of text that is piped.
const WIDTH: usize = 100;

/// All hosts: a matrix, or on a narrow screen a paragraph each.
pub(super) fn table(report: &RuntimesReport, screen: Screen) -> String {
    let mut text = if screen.width < WIDTH { list(report, screen) } else { matrix(report) };
    for broken in &report.broken {
        let _ = writeln!(text, "\nNot usable: {}", broken.file);
        let place = format!("line {}, column {}: ", broken.line, broken.column);
        entry(&mut text, screen, &place, &broken.message);
        entry(&mut text, screen, "", &broken.hint);
    }
    text
}

fn matrix(report: &RuntimesReport) -> String {
    let first = report.runtimes.iter().map(|row| row.id.chars().count()).max().unwrap_or(0).max(4);
    let mut text = format!("{:first$}", "host");
    for feature in Feature::ALL {
        let _ = write!(text, " {}", head(feature));
    }
    text.push_str(" client\n");
    for row in &report.runtimes {
        let _ = write!(text, "{:first$}", row.id);
        for feature in &row.features {
            let width = head(feature.what).len();
            let _ = write!(text, " {:width$}", cell(feature.support));
        }
        let version = row.verified.version.as_deref().unwrap_or("verified");
        let client = if row.verified.by == Evidence::Client { version } else { "untested" };
        let _ = writeln!(text, " {client}");
    }
    text.push_str(LEGEND);
    text
}

const LEGEND: &str = "
yes: supported; ~: emulated; -: not supported.
typed: commands can be typed and are not listed to the model; incl: a command includes a file in
the prompt; start, before, after, compact: programs run when a session starts, before and after a
tool, and before the conversation is shortened; line: status line; allow: a list of what may run
without asking; local: an install in one project; trees: a worktree for an agent.
client: the version that this was verified with; untested: from vendor docs or other sources.
`gsd-tools runtimes HOST` shows how, why not, and where files are installed.
";

/// A paragraph for each host, with the features it does not support: that list is shorter.
fn list(report: &RuntimesReport, screen: Screen) -> String {
    let mut text = String::new();
    for row in &report.runtimes {
        let title = [Cell::new(Tone::Strong, row.id.as_str()), Cell::from(format!("({})", row.name))];
        text += &screen.heading(&title);
        text += &screen.prose("  ", "  ", &supported(&row.features));
        text += &screen.prose("  ", "  ", &verified(row));
    }
    text.push('\n');
    text + &screen.prose("", "", "`gsd-tools runtimes HOST` shows how, why not, and where files are installed.")
}

fn supported(features: &[FeatureRow]) -> String {
    let of = |means: Means| {
        let words = features.iter().filter(|feature| feature.support == means).map(|feature| feature.what.word());
        words.collect::<Vec<_>>().join(", ")
    };
    let (emulated, absent) = (of(Means::Emulated), of(Means::Absent));
    let count = features.iter().filter(|feature| feature.support == Means::Native).count();
    let parts = [
        Some(format!("{count} of {} features supported", features.len())),
        Some(format!("emulated: {emulated}")).filter(|_| !emulated.is_empty()),
        Some(format!("not supported: {absent}")).filter(|_| !absent.is_empty()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// The name of a column. All columns, the host's id and its verification fit the width.
fn head(feature: Feature) -> &'static str {
    match feature {
        Feature::Commands => "cmds",
        Feature::Routers => "rout",
        Feature::Agents => "agents",
        Feature::TypedOnly => "typed",
        Feature::Include => "incl",
        Feature::Hooks => "hooks",
        Feature::SessionStart => "start",
        Feature::BeforeTool => "before",
        Feature::AfterTool => "after",
        Feature::BeforeCompact => "compact",
        Feature::StatusLine => "line",
        Feature::Permissions => "allow",
        Feature::Local => "local",
        Feature::Worktrees => "trees",
    }
}

fn cell(means: Means) -> &'static str {
    match means {
        Means::Native => "yes",
        Means::Emulated => "~",
        Means::Absent => "-",
    }
}

/// The page about one host.
pub(super) fn page(row: &RuntimeRow, screen: Screen) -> String {
    let mut text = row.name.clone();
    let words: Vec<&str> = std::iter::once(row.id.as_str()).chain(row.aliases.iter().map(String::as_str)).collect();
    let _ = writeln!(text, " ({})", words.join(", "));
    text += &screen.prose("", "", &format!("{}{}.", verified(row), date(row)));
    if row.own {
        text += &screen.prose("", "", "Described by a descriptor that you added.");
    }
    text.push('\n');
    for feature in &row.features {
        let head = format!("{:15}{:15}", feature.what.word(), feature.support.words());
        entry(&mut text, screen, &head, &feature.note);
    }
    for scope in [Scope::Global, Scope::Local] {
        if !row.places.iter().any(|place| place.scope == scope) {
            continue;
        }
        let title = match scope {
            Scope::Global => "Global, for all projects",
            Scope::Local => "Local, for one project",
        };
        let _ = writeln!(text, "\n{title} (`--{}`):", scope.word());
        for place in row.places.iter().filter(|place| place.scope == scope) {
            entry(&mut text, screen, &format!("{:24}", place.what), &place.path);
        }
    }
    if !row.environment.is_empty() {
        text.push('\n');
        text += &screen.prose("", "", "The first of these variables that is set moves the global folder:");
        for variable in &row.environment {
            entry(&mut text, screen, &format!("{:24}", variable.name), &variable.holds);
        }
    }
    let programs: Vec<String> = row.programs.iter().map(|name| format!("`{name}`")).collect();
    let detected = match programs.as_slice() {
        [] => "its global folder exists".to_owned(),
        programs => format!("its global folder exists, or {} is in PATH", programs.join(" or ")),
    };
    let plugin = if row.plugin {
        format!("`{}` builds one", typed!("gsd-tools package --host {} FOLDER", row.id))
    } else {
        "not supported, no form of plugins is known".to_owned()
    };
    text.push('\n');
    entry(&mut text, screen, "Detected if: ", &detected);
    entry(&mut text, screen, "Plugin: ", &plugin);
    text
}

/// How the facts in the row were verified.
fn verified(row: &RuntimeRow) -> String {
    match (row.verified.by, &row.verified.version) {
        (Evidence::Client, Some(version)) => format!("Verified with client {version}"),
        (Evidence::Client, None) => "Verified with the client".to_owned(),
        (Evidence::VendorDoc, _) => "From vendor docs, untested".to_owned(),
        (Evidence::Secondary, _) => "From secondary sources, untested".to_owned(),
    }
}

fn date(row: &RuntimeRow) -> String {
    let date = &row.verified.date;
    match row.verified.by {
        Evidence::Client => format!(" on {date}"),
        Evidence::VendorDoc | Evidence::Secondary => format!("; read on {date}"),
    }
}

/// A line with a head. A long body continues under its own beginning, or on a narrow screen under the head.
fn entry(text: &mut String, screen: Screen, head: &str, body: &str) {
    let screen = Screen { width: screen.width.min(WIDTH), ..screen };
    let first = format!("  {head}");
    let column = first.chars().count();
    if column > 12 && screen.width < 72 {
        text.push_str(first.trim_end());
        text.push('\n');
        *text += &screen.prose("      ", "      ", body);
    } else {
        *text += &screen.prose(&first, &" ".repeat(column), body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_note_continues_below_itself() {
        for width in [60, 80, 200, usize::MAX] {
            let mut text = String::new();
            let screen = Screen { width, color: false, signs: true };
            entry(&mut text, screen, "local         ", "word ".repeat(30).trim_end());
            assert!(text.lines().all(|line| line.len() <= WIDTH.min(width)), "{text}");
            assert!(text.lines().nth(1).unwrap().trim_start().starts_with("word"), "{text}");
        }
    }
}
