"""What the parts of the state document have in common."""

from datetime import UTC, datetime

from pydantic import BaseModel, ConfigDict

EPOCH = datetime.fromtimestamp(0, tz=UTC)


class Record(BaseModel):
    """A mutable part of the document. Unknown fields are dropped, so a newer directory opens too."""

    model_config = ConfigDict(extra="ignore")
