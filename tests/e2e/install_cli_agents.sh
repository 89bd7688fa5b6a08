#!/bin/sh
# Real coding agents, and a small real repository, for tests/e2e/test_cli_agents.py. Each has a prefix of its own.
#   tests/e2e/install_cli_agents.sh [DIRECTORY]      (default: build/cli-agents; 1.3 GB)
set -eu
place=${1:-build/cli-agents}
python=${PYTHON:-python3}
mkdir -p "$place/repositories"

npm_agent() { # name, package, version
    npm install --no-fund --no-audit --global --prefix "$place/$1" --allow-scripts="$2" "$2@$3"
}
npm_agent claude-code @anthropic-ai/claude-code 2.1.197
npm_agent codex @openai/codex 0.171.0

test -x "$place/aider/bin/python" || "$python" -m venv "$place/aider"
"$place/aider/bin/pip" install --quiet aider-chat==0.86.2

"$python" -m pip download --quiet --no-deps --no-binary inflection --dest "$place/repositories" inflection==0.5.1
