"""How this GitHub says no. Each face writes a refusal in its own way: REST as GitHub does, drive as {error}."""

from collections.abc import Sequence

ErrorItem = str | dict[str, str]


class Refused(Exception):
    """A call that GitHub would answer with `status`; `errors` as in GitHub's body (dicts, or bare sentences).

    `about` says to a person what GitHub would not: which thing was not found.
    """

    def __init__(self, status: int, message: str, errors: Sequence[ErrorItem] = (), about: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.errors = tuple(errors)
        self.about = about

    def sentence(self) -> str:
        """All of it in one line, for a person."""
        details = [self.about] if self.about else []
        return ": ".join([self.message, *details, *(_detail(item) for item in self.errors)])


def _detail(item: ErrorItem) -> str:
    if isinstance(item, str):
        return item
    return item.get("message") or f"{item.get('field', 'something')} is {item.get('code', 'wrong').replace('_', ' ')}"


class Moved(Exception):
    """The repository has another name now; GitHub answers 301 with the address by id."""

    def __init__(self, repository_id: int) -> None:
        super().__init__(f"repository {repository_id} was renamed")
        self.repository_id = repository_id


def not_found(about: str = "") -> Refused:
    """404, also for what the caller may not see."""
    return Refused(404, "Not Found", about=about)


def invalid(resource: str, field: str, code: str = "invalid") -> Refused:
    """422 for one field."""
    return Refused(422, "Validation Failed", [{"resource": resource, "field": field, "code": code}])


def custom(resource: str, message: str) -> Refused:
    """422 with a sentence; `errors[].message` is what tells the cases apart."""
    return Refused(422, "Validation Failed", [{"resource": resource, "code": "custom", "message": message}])
