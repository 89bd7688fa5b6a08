"""What went wrong for others when they acted on GitHub, and does not for us.

In the words of the field: a refused push was quietly done another way; a commit without the sign-off its
repository asks for; a push that touches workflow files; "already exists" taken for a failure; a
reviewer who cannot be asked took the whole proposal down; a suspended installation was hammered for ever;
one burst of 503 stopped everything until a restart.
"""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.testing import ActivityEnvironment

from adapters.github import GitHubHost
from adapters.loopback.drive.requests import ChangeInstallation, FaultRule
from adapters.loopback.options import LoopbackInfo
from sweeper.activities.requests import AttemptRequest
from sweeper.activities.workbench import WorkbenchActivities
from sweeper.errors import NON_RETRYABLE, AuthBroken, Permanent, PolicyDenied, Transient
from sweeper.model import CheckPlan, EffectState, Limits, Outcome
from sweeper.policy.stuck import CREDENTIALS
from sweeper.ports import Ports
from tests.contract.test_worktrees_port import META, REF, REPO
from tests.support.agents import ScriptedAgent, Turn, write
from tests.support.code_host import FakeCodeHost
from tests.support.code_host_contract import new_pull, propose
from tests.support.git_origin import GitOrigin, git
from tests.support.github_loopback import access_as_app, loopback_scene
from tests.support.loopback_scene import LoopbackScene
from tests.support.recording import RecordingStore
from tests.support.sandbox import FakeSandbox
from tests.support.scene import SETTINGS, Scene, edit, effects, sweep_scene
from tests.support.scene_doubles import MemoryArtifacts
from tests.support.values import diagnosis, reproduction, run_facts
from worktrees.journal import JournalStore

pytestmark = pytest.mark.slow

BRANCH = "sweeper/1-1"
RULES = """echo 'remote: error: GH013: Repository rule violations found for refs/heads/sweeper/1-1.
- Commits must have verified signatures.' >&2"""
WORKFLOWS = """echo 'refusing to allow a GitHub App to create or update workflow `.github/workflows/ci.yml` without
`workflows` permission' >&2"""


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[tuple[LoopbackInfo, LoopbackScene]]:
    async with loopback_scene(tmp_path / "github") as both:
        yield both


@pytest.fixture
def scene(stage: tuple[LoopbackInfo, LoopbackScene]) -> LoopbackScene:
    return stage[1]


@pytest.fixture
async def story() -> AsyncIterator[Scene]:
    """A whole sweep around fakes."""
    async with sweep_scene() as scene:
        yield scene


class TestPushes:
    @pytest.fixture
    def origin(self, tmp_path: Path) -> GitOrigin:
        return GitOrigin(tmp_path / "there")

    @pytest.fixture
    def store(self, tmp_path: Path) -> RecordingStore:
        return RecordingStore(tmp_path / "state", "here")

    @pytest.fixture
    def journals(self, tmp_path: Path) -> JournalStore:
        return JournalStore(tmp_path / "state", "here")

    async def a_fix(self, store: RecordingStore, origin: GitOrigin) -> str:
        commit = origin.commit({"a.txt": "one\n"})
        await store.fetch(REPO, [commit], origin.access)
        workspace = await store.create(REPO, "sweep-1-1", commit)
        Path(workspace.path, "a.txt").write_text("fixed\n")
        patch = await store.snapshot(workspace, META, REF)
        assert patch is not None
        return patch.commit

    @pytest.mark.parametrize(("said", "advice"), [(RULES, "branch's rules"), (WORKFLOWS, "`workflows` permission")])
    async def test_a_push_against_the_rules_is_refused_for_good_and_done_no_other_way(
        self, store: RecordingStore, origin: GitOrigin, said: str, advice: str
    ) -> None:
        fix = await self.a_fix(store, origin)
        hook, asked = origin.path / "hooks" / "pre-receive", origin.path / "asked"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\necho once >> {asked}\n{said}\nexit 1\n")
        hook.chmod(0o755)

        with pytest.raises(PolicyDenied, match=advice):
            await store.push(REPO, BRANCH, fix, None, origin.access, "k")

        assert asked.read_text() == "once\n"
        assert origin.branch(BRANCH) is None
        assert PolicyDenied.__name__ in NON_RETRYABLE

    async def test_a_commit_is_signed_off_by_its_author(
        self, store: RecordingStore, journals: JournalStore, origin: GitOrigin
    ) -> None:
        failing = origin.commit({"a.txt": "one\n"})
        await store.fetch(REPO, [failing], origin.access)
        agent = ScriptedAgent([Turn(edit=write({"a.txt": "fixed\n"}))])
        host, email = FakeCodeHost(), "7+sweeper[bot]@users.noreply.github.com"
        ports = Ports(
            host,
            store,
            FakeSandbox(),
            {agent.name: agent},
            MemoryArtifacts(),
            "sweeper[bot]",
            email,
            journals=journals,
        )
        facts = run_facts(head_sha=failing)
        request = AttemptRequest(
            sweep="sweep-1-1",
            n=1,
            agent=agent.name,
            base=failing,
            facts=facts.model_copy(update={"run": facts.run.model_copy(update={"repository_id": REPO})}),
            diagnosis=diagnosis(),
            plan=CheckPlan(),
            reproduction=reproduction(),
            limits=Limits(),
            agent_timeout=timedelta(minutes=1),
        )

        answer = await ActivityEnvironment().run(WorkbenchActivities(ports).fix, request)

        assert answer.patch is not None
        await store.push(REPO, BRANCH, answer.patch.commit, None, origin.access, "k")
        shown = git("log", "-1", "--format=%an <%ae>%n%(trailers:key=Signed-off-by,valueonly)", BRANCH, cwd=origin.path)
        assert shown.split("\n")[:2] == [f"sweeper[bot] <{email}>"] * 2

    async def test_an_agent_that_edits_a_workflow_file_gets_nothing_pushed(self, story: Scene) -> None:
        story.agent_does(edit({".github/workflows/ci.yml": "jobs: {}\n"}))
        await story.start()

        result = await story.ends(Outcome.ESCALATED)

        assert "branch.push" not in [name for name, _ in effects(result)]


