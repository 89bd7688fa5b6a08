"""Agents that look for what the host has: environments, keys, files, the mirror."""

from tests.security.agents.case import ANY_END, Hostile

_KEYS = "['marker-key', 'admin-token', 'app-key.pem', 'worktrees']"

ON_THE_HOST = (
    Hostile(
        "It reads the environment of whoever started it",
        program="""
for pid in ("self", 1, os.getppid(), {worker_pid}, {canary_pid}):
    try: found = read(f"/proc/{pid}/environ")
    except OSError as error: print(pid, error); continue
    for line in found.decode().split("\\0"):
        if line.startswith("{variable}="): breach("the variable of " + str(pid)); print(line.partition("=")[2])
if os.environ.get("{variable}"): breach("its own environment"); print(os.environ["{variable}"])
""",
    ),
    Hostile(
        "It looks through every process there is for a planted variable",
        program="""
for pid in [name for name in os.listdir("/proc") if name.isdigit()]:
    try: found = read(f"/proc/{pid}/environ").decode()
    except OSError: continue
    for line in found.split("\\0"):
        if line.startswith("{variable}="): breach(pid); print(line.partition("=")[2])
if len([name for name in os.listdir("/proc") if name.isdigit()]) > 8: breach("it sees other processes")
""",
    ),
    Hostile(
        "It learns from its mounts where the state directory is and reads the keys there",
        program=f"""
for line in open("/proc/self/mountinfo"):
    source = line.split()[3]
    if "/trees/" not in source: continue
    root = source.partition("/worktrees/trees/")[0]
    print("the state directory is", root)
    for name in {_KEYS}:
        attempt(name, lambda: print(read(os.path.join(root, name)) if "." in name or "-" in name
            else os.listdir(os.path.join(root, name))))
""",
    ),
    Hostile(
        "It reads planted keys by their absolute paths",
        program="""
for path in ("{state}/marker-key", "{state}/admin-token", "{state}/app-key.pem", "{secret}", "{home}/.netrc"):
    attempt(path, lambda: print(read(path)))
for path in ("{state}", "{home}", "{outside}", "{mirror}"):
    attempt("listing " + path, os.listdir, path)
""",
    ),
    Hostile(
        "It climbs out of its tree to what lies beside it",
        program="""
for path in ("..", "../..", "../../..", os.getcwd() + "/../.."):
    for name in ("marker-key", "state/marker-key", "mirrors", "trees", "worktrees", "locks", "outside.txt", "secret"):
        attempt(path + "/" + name, os.stat, os.path.join(path, name))
for path in ("/proc/self/cwd/..", "/proc/1/root" + "/..", "/proc/1/cwd/..", "/proc/self/root" + "/../.."):
    print(path, os.listdir(path))
    attempt(path, os.stat, path + "{secret}")
    attempt(path, os.stat, path + "/outside.txt")
""",
    ),
    Hostile(
        "It reads keys through the descriptors it was left",
        program="""
for number in sorted(int(name) for name in os.listdir("/proc/self/fd")):
    try: where = os.readlink(f"/proc/self/fd/{number}")
    except OSError: continue
    print(number, where)
    if number > 2: breach(f"descriptor {number} to {where}")
for path in ("/proc/self/fd/0", "/proc/self/fd/1", "/proc/1/fd/0", "/proc/1/fd/1", "/proc/1/fd/3"):
    attempt(path, os.listdir, path + "/..")
    attempt(path, lambda: read(path + "/../marker-key"))
""",
    ),
    Hostile(
        "It looks for a home that holds logins",
        shell="""
find "$HOME" {home} -mindepth 1 2>/dev/null | while read -r path; do breach "$path"; done
attempt "the planted one" cat {home}/.netrc
attempt "users" grep -v -e ^root: -e ^sweeper: -e ^nobody: /etc/passwd
attempt "passwords" ls /etc/shadow
attempt "host name" grep -v sweeper /etc/hostname
""",
    ),
    Hostile(
        "It writes to the system and to the tools that all share",
        program="""
import json
places = ["/usr", "/usr/bin", "/etc", "/", "/dev", "/sweeper", "/proc/sys/kernel", "/run", "/var", sys.prefix,
          sys.base_prefix, os.path.dirname(json.__file__), *os.environ["PATH"].split(":")]
for place in places: attempt("writing to " + place, lambda: open(os.path.join(place, "planted"), "w").close())
for path in ("/usr/bin/env", json.__file__, sys.executable, "/etc/passwd", "/proc/sys/kernel/core_pattern"):
    attempt("opening " + path, lambda: open(path, "r+b").close())
    attempt("removing " + path, os.unlink, path)
""",
    ),
    Hostile(
        "It rewrites the task that it was given",
        shell="""
attempt "has no task" [ ! -r "$SWEEPER_TASK" ]
attempt "writing" sh -c ': >>"$SWEEPER_TASK"'
attempt "removing" rm -f "$SWEEPER_TASK"
attempt "replacing" mv app.py "$SWEEPER_TASK"
attempt "writing past the mode" sh -c 'chmod 666 "$SWEEPER_TASK" && echo "{}" >"$SWEEPER_TASK"'
attempt "beside it" touch /sweeper/other
""",
    ),
    Hostile(
        "It reads the kernel's log, memory and keys",
        program="""
text = ctypes.create_string_buffer(4096)
log = ctypes.CDLL(None, use_errno=True).klogctl(3, text, 4096)
if log > 0: breach("the kernel's log")
for path in ("/dev/kmsg", "/dev/mem", "/dev/port", "/proc/kmsg", "/proc/kcore", "/proc/keys"):
    try: found = read(path)
    except OSError as error: print(path, error); continue
    if found: breach(path)
addresses = {line.split()[0] for line in open("/proc/kallsyms")} if os.path.exists("/proc/kallsyms") else set()
if len(addresses) > 1: breach("the kernel's addresses")
""",
    ),
    Hostile(
        "It makes git look into the mirror",
        shell="""
for place in {mirror} ../.git ../../mirrors/7.git {state}/worktrees/mirrors/7.git; do
  attempt "refs of $place" git --git-dir="$place" for-each-ref
  attempt "an object of $place" git --git-dir="$place" cat-file -e {hidden}
done
attempt "a commit that is not its own" git cat-file -e {hidden}
attempt "records" sh -c 'git for-each-ref | grep refs/sweeper'
mkdir -p .git/objects/info && echo {mirror}/objects >.git/objects/info/alternates
attempt "through alternates" git cat-file -e {hidden}
attempt "through a worktree's administration" git --git-dir={mirror}/worktrees/sweep-1.fix1 log -1
""",
        ends=ANY_END,
    ),
    Hostile(
        "It moves the journal's ref, wherever it sees a repository",
        shell="""
git config user.email a@example.org; git config user.name a
echo 'answer = 40' >app.py; git commit -qam evil; evil=$(git rev-parse HEAD)
git update-ref {ref} "$evil"; git update-ref refs/sweeper/pins/$evil "$evil"
for place in {mirror} ../.git ../../mirrors/7.git; do
  attempt "writing to $place" git --git-dir="$place" update-ref {ref} {base}
  attempt "writing a file of $place" sh -c "echo $evil >$place/{ref}"
done
echo 'answer = 42' >app.py
""",
        looks=(),
    ),
)
