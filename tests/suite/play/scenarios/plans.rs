//! The work that the agents of the plays invent: the plans of a small project, its code and its tests.

use super::agents::{Plan, Task};

const FAREWELL: &str = "\"\"\"Says goodbye.\"\"\"\n\n\ndef farewell(name):\n    return f\"Goodbye, {name}!\"\n";
const TEST_FAREWELL: &str = "import unittest\n\nimport farewell\n\n\nclass Farewell(unittest.TestCase):\n    \
    def test_it_names_who_leaves(self):\n        self.assertEqual(farewell.farewell(\"Ada\"), \"Goodbye, Ada!\")\n";
const README: &str = "# Greet\n\n    python3 greet.py Ada\n    python3 greet.py --goodbye Ada\n";
const README_OF_DEFAULT: &str =
    "# Greet\n\n    python3 greet.py Ada\n    python3 greet.py --goodbye Ada\n\nWithout a name the world is greeted.\n";
const MODULES: &str = "# Greet\n\n    python3 greet.py Ada\n    python3 greet.py --goodbye Ada\n\nModules: greet.py\n";
const TEST_README: &str = "import pathlib\nimport unittest\n\n\nclass Readme(unittest.TestCase):\n    \
    def test_it_names_every_module(self):\n        readme = pathlib.Path(\"README.md\").read_text()\n        \
    modules = [path.name for path in pathlib.Path().glob(\"*.py\") if not path.name.startswith(\"test_\")]\n        \
    self.assertEqual([name for name in modules if name not in readme], [])\n";
const TEST_GREET: &str = "import contextlib\nimport io\nimport unittest\n\nimport greet\n\n\n\
    class Greeting(unittest.TestCase):\n    def printed(self, *arguments):\n        \
    with contextlib.redirect_stdout(io.StringIO()) as output:\n            greet.main(list(arguments))\n        \
    return output.getvalue()\n\n    def test_it_names_whom_it_greets(self):\n        \
    self.assertEqual(greet.greeting(\"Ada\"), \"Hello, Ada!\")\n\n    def test_both_calls_print(self):\n        \
    self.assertEqual(self.printed(\"Ada\"), \"Hello, Ada!\\n\")\n        \
    self.assertEqual(self.printed(\"Ada\", \"--goodbye\"), \"Goodbye, Ada!\\n\")\n";
const TEST_EVERYBODY: &str = "import subprocess\nimport sys\nimport unittest\n\n\nclass Everybody(unittest.TestCase):\n    \
    def test_nobody_named_is_everybody(self):\n        call = [sys.executable, \"greet.py\", \"--goodbye\"]\n        \
    printed = subprocess.run(call, capture_output=True, text=True).stdout\n        \
    self.assertEqual(printed, \"Goodbye, everybody!\\n\")\n";
const GREET_EVERYBODY: &str = "\"\"\"Says hello or goodbye on the command line.\"\"\"\n\nimport sys\n\nimport farewell\n\n\n\
    def greeting(name):\n    return f\"Hello, {name}!\"\n\n\ndef main(arguments):\n    leaving = \"--goodbye\" in arguments\n    \
    names = [word for word in arguments if word != \"--goodbye\"] or [\"everybody\" if leaving else \"world\"]\n    \
    say = farewell.farewell if leaving else greeting\n    print(say(names[0]))\n    return 0\n\n\n\
    if __name__ == \"__main__\":\n    sys.exit(main(sys.argv[1:]))\n";
const GREET: &str = "\"\"\"Says hello or goodbye on the command line.\"\"\"\n\nimport sys\n\nimport farewell\n\n\n\
    def greeting(name):\n    return f\"Hello, {name}!\"\n\n\ndef main(arguments):\n    leaving = \"--goodbye\" in arguments\n    \
    names = [word for word in arguments if word != \"--goodbye\"] or [\"world\"]\n    \
    say = farewell.farewell if leaving else greeting\n    print(say(names[0]))\n    return 0\n\n\n\
    if __name__ == \"__main__\":\n    sys.exit(main(sys.argv[1:]))\n";

pub(crate) const FAREWELL_PLAN: Plan = Plan {
    id: "01-01",
    wave: 1,
    depends_on: &[],
    requirements: &["FARE-01"],
    objective: "A function says goodbye",
    truth: "farewell names who leaves",
    tasks: &[Task {
        name: "Say goodbye",
        kind: "auto",
        files: &[("farewell.py", FAREWELL), ("test_farewell.py", TEST_FAREWELL)],
        check: "python3 -m unittest test_farewell",
        commit: ("feat", "say goodbye"),
    }],
    asks_a_person: false,
    closes: None,
};

