"""The search attributes a sweep is found by, named once for those who register, set and read them.

Temporal refuses a start that sets an unregistered attribute, so every namespace is prepared with these first.
"""

from datetime import datetime

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.common import SearchAttributeKey

REPOSITORY: SearchAttributeKey[str] = SearchAttributeKey.for_keyword("Repository")
TARGET: SearchAttributeKey[str] = SearchAttributeKey.for_keyword("Target")
STEP: SearchAttributeKey[str] = SearchAttributeKey.for_keyword("Step")
WAITING_UNTIL: SearchAttributeKey[datetime] = SearchAttributeKey.for_datetime("WaitingUntil")

REGISTERED: dict[str, IndexedValueType.ValueType] = {
    REPOSITORY.name: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
    TARGET.name: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
    STEP.name: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
    WAITING_UNTIL.name: IndexedValueType.INDEXED_VALUE_TYPE_DATETIME,
}
"""Name to type, as the operator API wants them."""
