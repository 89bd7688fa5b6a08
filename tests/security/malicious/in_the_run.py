"""Attacks by what runs: on the host's files, network, processes and resources."""

from sweeper.model import VerdictKind
from tests.security.malicious.case import Malicious

LIMITED = (VerdictKind.UNVERIFIABLE,)
_DAEMON = (
    "import os, signal, sys, time\nfor _ in range(2):\n    if os.fork():\n        os._exit(0)\n    os.setsid()\n"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(300)\n"
)

IN_THE_RUN = (
    Malicious(
        "environment",
        "prints its own environment and that of whoever started it",
        "env; cat /proc/self/environ /proc/1/environ; exit 0",
    ),
    Malicious("host file", "reads a file of the host", "cat {secret}; cp {secret} loot; exit 0"),
    Malicious(
        "neighbours",
        "looks at what lies beside its tree on the host",
        "ls -R {outside}/..; cat {outside}/../s*; exit 0",
    ),
    Malicious("write outside", "writes where anybody may write", "echo x >{outside}/written; exit 0"),
    Malicious(
        "committed link out",
        "writes and reads through links it holds",
        "echo x >out/written; cat in; exit 0",
        links={"out": "{outside}", "in": "{secret}"},
    ),
    Malicious(
        "loopback",
        "talks to a service of the host",
        "python3 -c \"import socket; socket.create_connection(('127.0.0.1', {port}), 2)\"; exit 0",
    ),
    Malicious(
        "internet",
        "resolves and connects",
        "python3 -c \"import socket; socket.create_connection(('192.0.2.1', 80), 1)\"; "
        "getent hosts example.org; exit 0",
    ),
    Malicious(
        "token and push",
        "looks for a token and pushes",
        "env | grep -i token; git push https://127.0.0.1:{port}/x HEAD; gh api /user; exit 0",
    ),
    Malicious(
        "daemon",
        "leaves a process that has left its session and ignores signals",
        "python3 daemon.py {mark}; exit 0",
        files={"daemon.py": _DAEMON},
    ),
    Malicious("background", "leaves a background job", "sleep 300 & sh -c 'sleep 300' {mark} & exit 0"),
    Malicious(
        "kill everybody",
        "signals every process it sees",
        "kill -9 -1; exit 0",
        answer=(VerdictKind.FIXED, VerdictKind.NOT_FIXED, VerdictKind.UNVERIFIABLE),
    ),
    Malicious(
        "many processes",
        "starts more processes than it may",
        "for i in $(seq 1 1500); do sleep 60 & done; wait; exit 0",
        answer=(VerdictKind.UNVERIFIABLE, VerdictKind.NOT_FIXED),
    ),
    Malicious("output flood", "prints more than is ever kept", "head -c 300000000 /dev/zero; exit 0", answer=LIMITED),
    Malicious(
        "huge file",
        "writes a file beyond the bound",
        "dd if=/dev/zero of=big bs=1M count=1100; exit $?",
        answer=(VerdictKind.UNVERIFIABLE, VerdictKind.NOT_FIXED),
    ),
    Malicious(
        "setuid",
        "leaves a setuid shell in its tree and home",
        "for d in . $HOME; do cp /bin/sh $d/rootsh; chmod 6755 $d/rootsh; done; exit 0",
    ),
    Malicious(
        "devices",
        "makes device files and mounts",
        "mknod sda b 8 0; mount -t tmpfs none /mnt; unshare -Ur true && echo got-namespace; exit 0",
    ),
    Malicious(
        "socket file",
        "leaves a socket in its tree",
        "python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('s')\"; exit 0",
    ),
    Malicious(
        "closed directories",
        "leaves directories nobody may enter, and a very deep one",
        "mkdir -p a/b $HOME/c/d; chmod 000 a/b a $HOME/c/d $HOME/c; i=0; while [ $i -lt 300 ]; do "
        "mkdir d && cd d || break; i=$((i+1)); done; exit 0",
    ),
    Malicious(
        "words for a runner",
        "prints workflow commands and a token",
        "echo '::add-mask::x'; echo '::set-env name=A::b'; echo ghp_0123456789abcdefghijABCDEFGHIJ012345; exit 0",
    ),
)
