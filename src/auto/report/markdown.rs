//! A run as Markdown with the tables of GitHub: the content of the HTML page in the same order, without drawings and
//! diffs.

use std::fmt::Write as _;

use super::facts::{self, acts, first, moment, with_code};
use crate::auto::account::page::{RunPage, UnitPage};
use crate::auto::account::{CheckAccount, SessionAccount, Totals, figures};
use crate::text::screen::counted;
use crate::text::time;

/// How much of the reason of a session is shown, and how many changed files.
const REASON: usize = 600;
const FILES: usize = 20;

/// Returns the page of a run as Markdown.
pub(crate) fn page(page: &RunPage) -> String {
    let parts = [
        ("Forecast and actual", forecast(page)),
        ("Timeline", timeline(page)),
        ("Cost", cost(page)),
        ("What landed", landed(page)),
        ("Evidence", evidence(page)),
        ("Units in detail", units(page)),
        ("Decisions", decisions(page)),
        ("Open questions", questions(page)),
        ("What happened", log(page)),
    ];
    let parts = parts.into_iter().filter(|(_, body)| !body.is_empty());
    let parts = facts::all(parts, |(title, body)| format!("\n## {title}\n\n{}\n", body.trim_end()));
    let foot = format!("Made by `gsd-tools auto report` from the log of run {}.", code(&page.summary.run));
    format!("{}{parts}\n---\n\n{foot} Tokens are output and uncached input.\n", head(page))
}

/// Text on one line that is never markup.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match letter {
            '\n' | '\t' => escaped.push(' '),
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' => escaped.extend(['\\', letter]),
            '!' | '#' | '+' | '-' | '=' if escaped.is_empty() => escaped.extend(['\\', letter]),
            '.' | ')' if !escaped.is_empty() && escaped.bytes().all(|byte| byte.is_ascii_digit()) => {
                escaped.extend(['\\', letter]);
            }
            letter if acts(letter) => escaped.extend(letter.escape_unicode().flat_map(|part| match part {
                '\\' => vec!['\\', '\\'],
                part => vec![part],
            })),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// Code on one line, also in a table. Text that a code span cannot have is written in entities.
fn code(text: &str) -> String {
    let is_plain = |letter: char| !matches!(letter, '`' | '|' | '\\') && !acts(letter);
    if !text.trim().is_empty() && text.trim() == text && text.chars().all(is_plain) {
        return format!("`{text}`");
    }
    let mut spelled = String::new();
    for letter in text.chars() {
        match letter {
            '\n' | '\t' => spelled.push(' '),
            letter if acts(letter) => {
                let _ = write!(spelled, "&#92;u&#123;{:x}&#125;", u32::from(letter));
            }
            letter if letter.is_ascii_punctuation() => {
                let _ = write!(spelled, "&#{};", u32::from(letter));
            }
            letter => spelled.push(letter),
        }
    }
    format!("<code>{spelled}</code>")
}

/// Text in which code between backticks is code.
fn prose(text: &str) -> String {
    let part = |(part, is_code)| if is_code { code(part) } else { escaped(part) };
    with_code(text).into_iter().map(part).collect()
}

/// A table; the first column is text, the others are at the right if they are `n`.
fn table(heads: &[(&str, &str)], rows: &[Vec<String>]) -> String {
    let names: Vec<&str> = heads.iter().map(|(name, _)| *name).collect();
    let lines: Vec<&str> = heads.iter().map(|(_, class)| if *class == "n" { "---:" } else { "---" }).collect();
    let mut table = format!("| {} |\n| {} |\n", names.join(" | "), lines.join(" | "));
    for row in rows {
        let _ = writeln!(table, "| {} |", row.join(" | "));
    }
    table
}