pub(crate) const README_PLAN: Plan = Plan {
    id: "01-02",
    wave: 1,
    depends_on: &[],
    requirements: &["FARE-03"],
    objective: "A README shows both calls",
    truth: "The README shows both calls",
    tasks: &[Task {
        name: "Write the README",
        kind: "auto",
        files: &[("README.md", README)],
        check: "python3 -c \"assert '--goodbye' in open('README.md').read()\"",
        commit: ("docs", "show both calls"),
    }],
    asks_a_person: false,
    closes: None,
};

const TAKE_GOODBYE: Task = Task {
    name: "Take --goodbye before or after the name (D-01)",
    kind: "auto",
    files: &[("greet.py", GREET)],
    check: "python3 -c \"import greet; greet.main(['--goodbye', 'Ada'])\"",
    commit: ("feat", "take --goodbye"),
};

const TEST_BOTH: Task = Task {
    name: "Test both calls",
    kind: "auto",
    files: &[("test_greet.py", TEST_GREET)],
    check: "python3 -m unittest test_greet",
    commit: ("test", "hold both calls"),
};

pub(crate) const SWITCH_PLAN: Plan = Plan {
    id: "01-03",
    wave: 2,
    depends_on: &["01-01", "01-02"],
    requirements: &["FARE-02"],
    objective: "The command line takes --goodbye",
    truth: "`python3 greet.py --goodbye Ada` prints `Goodbye, Ada!`",
    tasks: &[
        TAKE_GOODBYE,
        TEST_BOTH,
        Task {
            name: "Say what happens without a name",
            kind: "auto",
            files: &[("README.md", README_OF_DEFAULT)],
            check: "python3 -c \"assert 'Without' in open('README.md').read()\"",
            commit: ("docs", "name the default"),
        },
    ],
    asks_a_person: false,
    closes: None,
};

/// Only the switch, next to the function, with the README.
pub(crate) const SECOND_SWITCH_PLAN: Plan =
    Plan { id: "01-02", depends_on: &["01-01"], requirements: &["FARE-02", "FARE-03"], ..SWITCH_PLAN };

/// A README that a test compares with the existing modules: right next to a plan that adds a module, wrong once both
/// are merged.
pub(crate) const HELD_README_PLAN: Plan = Plan {
    tasks: &[Task {
        name: "Write the README, and a test of it",
        kind: "auto",
        files: &[("README.md", MODULES), ("test_readme.py", TEST_README)],
        check: "python3 -m unittest test_readme",
        commit: ("docs", "show both calls"),
    }],
    ..README_PLAN
};

/// The edit that fixes the README after both plans are merged.
pub(crate) const MENDED_README: (&str, &str) = ("Modules: greet.py", "Modules: greet.py, farewell.py");

/// A person looks at the switch before it is tested, and judges it again when the phase is accepted.
pub(crate) const SHOWN_SWITCH_PLAN: Plan = Plan {
    tasks: &[
        TAKE_GOODBYE,
        Task {
            name: "Look at the goodbye",
            kind: "checkpoint:human-verify",
            files: &[],
            check: "python3 greet.py --goodbye Ada",
            commit: ("", ""),
        },
        TEST_BOTH,
    ],
    asks_a_person: true,
    ..SWITCH_PLAN
};

/// The plan that closes the gap that the person reports.
pub(crate) const EVERYBODY_PLAN: Plan = Plan {
    id: "01-04",
    wave: 1,
    depends_on: &[],
    requirements: &["FARE-02"],
    objective: "Goodbye goes to everybody where nobody is named",
    truth: "`python3 greet.py --goodbye` prints `Goodbye, everybody!`",
    tasks: &[Task {
        name: "Say goodbye to everybody",
        kind: "auto",
        files: &[("greet.py", GREET_EVERYBODY), ("test_everybody.py", TEST_EVERYBODY)],
        check: "python3 -m unittest test_everybody",
        commit: ("fix", "say goodbye to everybody"),
    }],
    asks_a_person: false,
    closes: Some("G-01-1"),
};

/// All of the first phase in one plan.
pub(crate) const GOODBYE_PLAN: Plan = Plan {
    id: "01-01",
    wave: 1,
    depends_on: &[],
    requirements: &["FARE-01"],
    objective: "The command line says goodbye (D-01)",
    truth: "`python3 greet.py --goodbye Ada` prints `Goodbye, Ada!`",
    tasks: &[Task {
        name: "Say goodbye on the command line (D-01)",
        kind: "tracer",
        files: &[("farewell.py", FAREWELL), ("test_farewell.py", TEST_FAREWELL), ("greet.py", GREET)],
        check: "python3 -m unittest test_farewell",
        commit: ("feat", "say goodbye with a switch"),
    }],
    asks_a_person: false,
    closes: None,
};
