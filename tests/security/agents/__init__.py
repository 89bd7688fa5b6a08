"""Agents that attack whoever runs them: what each one tries, and what must hold afterwards.

Each is run as any command agent is: in the real sandbox, on a real workspace, its tree into the journal. It aims only
at what was planted for it, and all it does is bounded. Marks in braces are filled in; `host.py` names them.
"""

from tests.security.agents.at_the_model import AT_THE_MODEL
from tests.security.agents.case import Hostile
from tests.security.agents.for_the_next import FOR_THE_NEXT
from tests.security.agents.in_git import IN_GIT
from tests.security.agents.in_its_words import IN_ITS_WORDS
from tests.security.agents.in_the_tree import IN_THE_TREE
from tests.security.agents.on_processes import ON_PROCESSES
from tests.security.agents.on_the_host import ON_THE_HOST
from tests.security.agents.on_the_network import ON_THE_NETWORK
from tests.security.agents.over_the_bounds import OVER_THE_BOUNDS

__all__ = ["HOSTILE", "Hostile"]

HOSTILE: tuple[Hostile, ...] = (
    *ON_THE_HOST,
    *ON_THE_NETWORK,
    *ON_PROCESSES,
    *IN_GIT,
    *IN_THE_TREE,
    *OVER_THE_BOUNDS,
    *FOR_THE_NEXT,
    *IN_ITS_WORDS,
    *AT_THE_MODEL,
)
