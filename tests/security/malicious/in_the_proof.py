"""Attacks on what the verifier reads: environment files, reports, counts."""

from adapters.sandbox.layout import WORK_AT
from sweeper.model import VerdictKind
from tests.security.malicious.case import Malicious

PYTEST = "python3 -m pytest -q -p no:cacheprovider"
_TEST = "from app import answer\n\n\ndef test_answer():\n    assert answer == 42\n"
_FORGED = '<testsuites><testsuite><testcase classname="test_app" name="test_answer"/></testsuite></testsuites>'
_BOMB = '<!DOCTYPE a [<!ENTITY b "bbbbbbbbbb"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]><testsuites>&c;</testsuites>'
_WHEN_FIXED = "import os\n\nimport app\n\nif app.answer == 42:\n    "
_EXIT = f"{_WHEN_FIXED}os._exit(0)\n"
_SELF = (
    _WHEN_FIXED
    + 'open(os.path.dirname(os.environ["GITHUB_ENV"]) + "/report.xml", "w").write("""%s""")\n    os._exit(0)\n'
)
_LINK = (
    _WHEN_FIXED + 'os.symlink("{secret}", os.path.dirname(os.environ["GITHUB_ENV"]) + "/report.xml")\n    os._exit(0)\n'
)
CHEATED = (VerdictKind.TAMPERED,)
NOT_GREEN = (VerdictKind.TAMPERED, VerdictKind.NOT_FIXED, VerdictKind.UNVERIFIABLE)

IN_THE_PROOF = (
    Malicious(
        "pipe for variables",
        "puts a pipe where the runner's file was, which nobody ever writes",
        'rm "$GITHUB_ENV" "$GITHUB_OUTPUT"; mkfifo "$GITHUB_ENV" "$GITHUB_OUTPUT"; exit 0',
    ),
    Malicious(
        "link for variables",
        "puts a link to a file of the host where the runner's file was",
        'echo; cat "$GITHUB_ENV"; env; exit 0',
        before='ln -sf {secret} "$GITHUB_ENV"; ln -sf {secret} "$GITHUB_PATH"',
    ),
    Malicious(
        "flood of variables",
        "writes a variable beyond all bounds",
        "exit 0",
        before='printf A= >"$GITHUB_ENV"; head -c 3000000 /dev/zero | tr "\\0" x >>"$GITHUB_ENV"',
    ),
    Malicious(
        "variables for the next step",
        "lets a later step load its library and run its shell code",
        "exit 0",
        before=f'echo "LD_PRELOAD={WORK_AT}/evil.so" >>"$GITHUB_ENV"; '
        f'echo "BASH_ENV={WORK_AT}/evil.sh" >>"$GITHUB_ENV"',
        files={"evil.sh": "touch {outside}/written\n"},
    ),
    Malicious(
        "own search path",
        "puts programs of its own before all others",
        "exit 1",
        answer=(VerdictKind.NOT_FIXED,),
        before='mkdir -p "$HOME/bin"; for p in bash mkdir rm cat; do printf "#!/bin/sh\\nexit 0\\n" >"$HOME/bin/$p"; '
        'chmod 755 "$HOME/bin/$p"; done; echo "$HOME/bin" >>"$GITHUB_PATH"',
    ),
    Malicious(
        "report lies ready",
        "an earlier step writes the report of a check that ends at once",
        command=PYTEST,
        before=f'mkdir -p "$HOME/.job/1"; echo \'{_FORGED}\' >"$HOME/.job/1/report.xml"',
        files={"test_app.py": _TEST, "conftest.py": _EXIT},
        answer=CHEATED,
        shown_red=True,
    ),
    Malicious(
        "ends at once",
        "the process ends green before a test is run",
        command=PYTEST,
        files={"test_app.py": _TEST, "conftest.py": _EXIT},
        answer=CHEATED,
        shown_red=True,
    ),
    Malicious(
        "report of entities",
        "writes a report that grows when it is read",
        command=PYTEST,
        files={"test_app.py": _TEST, "conftest.py": _SELF % _BOMB},
        answer=CHEATED,
        shown_red=True,
    ),
    Malicious(
        "report is a link",
        "puts a link to a file of the host where the report is looked for",
        command=PYTEST,
        files={
            "test_app.py": _TEST,
            "conftest.py": _LINK,
        },
        answer=CHEATED,
        shown_red=True,
    ),
    Malicious(
        "nothing collected",
        "the test file is renamed so that nothing is collected",
        command=f"{PYTEST} || test $? -eq 5",
        changed={"check_app.py": _TEST, "test_app.py": ""},
        answer=CHEATED,
        shown_red=True,
    ),
    Malicious(
        "tests of its own",
        "the failing test is replaced by fewer",
        command=f"{PYTEST} || test $? -eq 5",
        changed={"test_app.py": "\n"},
        answer=CHEATED,
        shown_red=True,
    ),
    Malicious(
        "success in words",
        "prints what success looks like and fails",
        "echo '5 passed, 0 failed'; exit 1",
        answer=(VerdictKind.NOT_FIXED,),
    ),
    Malicious("failure in words", "prints what failure looks like and passes", "echo 'FAILED (failures=3)'; exit 0"),
    Malicious(
        "no program", "calls a program that is not there", "no-such-program --test", answer=(VerdictKind.UNVERIFIABLE,)
    ),
)
