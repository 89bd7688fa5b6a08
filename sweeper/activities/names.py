"""The activities by name, with what they take and give.

Workflows import this and not the bodies, so that replay never loads rendering, redaction or diagnosis.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from sweeper.activities import care, requests, toolbox, writes
from sweeper.model import (
    Background,
    Effect,
    Reproduction,
    RunFacts,
    RunRef,
    Verdict,
    Wire,
    Workspace,
    World,
)
from sweeper.model.crowd import Room
from sweeper.model.days import Grant, ReserveRequest, SettleRequest
from sweeper.model.target import Answer, EnterRequest, LeaveRequest
from sweeper.ports import OpenedPull, PullRef

TASK_QUEUE = "sweeper"
"""Workflows, and everything any host can do."""

MODEL_AGENT = "llm"
"""The agent that is a workflow of its own."""

MODEL_QUEUE = "sweeper-llm"
"""What only a process with a model library can do: the workflow `agent-llm` and its questions to a model."""

MODEL_WORKFLOW = "agent-llm"
"""Takes a `ModelTask`, gives a `FixAnswer`."""

In = TypeVar("In", bound=Wire)
Out = TypeVar("Out", bound=Wire)


def host_queue(host: str) -> str:
    """Everything that needs the disk of that host."""
    return f"host-{host}"


class Timing(StrEnum):
    """Which of the sweep's `Timeouts` bounds one try."""

    READ = "read"
    WRITE = "write"
    GIT = "git"
    CHECK = "check"
    AGENT = "agent"


@dataclass(frozen=True)
class Activity(Generic[In, Out]):
    """One activity's contract. `on_host`: it needs the disk of the sweep's host and runs on that host's queue."""

    name: str
    takes: type[In]
    gives: type[Out]
    timing: Timing
    on_host: bool = False

    @property
    def writes(self) -> bool:
        """Whether it changes something on GitHub. Such a call is let come to its end even when it is cancelled."""
        return self.timing is Timing.WRITE


