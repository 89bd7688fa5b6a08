"""What the bench makes of its numbers."""

from collections.abc import Iterator

from tests.bench.measure import Compared, Go, markdown, side_by_side


def takes(*seconds: float) -> Go:
    """A variant that needs these times, one go after the other."""
    spent: Iterator[float] = iter(seconds)

    async def go() -> float:
        return next(spent)

    return go


async def test_the_median_counts_and_the_first_go_does_not() -> None:
    (plain, other) = await side_by_side(
        "b", ("plain", takes(9, 1, 2, 9)), {Compared(variant="ours"): takes(99, 5, 6, 7)}, 3
    )
    assert (plain.seconds, plain.ratio) == (2, None)
    assert (other.seconds, other.ratio) == (6, 3.0)


async def test_a_ratio_above_its_bound_fails_and_is_told() -> None:
    ours = {Compared(variant="quick", at_most=2): takes(1, 2), Compared(variant="slow", at_most=2): takes(1, 3)}
    rows = await side_by_side("b", ("plain", takes(1, 1)), ours, 1)
    assert [row.passed for row in rows] == [True, True, False]
    assert "| slow | 1 | 3.000 | 3 | <= 2, FAILED |" in markdown(rows)
