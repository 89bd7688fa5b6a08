"""Real fixes, none of which may be rejected."""

from tests.security.cheats.case import Honest
from tests.security.honest.in_names import IN_NAMES
from tests.security.honest.in_projects import IN_PROJECTS
from tests.security.honest.in_python import IN_PYTHON

HONEST: tuple[Honest, ...] = (*IN_PYTHON, *IN_PROJECTS, *IN_NAMES)

__all__ = ["HONEST", "Honest"]
