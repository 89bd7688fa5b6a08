"""Random schedules of kills, faults and webhook troubles; the same seed is the same schedule."""

import random

from adapters.loopback.core.state import HookMode
from sweeper.model import Strict
from tests.crash.rows import PASSING, Killed
from tests.crash.scenarios import SCENARIOS

_HOOKS = (HookMode.NORMAL, HookMode.DUPLICATE, HookMode.DUPLICATE_NEW_GUID, HookMode.REORDER, HookMode.HOLD)
_KINDS = tuple(kind for kind in PASSING if kind not in ("hold", "stale_read"))
"""The other two have to be let go, or follow a write, at a moment that chance does not find."""
_METHODS = ("GET", "POST", "PATCH", "PUT", "*")
_LAST_STEP = 16


class Kill(Strict):
    """`kill -9` of these processes, this long after the sweep began its n-th activity."""

    killed: Killed
    step: int
    after_ms: int


class Fault(Strict):
    """GitHub spoils the n-th call of this kind about the repository."""

    method: str
    nth: int
    kind: str
    when: str


class Schedule(Strict):
    """What happens to one sweep. `hooks`: how webhooks travel; kept back ones come with the last kill."""

    seed: int
    scenario: str
    hooks: HookMode
    kills: tuple[Kill, ...]
    faults: tuple[Fault, ...]

    def __str__(self) -> str:
        kills = [f"{kill.killed} at {kill.step}+{kill.after_ms}ms" for kill in self.kills]
        faults = [f"{fault.kind} {fault.when} {fault.method} #{fault.nth}" for fault in self.faults]
        return f"{self.scenario}; webhooks {self.hooks}; kill {', '.join(kills)}; faults {', '.join(faults) or 'none'}"


def schedule(seed: int) -> Schedule:
    """The schedule of a seed."""
    chance = random.Random(seed)
    steps = sorted(chance.sample(range(1, _LAST_STEP), chance.randint(1, 3)))
    kills = [Kill(killed=chance.choice(list(Killed)), step=step, after_ms=chance.randrange(200)) for step in steps]
    faults = [
        Fault(
            method=chance.choice(_METHODS),
            nth=chance.randint(1, 6),
            kind=chance.choice(_KINDS),
            when=chance.choice(("before", "after")),
        )
        for _ in range(chance.randint(0, 3))
    ]
    return Schedule(
        seed=seed,
        scenario=chance.choice([one for one in SCENARIOS if one.is_plain]).name,
        hooks=chance.choice(_HOOKS),
        kills=tuple(kills),
        faults=tuple(faults),
    )
