"""`actions/checkout`: the tree under test is there already, so each input is asked whether it means another one."""

from collections.abc import Mapping

from sweeper.errors import Unverifiable
from sweeper.policy.planning.evaluation import Scope, evaluate, settle

_NO = ("", "false")


def judge_checkout(inputs: Mapping[str, str], scope: Scope) -> tuple[str, str | None]:
    """Why it can be left out, and what makes a proof impossible (None: nothing).

    Raises Unverifiable for an input that matters and is not known.
    """
    values = {name: settle(inputs.get(name, ""), scope).strip() for name in ("repository", "path", "submodules", "lfs")}
    if values["repository"] and values["repository"].lower() != _own(scope, "repository").lower():
        return "", f"checks out the other repository {values['repository'][:100]!r}, which is not fetched here"
    if values["path"].rstrip("/") not in ("", "."):
        return "", f"checks out into the directory {values['path'][:100]!r}, but the tree under test is at the root"
    if values["submodules"].lower() not in _NO:
        return "", "checks out submodules, which are not fetched here"
    if values["lfs"].lower() not in _NO:
        return "", "checks out files of Git LFS, which are not fetched here"
    return _judge_ref(settle(inputs.get("ref", ""), scope).strip(), inputs, scope)


def _judge_ref(ref: str, inputs: Mapping[str, str], scope: Scope) -> tuple[str, str | None]:
    names = ("ref", "ref_name", "sha")
    if ref == "" or ref in [_own(scope, name) for name in names]:
        return _history(inputs), None
    if ref in (_own(scope, "head_ref"), _own(scope, "event.pull_request.head.sha")):
        return "is left out: the pull request's own head is checked out, as the job's log says", None
    return "", f"checks out {ref[:100]!r}, which is not the commit that is tested here"


def _history(inputs: Mapping[str, str]) -> str:
    if inputs.get("fetch-depth", "1") not in ("", "1"):
        return "is left out: the tree is there already, with its tags but without the history it asks for"
    return "is left out: the tree is there already"


def _own(scope: Scope, name: str) -> str:
    """A value of `github`; a text no input can have if it is not known."""
    try:
        return str(evaluate(f"github.{name}", scope))
    except Unverifiable:
        return "\n"
