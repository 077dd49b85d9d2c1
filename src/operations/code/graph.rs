//! The code graph that another program builds: its age, the surroundings of a term, and changes.
//!
//! The graph is in `.planning/graphs/`. This program does not build it; `build` describes how an agent does.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::operations::answers::disabled::DisabledReport;
use crate::project::files::FileError;
use crate::project::view::{Edited, Edits, ProjectView};

/// How many steps from a matching node still belong to the answer.
const STEPS: usize = 2;
/// The age up to which a graph counts as fresh, in milliseconds.
const FRESH: i64 = 24 * HOUR;
const HOUR: i64 = 3_600_000;
/// The estimated number of characters per token, for the size of an answer.
const CHARACTERS_OF_A_TOKEN: usize = 4;
/// The kinds of edges that can be left out of an answer, the most doubtful first.
const DOUBTFUL_FIRST: &[&str] = &["AMBIGUOUS", "INFERRED", "EXTRACTED"];
/// The versions of the other program whose output is known: from the first one, up to but not including the second.
const TESTED: ((u64, u64), u64) = ((0, 4), 1);

pub(crate) fn disabled() -> DisabledReport {
    DisabledReport::new("the code graph is disabled; enable it: `gsd-tools config-set graphify.enabled true`")
}

/// A failure, and why.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GraphFailureReport {
    error: &'static str,
    /// The exact problem with the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

impl GraphFailureReport {
    fn plain(error: &'static str) -> Self {
        Self { error, detail: None }
    }
}

const NOT_BUILT: &str = "there is no code graph yet; build it: `gsd-tools graphify build`";
const NOT_A_GRAPH: &str = "graph.json is not valid; build it again: `gsd-tools graphify build`";

/// Why the graph cannot be read.
#[derive(Debug)]
enum NoGraph {
    Absent,
    Broken(String),
}

impl From<NoGraph> for GraphFailureReport {
    fn from(why: NoGraph) -> Self {
        match why {
            NoGraph::Absent => Self::plain(NOT_BUILT),
            NoGraph::Broken(detail) => Self { error: NOT_A_GRAPH, detail: Some(detail) },
        }
    }
}

/// The contents of a graph file.
#[derive(Debug, Default)]
struct Graph {
    nodes: Vec<Value>,
    edges: Vec<Value>,
    hyperedges: usize,
    built_at_commit: Option<String>,
}

impl Graph {
    fn read(view: &ProjectView, path: &str) -> Result<Self, NoGraph> {
        let text = match view.text(path) {
            Ok(Some(text)) => text,
            Ok(None) => return Err(NoGraph::Absent),
            Err(error) => return Err(NoGraph::Broken(error.to_string())),
        };
        match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
            Ok(Value::Object(mut map)) => {
                let mut list = |name: &str| match map.remove(name) {
                    Some(Value::Array(list)) => Some(list),
                    _ => None,
                };
                Ok(Self {
                    nodes: list("nodes").unwrap_or_default(),
                    edges: list("edges").or_else(|| list("links")).unwrap_or_default(),
                    hyperedges: list("hyperedges").map_or(0, |list| list.len()),
                    built_at_commit: map.get("built_at_commit").and_then(Value::as_str).and_then(commit),
                })
            }
            Ok(_) => Err(NoGraph::Broken(format!("`{path}` is not a JSON object"))),
            Err(error) => Err(NoGraph::Broken(format!("`{path}`: {error}"))),
        }
    }
}

