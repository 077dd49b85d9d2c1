//! A run as one HTML file. It requests nothing, has no script, and fits narrow screens, dark screens and paper.

mod gantt;
mod style;
mod tables;
mod text;
mod units;

use std::fmt::Write as _;

use super::facts::{self, Light};
use crate::auto::account::page::RunPage;
use crate::text::screen::counted;
use text::{code, escaped, prose};

/// A log with more lines than this is folded.
const LINES: usize = 30;
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// A section of the page; left out if it has no body.
struct PagePart {
    id: &'static str,
    title: &'static str,
    /// Whether it begins a sheet of paper.
    begins_sheet: bool,
    body: String,
}

/// Returns the page of a run as one HTML file.
pub(crate) fn page(page: &RunPage) -> String {
    let part = |id, title, begins_sheet, body| PagePart { id, title, begins_sheet, body };
    let parts = [
        part("forecast", "Forecast and actual", false, forecast(page)),
        part("timeline", "Timeline", false, gantt::drawing(page)),
        part("cost", "Cost", true, tables::cost(page)),
        part("landed", "What landed", true, landed(page)),
        part("evidence", "Evidence", false, tables::evidence(page)),
        part("units", "Units in detail", true, units::details(page)),
        part("decisions", "Decisions", false, decisions(page)),
        part("questions", "Open questions", false, questions(page)),
        part("log", "What happened", true, log(page)),
    ];
    let parts: Vec<PagePart> = parts.into_iter().filter(|part| !part.body.is_empty()).collect();
    let links = facts::all(&parts, |part| format!("<li><a href=\"#{}\">{}</a></li>", part.id, part.title));
    let links = if links.is_empty() { links } else { format!("<nav aria-label=\"Contents\"><ul>{links}</ul></nav>") };
    let title = escaped(&facts::title(page));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"gsd-tools\">\n\
         <title>{title}: {}</title>\n<style>{}</style>\n</head>\n<body>\n{}{links}</header>\n\
         <main class=\"wide\">\n{}</main>\n<footer class=\"wide\"><p>{}</p></footer>\n</body>\n</html>\n",
        facts::headline(page).word.to_lowercase(),
        style::STYLE,
        head(page, &title),
        parts.iter().map(section).collect::<String>(),
        foot(page)
    )
}

fn section(part: &PagePart) -> String {
    let class = if part.begins_sheet { " class=\"sheet\"" } else { "" };
    let PagePart { id, title, body, .. } = part;
    format!("<section{class} aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{title}</h2>\n{body}\n</section>\n")
}

/// The class of a light.
fn class(light: Light) -> &'static str {
    match light {
        Light::Good => "good",
        Light::Calm => "calm",
        Light::Warning => "warn",
        Light::Bad => "bad",
    }
}

/// A word with its sign and colour.
fn signed((light, sign, word): (Light, &str, &str)) -> String {
    format!("<span class=\"{} nw\"><span class=\"sign\" aria-hidden=\"true\">{sign}</span>{word}</span>", class(light))
}

fn head(page: &RunPage, title: &str) -> String {
    let figure = |figure: &facts::Figure| {
        format!(
            "<div><dt>{}</dt><dd class=\"value\">{}</dd><dd class=\"note\">{}</dd></div>",
            figure.label,
            escaped(&figure.value),
            escaped(&figure.note)
        )
    };
    let fact = |(label, value, is_code): &facts::ReportFact| {
        let value = if *is_code { code(value) } else { escaped(value) };
        format!("<div><dt>{label}</dt><dd>{value}</dd></div>")
    };
    let next =
        facts::next(page).map(|(word, command)| format!("<p class=\"next\"><b>{word}</b> {}</p>\n", code(&command)));
    format!(
        "<header class=\"wide\">\n<p class=\"over\">Run report</p>\n<h1>{title}</h1>\n{}{}\
         <dl class=\"figures\">{}</dl>\n<dl class=\"facts\">{}</dl>\n",
        state(page),
        next.unwrap_or_default(),
        facts::figures_of(page).iter().map(figure).collect::<String>(),
        facts::facts(page).iter().map(fact).collect::<String>()
    )
}

