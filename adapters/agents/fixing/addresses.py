"""Lock files name where packages came from, and here that is the gate: an address that means nothing anywhere else.

A file that the commit's lock file names keeps the address it has there; an index, and what lies below npm's, gets the
well-known one. PyPI's files lie under a digest that the index does not tell, so a new one's address cannot be known
here: a lock file that would have to name it is put back.
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

_WELL_KNOWN = {
    "npm_config_registry": "https://registry.npmjs.org/",
    "UV_DEFAULT_INDEX": "https://pypi.org/simple/",
}
"""By the variable that leads a package manager to the gate."""

MOST_FILES = 50

SCRIPT = r"""
import re, subprocess, sys
gate, count, rest = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
pairs, paths = [pair.split(" ") for pair in rest[:count]], rest[count:]
def git(*words):
    return subprocess.run(["git", *words], capture_output=True, check=False)
def name(url):
    return url.rpartition("/")[2]
for path in paths:
    try:
        text = open(path, encoding="utf-8").read()
    except (OSError, ValueError):
        continue
    if gate not in text:
        continue
    old = git("show", f"HEAD:{path}").stdout.decode("utf-8", "replace")
    known = {name(url): url for url in re.findall(r"https?://[^\s\"'#,<>]+", old)}
    known.pop("", None)
    text = re.sub(re.escape(gate) + r"/[^\s\"'#,<>]*", lambda found: known.get(name(found[0]), found[0]), text)
    for here, there in pairs:
        text = text.replace(f'"{here[:-1]}"', f'"{there[:-1]}"').replace(f'"{here}"', f'"{there[:-1]}"')
        text = text.replace(here, there)
    if gate in text:
        print(path)
        git("checkout", "-q", "HEAD", "--", path)
    else:
        open(path, "w", encoding="utf-8", newline="").write(text)
"""
"""For python inside, in the root of the tree. Prints what it had to put back."""


def arguments(env: Mapping[str, str], files: tuple[str, ...]) -> tuple[str, ...]:
    """For SCRIPT; none if this gate leads no package manager astray. `env`: the gate's."""
    pairs = [(env[name], there) for name, there in _WELL_KNOWN.items() if name in env]
    if not pairs:
        return ()
    place = urlsplit(pairs[0][0])
    told = [f"{here.rstrip('/')}/ {there}" for here, there in pairs]
    return (f"{place.scheme}://{place.netloc}", str(len(told)), *told, *files[:MOST_FILES])