/// Checks a commit id as git writes it. Other text must not be passed to git.
fn commit(text: &str) -> Option<String> {
    let fits = (7..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    fits.then(|| text.to_owned())
}

fn folder(view: &ProjectView) -> String {
    format!("{}/graphs", view.layout().planning())
}

/// The path of the graph, relative to the root.
pub(crate) fn graph_path(view: &ProjectView) -> String {
    format!("{}/graph.json", folder(view))
}

fn snapshot_path(view: &ProjectView) -> String {
    format!("{}/.last-build-snapshot.json", folder(view))
}

/// What `graphify status` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum GraphStatusReport {
    Absent {
        exists: bool,
        message: &'static str,
    },
    Failed(GraphFailureReport),
    Built {
        exists: bool,
        /// When the graph was written, in UTC.
        last_build: Option<String>,
        node_count: usize,
        edge_count: usize,
        hyperedge_count: usize,
        /// True if the graph is older than a day, or its age is unknown.
        stale: bool,
        age_hours: Option<i64>,
        /// The commit it was built from, abbreviated.
        built_at_commit: Option<String>,
        current_commit: Option<String>,
        /// The number of commits since then; null if git does not know that commit.
        commits_behind: Option<u64>,
        commit_stale: Option<bool>,
        /// The result that the last automatic build recorded.
        last_build_auto_update: Option<Value>,
    },
}

/// Facts about the graph's age that come from the disk and git.
#[derive(Debug, Default)]
pub(crate) struct BuildFacts {
    /// When the graph was written, in milliseconds since 1970.
    pub(crate) built: Option<i64>,
    /// The same time, formatted for display.
    pub(crate) built_shown: Option<String>,
    pub(crate) now: i64,
    pub(crate) current_commit: Option<String>,
    pub(crate) commits_behind: Option<u64>,
}

/// The commit from which the graph was built, according to the graph.
pub(crate) fn built_at(view: &ProjectView) -> Option<String> {
    Graph::read(view, &graph_path(view)).ok()?.built_at_commit
}

/// Reports the age of the graph.
pub(crate) fn status(view: &ProjectView, facts: &BuildFacts) -> GraphStatusReport {
    let graph = match Graph::read(view, &graph_path(view)) {
        Ok(graph) => graph,
        Err(NoGraph::Absent) => {
            let message = "there is no code graph yet; build it: `gsd-tools graphify build`";
            return GraphStatusReport::Absent { exists: false, message };
        }
        Err(broken) => return GraphStatusReport::Failed(broken.into()),
    };
    let age = facts.built.map(|built| facts.now.saturating_sub(built).max(0));
    let short = |commit: &String| commit.chars().take(7).collect::<String>();
    let note = view.text(&format!("{}/.last-build-status.json", folder(view))).ok().flatten();
    GraphStatusReport::Built {
        exists: true,
        last_build: facts.built_shown.clone(),
        node_count: graph.nodes.len(),
        edge_count: graph.edges.len(),
        hyperedge_count: graph.hyperedges,
        stale: age.is_none_or(|age| age > FRESH),
        age_hours: age.map(|age| (age + HOUR / 2) / HOUR),
        built_at_commit: graph.built_at_commit.as_ref().map(short),
        current_commit: facts.current_commit.as_ref().map(short),
        commits_behind: facts.commits_behind,
        commit_stale: facts.commits_behind.map(|behind| behind > 0),
        last_build_auto_update: note.and_then(|text| serde_json::from_str(&text).ok()),
    }
}

/// What `graphify query` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct QueryReport {
    term: String,
    /// Nodes that match the term, then those around them, unchanged from the graph.
    nodes: Vec<Value>,
    edges: Vec<Value>,
    total_nodes: usize,
    total_edges: usize,
    /// What was left out to stay within the budget.
    trimmed: Option<String>,
    #[serde(flatten)]
    budget: Option<Budget>,
}

/// How the answer fits the token budget.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub(crate) struct Budget {
    budget_met: bool,
    /// The estimated number of tokens of the answer.
    budget_estimate: usize,
}

/// Finds the nodes whose label or description contains the term, and those up to two steps from them. If `budget` is
/// given, doubtful edges are left out to stay within that many tokens, if possible.
pub(crate) fn query(view: &ProjectView, term: &str, budget: Option<usize>) -> Result<QueryReport, GraphFailureReport> {
    let graph = Graph::read(view, &graph_path(view))?;
    let found = NodesAround::of(&graph, term);
    let Some(budget) = budget else { return Ok(found.report(&graph, term, 0, None)) };
    let mut answer = None;
    for level in 0..=DOUBTFUL_FIRST.len() {
        let report = found.report(&graph, term, level, Some(budget));
        let fits = report.budget.is_some_and(|budget| budget.budget_met);
        answer = Some(report);
        if fits {
            break;
        }
    }
    answer.ok_or_else(|| GraphFailureReport::plain(NOT_BUILT))
}

