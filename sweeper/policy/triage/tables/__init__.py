"""The patterns of the diagnosis, one module for each family of tools. A new tool is a few rows, and samples of them.

Of patterns that say equally much of a line the first counts: what is outside the code and what packages lack comes
before the compilers, whose lines look the same; the network's troubles come after the tests, which may cause them.
"""

from sweeper.policy.triage.pattern import Command, Pattern
from sweeper.policy.triage.tables import (
    commands,
    dependencies,
    docker,
    general,
    go,
    infrastructure,
    javascript,
    jvm,
    native,
    outside,
    precommit,
    pytest_lines,
    python,
    rust,
    settings,
)

ALL: tuple[Pattern, ...] = (
    *outside.ROWS,
    *pytest_lines.ROWS,
    *dependencies.ROWS,
    *docker.ROWS,
    *settings.ROWS,
    *python.ROWS,
    *precommit.ROWS,
    *javascript.ROWS,
    *go.ROWS,
    *rust.ROWS,
    *jvm.ROWS,
    *native.ROWS,
    *infrastructure.ROWS,
    *general.ROWS,
)
COMMANDS: tuple[Command, ...] = commands.COMMANDS
