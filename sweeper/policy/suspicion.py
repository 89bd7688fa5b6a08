"""Whether a foreign text may try to give orders to whoever reads it, told by its words alone.

A hint for the human who reviews, never a filter: what is not found here is data all the same, and an agent that obeys
it still can touch nothing but its own tree. What was found is named by its place, and its words are not repeated.
"""

import re
from collections.abc import Mapping

MOST = 10
_WORDS = re.compile(
    r"""
      \b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|all|your)\b.{0,40}
        \b(?:instructions?|prompts?|rules?|orders?|guidelines?)\b
    | \byou\s+are\s+(?:now\s+)?(?:an?|the)\s+(?:ai|assistant|language\s+model|agent|coding\s+agent)\b
    | \b(?:system|developer)\s*(?:prompt|message|instructions?)\s*[:=]
    | \bnew\s+(?:instructions?|task|orders?)\s*:
    | <\s*/?\s*(?:system|assistant|tool_result|function_calls?|instructions?)\s*>
    | \[/?INST\]
    | <\|(?:im_start|im_end|system|endoftext)\|>
    | \b(?:ai|llm|agents?|assistants?|language\s+models?)\b.{0,60}\b(?:must|should|have\s+to|please|need\s+to)\b.{0,60}
        \b(?:run|execute|delete|disable|skip|remove|reveal|print|send|upload|approve|merge|exfiltrate)\b
    | \b(?:reveal|print|send|upload|exfiltrate|leak)\b.{0,40}
        \b(?:secrets?|tokens?|credentials?|api\s+keys?|environment\s+variables?|system\s+prompt)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_LONGEST_LINE = 2000


def suspicions(texts: Mapping[str, str]) -> tuple[str, ...]:
    """`<name>, line <n>` of each text line that sounds like an order, at most MOST in all."""
    found = [
        f"{name}, line {number}"
        for name, text in texts.items()
        for number, line in enumerate(text.splitlines(), start=1)
        if _WORDS.search(line[:_LONGEST_LINE])
    ]
    return tuple(found[:MOST])
