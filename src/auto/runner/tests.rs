//! Tests of the table of clients, and of the command lines made from it.

#![allow(clippy::unwrap_used, reason = "tests inspect what is there")]

use super::death::Death;
use super::event::{ClientEvent, Terminal, ToolState};
use super::heard::Heard;
use super::request::{ClientSession, Request, RunnerError};
use super::table::{Delivery, Profile, ProfileKey, Runners};
use super::verdict::{End, Reason, Verdict, judge};
use crate::disk::AbsolutePath;
use crate::failure::Explain;

fn runners() -> Runners {
    Runners::builtin().unwrap()
}

fn request(name: &str, profile: Profile) -> Request {
    let folder = AbsolutePath::parse(std::env::temp_dir()).unwrap();
    Request::new(runners().find(name).unwrap().clone(), profile, folder, "Do it.")
}

fn line(request: &Request) -> String {
    request.arguments().unwrap().join(" ")
}

#[test]
fn every_row_has_dated_facts_and_every_placeholder_is_known() {
    let runners = runners();
    assert!(runners.iter().count() >= 16);
    for runner in runners.iter() {
        let name = &runner.name;
        for group in ["command", "stream", "exit", "processes", "own"] {
            let fact = runner.facts.get(group).unwrap_or_else(|| panic!("`{name}` has no facts on {group}"));
            assert!(fact.date.parse::<jiff::civil::Date>().is_ok(), "{name} {group}: {}", fact.date);
            assert!(!fact.source.trim().is_empty(), "{name} {group}");
        }
        // Only for some clients is it known how to start them without project settings.
        let is_known = !runner.without_project_settings.is_empty();
        assert_eq!(is_known, runner.facts.contains_key("settings"), "{name}");
        let signs_in = !runner.sign_in.is_empty();
        assert_eq!(signs_in, runner.facts.contains_key("sign_in"), "{name}");
        assert!(!signs_in || runner.programs.contains(&runner.sign_in[0]), "{name} signs in with another program");
        let takes_keys = !runner.key_variables.is_empty();
        assert_eq!(takes_keys, runner.facts.contains_key("keys"), "{name}");
        let talks = !runner.conversation.is_empty();
        assert_eq!(talks, runner.facts.contains_key("conversation"), "{name}");
        let texts = runner.conversation.iter().filter(|argument| *argument == "{prompt}").count();
        assert_eq!(texts, usize::from(talks), "{name} gets its text once");
        let known = 5 + [is_known, signs_in, takes_keys, talks].into_iter().map(usize::from).sum::<usize>();
        assert_eq!(runner.facts.len(), known, "{name} has facts that nothing is about");
        assert!(runner.facts.values().all(|fact| fact.note.as_ref().is_none_or(|note| !note.is_empty())), "{name}");
        assert!(!runner.title.is_empty(), "{name}");
        assert!(
            runner.host.is_none() || !runner.programs.is_empty(),
            "{name}: no descriptor has programs of this host"
        );
        assert!(runner.version.is_some() || !runner.verified || runner.programs.is_empty(), "{name} was measured");
        assert!(!runner.can_preset() || runner.resumes_after_crash, "{name} has a name that nothing is done with");
        assert!(!runner.resumes_after_crash || runner.can_resume(), "{name}");
        assert!(runner.own.is_some() || !runner.verified || runner.programs.is_empty(), "{name}");
        for own in runner.own.iter().flatten() {
            let files = own.beside.iter().chain(&own.login).chain(&own.history).chain(&own.opened);
            assert!(own.path.starts_with('.') && own.path.ends_with(&own.within), "{name}: {}", own.path);
            assert!(files.clone().all(|file| !file.contains("..")), "{name} owns what is not its own");
            assert!(own.login.iter().all(|login| !own.history.contains(login)), "{name}: {:?}", own.login);
        }
        assert!(runner.reports_money.is_none() || runner.reports_tokens, "{name}");
        assert!(!runner.counts_only_whole_answers || runner.reports_tokens, "{name}");
        let is_conversation = runner.dialect.is_conversation();
        let is_message = runner.delivery == Delivery::Message;
        assert_eq!(is_message, is_conversation, "{name} gets its prompt as {:?}", runner.delivery);
        assert_eq!(runner.arguments.contains(&"{prompt}".to_owned()), runner.delivery == Delivery::Argument, "{name}");
        for (given, placeholder) in [
            (&runner.preset_session, "{session-id}"),
            (&runner.choose_model, "{model}"),
            (&runner.choose_folder, "{folder}"),
            (&runner.usage_file, "{usage-file}"),
        ] {
            let has = given.iter().any(|word| word.contains(placeholder));
            assert_eq!(has, !given.is_empty(), "{name}: {given:?}");
            let part = if placeholder == "{session-id}" { "{session}" } else { placeholder };
            assert!(
                given.is_empty() || runner.arguments.iter().any(|word| word == part),
                "{name} never uses {given:?}"
            );
        }
        for profile in [Profile::Safe, Profile::Unattended, Profile::Planning] {
            assert!(runner.profiles.contains_key(&ProfileKey(profile)), "{name} lacks {}", profile.word());
            let mut request = Request::new(runner.clone(), profile, AbsolutePath::parse("/tmp").unwrap(), "p");
            request.session = ClientSession::Named("5ca1ab1e".to_owned());
            (request.model, request.allowed) = (Some("m".to_owned()), vec!["cargo test".to_owned()]);
            request.usage_file = Some(AbsolutePath::parse("/tmp/usage").unwrap());
            let arguments = request.arguments().unwrap();
            assert!(!arguments.iter().any(|word| word.contains(['{', '}'])), "{name}: {arguments:?}");
        }
    }
}

