"""A sweep whose agent is a model: the whole story, with the core's own tools."""

from datetime import timedelta

from sweeper.model import FixOutcome, Outcome, ReviewState
from tests.support.model_agent import FINISH, MODEL, ScriptedModel, llm_worker, script
from tests.support.scene import GREEN, RED, SETTINGS, Scene

EDIT = ("edit_file", {"path": "app.py", "old": RED["app.py"].strip(), "new": GREEN.strip()})
MENDS = script([("read_file", {"path": "app.py"})], [EDIT], [("finish", FINISH)])


async def sweep(scene: Scene, model: ScriptedModel) -> None:
    """Until it waits for a review."""
    async with llm_worker(scene.env.client, model):
        await scene.start(agents=("llm",))
        await scene.waits_for("review")


async def test_a_model_mends_a_run_and_a_human_merges_it(scene: Scene) -> None:
    await sweep(scene, MENDS)
    shown = scene.pull
    assert shown.author == scene.github.bot_login
    scene.review(ReviewState.APPROVED)
    await scene.ring()
    result = await scene.ends(Outcome.MERGED)
    (attempt,) = result.state.attempts
    assert attempt.fix.outcome is FixOutcome.EDITED
    assert attempt.fix.spent.model_calls == 3
    assert attempt.fix.versions["model"] == MODEL


async def test_without_a_worker_for_models_the_attempt_ends_and_says_so(scene: Scene) -> None:
    timeouts = SETTINGS.timeouts.model_copy(update={"model_queue": timedelta(milliseconds=200)})
    await scene.start(agents=("llm",), timeouts=timeouts)
    result = await scene.ends(Outcome.ESCALATED)
    assert "ci-sweeper[llm]" in result.model_dump_json()
