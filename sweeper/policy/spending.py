"""What may still be spent: of a sweep's budget, and of a day's. Pure: tables of states and questions are its test.

A day's budgets are shared out before they are used: an attempt is granted no more than what neither has been used nor
granted to others, so two attempts at once cannot both use the last of it. What was granted and not used goes back when
the attempt settles, or when its longest time is over and nobody has settled.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, time, timedelta
from enum import StrEnum

from sweeper.model import Allowance, Spent
from sweeper.model.days import Day, Grant, ReserveRequest, SettleRequest, Share, SpendingState

MOST_SHARES = 200
"""Of one day, so many settled shares are known by their key; older ones are a sum for each repository."""


class Kind(StrEnum):
    """What is counted, by the names of the fields of Allowance."""

    MODEL_CALLS = "model_calls"
    TOKENS = "tokens"
    MICRO_USD = "micro_usd"
    SECONDS = "seconds"


def total(parts: Iterable[Spent]) -> Spent:
    """All together."""
    whole = Spent()
    for part in parts:
        whole = whole.plus(part)
    return whole


def rest(bound: Allowance, used: Spent) -> Allowance:
    """What is left of it, never less than nothing."""
    return _allowance({kind: _left(bound, used, kind) for kind in Kind})


def least(*bounds: Allowance) -> Allowance:
    """What all of them allow."""
    found: dict[Kind, float | None] = {}
    for kind in Kind:
        known = [amount for bound in bounds if (amount := _bound(bound, kind)) is not None]
        found[kind] = min(known, default=None)
    return _allowance(found)


def used_up(bound: Allowance, used: Spent) -> str | None:
    """Which bound is reached, in words, with what was used; None: something is left of everything."""
    for kind in Kind:
        amount = _bound(bound, kind)
        if amount is not None and _used(used, kind) >= amount:
            return _in_words(kind, amount, _used(used, kind))
    return None


def spent_line(spent: Spent) -> str:
    """For people, in one line without a full stop; empty if nothing was used."""
    if spent == Spent():
        return ""
    calls = f"{spent.model_calls} model call{'' if spent.model_calls == 1 else 's'}"
    models = f"{calls}, {spent.tokens:,} tokens, {_dollars(spent.micro_usd)}, " if spent.model_calls else ""
    return f"{models}{spent.seconds:.1f} s of agents' time"


def reserve(state: SpendingState, request: ReserveRequest, now: datetime) -> tuple[SpendingState, Grant]:
    """Its share of today's budgets. Asked again with the same key, it is answered alike."""
    state = without_old(state, now)
    known = next((share for day in state.days for share in day.shares if share.key == request.key), None)
    if known is not None:
        return state, Grant(granted=known.granted)
    day = _today(state, now)
    scopes = (
        (f"budget_repository_day of {request.repository}", request.repository_day, request.repository_id),
        ("budget_installation_day", request.installation_day, None),
    )
    for name, bound, repository in scopes:
        if what := used_up(bound, _sum(day, repository)):
            tomorrow = datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), time(), UTC)
            reason = f"{name}: {what} on {day.date}, until {tomorrow:%Y-%m-%d %H:%M} UTC"
            return state, Grant(reason=reason, until=tomorrow)
    for name, bound, repository in scopes:
        if what := used_up(bound, _sum(day, repository, and_reserved=True)):
            reason = f"{name}, of which attempts under way hold the rest ({what})"
            return state, Grant(reason=reason, is_held=True)
    left = (rest(bound, _sum(day, repository, and_reserved=True)) for _, bound, repository in scopes)
    granted = least(request.wanted, *left)
    share = Share(key=request.key, repository_id=request.repository_id, granted=granted, until=now + request.lasts)
    return _with(state, _having(day, share)), Grant(granted=granted)


def settle(state: SpendingState, request: SettleRequest, now: datetime) -> SpendingState:
    """What it used stands in place of its share, once. Without a share any more it counts for today."""
    state = without_old(state, now)
    for day in state.days:
        for share in day.shares:
            if share.key == request.key:
                settled = share if share.spent is not None else share.model_copy(update={"spent": request.spent})
                return _with(state, _having(day, settled))
    late = Share(
        key=request.key, repository_id=request.repository_id, granted=Allowance(), until=now, spent=request.spent
    )
    return _with(state, _having(_today(state, now), late))