#[test]
fn exactly_twelve_rows_were_measured() {
    let runners = runners();
    let verified = runners.iter().filter(|runner| runner.verified && !runner.programs.is_empty());
    assert_eq!(verified.count(), 12);
    assert_eq!(runners.find("qwen").unwrap().least_version.as_deref(), Some("0.24.0"));
}

#[test]
fn a_command_line_follows_the_request_and_has_no_empty_arguments() {
    let mut fresh = request("claude", Profile::Unattended);
    assert_eq!(
        line(&fresh),
        "-p Do it. --output-format stream-json --verbose --exclude-dynamic-system-prompt-sections --dangerously-skip-permissions"
    );
    fresh.session = ClientSession::Resumed("an-id".to_owned());
    fresh.model = Some("opus".to_owned());
    assert!(line(&fresh).ends_with("--resume an-id --model opus"), "{}", line(&fresh));
    let mut safe = request("claude", Profile::Safe);
    safe.allowed = vec!["cargo test".to_owned(), "sh check.sh".to_owned()];
    assert!(
        line(&safe)
            .contains("--allowedTools Bash(cargo test) --allowedTools Bash(cargo test *) --allowedTools Bash(sh")
    );
    let mut resumed = request("codex", Profile::Unattended);
    resumed.session = ClientSession::Resumed("an-id".to_owned());
    assert!(line(&resumed).ends_with("resume an-id Do it."), "{}", line(&resumed));
}

#[test]
fn unsupported_options_of_a_client_are_an_error_or_left_out() {
    let mut named = request("codex", Profile::Safe);
    named.session = ClientSession::Named("an-id".to_owned());
    assert!(!line(&named).contains("an-id"), "{}", line(&named));
    let mut long = request("pi", Profile::Safe);
    long.prompt = "x".repeat(200 << 10);
    assert!(matches!(long.arguments(), Err(RunnerError::PromptTooLong { .. })));
    let mut resumed = request("pi", Profile::Safe);
    resumed.runner.resume_session.clear();
    resumed.session = ClientSession::Resumed("an-id".to_owned());
    assert!(matches!(resumed.arguments(), Err(RunnerError::CannotResume { .. })));
    let mut flag = request("qwen", Profile::Safe);
    flag.prompt = "--help".to_owned();
    assert_eq!(flag.arguments().unwrap()[0], "\n--help");
}

#[test]
fn an_unknown_runner_is_reported_with_the_nearest_name() {
    let error = runners().find("claud").unwrap_err();
    assert_eq!(error.to_string(), "`claud` is not a runner");
    assert_eq!(error.hint().unwrap(), "did you mean `claude`?");
    let hint = runners().find("zzzzzz").unwrap_err().hint().unwrap();
    assert!(hint.starts_with("choose one of claude, codex, "), "{hint}");
}

#[test]
fn a_verdict_follows_the_final_message_and_nothing_makes_it_better() {
    use crate::world::Ended;
    let judged = |events: &[ClientEvent], end: &End| {
        let mut heard = Heard::default();
        for event in events {
            heard.add(event);
        }
        judge(&heard, end).verdict
    };
    let long = std::time::Duration::from_secs(9);
    let end = |ended: Ended| End { ended: Some(ended), ran_for: long, ..End::default() };
    let success = ClientEvent::Terminal(Terminal::Success);
    let tool = ClientEvent::Tool { id: None, name: "Edit".to_owned(), state: ToolState::Started };
    let (good, bad) = (end(Ended::Code(0)), end(Ended::Code(1)));
    assert_eq!(judged(std::slice::from_ref(&success), &good), Verdict::Ran);
    assert_eq!(judged(std::slice::from_ref(&success), &bad), Verdict::Dead(Death::Model));
    assert_eq!(
        judged(&[success.clone(), ClientEvent::ModelCall], &good),
        Verdict::NoSignal,
        "it went on after its last word"
    );
    assert_eq!(judged(&[success.clone(), tool.clone()], &good), Verdict::NoSignal);
    let stopped = End { stopped: Some(Reason::Whole), was_helped: true, ..good.clone() };
    assert_eq!(
        judged(std::slice::from_ref(&success), &stopped),
        Verdict::Stopped(Reason::Whole),
        "what it says when it is stopped does not count"
    );
    assert_eq!(judged(&[tool], &stopped), Verdict::Stopped(Reason::Whole));
    let said = |text: &str| [ClientEvent::Text { text: text.to_owned() }, success.clone()];
    assert_eq!(judged(&said("[API Error: 401 Invalid API key]"), &good), Verdict::Dead(Death::Auth));
    assert_eq!(judged(&said("Errors 401 and 403 are handled now."), &good), Verdict::Ran);
    let ghost = End { ran_for: std::time::Duration::from_millis(300), ..good.clone() };
    assert_eq!(judged(std::slice::from_ref(&success), &ghost), Verdict::NoSignal);
    let complaint = End { complaint: "error: connect ECONNREFUSED".to_owned(), ..bad };
    assert_eq!(judged(&[], &complaint), Verdict::Dead(Death::Network));
    assert_eq!(judged(&[], &End { complaint: complaint.complaint.clone(), ..good }), Verdict::NoSignal);
}