class TestProposals:
    async def test_one_that_is_there_is_taken_over_and_a_head_that_is_not_is_an_error(
        self, scene: LoopbackScene
    ) -> None:
        opened, pull = await propose(scene)
        new = await new_pull(scene, pull.run, "sweep-1-1/propose/2")

        again = await scene.host.open_pull(new)
        with pytest.raises(Permanent, match="GitHub answered"):
            await scene.host.open_pull(new.model_copy(update={"branch": "sweeper/absent"}))

        assert (again.proposal.number, again.effect.state) == (opened.proposal.number, EffectState.ADOPTED)
        assert await scene.count("pull.create") == 1

    async def test_a_reviewer_who_cannot_be_asked_leaves_the_proposal_open(self, scene: LoopbackScene) -> None:
        _, pull = await propose(scene)
        people = ("nobody-here", await scene.host.login(), "maintainer")

        effect = await scene.host.request_reviewers(pull, people, "sweep-1-1/propose/2")

        assert effect.state is EffectState.CREATED
        assert {"nobody-here", await scene.host.login()} == set(effect.note.rpartition("ask ")[2].split(", "))
        assert (await scene.host.read_world(pull)).state == "open"


class TestBadTimes:
    async def test_a_suspended_installation_is_asked_little_and_serves_again_without_a_restart(
        self, stage: tuple[LoopbackInfo, LoopbackScene]
    ) -> None:
        info, scene = stage
        scene.host = app = GitHubHost(access_as_app(info))
        _, pull = await propose(scene)
        await scene.drive.installation(ChangeInstallation(action="suspend"))
        before = len(await scene.calls())

        for _ in range(5):
            with pytest.raises(AuthBroken, match="suspen"):
                await app.comment(pull, "Closed because.", "sweep-1-1/compensate/1")
        asked = len(await scene.calls()) - before
        await scene.drive.installation(ChangeInstallation(action="unsuspend"))

        effect = await app.comment(pull, "Closed because.", "sweep-1-1/compensate/1")
        assert effect.state is EffectState.CREATED
        assert asked <= 5 * 4
        app.close()

    async def test_a_sweep_whose_credentials_are_refused_waits_and_goes_on(self, story: Scene) -> None:
        story.github.fail_next("read_jobs", AuthBroken("End the suspension of the app."), times=4)
        await story.start()

        await story.waits_for(CREDENTIALS)
        await story.sleep(timedelta(hours=1))
        await story.waits_for("review")

        assert story.github.calls.count("read_jobs") == 5
        await story.cancel()
        await story.ends(Outcome.CANCELLED)

    async def test_fifty_bad_answers_in_a_row_stop_no_sweep(self, story: Scene) -> None:
        story.github.fail_next("read_jobs", Transient("GitHub answered 503; this is tried again."), times=50)
        patient = SETTINGS.timeouts.model_copy(update={"tries": 60})

        await story.start(timeouts=patient)
        await story.sleep(timedelta(hours=2))
        await story.waits_for("review")

        assert story.github.calls.count("read_jobs") == 51
        await story.cancel()
        await story.ends(Outcome.CANCELLED)

    async def test_after_fifty_bad_answers_the_client_is_as_good_as_before(self, scene: LoopbackScene) -> None:
        run = await scene.run("main")
        rule = {"method": "GET", "path": "/attempts/1$", "kind": "503", "when": "before", "times": 50}
        await scene.drive.faults(FaultRule.model_validate(rule))

        for _ in range(50):
            with pytest.raises(Transient):
                await scene.host.read_run(run)

        assert (await scene.host.read_run(run)).run == run
