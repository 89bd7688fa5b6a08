"""Repositories that attack whoever runs their checks: what each one does, and the right answer about it.

Every one is run by the real verifier in the real sandbox. Marks in braces are filled in by the test: `{secret}` a file
of the host with a canary in it, `{outside}` a directory of the host that anybody may write, `{port}` a listener on the
host's loopback, `{mark}` a word by which a process that outlives its run would be found. All is bounded.
"""

from tests.security.malicious.case import Malicious
from tests.security.malicious.in_git import IN_GIT
from tests.security.malicious.in_the_proof import IN_THE_PROOF
from tests.security.malicious.in_the_run import IN_THE_RUN

__all__ = ["MALICIOUS", "Malicious"]

MALICIOUS: tuple[Malicious, ...] = (*IN_THE_RUN, *IN_GIT, *IN_THE_PROOF)
