"""Coding agents whose command lines are known: each a row of data, and nothing of them is changed.

A script is run by `sh` with the variables of `telling`. HOME is empty and goes with the run, so no transcript, cache
or setting of an agent comes near a patch. Telemetry and updates are off, for nothing but the model can be reached.

Options and variables: https://docs.claude.com/en/docs/claude-code/cli-reference and .../settings,
https://developers.openai.com/codex/config-reference, https://aider.chat/docs/config/options.html.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from adapters.agents.transcripts import Reading, read_claude, read_codex, read_plain
from sweeper.errors import BadInput
from sweeper.model import Trouble

Sign = tuple[re.Pattern[str], Trouble]


@dataclass(frozen=True)
class Preset:
    """A coding agent. `signs` are looked for in what it printed when its own report does not tell; the first counts.

    `providers`: whose protocols it speaks. `install`: how an operator gets it.
    """

    name: str
    program: str
    install: str
    providers: tuple[str, ...]
    script: str
    env: Mapping[str, str] = field(default_factory=dict)
    read: Reading = read_plain
    signs: tuple[Sign, ...] = ()


def _sign(pattern: str, trouble: Trouble) -> Sign:
    return re.compile(pattern, re.IGNORECASE), trouble


_SIGNS = (
    _sign(r"used up its (?:model calls|tokens|money)", Trouble.USED_UP),
    _sign(
        r"prompt is too long|context[_ ](?:window|length)[_ ]?(?:exceeded|limit)|ran out of room", Trouble.CONTEXT_FULL
    ),
    _sign(r"API Error: (?:5\d\d|401|403|Connection)|stream disconnected|exceeded retry limit", Trouble.MODEL_AWAY),
)

CLAUDE_CODE = Preset(
    name="claude-code",
    program="claude",
    install="npm install -g @anthropic-ai/claude-code",
    providers=("anthropic",),
    script="""
export ANTHROPIC_SMALL_FAST_MODEL="$SWEEPER_MODEL"
exec claude --print --output-format stream-json --verbose --model "$SWEEPER_MODEL" \\
  --permission-mode acceptEdits --allowedTools Bash Read Edit Write Glob Grep \\
  --setting-sources user --strict-mcp-config <"$SWEEPER_PROMPT"
""",
    env={
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
    },
    read=read_claude,
    signs=_SIGNS,
)

CODEX = Preset(
    name="codex",
    program="codex",
    install="npm install -g @openai/codex",
    providers=("openai",),
    script="""
exec codex exec --json --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox --model "$SWEEPER_MODEL" \\
  -c model_provider=sweeper -c model_providers.sweeper.name=sweeper -c model_providers.sweeper.wire_api=responses \\
  -c model_providers.sweeper.base_url="\\"$SWEEPER_MODEL_URL/v1\\"" \\
  -c model_providers.sweeper.env_key=SWEEPER_MODEL_KEY -c model_providers.sweeper.supports_websockets=false \\
  -c check_for_update_on_startup=false -c analytics.enabled=false - <"$SWEEPER_PROMPT"
""",
    read=read_codex,
    signs=_SIGNS,
)
"""Its own sandbox is off, for it cannot make one within ours."""

AIDER = Preset(
    name="aider",
    program="aider",
    install="pip install aider-chat",
    providers=("anthropic", "openai"),
    script="""
while read -r path; do [ -f "$path" ] && set -- "$@" --file "$path"; done <"$SWEEPER_FILES"
[ -e .git ] || set -- "$@" --no-git
unset PYTHONPYCACHEPREFIX
export PYTHONDONTWRITEBYTECODE=1
exec aider --model "$SWEEPER_MODEL_PROVIDER/$SWEEPER_MODEL" --message-file "$SWEEPER_PROMPT" --yes-always \\
  --no-pretty --no-stream --no-fancy-input --no-auto-commits --no-dirty-commits --no-gitignore --no-auto-lint \\
  --map-tokens 0 --max-chat-history-tokens 1000000 --no-check-update --no-show-release-notes \\
  --no-show-model-warnings --analytics-disable --no-suggest-shell-commands --no-detect-urls --disable-playwright \\
  --chat-history-file "$HOME/chat.md" --input-history-file "$HOME/input" "$@"
""",
    env={"LITELLM_LOCAL_MODEL_COST_MAP": "True", "AIDER_ANALYTICS": "false"},
    signs=(
        *_SIGNS,
        _sign(
            r"litellm\.(?:APIConnection|Timeout|InternalServer|ServiceUnavailable|Authentication)", Trouble.MODEL_AWAY
        ),
        _sign(r"has hit a token limit|ContextWindowExceeded", Trouble.CONTEXT_FULL),
    ),
)
"""It exits with 0 whatever happened. Compiling its libraries anew at each start would take most of a minute; asked
whether to make a repository where there is none, it would."""

PRESETS: Mapping[str, Preset] = {preset.name: preset for preset in (CLAUDE_CODE, CODEX, AIDER)}


def preset_of(name: str) -> Preset:
    """Raises BadInput for a name that is none."""
    if name not in PRESETS:
        raise BadInput(f"There is no preset {name!r}; SWEEPER_AGENT_PRESET is one of {', '.join(PRESETS)}")
    return PRESETS[name]
