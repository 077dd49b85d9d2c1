//! The graph of the code: on and off, the program that builds it, snapshots.

use crate::kit::TestContext;

const ON: &str = r#"{"graphify":{"enabled":true,"build_timeout":33}}"#;

#[test]
fn nothing_is_reported_without_a_request_for_a_graph() {
    let context = TestContext::new();
    context.write(".planning/config.json", "{}");
    for call in
        [&["graphify", "build"][..], &["graphify", "status"], &["graphify", "diff"], &["graphify", "query", "x"]]
    {
        assert_eq!(context.gsd_with(call, &[], "").json()["disabled"], true, "{call:?}");
    }
    assert!(context.gsd(["graphify", "query"]).failure(1).contains("needs <TERM>"));
    assert!(context.gsd(["graphify", "query", "x", "--budget", "-3"]).failure(1).contains("`--budget <BUDGET>`"));
}

#[test]
fn a_graph_is_kept_and_compared() {
    let context = TestContext::new();
    context.write(".planning/config.json", ON);
    assert_eq!(context.gsd(["graphify", "status"]).json()["exists"], false);
    assert_eq!(context.gsd(["--exit-contract=v2", "graphify", "query", "a"]).code, 80);
    assert!(context.gsd(["graphify", "build", "snapshot"]).json()["error"].is_string());
    context.write(".planning/graphs/graph.json", r#"{"nodes":[{"id":1,"label":"a"}],"edges":[]}"#);
    let call = ["graphify", "build", "snapshot", "--dry-run"];
    assert!(context.gsd(call).json()["diff"].as_str().unwrap().contains("label"));
    assert_eq!(context.gsd(["graphify", "diff"]).json()["no_baseline"], true);
    assert_eq!(context.gsd(["graphify", "build", "snapshot"]).json()["node_count"], 1);
    context.write(".planning/graphs/graph.json", r#"{"nodes":[{"id":1,"label":"b"},{"id":2}],"edges":[]}"#);
    let counts = context.gsd(["graphify", "diff"]).json();
    assert_eq!((&counts["nodes"]["added"], &counts["nodes"]["changed"]), (&1.into(), &1.into()));
    assert_eq!(context.gsd(["graphify", "status"]).json()["stale"], false);
}

#[cfg(unix)]
#[test]
fn the_graph_is_built_by_the_installed_program() {
    use std::os::unix::fs::PermissionsExt;
    let context = TestContext::new();
    context.write(".planning/config.json", ON);
    let script = "#!/bin/sh\n[ \"$1\" = update ] || exit 0\nmkdir -p graphify-out\n\
                  echo '{\"nodes\":[{\"id\":1}],\"edges\":[]}' > graphify-out/graph.json\nexit $(cat fails)$API_KEY\n";
    context.write("bin/graphify", script);
    let program = context.project().join("bin/graphify");
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", context.project().join("bin").display());
    let build = |fails: &str| {
        context.write("fails", fails);
        // A feature that a project can switch on by its own settings gets no key.
        let variables = [("PATH", path.as_str()), ("API_KEY", "9")];
        let report = context.gsd_with(["graphify", "build", "update"], &variables, "").json();
        (report["status"].as_str().unwrap().to_owned(), report["exit_code"].clone())
    };
    assert_eq!(build("3"), ("failed".to_owned(), 3.into()));
    assert_eq!(context.gsd(["graphify", "status"]).json()["exists"], false);
    assert_eq!(build("0"), ("ok".to_owned(), 0.into()));
    let status = context.gsd(["graphify", "status"]).json();
    assert_eq!((&status["node_count"], &status["last_build_auto_update"]["status"]), (&1.into(), &"ok".into()));
}

#[cfg(unix)]
#[test]
fn an_agent_gets_the_command_to_build_with_the_installed_program() {
    use std::os::unix::fs::PermissionsExt;
    let context = TestContext::new();
    context.write(".planning/config.json", ON);
    let nothing = [("PATH", "/nowhere")];
    let call = ["graphify", "build"];
    let error = context.gsd_with(call, &nothing, "").json()["error"].as_str().unwrap().to_owned();
    assert!(error.contains("not installed"), "{error}");
    for (name, script) in [("graphify", "echo 'graphify 0.4.2'"), ("python3", "echo 1.2.3")] {
        context.write(&format!("bin/{name}"), &format!("#!/bin/sh\n{script}\n"));
        let program = context.project().join("bin").join(name);
        std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:/usr/bin:/bin", context.project().join("bin").display());
    let report = context.gsd_with(call, &[("PATH", &path)], "").json();
    assert_eq!((&report["action"], &report["timeout_seconds"]), (&"spawn_agent".into(), &33.into()));
    assert_eq!(report["version"], "1.2.3");
    assert!(report["version_warning"].as_str().unwrap().contains("was not tested"));
}
