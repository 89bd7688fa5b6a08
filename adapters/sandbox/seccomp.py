"""A small system call filter: what namespaces and lost capabilities do not take away.

Kernel keyrings are not in any namespace: without a filter a sandboxed command reads the keys of the worker's session
(Kerberos tickets, for one), and sockets of some families (vsock(7) reaches the machine that a virtual one runs on) know
no network namespace. The other calls are large, rarely needed faces of the kernel that container engines refuse as
well. The program is classic BPF as seccomp(2) and linux/filter.h define it.
"""

import platform
import struct
from collections.abc import Mapping

_LOAD_WORD = 0x20
_JUMP_IF_EQUAL = 0x15
_JUMP_IF_AT_LEAST = 0x35
_RETURN = 0x06
_ALLOW = 0x7FFF0000
_REFUSE = 0x00050000 | 1  # SECCOMP_RET_ERRNO with EPERM
_NO_FAMILY = 0x00050000 | 97  # EAFNOSUPPORT, as from a kernel that was built without it
_NUMBER_AT = 0
_ARCHITECTURE_AT = 4
_FIRST_ARGUMENT_AT = 16  # its low half: all machines here are little-endian
_X32_BIT = 0x40000000

_FAMILIES = (1, 2, 10, 16)
"""AF_UNIX, AF_INET, AF_INET6 and AF_NETLINK: those that namespaces hold and programs need (linux/socket.h)."""

_GENERIC = {
    "syslog": 116,
    "add_key": 217,
    "request_key": 218,
    "keyctl": 219,
    "perf_event_open": 241,
    "bpf": 280,
    "userfaultfd": 282,
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
}
_X86_64 = {
    **_GENERIC,
    "syslog": 103,
    "add_key": 248,
    "request_key": 249,
    "keyctl": 250,
    "perf_event_open": 298,
    "bpf": 321,
    "userfaultfd": 323,
}
_MACHINES: Mapping[str, tuple[int, Mapping[str, int], tuple[int, int]]] = {
    "x86_64": (0xC000003E, _X86_64, (41, 53)),
    "aarch64": (0xC00000B7, _GENERIC, (198, 199)),
    "riscv64": (0xC00000F3, _GENERIC, (198, 199)),
}
"""Of each: its mark, the numbers of the calls above, those of socket and socketpair."""


def filter_program(machine: str | None = None) -> bytes | None:
    """The filter for bwrap's --seccomp: the calls above, and all calls of a foreign architecture, give EPERM; sockets
    of another family than the few above give EAFNOSUPPORT.

    None for a machine whose numbers are not known here; then there is no filter and `held` does not claim one.
    """
    known = _MACHINES.get(machine or platform.machine())
    if known is None:
        return None
    architecture, numbers, sockets = known
    tests = [(_JUMP_IF_AT_LEAST, _X32_BIT), *((_JUMP_IF_EQUAL, number) for number in sorted(set(numbers.values())))]
    families = _only_some_families(sockets)
    program = [
        _instruction(_LOAD_WORD, _ARCHITECTURE_AT),
        _instruction(_JUMP_IF_EQUAL, architecture, when_not=len(tests) + len(families) + 2),
        _instruction(_LOAD_WORD, _NUMBER_AT),
        *(_instruction(test, value, when=len(tests) - n + len(families)) for n, (test, value) in enumerate(tests)),
        *families,
        _instruction(_RETURN, _ALLOW),
        _instruction(_RETURN, _REFUSE),
    ]
    return b"".join(program)


def _only_some_families(sockets: tuple[int, int]) -> list[bytes]:
    """A verdict on calls that make sockets; what is allowed goes on behind it."""
    most = len(_FAMILIES)
    return [
        _instruction(_JUMP_IF_EQUAL, sockets[0], when=1),
        _instruction(_JUMP_IF_EQUAL, sockets[1], when_not=most + 2),
        _instruction(_LOAD_WORD, _FIRST_ARGUMENT_AT),
        *(_instruction(_JUMP_IF_EQUAL, family, when=most - n) for n, family in enumerate(_FAMILIES)),
        _instruction(_RETURN, _NO_FAMILY),
    ]


def _instruction(code: int, value: int, when: int = 0, when_not: int = 0) -> bytes:
    """struct sock_filter; jumps count the instructions left out."""
    return struct.pack("=HBBI", code, when, when_not, value)
