"""Reading the log of an Actions job.

Format as observed on GitHub-hosted runners: one timestamp per line, `##[group]Run <first line>` opens a step, its
script is echoed in cyan, `##[error]Process completed with exit code N.` ends a failing one. Byte order marks, ANSI
colours, carriage returns and lines without a timestamp are normal.
"""

import re

from sweeper.policy.redaction import redact

EXCERPT_BYTES = 4096
_TIMESTAMP = re.compile(r"^\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z ?")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_SCRIPT_LINE = re.compile(r"^\x1b\[36;1m(.*?)\x1b\[0m$")
_RUN = "##[group]Run "
_EXIT = re.compile(r"^##\[error\]Process completed with exit code \d+")
_CUT = b"\n[... cut here ...]\n"


def plain_lines(log: bytes) -> list[str]:
    """The log's lines without timestamps and colours; of a line redrawn by carriage returns, the last state."""
    return [_ANSI.sub("", line) for line in _bare_lines(log)]


def _bare_lines(log: bytes) -> list[str]:
    lines = log.decode("utf-8", "replace").split("\n")
    return [_TIMESTAMP.sub("", line).rstrip("\r").rsplit("\r", 1)[-1] for line in lines]


def failing_script(log: bytes) -> str | None:
    """The script of the step that ended with a non-zero exit code, as the log echoes it; None if it shows none."""
    script: list[str] = []
    first = ""
    in_header = False
    for line in _bare_lines(log):
        if line.startswith(_RUN):
            first, script, in_header = _ANSI.sub("", line.removeprefix(_RUN)), [], True
        elif line.startswith("##[endgroup]"):
            in_header = False
        elif in_header and (echoed := _SCRIPT_LINE.match(line)):
            script.append(echoed[1])
        elif _EXIT.match(line) and first:
            return "\n".join(script) or first
    return None


def failing_section(log: bytes) -> list[str]:
    """The lines of the failing step: from its header to its exit code; the whole log if neither is to be found."""
    lines = plain_lines(log)
    end = next((i for i, line in enumerate(lines) if _EXIT.match(line)), len(lines))
    start = max((i for i, line in enumerate(lines[:end]) if line.startswith(_RUN)), default=0)
    return lines[start : end + 1]


def excerpt(data: bytes, limit: int = EXCERPT_BYTES) -> str:
    """At most `limit` bytes: a little of the head, more of the tail, where failures are told; the cut is marked."""
    data = redact(data)
    if len(data) > limit:
        head = limit // 4
        data = data[:head] + _CUT + data[len(data) - (limit - head - len(_CUT)) :]
    return data.decode("utf-8", "ignore")