/// The state as a word with a sign and a colour, and why.
fn state(page: &RunPage) -> String {
    let facts::Headline { light, sign, word, text } = facts::headline(page);
    let (sentence, about) = match &page.summary.landing {
        Some(landing) if page.state == "landed" => (
            format!("<b>{word}</b> on {} as {}", code(&page.summary.target), code(facts::short(&landing.commit))),
            landing.subject.as_ref().map(|subject| escaped(subject)),
        ),
        _ if text.is_empty() => (format!("<b>{word}</b>"), None),
        _ => (format!("<b>{word}:</b> {}", prose(&text)), None),
    };
    let evidence = page.stop.as_ref().filter(|_| page.state == "stopped").map(|stop| stop.evidence.as_slice());
    let evidence = facts::all(evidence.unwrap_or_default().iter().take(20), |line| format!("<li>{}</li>", prose(line)));
    let evidence = if evidence.is_empty() { evidence } else { format!("<ul>{evidence}</ul>") };
    let about = about.map(|about| format!("<p class=\"about\">{about}</p>")).unwrap_or_default();
    format!(
        "<div class=\"state {}\"><p><span class=\"sign\" aria-hidden=\"true\">{sign}</span> {sentence}</p>{about}{evidence}</div>\n",
        class(light)
    )
}

fn forecast(page: &RunPage) -> String {
    let source = escaped(&facts::forecast_source(page));
    format!("<p class=\"soft small\">{source}</p>\n{}{}", tables::measured(page), tables::kinds(page))
}

fn landed(page: &RunPage) -> String {
    let Some(landing) = &page.summary.landing else { return String::new() };
    let mut rows = vec![("Commit", code(&landing.commit))];
    rows.extend(landing.subject.as_ref().map(|subject| ("Subject", escaped(subject))));
    rows.push(("Branch", code(&page.summary.target)));
    rows.extend(landing.changes.map(|changes| {
        let files = counted(usize::try_from(changes.files).unwrap_or(usize::MAX), "file");
        let (plus, minus) = (changes.insertions, changes.deletions);
        let lines = format!("<span class=\"plus\">+{plus}</span> <span class=\"minus\">\u{2212}{minus}</span> lines");
        ("Changes", format!("{files}, {lines}"))
    }));
    rows.push(("Checks", facts::landed_checks(page, landing)));
    rows.push(("Proof", prose(&facts::proof(landing.proof))));
    rows.push(("Show it", code(&facts::show_command(&landing.commit))));
    let rows = facts::all(&rows, |(label, value)| format!("<dt>{label}</dt><dd>{value}</dd>"));
    format!("<dl class=\"pairs\">{rows}</dl>")
}

fn decisions(page: &RunPage) -> String {
    if page.decisions.is_empty() {
        return if page.state == "landed" { "<p>No decisions were needed.</p>".to_owned() } else { String::new() };
    }
    let lines = page.decisions.iter().map(|decision| {
        let refused = decision.refused.as_ref();
        let refused = refused.map(|why| format!(" <span class=\"warn\">Not followed:</span> {}", prose(why)));
        (decision.at, prose(&decision.text) + &refused.unwrap_or_default())
    });
    moments(lines)
}

/// A list of moments, by day.
fn moments(lines: impl Iterator<Item = (i64, String)>) -> String {
    let (mut items, mut day_before) = (String::new(), String::new());
    for (at, text) in lines {
        let (day, time) = facts::day_and_time(at);
        if day != day_before {
            let _ = write!(items, "<li class=\"day\">{day}</li>");
            day_before = day;
        }
        let _ = writeln!(items, "<li><span class=\"at\">{time}</span><span>{text}</span></li>");
    }
    format!("<ul class=\"log\">{items}</ul>")
}

fn questions(page: &RunPage) -> String {
    let question = |row: &crate::auto::status::QuestionRow| {
        let options = facts::all(&row.options, |option| format!("<li>{}</li>", prose(option)));
        let waits = if row.waits {
            format!("The task waits. Recommended: {}.", code(&row.recommended))
        } else {
            format!("Without an answer it continues with {}.", code(&row.recommended))
        };
        let command = code(&facts::answer_command(&row.task, &row.recommended));
        format!(
            "<h3>{} {}</h3>\n<ul>{options}</ul>\n<p>{waits}</p>\n<p class=\"next\"><b>Answer</b> {command}</p>",
            escaped(&row.task),
            prose(&row.text)
        )
    };
    let questions: String = page.questions.iter().map(question).collect();
    let how = "<p class=\"soft small\">Answer with <code>gsd-tools auto answer TASK OPTION</code>.</p>";
    if questions.is_empty() { questions } else { format!("{how}{questions}") }
}

