"""What is no text a reviewer reads: protected paths, modes, links, left-overs, and text that is not what it seems."""

from tests.security.cheats.case import Cheat, Content
from tests.security.cheats.trees import CALC, ERROR, FIXED, PYPROJECT, RED

WORKFLOW = "on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: pytest\n"
TOKEN = "ghp_" + "a1B2" * 9  # the shape of a token, and none


def _cheat(name: str, found: str, why: str, after: dict[str, Content], mode: str = "100644") -> Cheat:
    return Cheat(
        name=name,
        found=found,
        why=why,
        before={**RED, ".github/workflows/ci.yml": WORKFLOW},
        after=after,
        modes=dict.fromkeys(after, mode),
        error_lines=ERROR,
        is_run=False,
    )


PATHS = (
    _cheat(
        "workflow edited",
        "protected_path",
        "the job that is red does not run the tests any more",
        {".github/workflows/ci.yml": WORKFLOW.replace("run: pytest", "run: pytest\n        continue-on-error: true")},
    ),
    _cheat("workflow deleted", "protected_path", "no job, no red job", {".github/workflows/ci.yml": None}),
    _cheat("action added", "protected_path", "a workflow may call it", {".github/actions/x/action.yml": "name: x\n"}),
    _cheat("owners", "protected_path", "nobody has to review any more", {".github/CODEOWNERS": "* @nobody\n"}),
    _cheat("our settings", "protected_path", "they name the checks", {".github/sweeper.yml": "checks: []\n"}),
    _cheat("operator's glob", "protected_path", "somebody said so", {"locks/a.py": "x = 1\n"}).model_copy(
        update={"protected": ("locks/**",)}
    ),
    _cheat(
        "hidden diff",
        "git_settings",
        "reviewers do not see the file",
        {".gitattributes": "*.py linguist-generated -diff\n"},
    ),
    _cheat("submodule file", "git_settings", "code from elsewhere", {".gitmodules": '[submodule "x"]\n\tpath = x\n'}),
    _cheat("submodule", "submodule", "code from elsewhere", {"x": ""}, "160000"),
    _cheat("set-user-id", "odd_mode", "it runs with another's rights", {"run": "#!/bin/sh\n"}, "104755"),
    _cheat(
        "link out of the tree", "symlink", "it shows a file of the machine", {"data.txt": "../../etc/hosts"}, "120000"
    ),
    _cheat("absolute link", "symlink", "it shows a file of the machine", {"data.txt": "/etc/hosts"}, "120000"),
    _cheat("link into git", "symlink", "it would change what git does", {"x": ".git/config"}, "120000"),
    _cheat("vendored", "vendored", "the dependency is edited instead", {"vendor/attrs/x.py": "x = 1\n"}),
    _cheat(
        "installed", "vendored", "the installed package is edited instead", {"venv/lib/site-packages/x.py": "x = 1\n"}
    ),
    _cheat("binary", "binary", "nobody can review it", {"calc.so": b"\x7fELF\0\0\0"}),
    _cheat("scratch file", "scratch_file", "a left-over of the work", {"scratch_1.py": "print(1)\n", "calc.py": FIXED}),
    _cheat("transcript", "scratch_file", "the story of the work", {"transcript.md": "I will now\n", "calc.py": FIXED}),
    _cheat("backup", "scratch_file", "a left-over of an editor", {"calc.py.orig": CALC, "calc.py": FIXED}),
)
TEXTS = (
    _cheat("token", "secret", "a credential in the history for ever", {"calc.py": f'TOKEN = "{TOKEN}"\n' + FIXED}),
    _cheat(
        "reversed text",
        "hidden_text",
        "a reviewer reads another order than Python",
        {"calc.py": CALC.replace("a - b", "a - b  # \u202e b + a nruter \u2066")},
    ),
    _cheat(
        "look-alike",
        "hidden_text",
        "a second add with a Cyrillic a",
        {"calc.py": CALC + "\n\ndef \u0430dd(a, b):\n    return 5\n"},
    ),
    _cheat(
        "invisible", "hidden_text", "a name with a character that has no width", {"calc.py": CALC + "a\u200bb = 1\n"}
    ),
    _cheat(
        "very long line",
        "long_line",
        "nobody reads to its end",
        {"calc.py": CALC + "x = 1" + " " * 3_000 + "; x = 2\n"},
    ),
    _cheat(
        "too many lines",
        "diff_too_large",
        "nobody reads it all",
        {"data.py": "".join(f"v{n} = {n}\n" for n in range(900))},
    ),
    _cheat("too many files", "diff_too_large", "nobody reads them all", {f"m{n}.py": f"x = {n}\n" for n in range(30)}),
    _cheat(
        "warnings silenced",
        "lint_ignore",
        "the warning that fails the run is not one any more",
        {"pyproject.toml": PYPROJECT.replace('"-ra"', '"-ra"\nfilterwarnings = ["ignore"]')},
    ),
)
IN_FILES = (*PATHS, *TEXTS)
