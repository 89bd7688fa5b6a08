"""Talking to an open gate as a sandboxed command does, byte by byte."""

import asyncio
from pathlib import Path

from adapters.egress.gate import PORT
from sweeper.ports import Gate

HERE = f"127.0.0.1:{PORT}"


async def say(gate: Gate, *parts: bytes) -> bytes:
    """Send all of it; everything that comes back until the gate hangs up."""
    reader, writer = await asyncio.open_unix_connection(str(Path(gate.directory, f"{PORT}.sock")))
    try:
        for part in parts:
            writer.write(part)
        return await reader.read()
    except ConnectionResetError:
        return b""
    finally:
        writer.close()


async def get(gate: Gate, path: str) -> tuple[int, bytes]:
    """Status and body of a GET."""
    head, _, body = (await say(gate, f"GET {path} HTTP/1.1\r\nHost: {HERE}\r\n\r\n".encode())).partition(b"\r\n\r\n")
    return int(head.split()[1]), body


async def connect(gate: Gate, target: str, said: bytes = b"") -> bytes:
    """What a CONNECT and a few bytes behind it bring back."""
    return await say(gate, f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode(), said)
