"""The check plan of a failure, and what is worked out while its steps run."""

from sweeper.policy.planning.plan import check_plan
from sweeper.policy.planning.runtime import RunContext, expand, expanded, parse_file_commands, shell_argv

__all__ = ["RunContext", "check_plan", "expand", "expanded", "parse_file_commands", "shell_argv"]
