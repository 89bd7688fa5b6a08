"""Agents that call somebody: the host by any kind of socket, names, addresses outside."""

from tests.security.agents.case import Hostile

ON_THE_NETWORK = (
    Hostile(
        "It calls a listener on the host's loopback",
        program="""
for address in ("127.0.0.1", "localhost", "0.0.0.0", "::1", "::ffff:127.0.0.1", "127.1.2.3"):
    attempt(address, socket.create_connection, (address, {port}), 2)
""",
    ),
    Hostile(
        "It sends datagrams to the host",
        program="""
for address in ("127.0.0.1", "255.255.255.255", "224.0.0.1"):
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    try: sender.sendto(b"hello", (address, {udp}))
    except OSError as error: print(address, error)
""",
    ),
    Hostile(
        "It calls an abstract socket of the host",
        program="""
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    attempt("abstract", socket.socket(socket.AF_UNIX, kind).connect, "\\0{abstract}")
""",
    ),
    Hostile(
        "It calls a socket file that lies on the host",
        program="""
os.symlink("{socket}", "s")
for path in ("{socket}", "s", "../../../outside/socket"):
    attempt(path, socket.socket(socket.AF_UNIX).connect, path)
os.unlink("s")
""",
    ),
    Hostile(
        "It resolves names, and calls the address where clouds keep logins",
        program="""
attempt("a name", socket.getaddrinfo, "example.org", 443)
for address in ("169.254.169.254", "192.0.2.1", "fd00:ec2::254", "10.0.0.1"):
    attempt(address, socket.create_connection, (address, 80), 2)
for address in ("127.0.0.53", "192.0.2.53"):
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.settimeout(0.5)
    try: sender.sendto(b"\\0" * 12, (address, 53))
    except OSError as error: print(address, error); continue
    attempt("an answer of " + address, sender.recv, 100)
""",
    ),
    Hostile(
        "It opens sockets of kinds that no namespace holds",
        program="""
families = {"packet": 17, "vsock": 40, "alg": 38, "bluetooth": 31, "can": 29, "tipc": 30, "rds": 21, "xdp": 44,
            "qipcrtr": 42, "smc": 43, "kcm": 41, "key": 15, "nfc": 39, "vendor": 45}
for name, family in families.items():
    for kind in (1, 2, 3, 5):
        attempt(name, socket.socket, family, kind)
for protocol in (1, 6, 17, 255):
    attempt("raw", socket.socket, socket.AF_INET, socket.SOCK_RAW, protocol)
    attempt("raw", socket.socket, socket.AF_INET6, socket.SOCK_RAW, protocol)
""",
    ),
    Hostile(
        "It asks the kernel for devices of the network and makes one",
        program="""
if (names := [name for _, name in socket.if_nameindex()]) != ["lo"]: breach(names)
asking = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
asking.settimeout(5)
name = struct.pack("HH8s", 12, 3, b"evil0\\0\\0\\0")
body = struct.pack("BxHiII", 0, 0, 0, 0, 0) + name
asking.send(struct.pack("IHHII", 16 + len(body), 16, 0x605, 1, 0) + body)
answer = asking.recv(4096)
if struct.unpack_from("i", answer, 16)[0] == 0: breach("a device")
for group in range(1, 33):
    attempt("the audit's and the kernel's words", socket.socket(socket.AF_NETLINK, 3, 9).bind, (0, 1 << (group - 1)))
    break
""",
    ),
)