/// Indexes of the nodes and edges around a term.
struct NodesAround {
    seeds: Vec<usize>,
    /// In the order in which they were found, the matches first.
    nodes: Vec<usize>,
    edges: Vec<usize>,
}

impl NodesAround {
    fn of(graph: &Graph, term: &str) -> Self {
        let wanted = term.to_lowercase();
        let says = |node: &Value, field: &str| {
            node.get(field).and_then(Value::as_str).is_some_and(|text| text.to_lowercase().contains(&wanted))
        };
        let holds = |node: &Value| says(node, "label") || says(node, "description");
        let seeds: Vec<usize> =
            graph.nodes.iter().enumerate().filter(|(_, node)| holds(node)).map(|(at, _)| at).collect();
        let mut at_id: HashMap<String, usize> = HashMap::new();
        for (at, node) in graph.nodes.iter().enumerate() {
            if let Some(id) = node.get("id") {
                at_id.entry(id.to_string()).or_insert(at);
            }
        }
        let mut touching: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, edge) in graph.edges.iter().enumerate() {
            for end in ends(edge) {
                touching.entry(end).or_default().push(at);
            }
        }
        let (mut nodes, mut edges) = (seeds.clone(), Vec::new());
        let (mut known, mut used): (BTreeSet<usize>, BTreeSet<usize>) =
            (seeds.iter().copied().collect(), BTreeSet::new());
        let mut queue: VecDeque<(usize, usize)> = seeds.iter().map(|seed| (*seed, 0)).collect();
        while let Some((node, steps)) = queue.pop_front() {
            if steps == STEPS {
                continue;
            }
            let Some(id) = graph.nodes[node].get("id").map(Value::to_string) else { continue };
            for edge in touching.get(&id).into_iter().flatten() {
                if used.insert(*edge) {
                    edges.push(*edge);
                }
                for other in ends(&graph.edges[*edge]).iter().filter_map(|end| at_id.get(end)) {
                    if known.insert(*other) {
                        nodes.push(*other);
                        queue.push_back((*other, steps + 1));
                    }
                }
            }
        }
        Self { seeds, nodes, edges }
    }

    /// The answer without the edges of the first `level` doubtful kinds, and without the nodes that only those edges
    /// connect.
    fn report(&self, graph: &Graph, term: &str, level: usize, budget: Option<usize>) -> QueryReport {
        let dispensable = &DOUBTFUL_FIRST[..level];
        let stays = |edge: &&usize| {
            let confidence = graph.edges[**edge].get("confidence").and_then(Value::as_str);
            !confidence.is_some_and(|confidence| dispensable.contains(&confidence))
        };
        let edges: Vec<usize> = self.edges.iter().filter(stays).copied().collect();
        let touched: BTreeSet<String> = edges.iter().flat_map(|edge| ends(&graph.edges[*edge])).collect();
        let hangs = |node: usize| graph.nodes[node].get("id").is_some_and(|id| touched.contains(&id.to_string()));
        let everything = edges.len() == self.edges.len();
        let nodes: Vec<usize> = self
            .nodes
            .iter()
            .filter(|node| everything || self.seeds.contains(*node) || hangs(**node))
            .copied()
            .collect();
        let (lost_edges, lost_nodes) = (self.edges.len() - edges.len(), self.nodes.len() - nodes.len());
        let mut report = QueryReport {
            term: term.to_owned(),
            total_nodes: nodes.len(),
            total_edges: edges.len(),
            nodes: nodes.into_iter().map(|node| graph.nodes[node].clone()).collect(),
            edges: edges.into_iter().map(|edge| graph.edges[edge].clone()).collect(),
            trimmed: (lost_edges > 0).then(|| format!("[{lost_edges} edges omitted, {lost_nodes} nodes unreachable]")),
            budget: None,
        };
        if let Some(budget) = budget {
            // The size includes the two fields that report it, and their own length depends on it.
            let mut told = Budget { budget_met: true, budget_estimate: budget };
            for _ in 0..3 {
                report.budget = Some(told);
                let characters = serde_json::to_string_pretty(&report).map_or(0, |text| text.chars().count());
                let budget_estimate = characters.div_ceil(CHARACTERS_OF_A_TOKEN);
                told = Budget { budget_met: budget_estimate <= budget, budget_estimate };
            }
            report.budget = Some(told);
        }
        report
    }
}

