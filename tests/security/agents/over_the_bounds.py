"""Agents that take more than they are given: time, memory, processes, output, disk; and those that do not end."""

from collections.abc import Iterator

from sweeper.model import FixOutcome
from tests.security.agents.case import Hostile
from tests.security.agents.leavings import Left

_STOPPED = (FixOutcome.FAILED,)
_DAEMON = """
for signal_ in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(signal_, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        %s
        for _ in range(300):
            open("ticks.ignored", "a").write("x")
            time.sleep(1)
        os._exit(0)
    os._exit(0)
os.wait()
"""


def _log_is_bounded(left: Left) -> Iterator[str]:
    if len(left.log) > 2 << 20 or len(left.report.summary) > 500:
        yield f"{len(left.log)} bytes of its output and {len(left.report.summary)} of its words are kept"


OVER_THE_BOUNDS = (
    Hostile(
        "It starts processes until it may start no more",
        program="""
started = 0
for _ in range(600):
    try: child = os.fork()
    except OSError: break
    if child == 0: time.sleep(60); os._exit(0)
    started += 1
print(started, "processes")
if started > 140: breach(f"{started} processes")
sys.exit(1)
""",
        ends=_STOPPED,
        stopped_by="processes",
        gets_through=False,
    ),
    Hostile(
        "It starts processes that start processes",
        program="""
for _ in range(9):
    try: os.fork()
    except OSError: pass
time.sleep(60)
""",
        ends=(FixOutcome.TIMED_OUT,),
        seconds=3,
        gets_through=False,
    ),
    Hostile(
        "It starts threads until it may start no more",
        program="""
import threading
stop, started = threading.Event(), 0
for _ in range(600):
    try: threading.Thread(target=stop.wait, daemon=True).start()
    except RuntimeError: break
    started += 1
if started > 140: breach(f"{started} threads")
print(started, flush=True); os._exit(1)
""",
        ends=_STOPPED,
        stopped_by="processes",
        gets_through=False,
    ),
    Hostile(
        "It takes more memory than it may",
        program="""
kept = []
for _ in range(100): kept.append(bytearray(b"x") * (16 << 20))
""",
        ends=_STOPPED,
        stopped_by="memory",
        gets_through=False,
    ),
    Hostile(
        "It takes memory in processes that are small each",
        program="""
for _ in range(40):
    if os.fork() == 0:
        kept = bytearray(b"x") * (32 << 20); time.sleep(30); os._exit(0)
time.sleep(30)
""",
        ends=_STOPPED,
        stopped_by="memory",
        gets_through=False,
    ),
    Hostile(
        "It fills the file systems that lie in memory",
        program="""
for place in ("/dev/shm", "/tmp"):
    try:
        with open(place + "/planted", "wb") as file:
            for _ in range(50): file.write(b"x" * (16 << 20))
    except OSError as error: print(place, error, flush=True)
""",
        ends=(FixOutcome.FAILED, FixOutcome.EDITED),
        gets_through=False,
    ),
    Hostile(
        "It computes until its time is over, and longer",
        program="""
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
end = time.monotonic() + 60
while time.monotonic() < end: pass
""",
        ends=(FixOutcome.TIMED_OUT,),
        stopped_by="time",
        seconds=2,
        gets_through=False,
    ),
    Hostile(
        "It stops itself so that nothing of it ever ends",
        program="os.kill(os.getpid(), signal.SIGSTOP)",
        ends=(FixOutcome.TIMED_OUT,),
        stopped_by="time",
        seconds=2,
        gets_through=False,
    ),
    Hostile(
        "It floods its output",
        program="""
line = b"y" * 65536
for _ in range(2000): os.write(1, line)
""",
        ends=_STOPPED,
        stopped_by="output",
        gets_through=False,
        looks=(_log_is_bounded,),
    ),
    Hostile(
        "It prints one line without end, and bytes that are no text",
        program="""
for _ in range(100): os.write(1, bytes(range(255, -1, -1)).replace(b"\\n", b"") * 400)
print()
""",
        looks=(_log_is_bounded,),
    ),
    Hostile(
        "It closes its output and goes on",
        program="for number in (0, 1, 2): os.close(number)\ntime.sleep(60)",
        ends=(FixOutcome.TIMED_OUT,),
        seconds=2,
        gets_through=False,
    ),
    Hostile("It leaves a daemon that keeps its output open", program=_DAEMON % "pass"),
    Hostile(
        "It leaves a daemon that has closed everything and ignores signals",
        program=_DAEMON % "os.closerange(0, 256)",
    ),
    Hostile(
        "It leaves a crowd that starts itself anew",
        program="""
def again():
    for _ in range(200):
        if os.fork(): os._exit(0)
        time.sleep(0.05)
for _ in range(20):
    if os.fork() == 0: os.setsid(); again(); os._exit(0)
time.sleep(0.3)
""",
    ),
    Hostile(
        "It grows a file beyond the bound",
        program="""
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
with open("big.ignored", "wb") as file:
    file.truncate(250 << 20)
    file.seek(0, 2)
    for _ in range(30): file.write(b"x" * (1 << 20)); file.flush()
""",
        ends=_STOPPED,
        stopped_by="file_size",
        gets_through=False,
    ),
    Hostile(
        "It writes many large files until it is content",
        program="""
for number in range(4):
    there = os.open(f"part{number}.bin", os.O_CREAT | os.O_WRONLY)
    os.posix_fallocate(there, 0, 6 << 20)
""",
        refused="too large for a change",
    ),
    Hostile(
        "It fills the disk that others need as well",
        program="""
os.mkdir("build")
for number in range(10):
    os.posix_fallocate(os.open(f"build/{number}", os.O_CREAT | os.O_WRONLY), 0, 100 << 20)
    time.sleep(0.1)
time.sleep(20)
""",
        ends=_STOPPED,
        stopped_by="disk",
        disk_bytes=500 << 20,
        gets_through=False,
    ),
    Hostile(
        "It opens files, pipes and watches until there are no more",
        program="""
import resource
kept = []
try:
    for _ in range(5000): kept += os.pipe()
except OSError as error: print(error)
attempt("more of them", resource.setrlimit, resource.RLIMIT_NOFILE, (1 << 22, 1 << 22))
attempt("more processes", resource.setrlimit, resource.RLIMIT_NPROC, (4096, 4096))
attempt("larger files", resource.setrlimit, resource.RLIMIT_FSIZE, (1 << 40, 1 << 40))
attempt("memory that stays", lambda: resource.setrlimit(resource.RLIMIT_MEMLOCK, (1 << 40, 1 << 40)))
""",
    ),
    Hostile(
        "It leaves the group that bounds it",
        program="""
for place in ("/sys/fs/cgroup", "/proc/self/cgroup", "/proc/1/cgroup"):
    try: found = read(place).decode() if "proc" in place else str(os.listdir(place))
    except OSError as error: print(place, error); continue
    print(place, found)
attempt("a group", os.mkdir, "/sys/fs/cgroup/pids/mine")
attempt("another group", lambda: open("/sys/fs/cgroup/cgroup.procs", "w").write("1"))
attempt("kept by the killer", lambda: os.write(os.open("/proc/self/oom_score_adj", os.O_WRONLY), b"-1000"))
""",
    ),
)
