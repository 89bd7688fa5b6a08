"""What a trial left behind: how it ended, what GitHub counted, and what should not be there any more."""

import re
import subprocess
from collections import Counter

from adapters.loopback.drive.answers import PullSeen, RepoSeen
from sweeper.ids import is_our_branch
from sweeper.model import Outcome, Strict, SweepResult
from tests.crash.company import Trial
from tests.support.tools_on_path import processes_with

_OURS = "check CI Sweeper "
_DOUBLE = _OURS + "completed neutral"


class Seen(Strict):
    """The end of a trial. `world`: GitHub as it is now, without ids; `left_over`: what nobody cleaned up."""

    outcome: Outcome
    reason: str
    effects: dict[str, int]
    world: tuple[str, ...]
    left_over: tuple[str, ...]


async def look_at(trial: Trial, result: SweepResult) -> Seen:
    """Look everywhere; workers of the trial have to be gone."""
    repository = await trial.repository()
    left_over = [*_on_github(repository), *_on_disk(trial), *_running(trial)]
    if "left over" in result.reason:
        left_over.append(f"by its own word: {result.reason}")
    return Seen(
        outcome=result.outcome,
        reason=result.reason,
        effects=dict(sorted(trial.ledger.effects().items())),
        world=tuple(_without_ids(line) for line in _described(repository)),
        left_over=tuple(_without_ids(thing) for thing in left_over),
    )


def _without_ids(line: str) -> str:
    return re.sub(r"\d{6,}", "N", line)


def differences(seen: Seen, expected: Seen) -> str:
    """In one sentence; empty if there is none that matters."""
    found = [f"left over: {thing}" for thing in extra(seen, expected)]
    if seen.outcome is not expected.outcome:
        found.append(f"ended as {seen.outcome} ({seen.reason}), not {expected.outcome}")
    if seen.effects != expected.effects:
        found.append(f"effects {_changes(seen.effects, expected.effects)}")
    if seen.world != expected.world:
        found.append(f"GitHub has {sorted(set(seen.world) ^ set(expected.world))} otherwise")
    return "; ".join(found)


def settled(seen: Seen) -> Seen:
    """Without the doubles that were found and taken back: a comment deleted, a check run ended as neutral."""
    effects, world = Counter(seen.effects), list(seen.world)
    effects["comment.create"] -= effects.pop("comment.delete", 0)
    while world.count(_DOUBLE) and sum(line.startswith(_OURS) for line in world) > 1:
        world.remove(_DOUBLE)
        effects.subtract(("check.create", "check.update"))
    return seen.model_copy(update={"effects": dict(sorted((+effects).items())), "world": tuple(world)})


def extra(seen: Seen, expected: Seen) -> list[str]:
    """What is left over beyond what is to stay."""
    return list((Counter(seen.left_over) - Counter(expected.left_over)).elements())


def doubled(seen: Seen, allowed: dict[str, int]) -> list[str]:
    """Effects that happened more often than they may."""
    return [f"{name} x{times}" for name, times in seen.effects.items() if times > allowed.get(name, 1)]


def _changes(seen: dict[str, int], expected: dict[str, int]) -> str:
    more, fewer = Counter(seen) - Counter(expected), Counter(expected) - Counter(seen)
    return ", ".join([f"+{times} {name}" for name, times in more.items()] + [f"-{t} {n}" for n, t in fewer.items()])


def _described(repository: RepoSeen) -> list[str]:
    lines = [f"branch {name}" for name in sorted(repository.branches)]
    lines += [_pull(pull) for pull in repository.pulls]
    lines += sorted(f"check {check.name} {check.status} {check.conclusion}" for check in repository.checks)
    return lines + sorted(f"status {status.context} {status.state}" for status in repository.statuses)


def _pull(pull: PullSeen) -> str:
    marks = [pull.state, *(["merged"] if pull.merged else []), *(["draft"] if pull.draft else []), *sorted(pull.labels)]
    return f"pull {' '.join(marks)}, {len(pull.comments)} comments"


def _on_github(repository: RepoSeen) -> list[str]:
    branches = [f"branch {name}" for name in repository.branches if is_our_branch(name)]
    return branches + [f"open pull request {pull.number}" for pull in repository.pulls if pull.state == "open"]


def _on_disk(trial: Trial) -> list[str]:
    place = trial.company.life.state_dir / "worktrees"
    mirror = place / "mirrors" / f"{trial.key}.git"
    patterns = (f"trees/{trial.key}/*", f"trash/{trial.key}.*", f"mirrors/{trial.key}.git/worktrees/*")
    found = [f"worktree {path.relative_to(place)}" for pattern in patterns for path in sorted(place.glob(pattern))]
    if not mirror.exists():
        return found
    refs = subprocess.run(
        ["git", f"--git-dir={mirror}", "for-each-ref", "--format=%(refname)", "refs/sweeper/"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    return found + [f"ref {ref}" for ref in refs if not ref.startswith("refs/sweeper/pins/")]


def _running(trial: Trial) -> list[str]:
    return [f"process {pid}" for pid in processes_with(trial.processes)]
