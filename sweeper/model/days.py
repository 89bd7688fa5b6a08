"""The budgets of a day, as attempts ask for their share of them.

A day is one of UTC. An attempt counts for the day it began on, so that what a day has granted never changes later.
"""

from datetime import timedelta

from sweeper.model.base import Instant, Wire
from sweeper.model.spending import Allowance, Spent
from sweeper.model.sweep import Timeouts


class ReserveRequest(Wire):
    """An attempt (`key`: `<sweep>/<attempt>`) that is about to begin asks for its share of the day's budgets.

    `wanted`: what its sweep may still use. `lasts`: the longest it can take; a share nobody settles ends then.
    """

    key: str
    repository: str
    repository_id: int
    wanted: Allowance
    repository_day: Allowance = Allowance()
    installation_day: Allowance = Allowance()
    lasts: timedelta


class Grant(Wire):
    """What it may use. None: nothing, `reason` names the budget. `is_held`: only shares of attempts that are under way
    stand against it, so it is to ask again; else the budget is used up `until` then.
    """

    granted: Allowance | None = None
    reason: str = ""
    is_held: bool = False
    until: Instant | None = None


class SettleRequest(Wire):
    """What an attempt really used, in place of its share."""

    key: str
    repository_id: int
    spent: Spent


class Share(Wire):
    """One attempt's part of a day: what it was granted, and what it used once that is known (`spent`)."""

    key: str
    repository_id: int
    granted: Allowance
    until: Instant
    spent: Spent | None = None


class Day(Wire):
    """Of one date, the newest shares, oldest first. `earlier`: by repository, what those that left the list used."""

    date: str
    shares: tuple[Share, ...] = ()
    earlier: dict[int, Spent] = {}


class SpendingState(Wire):
    """All that is remembered of spending; carried whole through continue-as-new."""

    days: tuple[Day, ...] = ()


class SpendingInput(Wire):
    """The spending workflow's argument. `look_after`: how soon it looks, while somebody is held, who still runs."""

    state: SpendingState = SpendingState()
    look_after: timedelta = timedelta(seconds=20)
    timeouts: Timeouts = Timeouts()