fn head(page: &RunPage) -> String {
    let facts::Headline { sign, word, text, .. } = facts::headline(page);
    let mut head = format!("# {}\n\n", escaped(&facts::title(page)));
    match &page.summary.landing {
        Some(landing) if page.state == "landed" => {
            let (target, commit) = (code(&page.summary.target), code(facts::short(&landing.commit)));
            let _ = writeln!(head, "**{sign} {word}** on {target} as {commit}");
            head.extend(landing.subject.as_ref().map(|subject| format!("\n{}\n", escaped(subject))));
        }
        _ if text.is_empty() => head.extend(["**", sign, " ", word, "**\n"]),
        _ => head.extend(["**", sign, " ", word, ":** ", &prose(&text), "\n"]),
    }
    if let Some(stop) = page.stop.as_ref().filter(|stop| page.state == "stopped" && !stop.evidence.is_empty()) {
        head.push('\n');
        head.extend(stop.evidence.iter().take(20).map(|line| format!("- {}\n", prose(line))));
    }
    head.extend(facts::next(page).map(|(word, command)| format!("\n{word}: {}\n", code(&command))));
    let figures = facts::figures_of(page);
    let cells = figures
        .iter()
        .map(|figure| vec![figure.label.to_owned(), format!("**{}**", figure.value), escaped(&figure.note)]);
    let _ = write!(head, "\n{}\n", table(&[("Figure", ""), ("Value", "n"), ("Note", "")], &cells.collect::<Vec<_>>()));
    for (label, value, is_code) in facts::facts(page) {
        let _ = writeln!(head, "- {label}: {}", if is_code { code(&value) } else { escaped(&value) });
    }
    head
}

fn forecast(page: &RunPage) -> String {
    let mut body = facts::forecast_source(page) + "\n";
    let measured = facts::measured(page);
    if !measured.is_empty() {
        let row = |row: &facts::ForecastFigure| {
            let [low, likely, high] =
                [row.spread.low, row.spread.likely, row.spread.high].map(|value| row.words(value));
            let (actual, place) = (format!("**{}**", row.actual_words()), row.place(facts::is_over(page)).to_owned());
            vec![row.what.to_owned(), low, likely, high, actual, place]
        };
        let heads = [("Quantity", ""), ("Low", "n"), ("Likely", "n"), ("High", "n"), ("Actual", "n"), ("Result", "")];
        let _ = write!(body, "\n{}", table(&heads, &measured.iter().map(row).collect::<Vec<_>>()));
    }
    if !page.kinds.is_empty() {
        let row = |row: &crate::auto::account::page::KindRow| {
            let forecast = row.forecast.map_or("\u{2013}".to_owned(), |forecast| forecast.to_string());
            vec![row.kind.word().to_owned(), forecast, row.totals.sessions.to_string()]
        };
        let heads = [("Sessions by kind", ""), ("Forecast", "n"), ("Actual", "n")];
        let _ = write!(body, "\n{}", table(&heads, &page.kinds.iter().map(row).collect::<Vec<_>>()));
    }
    body
}

fn timeline(page: &RunPage) -> String {
    if page.units.is_empty() {
        return String::new();
    }
    let row = |unit: &UnitPage| {
        let lost = unit.account.sessions.iter().filter(|session| facts::is_lost(session.outcome)).count();
        vec![
            moment(unit.account.began),
            name(unit),
            time::lasting(unit.account.milliseconds),
            if lost == 0 { String::new() } else { format!("{} did not count", counted(lost, "session")) },
            facts::unit_state(page, unit).2.to_owned(),
        ]
    };
    let heads = [("Began", ""), ("Unit", ""), ("Time", "n"), ("Repeated", ""), ("State", "")];
    table(&heads, &page.units.iter().map(row).collect::<Vec<_>>())
}

/// A unit with its title.
fn name(unit: &UnitPage) -> String {
    let title =
        unit.title.as_ref().map(|title| format!(" {}", escaped(&facts::short_title(title)))).unwrap_or_default();
    escaped(&facts::label(unit)) + &title
}

fn took(totals: &Totals, share: f64) -> Vec<String> {
    let (tokens, money) = (figures::tokens(totals.tokens), facts::money_cell(totals.usd));
    vec![totals.sessions.to_string(), tokens, money, time::lasting(totals.milliseconds), format!("{share:.1} %")]
}