/// The ids of the nodes that an edge connects.
fn ends(edge: &Value) -> Vec<String> {
    let mut ends: Vec<String> =
        ["source", "target"].iter().filter_map(|end| edge.get(*end)).map(Value::to_string).collect();
    ends.dedup();
    ends
}

/// What `graphify diff` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum DiffReport {
    NoBaseline {
        no_baseline: bool,
        message: &'static str,
    },
    Failed(GraphFailureReport),
    Compared {
        nodes: Counts,
        edges: Counts,
        /// When the snapshot was taken.
        timestamp: Option<Value>,
    },
}

/// The numbers of added, removed and changed nodes or edges.
#[derive(Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Counts {
    added: usize,
    removed: usize,
    changed: usize,
}

/// Compares the graph with its last snapshot.
pub(crate) fn diff(view: &ProjectView) -> DiffReport {
    let failed = |why: NoGraph| {
        let detail = match why {
            NoGraph::Absent => None,
            NoGraph::Broken(detail) => Some(detail),
        };
        DiffReport::Failed(GraphFailureReport {
            error: "the graph or its snapshot is not valid JSON; build it again: \
                                                   `gsd-tools graphify build`",
            detail,
        })
    };
    let path = snapshot_path(view);
    let before = match Graph::read(view, &path) {
        Ok(graph) => graph,
        Err(NoGraph::Absent) => {
            let message = "there is no snapshot to compare with; `gsd-tools graphify build snapshot` creates one";
            return DiffReport::NoBaseline { no_baseline: true, message };
        }
        Err(broken) => return failed(broken),
    };
    let now = match Graph::read(view, &graph_path(view)) {
        Ok(graph) => graph,
        Err(NoGraph::Absent) => return DiffReport::Failed(GraphFailureReport::plain(NOT_BUILT)),
        Err(broken) => return failed(broken),
    };
    let taken = view.text(&path).ok().flatten().and_then(|text| serde_json::from_str::<Value>(&text).ok());
    DiffReport::Compared {
        nodes: compare(&before.nodes, &now.nodes, |node| node.get("id").map(Value::to_string)),
        edges: compare(&before.edges, &now.edges, |edge| {
            Some(
                ["source", "target", "relation"]
                    .map(|part| edge.get(part).map(Value::to_string).unwrap_or_default())
                    .join("\n"),
            )
        }),
        timestamp: taken.and_then(|taken| taken.get("timestamp").cloned()),
    }
}

fn compare(before: &[Value], now: &[Value], name: impl Fn(&Value) -> Option<String>) -> Counts {
    let named = |list: &[Value]| -> BTreeMap<String, Value> {
        list.iter().filter_map(|thing| Some((name(thing)?, thing.clone()))).collect()
    };
    let (before, now) = (named(before), named(now));
    Counts {
        added: now.keys().filter(|name| !before.contains_key(*name)).count(),
        removed: before.keys().filter(|name| !now.contains_key(*name)).count(),
        changed: now.iter().filter(|(name, thing)| before.get(*name).is_some_and(|before| before != *thing)).count(),
    }
}

/// What `graphify build snapshot` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum GraphSnapshotReport {
    Saved { saved: bool, timestamp: String, node_count: usize, edge_count: usize },
    Failed(GraphFailureReport),
}

