"""Agents that go for the git of the host by what they leave in the tree and in the `.git` that they see."""

from tests.security.agents.case import ANY_END, Hostile

_TOUCH = "touch {outside}/written"
_CONFIG = (
    f'[core]\\n\\tfsmonitor = "{_TOUCH}"\\n\\thooksPath = hooks\\n\\tsshCommand = "{_TOUCH}"\\n\\tpager = "{_TOUCH}"\\n'
    f'[filter "evil"]\\n\\tsmudge = "{_TOUCH}"\\n\\tclean = "{_TOUCH}"\\n\\trequired = true\\n'
    f'[diff "evil"]\\n\\ttextconv = "{_TOUCH}"\\n\\tcommand = "{_TOUCH}"\\n[alias]\\n\\tstatus = "!{_TOUCH}"\\n'
)
_EDIT = "echo 'answer = 42' >app.py"
_HOOKS = "post-checkout pre-commit reference-transaction post-index-change fsmonitor-watchman pre-push update"


def _repository(name: str, what: str) -> Hostile:
    return Hostile(
        f"It leaves a repository named {what} in its tree",
        program=f"""
name = {name!a}
os.mkdir(name)
open(name + "/config", "w").write("[core]\\n\\tfsmonitor = {_TOUCH}\\n")
open("app.py", "w").write("answer = 42\\n")
""",
        refused="is a git repository inside the tree",
    )


IN_GIT = (
    Hostile(
        "It plants hooks of every kind",
        shell=f"""
mkdir -p .git/hooks hooks
for hook in {_HOOKS}; do
  for place in .git/hooks hooks; do printf '#!/bin/sh\\n{_TOUCH}\\n' >$place/$hook; chmod 755 $place/$hook; done
done
git config core.hooksPath hooks
mkdir -p .husky .githooks && cp hooks/* .husky && cp hooks/* .githooks
rm -r hooks
{_EDIT}
""",
        found={".husky/": "git_settings", ".githooks/": "git_settings"},
    ),
    Hostile(
        "It plants commands in the configuration of git",
        shell=f"""
printf '{_CONFIG}' >>.git/config
cp .git/config .git/config.worktree
printf '{_CONFIG}' >"$HOME/.gitconfig"; mkdir -p "$HOME/.config/git"; printf '{_CONFIG}' >"$HOME/.config/git/config"
{_EDIT}
""",
    ),
    Hostile(
        "It asks for filters and drivers that somebody may have configured",
        shell=f"""
printf '{_CONFIG}' >>.git/config
printf '* filter=evil ident diff=evil merge=evil working-tree-encoding=UTF-16 eol=crlf\\n' >.gitattributes
printf '* filter=evil diff=evil\\n' >.git/info/attributes
{_EDIT}
""",
        found={".gitattributes": "git_settings"},
    ),
    Hostile(
        "It puts a file that leads to its own repository where .git was",
        shell=f"""
mkdir evil && mv .git/* evil/ && rm -rf .git && printf '{_CONFIG}' >>evil/config
printf 'gitdir: evil\\n' >.git
rm -rf evil/objects evil/index evil/logs
{_EDIT}
""",
        ends=ANY_END,
        edits=("evil/HEAD", "evil/packed-refs", "evil/config", "evil/info/attributes", "evil/shallow"),
    ),
    Hostile(
        "It puts a link to the mirror where .git was",
        shell=f"rm -rf .git && ln -s {{mirror}} .git && {_EDIT}",
    ),
    Hostile(
        "It puts a pipe where .git was",
        shell=f"rm -rf .git && mkfifo .git && {_EDIT}",
    ),
    Hostile(
        "It leaves a bare repository with commands in its configuration",
        shell=f"""
git init -q --bare inner && printf '{_CONFIG}' >>inner/config
rm -rf inner/hooks inner/description inner/info; touch inner/objects/x inner/refs/x
{_EDIT}
""",
        edits=("inner/HEAD", "inner/config", "inner/objects/x", "inner/refs/x"),
    ),
    Hostile(
        "It leaves a repository with a worktree of its own inside",
        shell=f"git init -q inner && touch inner/file && {_EDIT}",
        refused="is a git repository inside the tree",
    ),
    Hostile(
        "It makes .git of a directory a file that leads to the mirror",
        shell=f"echo 'gitdir: {{mirror}}' >pkg/.git && {_EDIT}",
        refused="is a git repository inside the tree",
    ),
    _repository(".GIT", "with capitals"),
    _repository(".git ", "with a space at its end"),
    _repository("GIT~1", "by its short name"),
    _repository(".g\u200cit", "with a character that nobody sees"),
    Hostile(
        "It names submodules whose address is a command",
        shell=f"""
printf '[submodule "m"]\\n\\tpath = m\\n\\turl = ext::sh -c {_TOUCH}\\n\\tupdate = !{_TOUCH}\\n' >.gitmodules
git update-index --add --cacheinfo 160000,{{base}},m
mkdir m; {_EDIT}
""",
        found={".gitmodules": "git_settings"},
    ),
    Hostile(
        "It hides its edits from the index, and its files by ignoring them",
        shell=f"""
git update-index --assume-unchanged app.py; git update-index --skip-worktree pkg/part.py
{_EDIT}; echo 'part = 2' >pkg/part.py
printf '*\\n' >>.git/info/exclude; printf 'sneaked_*\\n' >>.gitignore
echo 'x = 1' >sneaked_in.py; printf '[core]\\n\\texcludesFile = /dev/null\\n' >>.git/config
""",
        edits=("pkg/part.py", ".gitignore", "sneaked_in.py"),
        looks=(),
    ),
    Hostile(
        "It commits by itself and leaves its tree as it was",
        shell=f"""
git config user.email a@example.org; git config user.name a
{_EDIT}; git commit -qam 'Merge branch main'; git tag -f v1; git branch -f main; git replace HEAD~0 HEAD 2>/dev/null
git checkout -q {{base}}; git checkout -q .
""",
        ends=ANY_END,
    ),
    Hostile(
        "It gives its tree an index, locks and shallow marks that lie",
        shell=f"""
for name in index.lock HEAD.lock config.lock packed-refs.lock shallow.lock gc.pid; do echo 1 >.git/$name; done
head -c 100000 /dev/urandom >.git/index; echo {{hidden}} >.git/shallow; echo {{hidden}} >.git/HEAD
printf '{{hidden}} {{base}}\\n' >.git/info/grafts
{_EDIT}
""",
    ),
    Hostile(
        "It leaves a huge change of many files",
        program="""
os.mkdir("made")
for number in range(1400): open(f"made/{number}.py", "w").write(f"x = {number}\\n" * 20)
open("app.py", "w").write("answer = 42\\n")
""",
        found={"files": "diff_too_large"},
    ),
)
