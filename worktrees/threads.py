"""git and the disk block, so each call is on a thread of its own; what the disk says becomes one of our errors."""

import asyncio
import errno
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from sweeper.errors import Transient

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run blocking work. Raises what it raises, and Transient when the state directory cannot be used."""
    try:
        return await asyncio.to_thread(work, *args, **kwargs)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise Transient("The state directory's disk is full; free some space, it is tried again.") from error
        raise Transient(
            f"The state directory cannot be used ({error.strerror}); check it, it is tried again."
        ) from error