#[derive(Debug, Serialize, JsonSchema)]
struct GraphSnapshot<'a> {
    version: u32,
    timestamp: &'a str,
    nodes: Vec<Value>,
    edges: Vec<Value>,
}

/// Saves the graph for a later comparison.
pub(crate) fn snapshot(view: &ProjectView, timestamp: &str) -> Edited<GraphSnapshotReport> {
    let mut edits = Edits::default();
    let Graph { nodes, edges, .. } = match Graph::read(view, &graph_path(view)) {
        Ok(graph) => graph,
        Err(why) => {
            let detail = GraphFailureReport::from(why);
            let detail = detail.detail.or_else(|| Some(detail.error.to_owned()));
            let failed =
                GraphFailureReport { error: "the snapshot was not written: graph.json is not valid JSON", detail };
            return Ok((GraphSnapshotReport::Failed(failed), edits));
        }
    };
    let (node_count, edge_count) = (nodes.len(), edges.len());
    // A value made of strings and numbers always serializes.
    let text = serde_json::to_string_pretty(&GraphSnapshot { version: 1, timestamp, nodes, edges }).unwrap_or_default();
    edits.write(view, &snapshot_path(view), text + "\n")?;
    Ok((GraphSnapshotReport::Saved { saved: true, timestamp: timestamp.to_owned(), node_count, edge_count }, edits))
}

/// The record of an unattended build, and the answer of `graphify build update`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct BuildNote {
    /// When the build started, or once it has ended, when it ended. In UTC.
    pub(crate) ts: String,
    pub(crate) status: BuildStatus,
    /// The exit code of the build program, if it exited normally.
    pub(crate) exit_code: Option<i32>,
    pub(crate) duration_ms: Option<i64>,
    /// The commit that was checked out when the build began.
    pub(crate) head_at_build: Option<String>,
    pub(crate) graphify_version: Option<String>,
    /// Milliseconds since 1970.
    pub(crate) started_at: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum BuildStatus {
    Running,
    Ok,
    Failed,
}

/// Writes the record. If the build succeeded, also takes over the graph it wrote.
pub(crate) fn note_build(view: &ProjectView, note: &BuildNote) -> Result<Edits, FileError> {
    let mut edits = Edits::default();
    if note.status == BuildStatus::Ok
        && let Some(graph) = view.text(BUILT_GRAPH)?
    {
        edits.write(view, &graph_path(view), graph.to_string())?;
    }
    let text = serde_json::to_string_pretty(note).unwrap_or_default();
    edits.write(view, &format!("{}/.last-build-status.json", folder(view)), text + "\n")?;
    Ok(edits)
}

/// Where the build program writes the graph.
const BUILT_GRAPH: &str = "graphify-out/graph.json";

/// What `graphify build` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum BuildReport {
    /// How an agent builds the graph.
    Agent {
        action: &'static str,
        graphs_dir: String,
        /// Where the other program writes its output.
        graphify_out: String,
        timeout_seconds: u64,
        version: Option<String>,
        version_warning: Option<String>,
        artifacts: [&'static str; 3],
    },
    NotInstalled(GraphFailureReport),
}

/// What the other program reports about itself.
#[derive(Debug)]
pub(crate) struct Builder {
    /// The version that it prints.
    pub(crate) version: Option<String>,
    /// The version of the installed package of that name.
    pub(crate) package: Option<String>,
}

/// How an agent builds the graph with the available program; a failure if `builder` is `None`.
pub(crate) fn build(view: &ProjectView, builder: Option<Builder>, timeout_seconds: u64) -> BuildReport {
    let Some(builder) = builder else {
        return BuildReport::NotInstalled(GraphFailureReport::plain(
            "graphify is not installed.\n\nInstall with:\n  uv pip install graphifyy && graphify install",
        ));
    };
    let version = builder.package.clone().or_else(|| builder.version.as_deref().and_then(version_in));
    let version_warning = match (&version, &builder.package) {
        (None, _) => Some("the version of graphify is unknown".to_owned()),
        (Some(version), None) => Some(format!(
            "graphify {version} may be another tool of that name: the package graphifyy was not found (`pip show graphifyy`)"
        )),
        (Some(version), Some(_)) => match numbers(version) {
            None => Some(format!("`{version}` is not a version of graphify")),
            Some((major, minor)) if (major, minor) < TESTED.0 || major >= TESTED.1 => {
                Some(format!("graphify {version} was not tested; tested versions are 0.4.0 up to, not including, 1.0"))
            }
            Some(_) => None,
        },
    };
    BuildReport::Agent {
        action: "spawn_agent",
        graphs_dir: view.layout().shown(&folder(view)),
        graphify_out: view.layout().shown("graphify-out"),
        timeout_seconds,
        version,
        version_warning,
        artifacts: ["graph.json", "graph.html", "GRAPH_REPORT.md"],
    }
}

