"""Agents that go for other processes, for more rights, and for wide faces of the kernel."""

from sweeper.model import FixOutcome
from tests.security.agents.case import ANY_END, Hostile

ON_PROCESSES = (
    Hostile(
        "It kills and traces processes of the host",
        program="""
for pid in ({canary_pid}, {worker_pid}):
    attempt(f"signal {pid}", os.kill, pid, signal.SIGKILL)
    attempt(f"pidfd {pid}", os.pidfd_open, pid)
    attempt(f"reading {pid}", lambda: read(f"/proc/{pid}/cmdline"))
    trace = ctypes.CDLL(None, use_errno=True).ptrace
    if trace(16, pid, 0, 0) != -1: breach(f"tracing {pid}")
    text, far = ctypes.create_string_buffer(8), struct.pack("QQ", 0x400000, 8)
    near = struct.pack("QQ", ctypes.addressof(text), 8)
    if ctypes.CDLL(None, use_errno=True).process_vm_readv(pid, near, 1, far, 1, 0) > 0: breach(f"memory of {pid}")
""",
    ),
    Hostile(
        "It signals everything that it can see",
        program="os.kill(-1, signal.SIGSTOP); os.kill(-1, signal.SIGKILL)",
        ends=(*ANY_END, FixOutcome.TIMED_OUT),
        seconds=4,
        gets_through=False,
    ),
    Hostile(
        "It makes namespaces and mounts, and enters those of others",
        program="""
library = ctypes.CDLL(None, use_errno=True)
kinds = {"user": 0x10000000, "mnt": 0x20000, "pid": 0x20000000, "net": 0x40000000, "uts": 0x4000000}
for name, flag in kinds.items():
    if library.unshare(flag) == 0: breach("its own namespace: " + name)
    if library.unshare(flag | 0x10000000) == 0: breach("with a user namespace: " + name)
    if library.setns(os.open(f"/proc/1/ns/{name}", os.O_RDONLY), 0) == 0: breach("entering " + name)
here = os.getcwdb()
for kind, where in ((b"tmpfs", b"/tmp"), (b"proc", b"/proc"), (b"sysfs", here + b"/pkg"), (b"overlay", b"/usr")):
    if library.mount(b"none", where, kind, 0, None) == 0: breach("a mount")
if library.mount(b"/", b"/tmp", None, 4096, None) == 0: breach("a bind mount")
if library.mount(None, b"/usr", None, 32 | 4096, None) == 0: breach("remounted writable")
if library.umount2(b"/etc/passwd", 2) == 0 or library.umount2(b"/tmp", 2) == 0: breach("unmounted")
attempt("chroot", os.chroot, "/tmp")
for number in (428, 429, 430, 432, 442):
    if syscall(number, 0, 0, 0, 0, 0) >= 0: breach(f"the newer calls: {number}")
""",
    ),
    Hostile(
        "It uses wide faces of the kernel",
        program="""
import platform
x86 = {"bpf": 321, "add_key": 248, "request_key": 249, "keyctl": 250, "perf_event_open": 298, "userfaultfd": 323}
other = {"bpf": 280, "add_key": 217, "request_key": 218, "keyctl": 219, "perf_event_open": 241, "userfaultfd": 282}
calls = {**(x86 if platform.machine() == "x86_64" else other), "io_uring_setup": 425, "io_uring_enter": 426}
room = ctypes.addressof(ctypes.create_string_buffer(256))
for name, number in calls.items():
    for given in ((0, 0, 0, 0, 0), (room, room, room, 8, -3), (8, room, 0, -1, 0)):
        if syscall(number, *given) != -1 or ctypes.get_errno() != 1: breach(f"{name}: {ctypes.get_errno()}")
""",
    ),
    Hostile(
        "It calls the kernel as a program of another architecture does",
        program="""
import mmap, platform
if platform.machine() == "x86_64":
    code = mmap.mmap(-1, 4096, prot=7)
    code.write(bytes([0xB8, 20, 0, 0, 0, 0xCD, 0x80, 0xC3]))
    call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    child = os.fork()
    if child == 0: os._exit(0 if call() > 0 else 1)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0: breach("the 32-bit calls")
    if syscall(0x40000000 + 39) > 0: breach("the x32 calls")
""",
    ),
    Hostile(
        "It types into its terminal",
        program="""
import fcntl, termios
for path in ("/dev/tty", "/dev/console", "/dev/pts/0", "/proc/1/fd/0", "/proc/1/fd/1"):
    try: there = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    except OSError as error: print(path, error); continue
    attempt("typing into " + path, fcntl.ioctl, there, termios.TIOCSTI, b"x")
for number in (0, 1, 2): attempt(f"typing into {number}", fcntl.ioctl, number, termios.TIOCSTI, b"x")
""",
    ),
    Hostile(
        "It makes itself somebody else",
        program="""
for call, given in ((os.setuid, 0), (os.setgid, 0), (os.setgroups, [0]), (os.setresuid, (0, 0, 0))):
    attempt(call.__name__, call, *(given if isinstance(given, tuple) else (given,)))
if 0 in (os.getuid(), os.geteuid(), os.getgid(), *os.getgroups()): breach("it is root")
for path in ("/usr/bin/su", "/usr/bin/sudo", "/usr/bin/passwd", "/usr/bin/newuidmap", "/usr/bin/mount"):
    if os.path.exists(path) and os.stat(path).st_mode & 0o6000:
        done = subprocess.run([path, "--version"], capture_output=True, stdin=subprocess.DEVNULL, timeout=5)
        print(path, done.returncode)
status = open("/proc/self/status").read()
if "CapEff:\\t0000000000000000" not in status or "NoNewPrivs:\\t1" not in status: breach("capabilities")
attempt("nice", os.nice, -5)
attempt("real time", os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(1))
attempt("another map of users", lambda: os.write(os.open("/proc/self/uid_map", os.O_WRONLY), b"0 0 1"))
""",
    ),
)