def without_old(state: SpendingState, now: datetime) -> SpendingState:
    """Without shares whose time is over, and without days that are over: yesterday is kept for who asks again."""
    yesterday = (now.astimezone(UTC).date() - timedelta(days=1)).isoformat()
    days = []
    for day in state.days:
        shares = tuple(share for share in day.shares if share.spent is not None or share.until > now)
        if day.date >= yesterday or any(share.spent is None for share in shares):
            days.append(day.model_copy(update={"shares": shares}))
    return SpendingState(days=tuple(days))


def forget(state: SpendingState, sweeps: Sequence[str]) -> SpendingState:
    """Without the shares of sweeps that ended without a word (terminated, lost)."""
    days = (
        day.model_copy(update={"shares": tuple(share for share in day.shares if not _is_lost(share, sweeps))})
        for day in state.days
    )
    return SpendingState(days=tuple(days))


def under_way(state: SpendingState) -> tuple[str, ...]:
    """Sweeps that hold a share."""
    shares = (share for day in state.days for share in day.shares if share.spent is None)
    return tuple(dict.fromkeys(sweep_of(share.key) for share in shares))


def _is_lost(share: Share, sweeps: Sequence[str]) -> bool:
    return share.spent is None and sweep_of(share.key) in sweeps


def sweep_of(key: str) -> str:
    """Whose attempt it is."""
    return key.rpartition("/")[0]


def _today(state: SpendingState, now: datetime) -> Day:
    date = now.astimezone(UTC).date().isoformat()
    return next((day for day in state.days if day.date == date), Day(date=date))


def _with(state: SpendingState, changed: Day) -> SpendingState:
    others = (day for day in state.days if day.date != changed.date)
    return SpendingState(days=tuple(sorted((*others, changed), key=lambda day: day.date)))


def _having(day: Day, share: Share) -> Day:
    """The day with this share in place of the one of its key; of the settled ones the newest keep their names."""
    shares = [*(other for other in day.shares if other.key != share.key), share]
    settled = [other for other in shares if other.spent is not None]
    earlier = dict(day.earlier)
    for old in settled[: max(0, len(settled) - MOST_SHARES)]:
        shares.remove(old)
        earlier[old.repository_id] = earlier.get(old.repository_id, Spent()).plus(old.spent or Spent())
    return Day(date=day.date, shares=tuple(shares), earlier=earlier)


def _sum(day: Day, repository: int | None, *, and_reserved: bool = False) -> Spent:
    """Used on that day, in one repository or in all; `and_reserved`: with what others may yet use."""
    used = [spent for owner, spent in day.earlier.items() if repository in (None, owner)]
    for share in day.shares:
        if repository in (None, share.repository_id):
            used.append(share.spent or (_at_most(share.granted) if and_reserved else Spent()))
    return total(used)


def _at_most(granted: Allowance) -> Spent:
    return Spent(
        model_calls=granted.model_calls or 0,
        input_tokens=granted.tokens or 0,
        micro_usd=granted.micro_usd or 0,
        seconds=granted.seconds or 0.0,
    )


def _bound(allowance: Allowance, kind: Kind) -> float | None:
    amount: float | None = getattr(allowance, kind)
    return amount


def _used(spent: Spent, kind: Kind) -> float:
    amount: float = getattr(spent, kind)
    return amount


def _left(bound: Allowance, used: Spent, kind: Kind) -> float | None:
    amount = _bound(bound, kind)
    return None if amount is None else max(0, amount - _used(used, kind))


def _allowance(amounts: dict[Kind, float | None]) -> Allowance:
    return Allowance.model_validate({kind.value: amount for kind, amount in amounts.items()})


def _in_words(kind: Kind, bound: float, used: float) -> str:
    match kind:
        case Kind.MICRO_USD:
            return f"{_dollars(bound)} used up ({_dollars(used)} used)"
        case Kind.SECONDS:
            return f"{bound:.0f} s of agents' time used up ({used:.0f} s used)"
    return f"{bound:,.0f} {kind.replace('_', ' ')} used up ({used:,.0f} used)"


def _dollars(micro_usd: float) -> str:
    return f"${micro_usd / 1_000_000:.4f}"