fn cost(page: &RunPage) -> String {
    if page.units.is_empty() {
        return String::new();
    }
    let mut body = String::new();
    if page.summary.totals.usd.is_none() {
        let _ = write!(body, "Money: {}.\n\n", facts::NO_MONEY);
    }
    let heads =
        |first, share| [(first, ""), ("Sessions", "n"), ("Tokens", "n"), ("Money", "n"), ("Time", "n"), (share, "n")];
    let parts: Vec<Totals> = page.slices.iter().map(|slice| slice.totals).collect();
    let (share, shares) = facts::shares(&page.summary.totals, &parts);
    let rows = page.slices.iter().zip(shares).map(|(slice, share)| {
        let title =
            slice.title.as_ref().map(|title| format!(" {}", escaped(&facts::short_title(title)))).unwrap_or_default();
        let mut row = vec![escaped(&slice.id) + &title];
        row.extend(took(&slice.totals, share));
        row
    });
    body += &table(&heads(facts::part_word(page), share), &rows.collect::<Vec<_>>());
    let parts: Vec<Totals> = page.units.iter().map(|unit| unit.account.totals()).collect();
    let (share, shares) = facts::shares(&page.summary.totals, &parts);
    let rows = page.units.iter().zip(shares).map(|(unit, share)| {
        let mut row = vec![name(unit)];
        row.extend(took(&unit.account.totals(), share));
        row
    });
    body + "\n" + &table(&heads("Unit", share), &rows.collect::<Vec<_>>())
}

fn landed(page: &RunPage) -> String {
    let Some(landing) = &page.summary.landing else { return String::new() };
    let mut lines = vec![format!("Commit: {}", code(&landing.commit))];
    lines.extend(landing.subject.as_ref().map(|subject| format!("Subject: {}", escaped(subject))));
    lines.push(format!("Branch: {}", code(&page.summary.target)));
    lines.extend(landing.changes.map(|changes| format!("Changes: {} lines", facts::changed(changes))));
    lines.push(format!("Checks: {}", facts::landed_checks(page, landing)));
    lines.push(format!("Proof: {}", prose(&facts::proof(landing.proof))));
    lines.push(format!("Show it: {}", code(&facts::show_command(&landing.commit))));
    facts::all(&lines, |line| format!("- {line}\n"))
}

fn checks(checks: &[CheckAccount]) -> String {
    let row = |check: &CheckAccount| {
        let (_, sign, word) = facts::check(check);
        vec![
            code(&check.command),
            format!("{sign} {word}"),
            check.exit_code.to_string(),
            time::lasting(check.milliseconds),
        ]
    };
    let heads = [("Check", ""), ("Result", ""), ("Exit code", "n"), ("Time", "n")];
    table(&heads, &checks.iter().map(row).collect::<Vec<_>>())
}

fn evidence(page: &RunPage) -> String {
    let mut body = String::new();
    if !page.checks.is_empty() {
        let _ = write!(body, "{}:\n\n{}\n", facts::checks_of(page), checks(&page.checks));
    }
    if !page.held_out.is_empty() {
        let rows = page.held_out.iter().map(|run| {
            let (_, sign, word) = facts::held_out(run.passed);
            vec![escaped(&run.place), format!("{sign} {word}"), time::lasting(run.milliseconds)]
        });
        let heads = [("Held-out check of", ""), ("Result", ""), ("Time", "n")];
        body += &table(&heads, &rows.collect::<Vec<_>>());
        body.push('\n');
    }
    let checked = page.units.iter().filter(|unit| !unit.account.checks.is_empty());
    let rows: Vec<_> = checked.map(|unit| vec![name(unit), facts::passed(&unit.account.checks)]).collect();
    if !rows.is_empty() {
        body += &table(&[("Unit", ""), ("Last run of its checks", "")], &rows);
    }
    body
}

fn units(page: &RunPage) -> String {
    let mut body = String::new();
    for unit in &page.units {
        let account = &unit.account;
        let (_, sign, word) = facts::unit_state(page, unit);
        let _ = write!(body, "### {}\n\n{}: {sign} {word}", name(unit), code(&account.unit.to_string()));
        body.extend(account.commit.as_ref().map(|commit| format!(", commit {}", code(facts::short(commit)))));
        body.extend(unit.changes.map(|changes| format!(", {}", facts::changed(changes))));
        body += "\n\n";
        body.extend(account.sessions.iter().map(|session| attempt(page, session)));
        if !account.checks.is_empty() {
            let _ = write!(body, "\n{}", checks(&account.checks));
        }
        if account.commit.is_some() {
            let _ = write!(body, "\nDiff: {}\n", code(&facts::diff_command(unit)));
        }
        body.push('\n');
    }
    body
}

