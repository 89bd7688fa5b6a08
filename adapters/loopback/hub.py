"""The parts of a running GitHub, handed to every face."""

from dataclasses import dataclass

from adapters.loopback.blobs import Links
from adapters.loopback.core.bare import Bare
from adapters.loopback.core.lookup import full_name, repo_named
from adapters.loopback.core.state import App, Repo, State, User
from adapters.loopback.core.store import Store
from adapters.loopback.faults import Faults
from adapters.loopback.hooks.outbox import Outbox
from adapters.loopback.hooks.sender import Sender
from adapters.loopback.ledger import Ledger
from adapters.loopback.options import LoopbackInfo
from adapters.loopback.shapes.view import Urls, View
from sweeper.errors import Bug


@dataclass(frozen=True)
class Hub:
    """Everything that lives as long as the server. `info.url` is the canonical address, as webhooks carry it."""

    store: Store
    ledger: Ledger
    faults: Faults
    outbox: Outbox
    sender: Sender
    info: LoopbackInfo
    links: Links

    @property
    def state(self) -> State:
        """The document; read it anew in each turn."""
        return self.store.state

    @property
    def app(self) -> App:
        """The one app; made at the first start."""
        if self.state.app is None:
            raise Bug("The loopback has no app; it was started without founding it.")
        return self.state.app

    @property
    def bot(self) -> User:
        """The app's own user."""
        return self.state.users[self.app.bot_id]

    def view(self) -> View:
        """For webhooks, which go out with the canonical address."""
        return View(self.state, Urls(self.info.url))

    def bare(self, repo: Repo) -> Bare:
        """A repository's git."""
        return Bare(self.store.git_dir(repo.id))

    def repo(self, name: str) -> Repo:
        """The repository `owner/name`. Raises Moved, Refused 404."""
        return repo_named(self.state, name)

    def repo_name(self, repo: Repo) -> str:
        """`owner/name`."""
        return full_name(self.state, repo)

    def wake(self) -> None:
        """Let the sender look at the outbox; called after each turn."""
        self.sender.wake()
