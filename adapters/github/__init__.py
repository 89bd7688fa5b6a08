"""GitHub as the CodeHost port: PyGithub for the API, httpx for logs."""

from adapters.github.host import GitHubHost
from adapters.github.settings import GitHubAccess

__all__ = ["GitHubAccess", "GitHubHost"]
