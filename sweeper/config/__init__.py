"""Settings of the service, read once by the cli and passed down, and the state directory they name."""

from sweeper.config.agents import AGENTS
from sweeper.config.settings import Settings, load_settings, only_settings
from sweeper.config.state_dir import StateDir, admin_token, marker_key, prepare_state_dir, private_room

__all__ = [
    "AGENTS",
    "Settings",
    "StateDir",
    "admin_token",
    "load_settings",
    "marker_key",
    "only_settings",
    "prepare_state_dir",
    "private_room",
]
