"""Ways to turn red green without a fix. Each is a real change to a small repository."""

from tests.security.cheats.case import Cheat
from tests.security.cheats.in_commands import IN_COMMANDS
from tests.security.cheats.in_files import IN_FILES
from tests.security.cheats.in_languages import IN_LANGUAGES
from tests.security.cheats.in_machinery import IN_MACHINERY
from tests.security.cheats.in_motion import IN_MOTION
from tests.security.cheats.in_names import IN_NAMES
from tests.security.cheats.in_runs import IN_RUNS
from tests.security.cheats.in_settings import IN_SETTINGS
from tests.security.cheats.in_tests import IN_TESTS

CHEATS: tuple[Cheat, ...] = (
    *IN_TESTS,
    *IN_SETTINGS,
    *IN_COMMANDS,
    *IN_MACHINERY,
    *IN_LANGUAGES,
    *IN_FILES,
    *IN_MOTION,
    *IN_RUNS,
    *IN_NAMES,
)

__all__ = ["CHEATS", "Cheat"]