#[test]
fn an_uncounted_answer_was_cut_off_if_a_client_counts_only_whole_ones() {
    use super::event::{Tokens, UsageScope};
    use crate::world::Ended;
    let judged = |events: &[ClientEvent], counts: bool| {
        let mut heard = Heard::default();
        for event in events {
            heard.add(event);
        }
        let (ended, ran_for) = (Some(Ended::Code(0)), std::time::Duration::from_secs(9));
        judge(&heard, &End { ended, ran_for, counts_only_whole_answers: counts, ..End::default() }).verdict
    };
    let said = |output: u64| {
        let (text, tokens) = ("I will begin with".to_owned(), Tokens { input: output, output, cached: 0 });
        [
            ClientEvent::ModelCall,
            ClientEvent::Text { text },
            ClientEvent::Usage { scope: UsageScope::Call(output.to_string()), tokens },
        ]
    };
    let tool = ClientEvent::Tool { id: None, name: "Edit".to_owned(), state: ToolState::Started };
    let success = ClientEvent::Terminal(Terminal::Success);
    let whole = |parts: &[&[ClientEvent]]| [&parts.concat(), std::slice::from_ref(&success)].concat();
    let tool = std::slice::from_ref(&tool);
    for (events, is_cut) in [
        (whole(&[&said(0)]), true),
        (whole(&[&said(5)]), false),
        (whole(&[&said(5), tool, &said(0)]), true),
        (whole(&[&said(0), tool, &said(5)]), false),
        // The service counts nothing at all.
        (whole(&[&said(0), tool, &said(0)]), false),
    ] {
        assert_eq!(judged(&events, false), Verdict::Ran, "{events:?}");
        let expected = if is_cut { Verdict::Dead(Death::Network) } else { Verdict::Ran };
        assert_eq!(judged(&events, true), expected, "{events:?}");
    }
    let of_session =
        |output| ClientEvent::Usage { scope: UsageScope::Session, tokens: Tokens { input: 9, output, cached: 0 } };
    let completion = |output| whole(&[&said(7)[..2], &[of_session(output)]]);
    assert_eq!(judged(&completion(0), true), Verdict::Dead(Death::Network));
    assert_eq!(judged(&completion(5), true), Verdict::Ran);
}

/// The table in `docs/runners.md` of the user's files that each client has in a fence. `SNAPSHOTS=overwrite` writes it.
#[test]
#[allow(clippy::disallowed_methods, reason = "the document is this repository's")]
fn the_document_lists_what_each_client_writes() {
    const BEGIN: &str = "<!-- own -->\n";
    const END: &str = "<!-- /own -->\n";
    let list = |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" ");
    let mut table =
        "| client | folder | variable | login | history, kept by the run | settings in which it may add something |\n\
                     | --- | --- | --- | --- | --- | --- |\n"
            .to_owned();
    let all = runners();
    for runner in all.iter().filter(|runner| runner.only_with.is_none() && !runner.programs.is_empty()) {
        let name = &runner.name;
        let Some(folders) = &runner.own else {
            table.push_str(&["| ", name, " | not known: only with `--no-fence` | | | | |\n"].concat());
            continue;
        };
        for folder in folders {
            let path = std::iter::once(&folder.path).chain(&folder.beside).map(|path| format!("`~/{path}`"));
            let (path, variable) = (path.collect::<Vec<_>>().join(" "), &folder.variable);
            let (login, history, opened) = (list(&folder.login), list(&folder.history), list(&folder.opened));
            let row = format!("| {name} | {path} | `{variable}` | {login} | {history} | {opened} |\n");
            table.push_str(&row);
        }
    }
    let place = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/runners.md");
    let document = std::fs::read_to_string(place).unwrap();
    let (before, rest) = document.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let wanted = format!("{before}{BEGIN}{table}{END}{after}");
    if std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite") {
        std::fs::write(place, wanted).unwrap();
        return;
    }
    assert!(document == wanted, "docs/runners.md lags behind: SNAPSHOTS=overwrite\n{table}");
}
