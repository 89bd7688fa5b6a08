"""Measuring variants side by side, and what is told of it."""

import time
from collections.abc import Awaitable, Callable, Mapping
from statistics import median

from sweeper.model import Strict

Go = Callable[[], Awaitable[float]]
"""One go of a variant; how many seconds the part that counts took."""


class Row(Strict):
    """One variant of a bench. `ratio` to the plain way; above `at_most` it has failed. Seconds are no gate.

    `unit`: of what stands in `seconds` where something else is counted.
    """

    bench: str
    variant: str
    seconds: float
    goes: int
    ratio: float | None = None
    at_most: float | None = None
    unit: str = "seconds"

    @property
    def passed(self) -> bool:
        """Whether the ratio is within its bound."""
        return self.at_most is None or (self.ratio is not None and self.ratio <= self.at_most)


class Report(Strict):
    """The document of `build/reports/bench.json`."""

    rows: tuple[Row, ...]
    passed: int
    failed: int


class Compared(Strict):
    """A way to do it and the largest ratio to the plain way that is accepted; wide, because machines are busy."""

    variant: str
    at_most: float | None = None


async def side_by_side(bench: str, plain: tuple[str, Go], others: Mapping[Compared, Go], goes: int) -> list[Row]:
    """Medians of interleaved goes, so that a busy moment hits all variants. The first round only warms up."""
    name, go = plain
    every: dict[str, Go] = {name: go, **{other.variant: go for other, go in others.items()}}
    seconds: dict[str, list[float]] = {variant: [] for variant in every}
    for number in range(goes + 1):
        for variant, one_go in every.items():
            spent = await one_go()
            if number > 0:
                seconds[variant].append(spent)
    base = median(seconds[name])
    rows = [Row(bench=bench, variant=name, seconds=base, goes=goes)]
    for other in others:
        spent = median(seconds[other.variant])
        ratio = round(spent / base, 2)
        rows.append(
            Row(
                bench=bench,
                variant=other.variant,
                seconds=spent,
                goes=goes,
                ratio=ratio,
                at_most=other.at_most,
            )
        )
    return rows


async def timed(work: Awaitable[object]) -> float:
    """How long it takes."""
    began = time.perf_counter()
    await work
    return time.perf_counter() - began


def markdown(rows: list[Row]) -> str:
    """A table per bench."""
    lines: list[str] = []
    for bench in dict.fromkeys(row.bench for row in rows):
        mine = [row for row in rows if row.bench == bench]
        lines += [
            f"### {bench}",
            "",
            f"| way | median of | {mine[0].unit} | ratio | accepted |",
            "|---|---|---|---|---|",
        ]
        for row in mine:
            ratio = "1" if row.ratio is None else f"{row.ratio:g}"
            bound = "" if row.at_most is None else f"<= {row.at_most:g}" + ("" if row.passed else ", FAILED")
            lines.append(f"| {row.variant} | {row.goes} | {row.seconds:.3f} | {ratio} | {bound} |")
        lines.append("")
    return "\n".join(lines)
