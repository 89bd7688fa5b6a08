"""Every deterministic fixer, in the order in which they must run.

Lock files first, for tools are installed by them; what a lint fix leaves is formatted afterwards. A new tool is a row
in one of the modules in `rows`, and a line in the table of its tests.
"""

from adapters.agents.fixing.fixer import Fixer
from adapters.agents.fixing.rows import locks, native, python, web

FIXERS: tuple[Fixer, ...] = (
    *locks.ROWS,
    *python.PRE_COMMIT,
    *python.LINT,
    *web.LINT,
    *native.LINT,
    *python.FORMAT,
    *web.FORMAT,
    *native.FORMAT,
)
