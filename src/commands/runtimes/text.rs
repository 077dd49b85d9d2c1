//! The matrix and the page of one host, for people, in lines of at most 100 characters.

use std::fmt::Write as _;

use super::{RuntimeRow, RuntimesReport};
use crate::runtime::{Evidence, Feature, Means, Scope};

const WIDTH: usize = 100;

/// All hosts, one a line.
pub(super) fn table(report: &RuntimesReport) -> String {
    let first = report.runtimes.iter().map(|row| row.id.chars().count()).max().unwrap_or(0).max(4);
    let mut text = format!("{:first$}", "host");
    for feature in Feature::ALL {
        let _ = write!(text, " {}", head(feature));
    }
    text.push_str(" known from\n");
    for row in &report.runtimes {
        let _ = write!(text, "{:first$}", row.id);
        for feature in &row.features {
            let width = head(feature.what).len();
            let _ = write!(text, " {:width$}", cell(feature.support));
        }
        let _ = writeln!(text, " {}", RuntimesReport::words(&row.verified));
    }
    text.push_str(LEGEND);
    for broken in &report.broken {
        let _ = writeln!(text, "\nNot usable: {}", broken.file);
        entry(&mut text, &format!("line {}, column {}: ", broken.line, broken.column), &broken.message);
        entry(&mut text, "", &broken.hint);
    }
    text
}

const LEGEND: &str = "
yes: supported; ~: emulated; -: not supported.
typed: commands can be typed and are not listed to the model; incl: a command brings a file into
the prompt; start, before, after, compact: programs run when a session starts, before and after a
tool, and before the conversation is shortened; line: status line; allow: a list of what may run
without asking; local: an install for one project; trees: a worktree for an agent.
Known from: the client itself, vendor documents, or other sources.
`gsd-tools runtimes <host>` tells how, why not, and where things go.
";

/// What a column is called. All of them, a host's id and what is known fit the width.
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

/// One host.
pub(super) fn page(row: &RuntimeRow) -> String {
    let mut text = row.name.clone();
    let words: Vec<&str> = std::iter::once(row.id.as_str()).chain(row.aliases.iter().map(String::as_str)).collect();
    let _ = writeln!(text, " ({})", words.join(", "));
    text.push_str(&known_from(row));
    if row.own {
        text.push_str("Told by a descriptor of your own.\n");
    }
    text.push('\n');
    for feature in &row.features {
        entry(&mut text, &format!("{:15}{:9}", feature.what.word(), feature.support.word()), &feature.note);
    }
    for scope in [Scope::Global, Scope::Local] {
        if !row.places.iter().any(|place| place.scope == scope) {
            continue;
        }
        let title = match scope {
            Scope::Global => "For you, in all projects",
            Scope::Local => "For one project",
        };
        let _ = writeln!(text, "\n{title} (`--{}`):", scope.word());
        for place in row.places.iter().filter(|place| place.scope == scope) {
            entry(&mut text, &format!("{:24}", place.what), &place.path);
        }
    }
    if !row.environment.is_empty() {
        text.push_str("\nThe folder for you is moved by the first of these that is set:\n");
        for variable in &row.environment {
            entry(&mut text, &format!("{:24}", variable.name), &variable.holds);
        }
    }
    let plugin = if row.plugin {
        format!("`gsd-tools package --host {} FOLDER` writes a plugin", row.id)
    } else {
        "no form of plugins is known".to_owned()
    };
    text.push('\n');
    entry(&mut text, "Plugin: ", &plugin);
    text
}

fn known_from(row: &RuntimeRow) -> String {
    let date = &row.verified.date;
    match (row.verified.by, &row.verified.version) {
        (Evidence::Client, Some(version)) => {
            format!("Verified with client {version} on {date}.\n")
        }
        (Evidence::Client, None) => format!("Verified with the client on {date}.\n"),
        (Evidence::VendorDoc, _) => {
            format!("From vendor documents read on {date}; not tested with a client.\n")
        }
        (Evidence::Secondary, _) => {
            format!("From secondary sources read on {date}; not tested, and no full vendor documents.\n")
        }
    }
}

/// A line with a head; what is too long goes on below itself.
fn entry(text: &mut String, head: &str, body: &str) {
    let indent = 2 + head.chars().count();
    let mut column = indent;
    let _ = write!(text, "  {head}");
    for (number, word) in body.split(' ').enumerate() {
        let length = word.chars().count();
        if number > 0 && column + 1 + length > WIDTH {
            let _ = write!(text, "\n{:indent$}", "");
            column = indent;
        } else if number > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += length;
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_note_goes_on_below_itself() {
        let mut text = String::new();
        entry(&mut text, "local   ", "word ".repeat(30).trim_end());
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
        assert_eq!(text.lines().count(), 2);
        assert!(text.lines().nth(1).unwrap().starts_with("          word"));
    }
}
