"""What faults make of an answer: an error instead of it, or other words."""

from adapters.models.recorded.answer import Answer, Call, Problem
from adapters.models.recorded.asked import mint
from adapters.models.recorded.choosing import Chosen, estimate
from adapters.models.recorded.faults import FaultKind, FaultRule

UNKNOWN_TOOL = "no_such_tool"
_BROKEN = '{"path": "a.py", "text": '
_REFUSED = "I can not help with that."
_PROBLEMS = {
    FaultKind.RATE_LIMITED: Problem(status=429, kind="rate_limit_exceeded", message="Rate limit reached."),
    FaultKind.SERVER_ERROR: Problem(status=500, kind="server_error", message="The server had an error."),
    FaultKind.OVERLOADED: Problem(status=529, kind="overloaded", message="Overloaded"),
    FaultKind.CONTEXT_LENGTH: Problem(
        status=400,
        kind="context_length_exceeded",
        message="prompt is too long: 1000001 tokens > 1000000 maximum; it exceeds this model's maximum context length.",
    ),
}


def problem(rule: FaultRule) -> Problem | None:
    """The error a rule answers with; None for faults that are no error."""
    found = _PROBLEMS.get(rule.kind)
    return found and found.model_copy(update={"retry_after": rule.retry_after})


def spoil(answer: Answer, rule: FaultRule, chosen: Chosen, style: str) -> Answer:
    """The answer with a rule's other words; as it was for faults of another kind."""
    kind, calls = rule.kind, answer.calls
    if kind is FaultKind.OVERSIZE:
        return _costing(answer, text=answer.text + "x" * rule.size)
    if kind is FaultKind.REFUSAL:
        return answer.model_copy(update={"text": _REFUSED, "calls": (), "is_refusal": True})
    if kind is FaultKind.STORM and calls:
        return _costing(answer, calls=_numbered((calls[0],) * rule.size + calls[1:], style, answer, chosen))
    if kind is FaultKind.REPEATED_IDS:
        repeated = tuple(call.model_copy(update={"id": f"call_{n}"}) for n, call in enumerate(calls))
        return answer.model_copy(update={"calls": repeated})
    if kind is FaultKind.UNKNOWN_TOOL:
        call = Call(id=mint(style, chosen.position, 0, answer.seed, spoilt=True), name=UNKNOWN_TOOL, arguments="{}")
        return answer.model_copy(update={"calls": (call,)})
    if kind is FaultKind.INVALID_ARGUMENTS:
        broken = [call.model_copy(update={"arguments": _BROKEN}) for call in calls]
        return answer.model_copy(update={"calls": _numbered(tuple(broken), style, answer, chosen, spoilt=True)})
    return answer


def _numbered(
    calls: tuple[Call, ...], style: str, answer: Answer, chosen: Chosen, spoilt: bool = False
) -> tuple[Call, ...]:
    return tuple(
        call.model_copy(update={"id": mint(style, chosen.position, n, answer.seed, spoilt)})
        for n, call in enumerate(calls)
    )


def _costing(answer: Answer, text: str | None = None, calls: tuple[Call, ...] = ()) -> Answer:
    """With the price of more words, even where the script names one: a budget must see them."""
    longer = answer.model_copy(update={"text": answer.text if text is None else text, "calls": calls or answer.calls})
    written = len(longer.text) + sum(len(call.name) + len(call.arguments) for call in longer.calls)
    usage = answer.usage.model_copy(update={"output": max(answer.usage.output, estimate(written))})
    return longer.model_copy(update={"usage": usage})
