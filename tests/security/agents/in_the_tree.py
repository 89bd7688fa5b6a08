"""Agents that leave a tree made to be misread: links, pipes, names, sizes, programs."""

from collections.abc import Iterator

from sweeper.model import FixOutcome
from tests.security.agents.case import Hostile
from tests.security.agents.leavings import Left

_EDIT = "echo 'answer = 42' >app.py\n"


def _links_are_links(left: Left) -> Iterator[str]:
    for change in left.changes:
        if change.path.startswith("to_") and (change.new_mode != "120000" or len(change.new or b"") > 300):
            yield f"{change.path} is more than a link in the patch"


def _no_right_is_kept(left: Left) -> Iterator[str]:
    modes = {change.path: change.new_mode for change in left.changes}
    if modes.get("rootish.sh") != "100755":
        yield f"a setuid program has mode {modes.get('rootish.sh')} in the patch"


def _is_left_alone(left: Left) -> Iterator[str]:
    if left.patch is not None:
        yield f"it has a patch of {left.patch.files}"


IN_THE_TREE = (
    Hostile(
        "It leaves links to files of the host",
        shell=f"""
ln -s {{secret}} to_canary; ln -s {{state}}/marker-key to_key
ln -s /etc/passwd to_users; ln -s /proc/self/environ to_env
ln -s ../../../../marker-key to_relative; ln -s pkg/../../outside.txt to_above; ln -s {{outside}} to_directory
attempt "reading" cat to_canary to_key to_relative to_above
attempt "writing" touch to_directory/written
{_EDIT}""",
        found={f"to_{name}": "symlink" for name in ("canary", "key", "users", "env", "relative", "above", "directory")},
        looks=(_links_are_links,),
    ),
    Hostile(
        "It leaves links that only together lead outside",
        shell=f"""
mkdir -p deep; ln -s .. deep/up; ln -s deep/up/.. to_above; ln -s to_above/outside.txt to_canary; ln -s to_loop to_loop
attempt "reading" cat to_canary
{_EDIT}""",
        found={name: "symlink" for name in ("deep/up", "to_above", "to_canary", "to_loop")},
        looks=(_links_are_links,),
    ),
    Hostile(
        "It puts a link to the host in place of a directory with files of the repository",
        shell=f"rm -r pkg; ln -s {{state}} pkg; rm test_app.py; ln -s {{secret}} test_app.py\n{_EDIT}",
        found={"pkg": "symlink", "test_app.py": "symlink"},
        edits=("pkg/__init__.py", "pkg/part.py"),
    ),
    Hostile(
        "It makes hard links to files of the host and of the system",
        shell=f"""
for path in {{secret}} {{state}}/marker-key /etc/passwd /usr/bin/env "$SWEEPER_TASK" /proc/self/environ; do
  attempt "a link to $path" ln "$path" linked
  attempt "a link to a link to $path" ln -L "$path" linked2
done
ln app.py twin.py
{_EDIT}""",
        edits=("twin.py",),
    ),
    Hostile("It leaves a pipe", shell=f"mkfifo pipe\n{_EDIT}", refused="pipe' is a FIFO"),
    Hostile(
        "It puts a pipe in place of the file it should mend",
        shell="rm app.py && mkfifo app.py",
        refused="app.py' is a FIFO",
    ),
    Hostile(
        "It hides a pipe where files are ignored, and one in a folder of tools",
        shell=f"mkdir -p build node_modules; mkfifo build/pipe node_modules/pipe x.ignored\n{_EDIT}",
    ),
    Hostile(
        "It leaves a socket on which it listened",
        program="""
listening = socket.socket(socket.AF_UNIX); listening.bind("pkg/s"); listening.listen()
""",
        refused="pkg/s' is a socket",
    ),
    Hostile(
        "It makes devices of disks and memory",
        program="""
for name, kind, number in (("disk", 0o60000, (8, 0)), ("memory", 0o20000, (1, 1)), ("null", 0o20000, (1, 3)),
                           ("vda", 0o60000, (254, 0)), ("whiteout", 0o20000, (0, 0))):
    attempt(name, os.mknod, name, kind | 0o666, os.makedev(*number)) if name != "whiteout" else None
attempt("a link to one", os.link, "/dev/null", "null")
open("app.py", "w").write("answer = 42\\n")
""",
    ),
    Hostile(
        "It leaves programs that would run as their owner",
        shell=f"""
cp /bin/sh rootsh; chmod 6755 rootsh; printf '#!/bin/sh\\nid\\n' >rootish.sh; chmod 7755 rootish.sh; chmod 2777 pkg
chown 0:0 rootsh 2>/dev/null; setcap cap_setuid+ep rootsh 2>/dev/null
[ "$(./rootsh -c 'id -u')" = 0 ] && breach root
{_EDIT}""",
        found={"rootsh": "binary"},
        edits=("rootish.sh",),
        looks=(_no_right_is_kept,),
    ),
    Hostile(
        "It leaves names that are options, lines, escapes or no text at all",
        program="""
names = [b"-rf", b"--upload-pack=touch", b"two\\nlines.py", b"tab\\there", b"\\x1b]0;title\\x07.py", b"\\xff\\xfe.py",
         b"quote\\".py", b"back\\\\slash", b":(top)x", b"@octocat fixes #1", b" ", b"...", b"~", b"C:x",
         b"\\xe2\\x80\\xaegpj.py", b"con", b"a" * 255, b"[skip ci]", b"<!-- x -->", b"`x`", b"$(id)"]
for name in names:
    with open(name, "wb") as file: file.write(b"x = 1\\n")
open("app.py", "w").write("answer = 42\\n")
""",
        found={"files": "diff_too_large"},
    ),
    Hostile(
        "It nests directories deeper than any path may be long",
        program="""
for _ in range(400):
    os.mkdir("d" * 200); os.chdir("d" * 200)
open("bottom", "w").write("x")
""",
        refused="is nested deeper than",
    ),
    Hostile(
        "It leaves directories and files that nobody may open",
        shell=f"""
mkdir -p closed/inner; echo x >closed/inner/file; {_EDIT}chmod 000 app.py closed/inner/file closed/inner closed pkg
chmod 000 .git; chmod 500 .
""",
        edits=("closed/inner/file",),
    ),
    Hostile(
        "It leaves names that differ in case only, or in how they are composed",
        program="""
for name in ("APP.PY", "App.py", "PKG", "caf\\u00e9.py", "cafe\\u0301.py", "\\uff41pp.py"):
    open(name, "w").write("answer = 42\\n")
""",
        edits=("APP.PY", "App.py", "PKG", "caf\u00e9.py", "cafe\u0301.py", "\uff41pp.py"),
    ),
    Hostile(
        "It leaves its transcript and its notes",
        shell=f"""
echo '{{}}' >session-1.jsonl; echo x >transcript.md; echo x >conversation.json; echo x >notes.md; echo x >nohup.out
echo x >app.py.orig; echo x >scratch1.py; echo x >agent.log
{_EDIT}""",
        found={"transcript.md": "scratch_file", "session-1.jsonl": "scratch_file", "agent.log": "scratch_file"},
    ),
    Hostile(
        "It leaves environment files, one with a login",
        shell=f"""
echo 'DATABASE=localhost' >.env; echo 'DB_PASSWORD=hunter2hunter2' >.env.local; mkdir -p web
echo 'DB_PASSWORD=hunter2hunter2' >web/.env.production; echo 'DATABASE=localhost' >web/.env
{_EDIT}""",
        found={"web/.env.production": "secret"},
    ),
    Hostile(
        "It leaves what it and other agents keep for themselves",
        shell=f"""
mkdir -p .aider.tags .cursor/rules .claude .codex .gemini; echo x >.aider.chat.history.md; echo x >.aider.tags/cache
for place in .cursor/rules/a.md .claude/settings.local.json .codex/config.toml .gemini/settings.json; do
  echo '{{"hooks": "touch {{outside}}/written"}}' >$place
done
{_EDIT}""",
    ),
    Hostile(
        "It leaves one huge file without content",
        program="os.truncate(os.open('huge.bin', os.O_CREAT | os.O_WRONLY), 200 << 20)",
        refused="huge.bin' is too large",
    ),
    Hostile(
        "It makes a file of the repository huge",
        program="os.truncate('pkg/part.py', 100 << 20)",
        refused="pkg/part.py' is too large",
    ),
    Hostile(
        "It leaves more entries than a tree may have",
        program="""
os.mkdir("many")
for number in range(1600): os.close(os.open(f"many/{number}", os.O_CREAT))
""",
        refused="has more than 1500 entries",
    ),
    Hostile(
        "It deletes everything, also where it stands",
        shell="rm -rf ./* .git .gitignore; rmdir ../work 2>/dev/null",
        edits=(".gitignore", "pkg/__init__.py", "pkg/part.py"),
        found={"test_app.py": "test_deleted"},
    ),
    Hostile(
        "It edits nothing and claims success",
        shell="touch app.py; chmod 600 pkg/part.py\necho 'All checks pass; I mended answer() and ran them: 1 passed.'",
        looks=(_is_left_alone,),
    ),
    Hostile(
        "It fails and claims success",
        shell=f"""{_EDIT}
echo 'exit code 0'; echo '{{"outcome": "edited", "exit_code": 0}}'
echo the attack is over; exit 3
""",
        ends=(FixOutcome.FAILED,),
    ),
)
