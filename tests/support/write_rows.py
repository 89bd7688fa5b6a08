"""Every write of the code host: how it is asked for, the request that does it, and what is there when it happened once.

The list is compared with the port, so a new write needs a row here.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from inspect import get_annotations

from adapters.loopback.drive.requests import FaultRule
from sweeper.model import CheckReport, Effect
from sweeper.ports import CodeHost, OpenedPull
from tests.support.code_host_contract import new_pull, propose
from tests.support.loopback_scene import LoopbackScene

SLOW = 2.0
"""Seconds; longer than an impatient client waits."""

Call = Callable[[], Awaitable[Effect]]


def writes_of_the_port() -> set[str]:
    """Methods of the code host that answer with an effect."""
    methods = {name: member for name, member in vars(CodeHost).items() if callable(member) and name[0] != "_"}
    return {name for name, method in methods.items() if get_annotations(method).get("return") in (Effect, OpenedPull)}


@dataclass(frozen=True)
class Row:
    """One write. `writing` and `looking`: the request that does it and the one that looks, as the ledger names them."""

    method: str
    effect: str
    writing: tuple[str, str]
    looking: tuple[str, str]
    prepare: Callable[[LoopbackScene], Awaitable[Call]]

    async def times(self, scene: LoopbackScene) -> int:
        """How often it has happened and still stands."""
        if self.method == "comment":
            made = sum(len(pull.comments) for pull in (await scene.seen()).pulls)
            assert made == await _counted(scene, "comment.create") - await _counted(scene, "comment.delete")
            return made
        if self.effect == "check.create":
            checks = [check for check in (await scene.seen()).checks if check.external_id]
            assert len(checks) == await _counted(scene, "check.create")
            return sum(check.conclusion is None for check in checks)
        return await _counted(scene, self.effect)

    def fault(self, scene: LoopbackScene, kind: str, when: str) -> FaultRule:
        """Spoils the request that writes; `stale_read`: the one that looks."""
        verb, path = self.looking if kind == "stale_read" else self.writing
        where = "" if path == "/graphql" else f"/repos/{scene.repository}"
        rule = {"method": verb, "path": f"{where}{path}$", "kind": kind, "when": when, "seconds": SLOW}
        return FaultRule.model_validate({**rule, "retry_after": 60} if kind == "429" else rule)


async def _counted(scene: LoopbackScene, effect: str) -> int:
    calls = await scene.calls()
    return sum(call.effect == effect and (call.key or "").startswith(f"{scene.repository}") for call in calls)


async def _open(scene: LoopbackScene) -> Call:
    new = await new_pull(scene, await scene.run("main"))

    async def call() -> Effect:
        return (await scene.host.open_pull(new)).effect

    return call


async def _update(scene: LoopbackScene) -> Call:
    _, pull = await propose(scene)
    return lambda: scene.host.update_pull(pull, "A new proof.", "sweep-1-1/propose/2")


async def _comment(scene: LoopbackScene) -> Call:
    _, pull = await propose(scene)
    return lambda: scene.host.comment(pull, "Closed because.", "sweep-1-1/compensate/1")


async def _label(scene: LoopbackScene) -> Call:
    _, pull = await propose(scene)
    return lambda: scene.host.label_pull(pull, ("ci-sweeper",), "sweep-1-1/propose/2")


async def _reviewers(scene: LoopbackScene) -> Call:
    _, pull = await propose(scene)
    return lambda: scene.host.request_reviewers(pull, ("maintainer",), "sweep-1-1/propose/2")


async def _draft(scene: LoopbackScene) -> Call:
    _, pull = await propose(scene)
    return lambda: scene.host.draft_pull(pull, "sweep-1-1/compensate/1")


async def _close(scene: LoopbackScene) -> Call:
    _, pull = await propose(scene)
    return lambda: scene.host.close_pull(pull, "sweep-1-1/compensate/1")


async def _merge(scene: LoopbackScene) -> Call:
    opened, pull = await propose(scene)
    return lambda: scene.host.merge_pull(pull, opened.proposal.head_sha, "sweep-1-1/merge/1")


async def _rerun(scene: LoopbackScene) -> Call:
    run = await scene.run("main")
    return lambda: scene.host.rerun_failed(run, "sweep-1-1/verify/1")


async def _report(scene: LoopbackScene) -> Call:
    sha = await scene.commit("main")
    run = await scene.run("main")
    report = CheckReport(sha=sha, external_id="sweep-1-1", title="Looking", summary="It failed.")
    return lambda: scene.host.report_check(run, report, "sweep-1-1/admit/1")


async def _report_again(scene: LoopbackScene) -> Call:
    sha = await scene.commit("main")
    run = await scene.run("main")
    begun = CheckReport(sha=sha, external_id="sweep-1-1", title="Looking", summary="It failed.")
    await scene.host.report_check(run, begun, "sweep-1-1/admit/1")
    ended = begun.model_copy(update={"title": "Mended", "conclusion": "success"})
    return lambda: scene.host.report_check(run, ended, "sweep-1-1/propose/1")


_PULL = ("GET", r"/pulls/\d+")

ROWS: Mapping[str, Row] = {
    "open": Row("open_pull", "pull.create", ("POST", "/pulls"), ("GET", "/pulls"), _open),
    "update": Row("update_pull", "pull.update", ("PATCH", r"/pulls/\d+"), _PULL, _update),
    "comment": Row(
        "comment", "comment.create", ("POST", r"/issues/\d+/comments"), ("GET", r"/issues/\d+/comments"), _comment
    ),
    "label": Row("label_pull", "label.add", ("POST", r"/issues/\d+/labels"), _PULL, _label),
    "reviewers": Row(
        "request_reviewers", "reviewers.request", ("POST", r"/pulls/\d+/requested_reviewers"), _PULL, _reviewers
    ),
    "draft": Row("draft_pull", "pull.draft", ("POST", "/graphql"), _PULL, _draft),
    "report": Row(
        "report_check", "check.create", ("POST", "/check-runs"), ("GET", r"/commits/\w+/check-runs"), _report
    ),
    "report again": Row(
        "report_check",
        "check.update",
        ("PATCH", r"/check-runs/\d+"),
        ("GET", r"/commits/\w+/check-runs"),
        _report_again,
    ),
    "rerun": Row(
        "rerun_failed",
        "run.rerun",
        ("POST", r"/actions/runs/\d+/rerun-failed-jobs"),
        ("GET", r"/actions/runs/\d+"),
        _rerun,
    ),
    "close": Row("close_pull", "pull.close", ("PATCH", r"/pulls/\d+"), _PULL, _close),
    "merge": Row("merge_pull", "pull.merge", ("PUT", r"/pulls/\d+/merge"), _PULL, _merge),
}