/// The first word of `text` that is a version number.
fn version_in(text: &str) -> Option<String> {
    text.split_whitespace().find(|word| numbers(word).is_some()).map(str::to_owned)
}

/// The first two numbers of a version.
fn numbers(version: &str) -> Option<(u64, u64)> {
    let mut parts = version.trim_start_matches('v').split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;

    const GRAPH: &str = r#"{"nodes":[{"id":"n1","label":"Alpha"},{"id":"n2","label":"b"},{"id":"n3","label":"c"},{"id":"n4","label":"d"},
        {"id":"n5","label":"e"},{"id":"n6","label":"f"},{"id":"n7","description":"g"},{"label":"no id","description":3}],
        "edges":[{"source":"n1","target":"n2","confidence":"AMBIGUOUS"},{"source":"n1","target":"n3","confidence":"AMBIGUOUS"},
        {"source":"n1","target":"n4","confidence":"AMBIGUOUS"},{"source":"n1","target":"n5","confidence":"INFERRED"},
        {"source":"n1","target":"n6","confidence":"INFERRED"},{"source":"n1","target":"n7","confidence":"EXTRACTED"},
        {"source":"n2","target":"n3","confidence":"EXTRACTED"},{"source":"n7","target":"ghost"}, 5],
        "hyperedges":[1],"built_at_commit":"0123abc"}"#;

    fn view(files: &[(&str, &str)]) -> ProjectView {
        let texts = files.iter().map(|(name, text)| (format!(".planning/graphs/{name}"), (*text).to_owned())).collect();
        let files = MemoryFiles { texts, ..MemoryFiles::default() };
        files.view()
    }

    fn ids(report: &QueryReport) -> String {
        report.nodes.iter().map(|node| node["id"].as_str().unwrap_or("-")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn nodes_near_a_term_are_found() {
        let view = view(&[("graph.json", GRAPH)]);
        let report = query(&view, "alpha", None).unwrap();
        assert_eq!((ids(&report).as_str(), report.total_edges), ("n1 n2 n3 n4 n5 n6 n7", 8));
        let far = query(&view, "G", None).unwrap();
        assert_eq!(ids(&far), "n7 n1 n2 n3 n4 n5 n6");
        assert_eq!(ids(&query(&view, "no id", None).unwrap()), "-");
        assert_eq!(query(&view, "nothing", Some(1)).unwrap().total_nodes, 0);
    }

    #[test]
    fn doubtful_edges_are_left_out_first_if_the_answer_is_too_long() {
        let view = view(&[("graph.json", GRAPH)]);
        let within = |tokens| query(&view, "alpha", Some(tokens)).unwrap();
        let told = |report: &QueryReport| (ids(report), report.trimmed.clone().unwrap_or_default());
        let whole = within(10_000);
        assert!(whole.trimmed.is_none() && whole.budget.unwrap().budget_met);
        let size = whole.budget.unwrap().budget_estimate;
        assert_eq!(size, serde_json::to_string_pretty(&whole).unwrap().chars().count().div_ceil(4));
        assert_eq!(
            told(&within(size - 1)),
            ("n1 n2 n3 n5 n6 n7".to_owned(), "[3 edges omitted, 1 nodes unreachable]".to_owned())
        );
        let least = within(1);
        assert_eq!(told(&least), ("n1 n7".to_owned(), "[7 edges omitted, 5 nodes unreachable]".to_owned()));
        assert!(!least.budget.unwrap().budget_met);
    }

    #[test]
    fn a_graph_that_cannot_be_read_is_an_error() {
        for text in ["{", "[]", "null", "3"] {
            let view = view(&[("graph.json", text)]);
            assert_eq!(query(&view, "a", None).unwrap_err().error, NOT_A_GRAPH, "{text}");
            assert!(matches!(status(&view, &BuildFacts::default()), GraphStatusReport::Failed(_)));
            let (report, edits) = snapshot(&view, "").unwrap();
            assert!(matches!(report, GraphSnapshotReport::Failed(_)) && edits.is_empty());
        }
        assert_eq!(query(&view(&[]), "a", None).unwrap_err().error, NOT_BUILT);
    }

    #[test]
    fn a_comparison_uses_the_last_snapshot() {
        let old = view(&[("graph.json", r#"{"nodes":[{"id":1,"l":"x"},{"id":2}],"links":[{"source":1,"target":2}]}"#)]);
        let (_, edits) = snapshot(&old, "then").unwrap();
        let kept = edits.texts.values().next().unwrap().as_str();
        let graph = r#"{"nodes":[{"id":1,"l":"y"},{"id":3}],"edges":[{"source":1,"target":2,"w":1},{"source":1,"target":2,"relation":"uses"}]}"#;
        let now = view(&[("graph.json", graph), (".last-build-snapshot.json", kept)]);
        let DiffReport::Compared { nodes, edges, timestamp } = diff(&now) else { panic!() };
        assert_eq!(nodes, Counts { added: 1, removed: 1, changed: 1 });
        assert_eq!(edges, Counts { added: 1, removed: 0, changed: 1 });
        assert_eq!(timestamp, Some(Value::from("then")));
        assert!(matches!(diff(&old), DiffReport::NoBaseline { .. }));
        assert!(matches!(diff(&view(&[(".last-build-snapshot.json", "{")])), DiffReport::Failed(_)));
    }

    #[test]
    fn the_age_of_a_graph_is_from_its_file_and_its_commit() {
        let view = view(&[("graph.json", GRAPH), (".last-build-status.json", "{\"status\":\"ok\"}")]);
        assert_eq!(built_at(&view).as_deref(), Some("0123abc"));
        let facts = BuildFacts { built: Some(0), now: 25 * HOUR, commits_behind: Some(2), ..BuildFacts::default() };
        let GraphStatusReport::Built {
            stale,
            age_hours,
            commit_stale,
            node_count,
            hyperedge_count,
            last_build_auto_update,
            ..
        } = status(&view, &facts)
        else {
            panic!()
        };
        assert_eq!((stale, age_hours, commit_stale), (true, Some(25), Some(true)));
        assert_eq!((node_count, hyperedge_count, last_build_auto_update.is_some()), (8, 1, true));
        assert_eq!(commit("--upload-pack=x"), None);
    }

    #[test]
    fn a_warning_names_an_unknown_version_or_program() {
        let warning = |version: Option<&str>, package: Option<&str>| {
            let builder = Builder { version: version.map(str::to_owned), package: package.map(str::to_owned) };
            match build(&view(&[]), Some(builder), 300) {
                BuildReport::Agent { version, version_warning, .. } => (version, version_warning.unwrap_or_default()),
                BuildReport::NotInstalled(_) => panic!(),
            }
        };
        assert_eq!(warning(Some("graphify 0.4.2"), Some("0.4.23")), (Some("0.4.23".to_owned()), String::new()));
        assert!(warning(Some("graphify 0.4.2"), None).1.contains("another tool"));
        assert!(warning(None, Some("1.0.0")).1.contains("was not tested"));
        assert!(warning(None, Some("weird")).1.contains("is not a version"));
        assert!(warning(Some("hello"), None).1.contains("is unknown"));
        assert!(matches!(build(&view(&[]), None, 1), BuildReport::NotInstalled(_)));
    }
}
