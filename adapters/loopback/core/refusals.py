"""How this GitHub says no. Each face writes a refusal in its own way: REST as GitHub does, drive as {error}."""

from collections.abc import Sequence

ErrorItem = str | dict[str, str]


class Refused(Exception):
    """A call that GitHub would answer with `status`; `errors` as in GitHub's body (dicts, or bare sentences)."""

    def __init__(self, status: int, message: str, errors: Sequence[ErrorItem] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.errors = tuple(errors)

    def sentence(self) -> str:
        """All of it in one line, for a person."""
        details = [item if isinstance(item, str) else item.get("message", str(item)) for item in self.errors]
        return ": ".join([self.message, *details])


class Moved(Exception):
    """The repository has another name now; GitHub answers 301 with the address by id."""

    def __init__(self, repository_id: int) -> None:
        super().__init__(f"repository {repository_id} was renamed")
        self.repository_id = repository_id


def not_found() -> Refused:
    """404, also for what the caller may not see."""
    return Refused(404, "Not Found")


def invalid(resource: str, field: str, code: str = "invalid") -> Refused:
    """422 for one field."""
    return Refused(422, "Validation Failed", [{"resource": resource, "field": field, "code": code}])


def custom(resource: str, message: str) -> Refused:
    """422 with a sentence; `errors[].message` is what tells the cases apart."""
    return Refused(422, "Validation Failed", [{"resource": resource, "code": "custom", "message": message}])
