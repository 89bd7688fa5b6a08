"""`Downloads`: the only way out of a sandbox, with a cache that only the host side writes."""

from adapters.egress.addresses import HostPort
from adapters.egress.downloads import RegistryDownloads

__all__ = ["HostPort", "RegistryDownloads"]
