//! A review that `review-lane` requests from each real client: the model gets the prompt, its answer becomes the
//! review, and nothing is written to the project.

use serde_json::Value;

use super::scene::Scene;
use crate::clients::install::NotRun;
use crate::clients::process::end_processes_of;
use crate::clients::server::{ModelServer, Part, Reply, Request};
use crate::runners::{each_subject, wish};

/// The name of this test among the rows that `GSD_RUNNERS` selects.
const ROW: &str = "review";

const PROMPT: &str = "Review the change of the shelf. The word of this request is quillon.";
const REVIEW: &str = "shelf/__init__.py:1 forgets the empty shelf.";

struct Reviewer;

impl Part for Reviewer {
    fn reply(&self, request: &Request) -> Reply {
        // Clients ask for other things too, such as a title.
        let is_ours = request.text().contains("quillon");
        Reply::Say(if is_ours { REVIEW } else { "A shelf" }.to_owned())
    }
}

#[test]
#[ignore = "slow: a client"]
fn each_real_client_answers_a_review_request() {
    let failures = each_subject(ROW, &["claude", "codex", "gemini", "opencode", "qwen"], |subject| {
        if !wish().has(ROW, true) {
            return Err(NotRun("GSD_RUNNERS asks for another row".to_owned()));
        }
        let server = ModelServer::start(Reviewer).unwrap();
        let scene = Scene::new(subject, &server.url())?;
        let folder = scene.context.home().join("review");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("gsd-review-prompt.md"), PROMPT).unwrap();
        if subject.name == "gemini" {
            // With no person to ask, it works in no other folder.
            let project = scene.context.project().to_string_lossy().into_owned();
            let trusted = serde_json::json!({ project: "TRUST_FOLDER" }).to_string();
            std::fs::write(scene.context.home().join(".gemini/trustedFolders.json"), trusted).unwrap();
        }
        let before = scene.git(&["status", "--porcelain", "--ignored", "--untracked-files=all"]);
        let finished =
            scene.ask(&["review-lane", "invoke", "--slug", subject.name, "--run-dir", folder.to_str().unwrap()]);
        let said = format!("{}\n{}", finished.stdout, finished.stderr);
        end_processes_of(&scene.context.home());
        assert_eq!(finished.code, Some(0), "{said}");
        let review = std::fs::read_to_string(folder.join(format!("gsd-review-{}.md", subject.name))).unwrap();
        assert!(review.contains(REVIEW), "{review}\n{said}");
        let asked: Vec<Value> = server.requests().into_iter().map(|request| request.body).collect();
        assert!(asked.iter().any(|body| body.to_string().contains(PROMPT)), "no request has the prompt");
        assert_eq!(scene.git(&["status", "--porcelain", "--ignored", "--untracked-files=all"]), before);
        Ok(())
    });
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
