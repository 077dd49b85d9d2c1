//! Commands that ask web servers, with a `curl` that answers from files.

use crate::kit::TestContext;

/// Answers the request whose address contains the name of a file in `web/`: its first line is the status, the rest the
/// body. Records its settings and its arguments.
const CURL: &str = r#"#!/bin/sh
here=$(dirname "$0")
settings=$(cat)
printf '%s\n' "$settings" > "$here/asked"
echo "$@" > "$here/arguments"
url=$(printf '%s\n' "$settings" | sed -n 's/^url = "\(.*\)"$/\1/p')
for answer in "$here"/web/*; do
  case "$url" in
    *"$(basename "$answer")"*) tail -n +2 "$answer"; printf '\n%s' "$(head -n 1 "$answer")"; exit 0;;
  esac
done
echo "curl: (6) Could not resolve host" >&2
exit 6
"#;

/// Is configured with one registry, and with another for one scope.
const NPM: &str = r#"#!/bin/sh
case "$3" in
  registry) echo https://packages.example/npm/;;
  @own:registry) echo https://own.example;;
  *) echo undefined;;
esac
"#;

fn context(answers: &[(&str, u16, &str)]) -> (TestContext, String) {
    let context = TestContext::new();
    for (name, script) in [("bin/curl", CURL), ("bin/npm", NPM)] {
        context.write(name, script);
        let program = context.project().join(name);
        std::fs::set_permissions(program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    for (name, status, body) in answers {
        context.write(&format!("bin/web/{name}"), &format!("{status}\n{body}\n"));
    }
    let path = format!("{}:{}", context.project().join("bin").display(), std::env::var("PATH").unwrap_or_default());
    (context, path)
}

const SOUND: &str = r#"{"dist-tags": {"latest": "1.2.0"}, "time": {"1.2.0": "2020-01-01T00:00:00.000Z"},
  "versions": {"1.2.0": {"repository": {"url": "https://example.com/sound.git"}}}}"#;

#[test]
fn the_verdict_on_a_package_follows_its_registry() {
    let (context, path) = context(&[
        ("nothing", 404, "{}"),
        ("broken", 500, "oops"),
        ("last-week", 200, r#"{"downloads": 5000}"#),
        ("sound", 200, SOUND),
    ]);
    let call = ["package-legitimacy", "check", "--ecosystem", "npm", "sound", "nothing", "broken", "elsewhere"];
    let answer = context.gsd_with(call, &[("PATH", &path)], "").json();
    let of = |index: usize| (answer[index]["name"].clone(), answer[index]["verdict"].clone());
    assert_eq!(of(0), ("sound".into(), "OK".into()), "{answer:#}");
    assert_eq!(answer[0]["signals"]["weeklyDownloads"], 5000);
    assert_eq!(of(1), ("nothing".into(), "SLOP".into()));
    assert_eq!(of(2), ("broken".into(), "SUS".into()));
    assert!(answer[2]["unreachable"].as_str().unwrap().contains("500"));
    assert_eq!(of(3), ("elsewhere".into(), "SUS".into()));
    assert!(answer[3]["unreachable"].as_str().unwrap().contains("Could not resolve host"), "{answer:#}");

    let confidence = |package: &str| {
        let call = ["classify-confidence", "--provider", "exa", "--ecosystem", "npm", "--package", package];
        context.gsd_with(call, &[("PATH", &path)], "").json()
    };
    assert_eq!(confidence("sound")["confidence"], "HIGH");
    assert_eq!(confidence("nothing")["legitimacyVerdict"], "SLOP");
    assert_eq!(confidence("elsewhere")["confidence"], "LOW");
}

#[test]
fn npm_packages_are_looked_up_in_the_registry_that_npm_installs_from() {
    let (context, path) = context(&[("own.example", 200, SOUND)]);
    let check = |package: &str| {
        let call = ["package-legitimacy", "check", "--ecosystem", "npm", package];
        context.gsd_with(call, &[("PATH", &path)], "").json()[0].clone()
    };
    assert_eq!(check("@own/sound")["signals"]["exists"], true);
    let told = check("@other/sound")["unreachable"].as_str().unwrap().to_owned();
    assert!(told.contains("`packages.example`"), "{told}");
    assert!(context.read("bin/asked").contains("\"https://packages.example/npm/%40other%2Fsound\""));
    std::fs::remove_file(context.project().join("bin/npm")).unwrap();
    let alone = context.project().join("bin").display().to_string();
    let call = ["package-legitimacy", "check", "--ecosystem", "npm", "sound"];
    let told = context.gsd_with(call, &[("PATH", &alone)], "").json()[0]["unreachable"].clone();
    assert!(told.as_str().unwrap().contains("`npm` is not installed"), "{told}");
}

#[test]
fn without_curl_the_verdict_says_that_no_registry_was_reached() {
    let context = TestContext::new();
    let call = ["package-legitimacy", "check", "--ecosystem", "crates", "serde"];
    let answer = context.gsd_with(call, &[("PATH", "/nowhere")], "").json();
    assert_eq!(answer[0]["verdict"], "SUS");
    assert!(answer[0]["unreachable"].as_str().unwrap().contains("`curl` is not installed"), "{answer:#}");
}

#[test]
fn wrong_calls_for_packages_are_refused() {
    let context = TestContext::new();
    for wrong in [
        &["package-legitimacy", "check", "--ecosystem", "npm"][..],
        &["package-legitimacy", "check", "--ecosystem", "cpan", "x"],
        &["package-legitimacy", "check", "x"],
    ] {
        context.gsd_with(wrong.to_vec(), &[], "").failure(1);
    }
}

#[test]
fn a_search_reports_what_was_found_and_never_shows_its_key() {
    let results = r#"{"web": {"results": [{"title": "One", "url": "https://a.example", "description": "D", "age": "2 days ago"},
      {"title": "Two", "url": "https://b.example"}]}}"#;
    let (context, path) = context(&[("api.search.brave.com", 200, results)]);
    let with_key = [("PATH", path.as_str()), ("BRAVE_API_KEY", "key-of-mine")];
    let call = ["websearch", "tower order", "--limit", "2", "--freshness", "week"];
    let answer = context.gsd_with(call, &with_key, "").json();
    assert_eq!((&answer["available"], &answer["count"]), (&true.into(), &2.into()), "{answer:#}");
    assert_eq!((&answer["results"][0]["age"], &answer["results"][1]["age"]), (&"2 days ago".into(), &().into()));
    let asked = context.read("bin/asked");
    assert!(asked.contains("q=tower%20order&count=2") && asked.contains("freshness=pw"), "{asked}");
    assert!(asked.contains("X-Subscription-Token: key-of-mine"));
    assert!(!context.read("bin/arguments").contains("key-of-mine"), "arguments are seen by everybody");
    let text = context.gsd_with(["websearch", "tower", "--raw"], &with_key, "").success();
    assert_eq!(text, "One\nhttps://a.example\nD\n\nTwo\nhttps://b.example\n");

    context.write("../home/.gsd/brave_api_key", "kept-key\n");
    assert_eq!(context.gsd_with(["websearch", "x"], &with_key[..1], "").json()["available"], true);
    assert!(context.read("bin/asked").contains("X-Subscription-Token: kept-key\""));
}

#[test]
fn a_search_that_fails_reports_the_cause() {
    let (context, path) = context(&[("q=refused", 401, "{}"), ("q=busy", 429, "{}")]);
    let search =
        |query: &str| context.gsd_with(["websearch", query], &[("PATH", &path), ("BRAVE_API_KEY", "k")], "").json();
    assert_eq!(search("refused")["error"], "API error: 401");
    let busy = search("busy");
    assert_eq!((&busy["error"], &busy["attempts"]), (&"API error: 429".into(), &3.into()));
    assert_eq!(search("")["error"], "Query required");
    assert_eq!(context.gsd(["websearch", "foo"]).json()["reason"], "BRAVE_API_KEY not set");
    context.gsd(["websearch", "foo", "--limit", "many"]).failure(1);
    context.gsd(["websearch", "foo", "--freshness", "soon"]).failure(1);
}

#[test]
fn an_update_check_reports_that_the_package_is_not_published() {
    let (context, path) = context(&[("latest", 404, "{}")]);
    let told = context.gsd(["update-check"]).failure(1);
    assert!(told.contains("no published package to look for"), "{told}");
    let variables = [("PATH", path.as_str()), ("GSD_PUBLISHED_AS", "gsd-tools")];
    let told = context.gsd_with(["update-check"], &variables, "").failure(1);
    assert!(told.contains("`gsd-tools` is not published on npm") && told.contains("  hint: "), "{told}");
}
