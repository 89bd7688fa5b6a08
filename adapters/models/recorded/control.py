"""What a test or the demo asks the server itself: its ledger, and to set and release faults."""

from fastapi import FastAPI

from adapters.models.recorded.faults import FaultRule, Faults
from adapters.models.recorded.ledger import Ledger, LedgerView
from sweeper.model import Strict


class FaultsWanted(Strict):
    """Rules that replace those in force; none for a server that does everything right."""

    rules: tuple[FaultRule, ...] = ()


class Done(Strict):
    """Nothing to tell."""


def control_app(faults: Faults, ledger: Ledger) -> FastAPI:
    """The routes below `/_`."""
    app = FastAPI(openapi_url=None, strict_content_type=False)

    @app.get("/_ledger")
    async def view() -> LedgerView:
        return ledger.view()

    @app.post("/_faults")
    async def set_faults(wanted: FaultsWanted) -> Done:
        faults.replace(wanted.rules)
        return Done()

    @app.post("/_release")
    async def release() -> Done:
        faults.release()
        return Done()

    return app
