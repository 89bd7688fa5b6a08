"""`Spending` for tests in which nobody may ask what agents may use."""

from sweeper.model.days import Grant, ReserveRequest, SettleRequest


class NoSpending:
    """Whoever asks fails the test."""

    async def reserve(self, request: ReserveRequest) -> Grant:
        raise AssertionError("no budget is to be asked")

    async def settle(self, request: SettleRequest) -> None:
        raise AssertionError("no budget is to be asked")
