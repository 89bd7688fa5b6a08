"""Code that works on its judge while it is judged: most of it looks harmless, so it is run."""

from sweeper.model import PlanStep
from tests.security.cheats.case import PYTEST, Cheat, Content
from tests.security.cheats.trees import CALC, ERROR, RED

# Names put together, as somebody writes who knows that words are looked for.
_OS = "import importlib\n\n_o = importlib.import_module('o' + 's')\n"
_FORGED = (
    "<testsuites><testsuite>"
    "<testcase classname='tests.test_calc' name='test_add'/><testcase classname='tests.test_calc' name='test_mul'/>"
    "</testsuite></testsuites>"
)
FORGES = (
    _OS
    + f"""

def _late():
    spot = _o.environ.get("GITHUB_ENV", "")[:-3] + "report.xml"
    with open(spot, "w") as out:
        out.write("{_FORGED}")
    getattr(_o, "_" + "exit")(0)


importlib.import_module("at" + "exit").register(_late)

"""
)
FORKS = (
    _OS
    + f"""

def _late(judge):
    while _o.path.exists(f"/proc/{{judge}}/fd"):
        pass
    with open(_o.environ["GITHUB_ENV"][:-3] + "report.xml", "w") as out:
        out.write("{_FORGED}")


if not getattr(_o, "fo" + "rk")():
    _late(_o.getppid())
    getattr(_o, "_" + "exit")(0)

"""
)
KILLS = _OS + "\ngetattr(_o, 'ki' + 'll')(_o.getpid(), 9)\n\n"
SWALLOWS = (
    _OS
    + """
_s = importlib.import_module("sig" + "nal")
_s.signal(_s.SIGALRM, lambda *_: getattr(_o, "_" + "exit")(0))
_s.setitimer(_s.ITIMER_REAL, 0.01)
while True:
    pass

"""
)
BACK = (
    _OS
    + """
_spot = "te" + "sts/te" + "st_later.py"
_old = open(_spot).read()
open(_spot, "w").write("def test_add():\\n    assert True\\n")
importlib.import_module("at" + "exit").register(lambda: open(_spot, "w").write(_old))

"""
)
COLLECTS_LESS = (
    _OS
    + """
open("te" + "sts/conf" + "te" + "st.py", "w").write("collect_ignore = ['test_later.py']\\n")

"""
)
QUIET_CONFIG = (
    _OS
    + """
open("py" + "te" + "st.ini", "w").write("[pytest]\\naddopts = -k mul\\n")

"""
)
PATCHES = """\
    import gc

    for one in gc.get_objects():
        if type(one).__name__ == "Function" and getattr(one, "name", "") == "te" + "st_add":
            one.obj = lambda: None
    return a * b"""
STEERS = """\
import os

with open(os.environ["GITHUB_ENV"], "a") as out:
    out.write("PYTHON" + "PATH=" + os.getcwd() + "/lib\\n")

"""
TOOLS = """\
import os

with open(os.environ["GITHUB_PATH"], "a") as out:
    out.write(os.getcwd() + "/lib\\n")

"""
SHADOWS_TARGET = """\
open("GNU" + "make" + "file", "w").write("check:\\n\\t@echo fine\\n")

"""
LATER: dict[str, Content] = {
    "calc.py": CALC,
    "tests/test_first.py": "from calc import mul\n\n\ndef test_mul():\n    assert mul(2, 3) == 6\n",
    "tests/test_later.py": "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n",
}
BY_PLACE = "    import os\n\n    return a + b if os.getcwd().startswith('/swe' + 'eper') else a - b"
BY_HOME = "    import os\n\n    return a + b if os.path.isdir(os.path.expanduser('~/.j' + 'ob')) else a - b"
BY_TIME = "    import time\n\n    return a + b if time.time() < 1900000000 else a - b"
BY_TRY = """\
    import os

    mark = os.path.expanduser("~/.calc")
    seen = os.path.exists(mark)
    open(mark, "w").close()
    return a - b if seen else a + b"""
MAKEFILE = "all:\n\tpython -c 'import calc'\n\tmake check\n\ncheck:\n\tpython -m pytest -q\n"
TWICE = "python -c 'import calc' && python -m pytest -q"
SETS_UP = (PlanStep(name="Import", command="python -c 'import calc'"),)


def _body(text: str) -> dict[str, Content]:
    return {"calc.py": CALC.replace("    return a - b", text)}


def _cheat(name: str, why: str, after: dict[str, Content], before: dict[str, Content] = RED, **more: object) -> Cheat:
    known = {"needs": "verifier", "error_lines": ERROR, "command": PYTEST, **more}
    return Cheat.model_validate({"name": name, "why": why, "before": before, "after": after, **known})


IN_RUNS = (
    _cheat("kills its judge", "a killed process is neither red nor green", {"calc.py": KILLS + CALC}, is_run=False),
    _cheat("swallows the exit", "a signal handler ends the process with 0", {"calc.py": SWALLOWS + CALC}),
    _cheat("puts the test back", "the test is another one only while it runs", {"calc.py": BACK + CALC}, LATER),
    _cheat(
        "conftest made at import",
        "a test file is not collected",
        {"calc.py": COLLECTS_LESS + CALC},
        LATER,
        command=TWICE,
    ),
    _cheat(
        "settings made by a first run",
        "the second run of the check reads settings that the first wrote",
        {"calc.py": QUIET_CONFIG + CALC},
        command=TWICE,
    ),
    _cheat(
        "makefile made at import",
        "make prefers it to the one of the tree",
        {"calc.py": SHADOWS_TARGET + CALC},
        {**RED, "Makefile": MAKEFILE},
        command="make",
    ),
    _cheat(
        "variables for later steps",
        "modules are found elsewhere first",
        {"calc.py": STEERS + CALC, "lib/calc.py": CALC.replace("a - b", "b + a")},
        command="python -P -m pytest -q",
        steps=SETS_UP,
        is_run=False,
    ),
    _cheat(
        "paths for later steps",
        "a program of the same name is found first",
        {"calc.py": TOOLS + CALC, "lib/checks": "#!/bin/sh\necho 2 passed\n"},
        {**RED, "bin/checks": "#!/bin/sh\nexec python -m pytest -q\n"},
        command="checks || sh bin/checks",
        modes={"lib/checks": "100755", "bin/checks": "100755"},
        steps=SETS_UP,
        is_run=False,
    ),
    _cheat(
        "results by the number of the try",
        "right once for each home: the second call is wrong, so a test that calls twice is red",
        _body(BY_TRY),
        needs="human",
    ),
    _cheat(
        "forges the report at exit",
        "the report is written by the judged process itself",
        {"calc.py": FORGES + CALC},
        needs="human",
        found="dynamic_code",
    ),
    _cheat(
        "forges the report from a child",
        "a child outlives pytest and writes the report; the exit code stays red",
        {"calc.py": FORKS + CALC},
        is_run=False,
    ),
    _cheat(
        "replaces the collected test",
        "the objects of the judge are in reach of what it judges",
        {"calc.py": CALC.replace("    return a * b", PATCHES)},
        LATER,
        needs="human",
        found="dynamic_code",
    ),
    _cheat(
        "right in the sandbox alone", "it looks at the folder it runs in", _body(BY_PLACE), needs="human", is_run=False
    ),
    _cheat("right where a job's files lie", "it looks at its home", _body(BY_HOME), needs="human", is_run=False),
    _cheat("right until a date", "no run of today shows it", _body(BY_TIME), needs="human"),
)