ADMIT = Activity("admit", RunRef, RunFacts, Timing.READ)
COLLECT = Activity("collect", requests.CollectRequest, requests.Collected, Timing.READ)
DIAGNOSE = Activity("diagnose", requests.DiagnoseRequest, requests.Diagnosed, Timing.READ)
LOOK_ABOUT = Activity("look_about", requests.LookAboutRequest, Background, Timing.READ)
RERUN_FAILED = Activity("rerun_failed", writes.RerunRequest, Effect, Timing.WRITE)
NEWEST_ATTEMPT = Activity("newest_attempt", RunRef, RunFacts, Timing.READ)
CHOOSE_HOST = Activity("choose_host", requests.Nothing, requests.HostChoice, Timing.READ)
PREPARE = Activity("prepare", requests.PrepareRequest, Workspace, Timing.GIT, on_host=True)
REPRODUCE = Activity("reproduce", requests.ReproduceRequest, Reproduction, Timing.CHECK, on_host=True)
FIX = Activity("fix", requests.AttemptRequest, requests.FixAnswer, Timing.AGENT, on_host=True)
BRIEF_AGENT = Activity("brief_agent", requests.AttemptRequest, toolbox.Briefing, Timing.READ)
LIST_FILES = Activity("list_files", toolbox.ListFiles, toolbox.ToolAnswer, Timing.GIT, on_host=True)
READ_FILE = Activity("read_file", toolbox.ReadFile, toolbox.ToolAnswer, Timing.GIT, on_host=True)
SEARCH_FILES = Activity("search_files", toolbox.SearchFiles, toolbox.ToolAnswer, Timing.GIT, on_host=True)
EDIT_FILE = Activity("edit_file", toolbox.EditFile, toolbox.ToolAnswer, Timing.GIT, on_host=True)
WRITE_FILE = Activity("write_file", toolbox.WriteFile, toolbox.ToolAnswer, Timing.GIT, on_host=True)
DELETE_FILE = Activity("delete_file", toolbox.DeleteFile, toolbox.ToolAnswer, Timing.GIT, on_host=True)
RUN_CHECK = Activity("run_check", toolbox.RunCheck, toolbox.ToolAnswer, Timing.CHECK, on_host=True)
MODEL_READY = Activity("model_ready", requests.AttemptRequest, toolbox.ModelReady, Timing.READ)
FINISH_ATTEMPT = Activity("finish_attempt", toolbox.FinishRequest, requests.FixAnswer, Timing.GIT, on_host=True)
VERIFY = Activity("verify", requests.VerifyRequest, Verdict, Timing.CHECK, on_host=True)
REVALIDATE = Activity("revalidate", requests.RevalidateRequest, Verdict, Timing.CHECK, on_host=True)
PUSH_BRANCH = Activity("push_branch", writes.PushRequest, Effect, Timing.WRITE, on_host=True)
OPEN_PROPOSAL = Activity("open_proposal", writes.ProposeRequest, OpenedPull, Timing.WRITE)
UPDATE_PROPOSAL = Activity("update_proposal", writes.UpdateRequest, Effect, Timing.WRITE)
READ_WORLD = Activity("read_world", PullRef, World, Timing.READ)
FIND_PULL = Activity("find_pull", writes.FindPullRequest, writes.FoundPull, Timing.READ)
REPORT_CHECK = Activity("report_check", writes.ReportCheckRequest, Effect, Timing.WRITE)
LABEL = Activity("label", writes.LabelRequest, Effect, Timing.WRITE)
REQUEST_REVIEWERS = Activity("request_reviewers", writes.ReviewersRequest, Effect, Timing.WRITE)
DRAFT = Activity("draft", writes.DraftRequest, Effect, Timing.WRITE)
COMMENT = Activity("comment", writes.CommentRequest, Effect, Timing.WRITE)
CLOSE_PROPOSAL = Activity("close_proposal", writes.CloseRequest, Effect, Timing.WRITE)
MERGE = Activity("merge", writes.MergeRequest, Effect, Timing.WRITE)
DELETE_BRANCH = Activity("delete_branch", writes.DeleteBranchRequest, Effect, Timing.WRITE, on_host=True)
DISCARD = Activity("discard", requests.DiscardRequest, requests.Nothing, Timing.GIT, on_host=True)
FIND_ROOM = Activity("find_room", requests.RoomRequest, Room, Timing.READ)
ENTER_TARGET = Activity("enter_target", EnterRequest, Answer, Timing.READ)
LEAVE_TARGET = Activity("leave_target", LeaveRequest, requests.Nothing, Timing.READ)
JOIN_SWEEP = Activity("join_sweep", requests.JoinRequest, requests.IsOpen, Timing.READ)
RING_SWEEP = Activity("ring_sweep", requests.RingRequest, requests.IsOpen, Timing.READ)
FIND_ENDED = Activity("find_ended", requests.FindEndedRequest, requests.Ended, Timing.READ)
RESERVE_SPENDING = Activity("reserve_spending", ReserveRequest, Grant, Timing.READ)
SETTLE_SPENDING = Activity("settle_spending", SettleRequest, requests.Nothing, Timing.READ)
LIST_REPOSITORIES = Activity("list_repositories", requests.Nothing, care.Overview, Timing.READ)
FIND_MISSED_RUNS = Activity("find_missed_runs", care.MissedRequest, care.Missed, Timing.READ)
SURVEY_GITHUB = Activity("survey_github", care.SurveyRequest, care.Survey, Timing.READ)
SURVEY_HOST = Activity("survey_host", requests.Nothing, care.HostSurvey, Timing.GIT, on_host=True)
JUDGE_REMAINS = Activity("judge_remains", care.JudgeRequest, care.Judged, Timing.READ)
START_AGAIN = Activity("start_again", care.StartAgainRequest, care.StartedAgain, Timing.READ)
FIND_STUCK = Activity("find_stuck", requests.Nothing, care.Stuck, Timing.READ)
SEND_ALERT = Activity("send_alert", care.AlertRequest, requests.Nothing, Timing.READ)

ALL: tuple[Activity[Wire, Wire], ...] = (  # type: ignore[assignment]
    ADMIT,
    COLLECT,
    DIAGNOSE,
    LOOK_ABOUT,
    RERUN_FAILED,
    NEWEST_ATTEMPT,
    CHOOSE_HOST,
    PREPARE,
    REPRODUCE,
    FIX,
    MODEL_READY,
    BRIEF_AGENT,
    LIST_FILES,
    READ_FILE,
    SEARCH_FILES,
    EDIT_FILE,
    WRITE_FILE,
    DELETE_FILE,
    RUN_CHECK,
    FINISH_ATTEMPT,
    VERIFY,
    REVALIDATE,
    PUSH_BRANCH,
    OPEN_PROPOSAL,
    UPDATE_PROPOSAL,
    READ_WORLD,
    FIND_PULL,
    REPORT_CHECK,
    LABEL,
    REQUEST_REVIEWERS,
    DRAFT,
    COMMENT,
    CLOSE_PROPOSAL,
    MERGE,
    DELETE_BRANCH,
    DISCARD,
    FIND_ROOM,
    ENTER_TARGET,
    LEAVE_TARGET,
    JOIN_SWEEP,
    RING_SWEEP,
    FIND_ENDED,
    RESERVE_SPENDING,
    SETTLE_SPENDING,
    LIST_REPOSITORIES,
    FIND_MISSED_RUNS,
    SURVEY_GITHUB,
    SURVEY_HOST,
    JUDGE_REMAINS,
    START_AGAIN,
    FIND_STUCK,
    SEND_ALERT,
)