fn attempt(page: &RunPage, session: &SessionAccount) -> String {
    let (_, sign, word) = facts::outcome(page, session);
    let mut line =
        format!("- {sign} {word}: attempt {}, {}\n", session.attempt, escaped(&facts::session_spent(session)));
    if let Some(why) = session.why.as_ref().filter(|why| !why.trim().is_empty()) {
        let (text, is_cut) = first(why.trim(), REASON);
        let _ = writeln!(line, "  - Why: {}{}", prose(text), if is_cut { " \u{2026}" } else { "" });
    }
    let mut files: Vec<String> = session.changed.iter().take(FILES).map(|file| code(file)).collect();
    if session.changed.len() > FILES {
        files.push(format!("and {} more", session.changed.len() - FILES));
    }
    if !files.is_empty() {
        let _ = writeln!(line, "  - Changed: {}", files.join(", "));
    }
    line
}

fn decisions(page: &RunPage) -> String {
    if page.decisions.is_empty() {
        return if page.state == "landed" { "No decisions were needed.\n".to_owned() } else { String::new() };
    }
    let line = |decision: &crate::auto::account::PersonsDecision| {
        let refused = decision.refused.as_ref().map(|why| format!(" Not followed: {}", prose(why)));
        format!("- {}: {}{}\n", moment(decision.at), prose(&decision.text), refused.unwrap_or_default())
    };
    page.decisions.iter().map(line).collect()
}

fn questions(page: &RunPage) -> String {
    let question = |row: &crate::auto::status::QuestionRow| {
        let options = facts::all(&row.options, |option| format!("  - {}\n", prose(option)));
        let recommended = code(&row.recommended);
        let waits = if row.waits { "The task waits. Recommended:" } else { "Without an answer it continues with" };
        format!(
            "- {}: {}\n{options}  - {waits} {recommended}. Answer: {}\n",
            escaped(&row.task),
            prose(&row.text),
            code(&facts::answer_command(&row.task, &row.recommended))
        )
    };
    let questions: String = page.questions.iter().map(question).collect();
    let how = "Answer with `gsd-tools auto answer TASK OPTION`.\n\n";
    if questions.is_empty() { questions } else { how.to_owned() + &questions }
}

fn log(page: &RunPage) -> String {
    facts::all(&page.timeline, |line| format!("- {} {}\n", moment(line.at), prose(first(&line.text, 400).0)))
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    #[test]
    fn text_is_never_markup() {
        assert_eq!(
            escaped("a|b <b> *x* `c` [l](u) \u{202e}"),
            "a\\|b &lt;b&gt; \\*x\\* \\`c\\` \\[l\\](u) \\\\u{202e}"
        );
        assert_eq!(["# x", "12. x", "- x"].map(escaped), ["\\# x", "12\\. x", "\\- x"]);
        assert_eq!(code("a b"), "`a b`");
        assert_eq!(code("a|`b"), "<code>a&#124;&#96;b</code>");
        assert_eq!(prose("run `x|y` <now>"), "run <code>x&#124;y</code> &lt;now&gt;");
    }

    #[test]
    fn every_row_of_a_table_has_the_cells_of_its_head() {
        for sample in [samples::landed(), samples::hostile(), samples::many(300), samples::failed()] {
            let markdown = page(&sample);
            let cells = |line: &str| line.replace("\\\\", "").replace("\\|", "").matches('|').count();
            let mut before = None;
            for line in markdown.lines() {
                let count = line.starts_with('|').then(|| cells(line));
                if let (Some(before), Some(count)) = (before, count) {
                    assert_eq!(before, count, "{line}");
                }
                before = count;
            }
            assert!(!markdown.contains("<img") && !markdown.contains("<script") && !markdown.contains('\u{202e}'));
        }
    }

    #[test]
    fn sections_are_those_of_the_page_in_its_order() {
        let titles = |sample: &RunPage| -> Vec<String> {
            let markdown = page(sample);
            markdown.lines().filter_map(|line| line.strip_prefix("## ")).map(str::to_owned).collect()
        };
        let landed = [
            "Forecast and actual",
            "Timeline",
            "Cost",
            "What landed",
            "Evidence",
            "Units in detail",
            "Decisions",
            "What happened",
        ];
        assert_eq!(titles(&samples::landed()), landed);
        assert_eq!(titles(&samples::empty()), ["Forecast and actual"]);
        let markdown = page(&samples::failed());
        assert!(markdown.contains("Next: `gsd-tools auto run`") && markdown.contains(facts::NO_MONEY));
        let markdown = page(&samples::landed());
        assert!(markdown.contains("Diff: `gsd-tools auto diff M001/S01/T01`") && !markdown.contains("@@ -"));
    }
}