fn log(page: &RunPage) -> String {
    if page.timeline.is_empty() {
        return String::new();
    }
    let lines = moments(page.timeline.iter().map(|moment| (moment.at, prose(facts::first(&moment.text, 400).0))));
    folded(page.timeline.len(), "line", lines)
}

/// Content that a line opens if it is long.
fn folded(count: usize, noun: &str, body: String) -> String {
    if count <= LINES {
        return body;
    }
    format!("<details class=\"more\"><summary>{}</summary>\n{body}</details>", counted(count, noun))
}

fn foot(page: &RunPage) -> String {
    format!(
        "Made by <code>gsd-tools auto report</code> from the log of run {}. Tokens are output and uncached input.",
        code(&page.summary.run)
    )
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    fn all() -> [RunPage; 5] {
        [samples::landed(), samples::failed(), samples::running(), samples::many(300), samples::hostile()]
    }

    #[test]
    fn the_page_requests_nothing_and_runs_nothing() {
        for sample in all() {
            let html = page(&sample);
            for part in ["http://", "https://", "url(", "<script", "@import", "<img", "<link", "<iframe", "javascript:"]
            {
                assert!(!html.contains(part), "{part}");
            }
            assert!(html.contains(POLICY) && html.len() < 3_000_000, "{}", html.len());
            assert_eq!(html.matches("<h1>").count(), 1);
        }
    }

    #[test]
    fn text_of_documents_is_escaped_everywhere() {
        let html = page(&samples::hostile());
        let hostile = samples::HOSTILE;
        assert!(!html.contains(hostile) && !html.contains("onerror='") && !html.contains('\u{202e}'));
        assert!(html.matches("&lt;/script&gt;&lt;img").count() > 20);
        let opened = |name: &str| html.matches(&format!("<{name}")).count();
        let closed = |name: &str| html.matches(&format!("</{name}>")).count();
        for name in ["section", "details", "table", "svg", "pre", "dl", "ul", "ol", "figure", "code", "ins", "del"] {
            assert_eq!(opened(name), closed(name), "{name}");
        }
    }

    #[test]
    fn a_long_run_with_long_reasons_and_diffs_stays_small() {
        let mut sample = samples::many(300);
        for session in sample.units.iter_mut().flat_map(|unit| &mut unit.account.sessions) {
            session.why = Some("a line of a reason that is long\n".repeat(200));
            session.changed = vec!["src/a/folder/with/a/file.rs".to_owned(); 500];
        }
        sample.timeline.iter_mut().for_each(|moment| moment.text = "long ".repeat(300));
        assert!(page(&sample).len() < 3_000_000, "{}", page(&sample).len());
    }

    #[test]
    fn a_section_is_left_out_if_it_is_empty() {
        let titles = |sample: &RunPage| -> Vec<String> {
            let html = page(sample);
            html.split("<h2 id=\"").skip(1).filter_map(|part| Some(part.split_once('"')?.0.to_owned())).collect()
        };
        let landed = ["forecast", "timeline", "cost", "landed", "evidence", "units", "decisions", "log"];
        assert_eq!(titles(&samples::landed()), landed);
        let failed = ["forecast", "timeline", "cost", "evidence", "units", "log"];
        assert_eq!(titles(&samples::failed()), failed);
        assert!(titles(&samples::running()).contains(&"questions".to_owned()));
        assert_eq!(titles(&samples::empty()), ["forecast"]);
    }

    #[test]
    fn the_headline_says_how_it_is_and_what_is_next() {
        let landed = page(&samples::landed());
        assert!(landed.contains("<b>Landed</b> on <code>main</code> as <code>1234abcd</code>"));
        assert!(!landed.contains("class=\"next\"><b>Next"));
        let failed = page(&samples::failed());
        assert!(failed.contains("<b>Next</b> <code>gsd-tools auto run</code>"));
        assert!(failed.contains(facts::NO_MONEY) && failed.contains(facts::NO_ESTIMATE));
        let mut quiet = samples::landed();
        quiet.decisions.clear();
        assert!(page(&quiet).contains("No decisions were needed."));
        assert!(page(&samples::running()).contains("<b>Watch</b>"));
    }

    #[test]
    fn a_long_log_is_folded() {
        let mut sample = samples::landed();
        assert!(page(&sample).contains("lines</summary>"));
        sample.timeline.truncate(LINES);
        assert!(!page(&sample).contains("lines</summary>"));
    }
}
