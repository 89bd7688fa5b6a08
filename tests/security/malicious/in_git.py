"""Attacks on the git of the host, by what is committed and by what is left in the tree."""

from tests.security.malicious.case import Malicious

_TOUCH = "touch {outside}/written"
_HOOK = f"#!/bin/sh\n{_TOUCH}\n"
_CONFIG = (
    f'[core]\n\tfsmonitor = "{_TOUCH}"\n\thooksPath = hooks\n'
    f'[filter "evil"]\n\tsmudge = "{_TOUCH}"\n\tclean = "{_TOUCH}"\n'
)

IN_GIT = (
    Malicious(
        "planted hooks",
        "leaves hooks in the .git it sees",
        "mkdir -p .git/hooks; for h in post-checkout pre-commit reference-transaction; do "
        f"printf '#!/bin/sh\\n{_TOUCH}\\n' >.git/hooks/$h; chmod 755 .git/hooks/$h; done; exit 0",
    ),
    Malicious(
        "planted configuration",
        "leaves an fsmonitor in the .git it sees",
        f"git config core.fsmonitor '{_TOUCH}'; git config core.hooksPath hooks; exit 0",
    ),
    Malicious(
        "another git directory",
        "points .git at a directory of its own",
        "rm -rf .git; printf 'gitdir: evil' >.git; exit 0",
        files={"evil/HEAD": "ref: refs/heads/main\n", "evil/config": _CONFIG, "evil/objects/x": "", "evil/refs/x": ""},
    ),
    Malicious(
        "filters",
        "asks for filters and drivers that somebody may have configured",
        "git status; exit 0",
        files={".gitattributes": "* filter=evil ident diff=evil merge=evil\n"},
    ),
    Malicious(
        "embedded bare repository",
        "holds a bare repository with hooks",
        "cd inner && git status; exit 0",
        files={
            "inner/HEAD": "ref: refs/heads/main\n",
            "inner/config": _CONFIG,
            "inner/objects/x": "",
            "inner/refs/x": "",
            "inner/hooks/post-checkout": _HOOK,
        },
    ),
    Malicious(
        "submodule",
        "names a submodule whose address is a command",
        "git submodule update --init; exit 0",
        files={".gitmodules": f'[submodule "m"]\n\tpath = m\n\turl = ext::sh -c {_TOUCH}\n'},
    ),
    Malicious(
        "hostile names",
        "holds names that look like options",
        "ls; exit 0",
        files={"-rf": "x", "--upload-pack=touch": "x", "a\nb": "x", ":(top)*": "x", "sp ace": "x"},
    ),
    Malicious(
        "programs of its own",
        "holds programs named like ours",
        "exit 0",
        files={"git": _HOOK, "bwrap": _HOOK, "sh": _HOOK, "python3": _HOOK, "prlimit": _HOOK},
    ),
)
