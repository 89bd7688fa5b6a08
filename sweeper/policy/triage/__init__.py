"""Triage: what failed, by the logs alone."""

from sweeper.policy.triage.diagnosis import diagnose
from sweeper.policy.triage.excerpt import excerpt
from sweeper.policy.triage.joblog import JobLog, Part, StepLog
from sweeper.policy.triage.reader import read_log
from sweeper.policy.triage.scripts import failing_script
from sweeper.policy.triage.signature import Symptoms
from sweeper.policy.triage.symptoms import same_failure, symptoms
from sweeper.policy.triage.tree import tested_tree

__all__ = [
    "JobLog",
    "Part",
    "StepLog",
    "Symptoms",
    "diagnose",
    "excerpt",
    "failing_script",
    "read_log",
    "same_failure",
    "symptoms",
    "tested_tree",
]
